"""Dumps of Wikimedia wikis: finding the newest finished one, and fetching it over lines that break."""

import fcntl
import hashlib
import json
import os
import re
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import Message
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPResponse, InvalidURL
from io import FileIO
from pathlib import Path
from typing import Any, TypeVar
from urllib import request
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urljoin

from wikilda import __version__
from wikilda.errors import InputError, WikildaError, disk_full
from wikilda.progress import Bar, bar

WIKIMEDIA = "https://dumps.wikimedia.org/"
CHUNK = 1 << 18
# Job names of dumpstatus.json, best first: big wikis come in parts that are later joined to one file.
ARTICLES = ("articlesmultistreamdumprecombine", "articlesmultistreamdump")
PAGE_PROPS = ("pagepropstable",)
_ARTICLES_NAME = r"-pages-articles-multistream(?P<part>[0-9]*)\.xml(?:-p(?P<first>[0-9]+)p[0-9]+)?\.bz2"
_PAGE_PROPS_NAME = r"-page_props\.sql\.gz"

Result = TypeVar("Result")


@dataclass(frozen=True)
class Patience:
    """How long a failing server is borne; times are in seconds."""

    tries: int = 10  # in a row without a new byte of a file
    question_tries: int = 4  # for the small pages: a user is waiting to hear of a mistyped address
    base: float = 1.0
    longest: float = 120.0
    timeout: float = 60.0

    def wait(self, failures: int, asked: float | None) -> float:
        """Seconds before the next try: what the server asked for, or twice as long each time."""
        return min(self.base * 2.0 ** (failures - 1) if asked is None else asked, self.longest)


PATIENCE = Patience()


@dataclass(frozen=True)
class RemoteFile:
    """A file of a finished dump, with what is published about its contents."""

    name: str
    url: str
    size: int
    digest: tuple[str, str] | None  # algorithm and hexadecimal digits


class _PassingError(Exception):
    """It may go better next time; `asked` is how long the server wants to be left alone."""

    def __init__(self, reason: str, asked: float | None = None) -> None:
        super().__init__(reason)
        self.asked = asked


class _RefusedError(InputError):
    """The server said no, and would say so again."""

    def __init__(self, url: str, error: HTTPError) -> None:
        answer = f"{error.code} {error.reason}"
        super().__init__(f"{url}: the server answered {answer}. Try again later, or name another --mirror.")
        self.status, self.headers = error.code, error.headers


class _UnfinishedError(InputError):
    """A dump that is not there in full yet."""


class _MissingError(_UnfinishedError):
    """A dump of which there is nothing, or nothing yet."""


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
            page = _read(self._home).decode("utf-8", "replace")
        except _RefusedError as refusal:
            raise self._unknown() if refusal.status == 404 else refusal from None
        found = re.findall(r"""href\s*=\s*["']?(?:[^"'\s>]*/)?([0-9]{8})/?["'\s>]""", page, re.IGNORECASE)
        if not found:
            raise InputError(f"{self._home}: no dumps are listed here. Check --mirror, or name a --date.")
        return sorted(set(found), reverse=True)

    def newest(self, *, page_props: bool = False) -> list[RemoteFile]:
        """The files of the newest dump that is finished."""
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
        """The files of the dump of `date`."""
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
            jobs = _mapping(json.loads(_read(url))).get("jobs")
        except _RefusedError as refusal:
            if refusal.status == 404:
                raise _MissingError(f"{url}: not there yet") from None
            raise
        except (ValueError, RecursionError):
            jobs = None
        if not isinstance(jobs, dict):
            raise InputError(f"{url}: not the status of a dump. Name another --mirror or another --date.")
        return jobs

    def _wanted(
        self, date: str, jobs: dict[str, Any], names: tuple[str, ...], ending: str
    ) -> list[RemoteFile]:
        """The files of the first of the jobs that is done."""
        for name in names:
            job = _mapping(jobs.get(name))
            if job.get("status") == "done" and (files := self._listed(date, job.get("files"), ending)):
                return files
        status = _mapping(jobs.get(names[-1])).get("status", "missing")
        problem = "lists no file that can be used" if status == "done" else f"is {status}"
        raise _UnfinishedError(f"{self._home}{date}/: the dump is not finished: {names[-1]} {problem}")

    def _listed(self, date: str, entries: object, ending: str) -> list[RemoteFile]:
        """The whole file or else its parts in order; none if the size of one is not known yet."""
        # The whole name is prescribed: a server cannot make us write anywhere but in the user's directory.
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
        return RemoteFile(name, address, size if isinstance(size, int) else -1, digest)

    def _address(self, date: str, url: str) -> str:
        """Where a file is: addresses that begin with "/" count from the mirror's own top directory."""
        url = quote(url, safe="%/:?=&~+,;@!$'()*")
        prefix = "/" + self._mirror.split("/", 3)[3]
        if url.startswith("/") and not url.startswith(("//", prefix)):
            return self._mirror + url.lstrip("/")
        return urljoin(f"{self._home}{date}/", url)

    def _unknown(self) -> InputError:
        guess = f" Did you mean {self.wiki}wiki?" if len(self.wiki) <= 3 else ""
        return InputError(
            f"{self._home}: there is no wiki {self.wiki!r} on this server.{guess} Names are like enwiki, "
            f"dewiki or enwiktionary; {WIKIMEDIA}backup-index.html lists them all."
        )


