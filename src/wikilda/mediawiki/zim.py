"""ZIM files (Kiwix): the articles as XML of a dump, with wikitext made from their HTML. Needs the extra `zim`."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urljoin, urlsplit

from wikilda._core.errors import InputError
from wikilda.mediawiki.languages import language
from wikilda.mediawiki.site import Site

_DAMAGES = (RuntimeError, ValueError, LookupError, ArithmeticError, MemoryError, OSError)  # exceptions of C++
_LARGEST = 1 << 26  # bytes of HTML; the longest article of a wiki has 10 MB
_HOST = "http://zim/"
_WIKI = re.compile(r"(?:https?://)?([a-z][a-z-]*)\.(wikipedia|wiktionary|wikivoyage|wikiquote|wikibooks|wikinews)\.org")
_NAME = re.compile(r"[^_]+_([a-z]{2,3}(?:-[a-z]+)*)_")
_PAGE = (
    "<page><title>{title}</title><ns>{namespace}</ns><id>0</id>{redirect}"
    "<revision><text>{text}</text></revision></page>\n"
)


def site_of(path: Path) -> Site:
    """Return the wiki of the file."""
    archive = _archive(path)
    with _readable(path, "its metadata"):
        kept = {name: _metadata(archive, name) for name in ("Title", "Name", "Source", "Language")}
    found, named = _WIKI.match(kept["Source"]), _NAME.match(kept["Name"])
    code = found.group(1) if found else named.group(1) if named else kept["Language"].split(",")[0] or "en"
    project = found.group(2) if found else ""
    return Site(
        kept["Title"] or path.stem,
        f"{code.replace('-', '_')}{'wiki' if project == 'wikipedia' else project}" if found else "",
        code,
        f"https://{code}.{project}.org/wiki/Main_Page" if found else "",
        project != "wiktionary",
        dict(language(code).namespaces),
    )


def length(path: Path) -> int:
    """The number of entries."""
    return int(_archive(path).all_entry_count)


def ranges(path: Path, size: int) -> Iterator[tuple[int, int]]:
    """Return ranges of entries with about `size` bytes of HTML."""
    entries = length(path)
    most = max(1, entries * size // (4 * max(path.stat().st_size, 1)))  # HTML is compressed to about a quarter
    yield from ((start, min(start + most, entries)) for start in range(0, entries, most))


def read(path: Path, start: int, end: int) -> bytes:
    """Return the pages of a range of entries as XML of a dump."""
    archive = _archive(path)
    namespaces = site_of(path).namespaces
    old = not archive.has_new_namespace_scheme
    with _readable(path, "its main page"):
        main = archive.main_entry.get_item().path if archive.has_main_entry else None
    parts = []
    for number in range(start, end):
        with _readable(path, f"entry {number}"):
            entry = archive._get_entry_by_id(number)
            parts.append("" if _leads_to(entry, main) else _page(entry, namespaces, old=old))
    return "".join(parts).encode("utf-8", "replace")


def check(path: Path) -> None:
    """Compare the file with the checksum at its end, if it has one."""
    archive = _archive(path)
    with _readable(path, "its checksum"):
        if archive.has_checksum and not archive.check():
            raise ValueError("the file has another")


@contextmanager
def _readable(path: Path, what: str) -> Iterator[None]:
    """Name what is damaged."""
    try:
        yield
    except _DAMAGES as error:
        raise InputError(f"{path}: {what} cannot be read ({error}). Download the file again.") from None


def _leads_to(entry: Any, path: str | None) -> bool:
    """Whether an entry is the page with a path, such as the main page, or a redirect to it."""
    end = entry.get_redirect_entry() if entry.is_redirect else entry
    return bool(end.path == path)


def _page(entry: Any, namespaces: dict[str, int], *, old: bool) -> str:
    title = _title(entry.path, old=old)
    if title is None:
        return ""
    namespace = namespaces.get(title.partition(":")[0].lower(), 0) if ":" in title else 0
    about = {"title": escape(title), "namespace": namespace}
    if entry.is_redirect:
        led = _title(entry.get_redirect_entry().path, old=old)
        redirect = f'<redirect title="{escape(led)}" />' if led else ""
        return _PAGE.format(**about, redirect=redirect, text="") if led else ""
    item = entry.get_item()
    if not item.mimetype.startswith("text/html"):
        return ""
    if item.size > _LARGEST:
        raise ValueError(f"it has {item.size:,} bytes")
    from wikilda.mediawiki.html import wikitext_of

    base = urljoin(_HOST, quote(entry.path))

    def target(address: str) -> str | None:
        if not address or address.startswith("#"):
            return None
        found = urlsplit(urljoin(base, address))
        same = found.scheme == "http" and found.netloc == "zim"
        return _title(unquote(found.path[1:]), old=old) if same else None

    text = wikitext_of(bytes(item.content), target)
    return _PAGE.format(**about, redirect="", text=escape(text, quote=False))


def _title(path: str, *, old: bool) -> str | None:
    """Return the title of an entry. Files before 2021 have articles under `A/`."""
    if old:
        namespace, _, path = path.partition("/")
        if namespace != "A":
            return None
    return path.replace("_", " ").strip() or None


def _metadata(archive: Any, name: str) -> str:
    return bytes(archive.get_metadata(name)).decode("utf-8", "replace") if name in archive.metadata_keys else ""


@lru_cache(maxsize=4)
def _opened(path: Path, _size: int, _time: int) -> Any:
    try:
        import lxml  # noqa: F401 - of the same extra; better missed now than after hours
        from libzim.reader import Archive
    except ModuleNotFoundError as error:
        raise InputError(f"{path}: reading ZIM files needs {error.name}: pip install 'wikilda[zim]'") from None
    try:
        return Archive(path)
    except _DAMAGES as error:
        raise InputError(f"{path}: is not a whole ZIM file ({error}). Download it again.") from None


def _archive(path: Path) -> Any:
    if not path.is_file():
        raise InputError(f"{path}: no such file. Check the path.")
    known = path.stat()
    return _opened(path, known.st_size, known.st_mtime_ns)
