"""Snapshots of Wikimedia Enterprise: JSON lines in a tar.gz, as XML of a dump.

A record has an article's wikitext and the names of its redirects.
"""

from collections.abc import Iterator
from html import escape
from itertools import islice
from pathlib import Path
from typing import IO, Any

from wikilda._core.compression import json_objects, open_compressed, whole_lines
from wikilda._core.errors import InputError
from wikilda._core.tar import TarReader
from wikilda.mediawiki.languages import language
from wikilda.mediawiki.site import Site

_PAGE = (
    "<page><title>{title}</title><ns>{namespace}</ns><id>{id}</id>{redirect}<revision><id>{revision}</id>"
    "<timestamp>{time}</timestamp><text>{text}</text></revision></page>\n"
)


def site_of(path: Path) -> Site:
    """Return the wiki of the first record."""
    for place, record in islice(_records(path), 1):
        wiki, code = _of(record, "is_part_of"), str(_of(record, "in_language").get("identifier") or "en")
        if not isinstance(record.get("name"), str) or not wiki:
            raise InputError(
                f"{place}: has no name and is_part_of, so it is not a snapshot of Wikimedia Enterprise. Check the path."
            )
        base = str(wiki.get("url") or "").rstrip("/")
        return Site(
            str(wiki.get("name") or wiki.get("identifier") or ""),
            str(wiki.get("identifier") or ""),
            code,
            f"{base}/wiki/Main_Page" if base else "",
            "wiktionary" not in str(wiki.get("identifier")),
            dict(language(code).namespaces),
        )
    raise InputError(f"{path}: has no records. Download it again.")


def pages(path: Path, size: int) -> Iterator[tuple[int, int, bytes]]:
    """Yield the XML of the pages, about `size` bytes at a time, with the place of each part."""
    parts: list[bytes] = []
    begin = at = 0
    for place, record in _records(path):
        parts.append(_xml(record, place).encode("utf-8", "replace"))
        at += len(parts[-1])
        if at - begin >= size:
            yield begin, at, b"".join(parts)
            parts, begin = [], at
    if parts:
        yield begin, at, b"".join(parts)


def _records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the records of all files of an archive, with their places."""
    with open_compressed(path) as stream:
        for name, lines in _files(path, stream):
            for number, record in json_objects(whole_lines(lines, name), name):
                yield f"{name}: line {number}", record


def _files(path: Path, stream: IO[bytes]) -> Iterator[tuple[Path, IO[bytes]]]:
    archive = TarReader(stream, path, skips=True)
    while entry := archive.next():
        if entry.name.endswith(".ndjson"):
            yield path / entry.name, archive.open()


def _xml(record: dict[str, Any], place: str) -> str:
    name, text = record.get("name"), _of(record, "article_body").get("wikitext")
    if not isinstance(name, str) or not isinstance(text, str):
        raise InputError(f"{place}: a record lacks name or article_body.wikitext. Download it again.")
    about = {
        "title": escape(name), "namespace": _number(_of(record, "namespace")),
        "revision": _number(_of(record, "version")), "time": escape(str(record.get("date_modified") or "")),
    }  # fmt: skip
    found = [_PAGE.format(**about, id=_number(record), redirect="", text=escape(text, quote=False))]
    target = f'<redirect title="{about["title"]}" />'
    for each in record.get("redirects") or ():
        if isinstance(each, dict) and isinstance(each.get("name"), str):
            redirect = {**about, "title": escape(each["name"].replace("_", " "))}
            found.append(_PAGE.format(**redirect, id=0, redirect=target, text=""))
    return "".join(found)


def _of(record: dict[str, Any], name: str) -> dict[str, Any]:
    found = record.get(name)
    return found if isinstance(found, dict) else {}


def _number(record: dict[str, Any]) -> int:
    found = record.get("identifier")
    return found if isinstance(found, int) and found >= 0 else 0
