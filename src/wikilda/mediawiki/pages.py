"""Pages from the XML of a dump: title, namespace, redirect, wikitext."""

import re
from collections.abc import Iterator, Mapping
from html import unescape
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np

from wikilda._core.jit import bare, njit
from wikilda.text.tokens import Bytes, byte_array

_PAGE, _PAGE_END = b"<page>", b"</page>"
_HEAD = re.compile(
    rb"<page>\s*<title>([^<]*)</title>\s*(?:<ns>(-?\d{1,9})</ns>\s*)?<id>(\d{1,18})</id>\s*"
    rb"(?:<redirect title=\"([^\"<]*)\"\s*/>\s*)?(?:<restrictions>[^<]*</restrictions>\s*)?<revision>"
)
_TEXT = re.compile(rb"<text\b[^>]*?(/?)>")
_ENTITY = re.compile(rb"&(?:#(x[0-9a-fA-F]{1,6}|[0-9]{1,7})|(?:lt|gt|quot|apos|amp));")
_ID, _NAMESPACE = re.compile(r"[0-9]{1,18}"), re.compile(r"-?[0-9]{1,9}")
_PAGE_NAME = re.compile(rb"\{\{\s*(?:FULL|BASE|SUB)?PAGENAME\s*\}\}", re.IGNORECASE)
_VARIANT = re.compile(rb"-\{(?!\{)(?:([A-Za-z-]+(?:;[A-Za-z-]+)*)\|)?([^{}]*)\}-")
_VARIANT_TEXT = re.compile(rb"\s*(?:[^;:=]*=>)?\s*[a-z]{2,3}(?:-[a-z]+)*\s*:\s*([^;]*)")
_UNSHOWN = (b"H", b"T", b"-")  # flags of rules that only define something
_TEMPLATE = 10  # the namespace in which `{{PAGENAME}}` is the name of the including page
_AMP, _QUOT, _APOS = (np.frombuffer(each, np.uint8) for each in (b"&amp;", b"&quot;", b"&apos;"))
_REVISION = re.compile(rb"\s*<id>(\d{1,18})</id>")
_STAMP = re.compile(rb"<timestamp>(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)Z</")
_MODEL = re.compile(rb"<model>([^<]*)</model>")


class RawPage(NamedTuple):
    """A page of a dump. `redirect` is empty if it is not a redirect; `text` is valid UTF-8.

    `revision` and `stamp` (as yyyymmddhhmmss) are 0 where the dump does not give them; `size` is in bytes of XML.
    """

    title: str
    namespace: int
    id: int
    redirect: str
    text: bytes
    wikitext: bool
    repaired: bool
    revision: int = 0
    stamp: int = 0
    size: int = 0


class BadPage(NamedTuple):
    """An unreadable page: its place in the XML, its probable title, the reason, and its size in bytes."""

    at: int
    title: str
    reason: str
    size: int = 0


def pages_in(xml: bytes, namespaces: Mapping[str, int]) -> Iterator[RawPage | BadPage]:
    """Yield all pages of some XML. An unreadable page does not stop the others.

    A page without `<ns>`, as in exports before 2012, gets its namespace from its title.
    """
    at = xml.find(_PAGE)
    while at >= 0:
        following = xml.find(_PAGE, at + 6)
        end = xml.find(_PAGE_END, at, following if following >= 0 else len(xml))
        if end < 0:
            size = (following if following >= 0 else len(xml)) - at
            yield BadPage(at=at, title=_guess_title(xml[at : at + 2000]), reason="has no </page>", size=size)
        else:
            yield _read_page(xml[at : end + len(_PAGE_END)], at, namespaces)
        at = following


def _read_page(page: bytes, at: int, namespaces: Mapping[str, int]) -> RawPage | BadPage:
    head = _HEAD.match(page)
    begin = page.find(b"<text", head.end()) if head else -1
    opening = _TEXT.match(page, begin) if begin >= 0 else None
    if head is None or opening is None:
        return _read_carefully(page, at, namespaces)
    title, namespace, number, redirect = head.groups()
    text, repaired = b"", not _is_valid(head.group())
    if not opening.group(1):
        finish = page.find(b"<", opening.end())
        if not page.startswith(b"</text>", finish) or page.find(b"<text", finish) >= 0:  # the last of several revisions
            return _read_carefully(page, at, namespaces)
        raw = _unescaped(page[opening.end() : finish])
        text = _valid(raw)
        repaired = repaired or text is not raw
    model = _MODEL.search(page, head.end(), begin)
    name = _words(title)
    place = int(namespace) if namespace is not None else _namespace_of(name, namespaces)
    revision, stamp = _REVISION.match(page, head.end()), _STAMP.search(page, head.end(), begin)
    return RawPage(
        title=name,
        namespace=place,
        id=int(number),
        redirect=_words(redirect or b""),
        text=_named(text, name, place),
        wikitext=model is None or model.group(1) == b"wikitext",
        repaired=repaired,
        revision=int(revision.group(1)) if revision else 0,
        stamp=int(b"".join(stamp.groups())) if stamp else 0,
        size=len(page),
    )