def fetch(file: RemoteFile, directory: Path) -> Path:
    """Bring a file into `directory`, going on where an earlier run stopped, and check it."""
    directory.mkdir(parents=True, exist_ok=True)
    target = directory / file.name
    if target.is_file() and _difference(target, file) is None:
        return target
    part = directory / f"{file.name}.part"
    with _opened(part) as sink:
        try:
            _Transfer(file, part, sink).run()
        except OSError as error:
            if (worded := disk_full(error, part)) is not None:
                raise worded from error
            raise
        _accept(file, part, target)
    return target


def _accept(file: RemoteFile, part: Path, target: Path) -> None:
    difference = _difference(part, file)
    _origin(part).unlink(missing_ok=True)
    if difference is None:
        part.replace(target)
        return
    part.unlink()
    raise InputError(
        f"{file.url}: the download is damaged: {difference}. It was removed; run the same command again, "
        "with another --mirror if this happens twice."
    )


@contextmanager
def _opened(part: Path) -> Iterator[FileIO]:
    """Open for going on, unbuffered and for us alone; leave no empty file behind."""
    with FileIO(part, "a") as sink:
        _claim(sink, part)
        try:
            yield sink
        finally:
            if not os.fstat(sink.fileno()).st_size:
                part.unlink(missing_ok=True)


