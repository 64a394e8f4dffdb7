"""The dumps of a wiki, and their files."""

import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urljoin

from wikilda._core.errors import InputError
from wikilda.mediawiki.download._http import RefusedError, read

WIKIMEDIA = "https://dumps.wikimedia.org/"
# Job names of dumpstatus.json, best first: big wikis come in parts that are later joined.
ARTICLES = ("articlesmultistreamdumprecombine", "articlesmultistreamdump")
PAGE_PROPS = ("pagepropstable",)
_ARTICLES_NAME = r"-pages-articles-multistream(?P<part>[0-9]*)\.xml(?:-p(?P<first>[0-9]+)p[0-9]+)?\.bz2"
_PAGE_PROPS_NAME = r"-page_props\.sql\.gz"


@dataclass(frozen=True)
class RemoteFile:
    """A file of a finished dump, with its published size and digest."""

    name: str
    url: str
    size: int
    digest: tuple[str, str] | None  # algorithm and hexadecimal digits
    version: str = ""  # without a digest: the server's name of the version


class _UnfinishedError(InputError):
    """A dump that is not complete yet."""


class _MissingError(_UnfinishedError):
    """A dump that does not exist, or not yet."""


class Dumps:
    """The dumps of one wiki on one server."""

    def __init__(self, wiki: str, mirror: str = WIKIMEDIA) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9_]*", wiki):
            raise InputError(f"{wiki!r} is not the name of a wiki: write it like enwiki or zh_min_nanwiki.")
        self.wiki, self._mirror = wiki, _directory(mirror)
        self._home = f"{self._mirror}{wiki}/"

    def dates(self) -> list[str]:
        """The dates of all dumps, finished or not, newest first."""
        try:
            page = read(self._home).decode("utf-8", "replace")
        except RefusedError as refusal:
            raise self._unknown() if refusal.status == 404 else refusal from None
        found = re.findall(r"""href\s*=\s*["']?(?:[^"'\s>]*/)?([0-9]{8})/?["'\s>]""", page, re.IGNORECASE)
        if not found:
            raise InputError(f"{self._home}: no dumps are listed here. Check --mirror, or name a --date.")
        return sorted(set(found), reverse=True)

    def newest(self, *, page_props: bool = False) -> list[RemoteFile]:
        """Return the files of the newest finished dump."""
        reasons = []
        for date in self.dates():
            try:
                return self._files(date, page_props)
            except _UnfinishedError as reason:
                reasons.append(str(reason))
        raise InputError(
            f"{self._home}: there is no finished dump. Try again later, or name another --mirror.\n"
            + "\n".join(f"  {reason}" for reason in reasons)
        )

    def of(self, date: str, *, page_props: bool = False) -> list[RemoteFile]:
        """Return the files of the dump of `date`."""
        if not re.fullmatch(r"[0-9]{8}", date):
            raise InputError(f"{date!r} is not a date: write --date as YYYYMMDD, like 20240101.")
        try:
            return self._files(date, page_props)
        except _MissingError as reason:
            dates = self.dates()
            if date not in dates:
                problem = f"{self._home}: there is no dump of {date}. Choose one of {', '.join(dates)}"
                raise InputError(f"{problem}, or leave --date out.") from None
            raise InputError(f"{reason}. Wait for it, or leave --date out.") from None
        except _UnfinishedError as reason:
            raise InputError(f"{reason}. Wait for it, or leave --date out.") from None

    def _files(self, date: str, page_props: bool) -> list[RemoteFile]:
        jobs = self._jobs(date)
        files = self._wanted(date, jobs, ARTICLES, _ARTICLES_NAME)
        return files + (self._wanted(date, jobs, PAGE_PROPS, _PAGE_PROPS_NAME) if page_props else [])

    def _jobs(self, date: str) -> dict[str, Any]:
        url = f"{self._home}{date}/dumpstatus.json"
        try:
            jobs = _mapping(json.loads(read(url))).get("jobs")
        except RefusedError as refusal:
            if refusal.status == 404:
                raise _MissingError(f"{url}: not there yet") from None
            raise
        except (ValueError, RecursionError):
            jobs = None
        if not isinstance(jobs, dict):
            raise InputError(f"{url}: not the status of a dump. Name another --mirror or another --date.")
        return jobs

    def _wanted(self, date: str, jobs: dict[str, Any], names: tuple[str, ...], ending: str) -> list[RemoteFile]:
        """Return the files of the first finished job."""
        for name in names:
            job = _mapping(jobs.get(name))
            if job.get("status") == "done" and (files := self._listed(date, job.get("files"), ending)):
                return files
        status = _mapping(jobs.get(names[-1])).get("status", "missing")
        problem = "lists no file that can be used" if status == "done" else f"is {status}"
        raise _UnfinishedError(f"{self._home}{date}/: the dump is not finished: {names[-1]} {problem}")

    def _listed(self, date: str, entries: object, ending: str) -> list[RemoteFile]:
        """The whole file or else its parts in order; none if the size of one is not known yet."""
        # The whole name is prescribed: a server cannot make us write outside of the user's directory.
        name = re.compile(re.escape(f"{self.wiki}-{date}") + ending)
        found = sorted(filter(None, map(name.fullmatch, _mapping(entries))), key=_place_in_dump)
        whole = [match for match in found if not match.groupdict().get("part")]
        files = [self._remote(date, match.string, _mapping(entries)) for match in whole or found]
        return files if all(file.size >= 0 for file in files) else []

    def _remote(self, date: str, name: str, entries: dict[str, Any]) -> RemoteFile:
        entry = _mapping(entries[name])
        size, url = entry.get("size"), entry.get("url")
        known = (kind for kind in ("sha1", "md5") if isinstance(entry.get(kind), str))
        digest = next(((kind, entry[kind].lower()) for kind in known), None)
        address = self._address(date, url if isinstance(url, str) else name)
        return RemoteFile(name, address, size if type(size) is int else -1, digest)

    def _address(self, date: str, url: str) -> str:
        """Return the address of a file. Those that begin with "/" are relative to the mirror's top directory."""
        url = quote(url, safe="%/:?=&~+,;@!$'()*")
        prefix = "/" + self._mirror.split("/", 3)[3]
        if url.startswith("/") and not url.startswith(("//", prefix)):
            return self._mirror + url.lstrip("/")
        address = urljoin(f"{self._home}{date}/", url)
        if self._mirror.lower().startswith("https:") and not address.lower().startswith("https:"):
            raise InputError(f"{self._home}{date}/: lists {address[:200]}, which is not secure. Name another --mirror.")
        return address

    def _unknown(self) -> InputError:
        guess = f" Did you mean {self.wiki}wiki?" if len(self.wiki) <= 3 else ""
        return InputError(
            f"{self._home}: there is no wiki {self.wiki!r} on this server.{guess} Names are like enwiki, "
            f"dewiki or enwiktionary; {WIKIMEDIA}backup-index.html lists them all."
        )


def _directory(mirror: str) -> str:
    """Return the address of a mirror's top directory, ending in a slash."""
    if not re.fullmatch(r"https?://[^/?#\s]+(/[^?#\s]*)?", mirror, re.IGNORECASE):
        raise InputError(f"{mirror}: not the address of a mirror. Write it like {WIKIMEDIA}")
    return mirror.rstrip("/") + "/"


def _place_in_dump(match: re.Match[str]) -> tuple[int, int]:
    groups = match.groupdict()
    return int(groups.get("part") or 0), int(groups.get("first") or 0)


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