def _read_carefully(page: bytes, at: int, namespaces: Mapping[str, int]) -> RawPage | BadPage:
    """Read a page in an unusual order with an XML parser, which also reports errors."""
    try:
        root = ElementTree.fromstring(_valid(page))
    except ElementTree.ParseError as error:
        return BadPage(at=at, title=_guess_title(page), reason=str(error), size=len(page))
    revisions = root.findall("revision")
    title, number = root.findtext("title"), (root.findtext("id") or "").strip()
    if not title or not _ID.fullmatch(number):
        return BadPage(at=at, title=title or "", reason="has no title or no id", size=len(page))
    redirect = root.find("redirect")
    body = revisions[-1] if revisions else None
    content = (body.findtext("text") if body is not None else None) or ""
    model = (body.findtext("model") if body is not None else None) or "wikitext"
    namespace = (root.findtext("ns") or str(_namespace_of(title, namespaces))).strip()
    if not _NAMESPACE.fullmatch(namespace):
        return BadPage(at=at, title=title, reason=f"has namespace {namespace[:20]!r}", size=len(page))
    target = redirect.get("title", "") if redirect is not None else ""
    repaired = not _is_valid(page)
    text = _named(content.encode(), title, int(namespace))
    revision = (body.findtext("id") if body is not None else None) or ""
    written = (body.findtext("timestamp") if body is not None else None) or ""
    stamp = _STAMP.search(f"<timestamp>{written}</".encode())
    return RawPage(
        title=title,
        namespace=int(namespace),
        id=int(number),
        redirect=target,
        text=text,
        wikitext=model == "wikitext",
        repaired=repaired,
        revision=int(revision) if _ID.fullmatch(revision) else 0,
        stamp=int(b"".join(stamp.groups())) if stamp else 0,
        size=len(page),
    )


def _named(text: bytes, title: str, namespace: int) -> bytes:
    """Replace `{{PAGENAME}}` by the page's name, and choose the first variant of a language."""
    if b"-{" in text:
        text = _VARIANT.sub(_first_variant, text)
    if b"PAGENAME" not in text or namespace == _TEMPLATE:
        return text
    return _PAGE_NAME.sub(title.encode("utf-8", "replace").replace(b"\\", b"\\\\"), text)


def _first_variant(found: "re.Match[bytes]") -> bytes:
    """What `-{zh-hans:…; zh-hant:…}-` shows in its first variant."""
    flags, content = found.groups()
    if flags is not None and any(flag in _UNSHOWN for flag in flags.split(b";")):
        return b""
    first = _VARIANT_TEXT.match(content)
    return bytes(first.group(1).strip() if first else content)


def _namespace_of(title: str, namespaces: Mapping[str, int]) -> int:
    prefix, colon, _ = title.partition(":")
    return namespaces.get(prefix.replace("_", " ").strip().lower(), 0) if colon else 0


def _guess_title(page: bytes) -> str:
    found = re.search(rb"<title>([^<]{0,200})", page)
    return found.group(1).decode("utf-8", "replace") if found else ""


def _words(raw: bytes) -> str:
    return unescape(raw.decode("utf-8", "replace"))


def _unescaped(raw: bytes) -> bytes:
    if b"&" not in raw:
        return raw
    if b"&#" in raw:
        return _ENTITY.sub(lambda found: unescape(found.group().decode()).encode("utf-8", "replace"), raw)
    source = byte_array(raw)  # in place: entities are longer than their characters
    return source[: _unescape(source)].tobytes()


@njit
def _unescape(text: Bytes) -> int:
    """Replace the named entities of XML in place, and return the new length."""
    size = at = 0
    while at < len(text):
        byte, length = text[at], 1
        if byte == 38 and at + 3 < len(text):  # &
            if text[at + 2] == 116 and text[at + 3] == 59 and (text[at + 1] == 108 or text[at + 1] == 103):
                byte, length = np.uint8(60 if text[at + 1] == 108 else 62), 4  # lt gt
            elif _is(text, at, _AMP):
                length = len(_AMP)
            elif _is(text, at, _QUOT):
                byte, length = np.uint8(34), len(_QUOT)
            elif _is(text, at, _APOS):
                byte, length = np.uint8(39), len(_APOS)
        text[size] = byte
        size += 1
        at += length
    return size


@bare
def _is(text: Bytes, at: int, entity: Bytes) -> bool:
    if at + len(entity) > len(text):
        return False
    for place in range(len(entity)):  # noqa: SIM110 (compiled)
        if text[at + place] != entity[place]:
            return False
    return True


def _is_valid(raw: bytes) -> bool:
    if raw.isascii():
        return True
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _valid(raw: bytes) -> bytes:
    """Return valid UTF-8, with bad bytes replaced."""
    return raw if _is_valid(raw) else raw.decode("utf-8", "replace").encode()