def _claim(sink: FileIO, part: Path) -> None:
    try:
        fcntl.flock(sink, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise WikildaError(f"{part}: another download is writing here. Wait until it ends.") from None
    except OSError:
        pass  # Some network file systems have no locks; the checksum still tells when two have written.


class _Transfer:
    """One file on its way into its `.part`."""

    def __init__(self, file: RemoteFile, part: Path, sink: FileIO) -> None:
        self._file, self._sink, self._origin = file, sink, _origin(part)
        self._bar = Bar(None, None)

    @property
    def _held(self) -> int:
        return os.fstat(self._sink.fileno()).st_size

    def run(self) -> None:
        """Ask until all is there."""
        if self._held > self._file.size:
            self._start_anew()
        with bar(self._file.name, self._file.size, unit="bytes", done=self._held) as self._bar:
            if self._held < self._file.size:
                _persist(self._file.url, self._attempt, PATIENCE.tries, self._bar, lambda: self._held)

    def _attempt(self) -> None:
        self._bar.label(self._file.name)
        try:
            response = _open(self._file.url, self._conditions())
        except _RefusedError as refusal:
            if refusal.status != 416:
                raise
            return self._out_of_range(refusal.headers)
        with response:
            self._receive(response)
        if self._held < self._file.size:
            raise _PassingError("the connection was dropped")
        return None

    def _conditions(self) -> dict[str, str]:
        if not self._held:
            return {}
        version = self._version_held()
        return {"Range": f"bytes={self._held}-"} | ({"If-Range": version} if version else {})

    def _out_of_range(self, headers: Message) -> None:
        # The server has no more than we hold: that is all, which the check decides, or another file.
        if headers.get("Content-Range", "").strip() == f"bytes */{self._held}":
            return
        self._start_anew()
        raise _PassingError("the file on the server has changed")

    def _receive(self, response: HTTPResponse) -> None:
        if response.status not in (200, 206):
            raise _PassingError(f"the server answered {response.status} {response.reason}")
        start, total = _span(response)
        if total not in (None, self._file.size):
            raise InputError(
                f"{self._file.url}: expected {self._file.size} bytes, found {total} on the server. "
                "Try again later, or name another --mirror or --date."
            )
        version, held = _version(response.headers), self._version_held()
        if start and (start != self._held or (version and held and version != held)):
            self._start_anew()
            raise _PassingError("the file on the server has changed")
        if not start:
            self._start_anew()
            self._origin.write_text(f"{self._file.url}\n{version}\n", encoding="latin-1")
        self._copy(response)

    def _copy(self, response: HTTPResponse) -> None:
        for chunk in _chunks(response):
            _write(self._sink, chunk)
            self._bar.advance(len(chunk))
            if self._held > self._file.size:
                return

    def _start_anew(self) -> None:
        if self._held:
            self._bar.advance(-self._held)
            self._sink.truncate(0)
        self._origin.unlink(missing_ok=True)

    def _version_held(self) -> str:
        """What the server called the version of which we hold the beginning; mirrors differ in this."""
        if not self._origin.is_file():
            return ""
        url, _, version = self._origin.read_text(encoding="latin-1").partition("\n")
        return version.strip() if url == self._file.url else ""


def _origin(part: Path) -> Path:
    """The note beside a `.part` that says which version of which address it is the beginning of."""
    return part.with_name(f"{part.name}.origin")


def _difference(path: Path, file: RemoteFile) -> str | None:
    """How a file on disk differs from the published one."""
    size = path.stat().st_size
    if size != file.size:
        return f"expected {file.size} bytes, found {size}"
    if file.digest is None:
        return None
    kind, expected = file.digest
    found = _digest(path, kind, size)
    return None if found == expected else f"expected {kind} {expected}, found {found}"


def _digest(path: Path, kind: str, size: int) -> str:
    digest = hashlib.new(kind, usedforsecurity=False)
    with path.open("rb") as source, bar(f"checking {path.name}", size, unit="bytes") as shown:
        while chunk := source.read(CHUNK):
            digest.update(chunk)
            shown.advance(len(chunk))
    return digest.hexdigest()


def _write(sink: FileIO, chunk: bytes) -> None:
    rest = memoryview(chunk)
    while rest:
        rest = rest[sink.write(rest) :]


def _read(url: str) -> bytes:
    """A small page in full."""

    def attempt() -> bytes:
        with _open(url, {}) as response:
            try:
                return response.read()
            except (OSError, HTTPException) as error:
                raise _PassingError(f"the connection was dropped ({error})") from error

    with bar(f"asking {url.split('/')[2]}", None, unit="bytes") as shown:
        return _persist(url, attempt, PATIENCE.question_tries, shown, lambda: 0)


def _persist(
    url: str, attempt: Callable[[], Result], tries: int, shown: Bar, reached: Callable[[], int]
) -> Result:
    """Attempt until it works, giving up after so many failures in a row that got no further."""
    furthest, failures = reached(), 0
    while True:
        try:
            return attempt()
        except _PassingError as trouble:
            # Not what this attempt brought: a server that starts anew each time would be asked for ever.
            if reached() > furthest:
                furthest, failures = reached(), 0
            failures += 1
            if failures >= tries:
                raise WikildaError(
                    f"{url}: {trouble}; gave up after {tries} tries. Check the network or name another "
                    "--mirror, then run the same command again: what has arrived is kept."
                ) from trouble
            seconds = PATIENCE.wait(failures, trouble.asked)
            shown.label(f"{trouble}; trying again in {seconds:.0f} s")
            time.sleep(seconds)


def _open(url: str, headers: dict[str, str]) -> HTTPResponse:
    """Ask for `url`; what goes wrong is a _PassingError, a _RefusedError or an InputError."""
    try:
        asked = request.Request(url, headers={"User-Agent": f"wikilda/{__version__}", **headers})
        response: HTTPResponse = _opener().open(asked, timeout=PATIENCE.timeout)
    except HTTPError as error:
        error.close()
        if error.code in (408, 429) or error.code >= 500:
            reason = f"the server answered {error.code} {error.reason}"
            raise _PassingError(reason, _retry_after(error.headers)) from error
        raise _RefusedError(url, error) from error
    except OSError as error:
        raise _failure(url, error.reason if isinstance(error, URLError) else error) from error
    except (InvalidURL, ValueError) as error:
        raise InputError(f"{url}: not a usable address ({error}). Check --mirror.") from error
    except HTTPException as error:
        raise _PassingError(f"the connection was dropped ({error})") from error
    return response


def _opener() -> request.OpenerDirector:
    """An opener without urllib's file:, ftp: and data: addresses, to which a server could lead us."""
    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler,
        request.UnknownHandler,
        request.HTTPHandler,
        request.HTTPSHandler,
        request.HTTPDefaultErrorHandler,
        request.HTTPRedirectHandler,
        request.HTTPErrorProcessor,
    ):
        opener.add_handler(handler())
    return opener


