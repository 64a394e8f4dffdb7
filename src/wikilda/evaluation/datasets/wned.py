"""The WNED sets (MSNBC, AQUAINT, ACE2004, …): `SET.xml` with annotations, beside it `RawText/` with the documents."""

import html
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from wikilda.errors import InputError
from wikilda.evaluation.datasets.place import place
from wikilda.evaluation.gold import GoldDocument
from wikilda.linking import Text

Annotation = tuple[int, int, str, str]  # start, end, string, title


def is_wned(head: str) -> bool:
    """Whether a file that begins like this is one of these sets."""
    return head.startswith("<") and "<document" in head and "docName" in head


def read_wned(path: Path, complaints: list[str]) -> Iterator[GoldDocument]:
    """Documents in the order of the XML file; documents of the folder that it does not name are not gold."""
    data = path.read_bytes()
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise InputError(f"{path}: has a DOCTYPE, which these sets do not have; refusing to read it.")
    try:
        root = ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        raise InputError(f"{path}: is not valid XML ({error}).") from None
    for document in root.iter("document"):
        yield _document(path, document, complaints)


def _document(path: Path, document: ElementTree.Element, complaints: list[str]) -> GoldDocument:
    name = document.get("docName") or ""
    file = path.parent / "RawText" / name
    if Path(name).name != name or not file.is_file():
        raise InputError(f"{path}: its document {name!r} is not in {file.parent}. Put the folder RawText beside it.")
    annotations = [_annotation(each, f"{path}: {name}") for each in document.iter("annotation")]
    text = _read(file, annotations)
    found = []
    for start, end, surface, title in annotations:
        span = place(text, start, end, surface)
        if span is None:
            complaints.append(f"{path}: {name}: the mention {surface!r} is not at {start} in the text, nor near.")
        else:
            found.append((span, () if title in ("", "NIL") else (title,)))
    found.sort()
    return GoldDocument(Text(text, [span for span, _ in found], name), [names for _, names in found], "test")


def _annotation(element: ElementTree.Element, where: str) -> Annotation:
    surface = html.unescape(element.findtext("mention") or "")
    title = (element.findtext("wikiName") or "").strip()
    try:
        start, length = int(element.findtext("offset") or ""), int(element.findtext("length") or "")
    except ValueError:
        raise InputError(f"{where}: the annotation {surface!r} has no offset and length that are numbers.") from None
    return start, start + length, surface, title


def _read(file: Path, annotations: list[Annotation]) -> str:
    """The text, with line ends as they were when the offsets were counted."""
    text = file.read_bytes().decode("utf-8-sig", "replace")
    variants = (text, text.replace("\r\n", "\n"))
    return max(variants, key=lambda each: sum(each[start:end] == surface for start, end, surface, _ in annotations))