def _failure(url: str, reason: str | BaseException) -> Exception:
    """Tell what may pass (a line that breaks) from what will not (a certificate, an address)."""
    if isinstance(reason, ssl.SSLError) and not isinstance(reason, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        return WikildaError(
            f"{url}: no secure connection (TLS): {getattr(reason, 'verify_message', '') or reason}. "
            "Check this machine's clock and certificates, or name another --mirror."
        )
    if isinstance(reason, str):
        return InputError(f"{url}: {reason}. Check --mirror; only http and https addresses can be used.")
    words = getattr(reason, "strerror", None) or reason
    return _PassingError(f"the server cannot be reached ({words})")


def _retry_after(headers: Message) -> float | None:
    text = headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _version(headers: Message) -> str:
    """A name of the file's version that may be sent in If-Range; weak ETags may not."""
    tag = " ".join(headers.get("ETag", "").split())
    return tag if tag.startswith('"') else " ".join(headers.get("Last-Modified", "").split())


def _span(response: HTTPResponse) -> tuple[int, int | None]:
    """Where in the file an answer begins, and how long the whole file is, if that is said."""
    if response.status == 206:
        match = re.match(r"bytes ([0-9]+)-[0-9]+/([0-9]+|\*)", response.headers.get("Content-Range", ""))
        if match is None:
            raise _PassingError("the server sent a part without saying which")
        return int(match[1]), None if match[2] == "*" else int(match[2])
    length = response.headers.get("Content-Length", "")
    return 0, int(length) if length.isascii() and length.isdigit() else None


def _chunks(response: HTTPResponse) -> Iterator[bytes]:
    # read1 hands over what has come; read would lose it when the connection breaks in the middle of a chunk.
    while True:
        try:
            chunk = response.read1(CHUNK)
        except (OSError, HTTPException) as error:
            raise _PassingError(f"the connection was dropped ({error})") from error
        if not chunk:
            return
        yield chunk


def _directory(mirror: str) -> str:
    """The address of a mirror's top directory, ending in a slash."""
    if not re.fullmatch(r"https?://[^/?#\s]+(/[^?#\s]*)?", mirror, re.IGNORECASE):
        raise InputError(f"{mirror}: not the address of a mirror. Write it like {WIKIMEDIA}")
    return mirror.rstrip("/") + "/"


def _place_in_dump(match: re.Match[str]) -> tuple[int, int]:
    groups = match.groupdict()
    return int(groups.get("part") or 0), int(groups.get("first") or 0)


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
