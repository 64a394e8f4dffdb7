"""The WNED sets (MSNBC, AQUAINT, ACE2004, …): annotations in XML, and a folder `RawText` with the documents.

Either `SET.xml` next to `RawText/`, as in GERBIL and WNED, or the sets' first form: one file per document in
`Problems/`, next to `RawTexts…/`.
"""

import html
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from wikilda._core.errors import InputError
from wikilda.evaluation.gold import GoldDocument, place

Annotation = tuple[int, int, str, str]  # start, end, string, title
_NIL = ("", "NIL", "*null*", "none", "---")
_FIRST_FORM = "ReferenceProblem"


def is_wned(head: str) -> bool:
    """Whether the beginning of a file is one of these sets."""
    return head.startswith("<") and (f"<{_FIRST_FORM}>" in head or ("<document" in head and "docName" in head))


def read_wned(path: Path, complaints: list[str]) -> Iterator[GoldDocument]:
    """Read documents in the order of the XML file. Other documents of the folder are not gold."""
    data = path.read_bytes()
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise InputError(f"{path}: has a DOCTYPE, which these sets do not have. Remove it.")
    try:
        root = ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        raise InputError(f"{path}: is not valid XML ({error}). Correct the file.") from None
    if root.tag == _FIRST_FORM:
        name = (root.findtext("ReferenceFileName") or "").strip()
        fields = ("SurfaceForm", "ChosenAnnotation", "Offset", "Length")
        found = [_annotation(each, fields, f"{path}: {name}") for each in root.iter("ReferenceInstance")]
        yield _document(path, name, found, complaints)
        return
    for document in root.iter("document"):
        name = (document.get("docName") or "").strip()
        fields = ("mention", "wikiName", "offset", "length")
        found = [_annotation(each, fields, f"{path}: {name}") for each in document.iter("annotation")]
        yield _document(path, name, found, complaints)


def _document(path: Path, name: str, annotations: list[Annotation], complaints: list[str]) -> GoldDocument:
    text = _read(_text_file(path, name), annotations)
    found = []
    for start, end, surface, title in annotations:
        span = place(text, start, end, surface)
        if span is None:
            complaints.append(f"{path}: {name}: the mention {surface!r} is not at {start} in the text, nor near.")
        else:
            found.append((span, () if title in _NIL else (title,)))
    found.sort()
    return GoldDocument(text, [span for span, _ in found], name, [names for _, names in found], "test")


def _text_file(path: Path, name: str) -> Path:
    """Find the document's text in a folder RawText next to the file or next to its folder."""
    beside = [folder for place in (path.parent, path.parent.resolve().parent) for folder in place.glob("RawText*")]
    for folder in sorted(beside):
        if name and Path(name).name == name and (folder / name).is_file():
            return folder / name
    raise InputError(
        f"{path}: its document {name!r} is not in {path.parent}/RawText. Put the folder RawText beside it."
    )


def _annotation(element: ElementTree.Element, fields: tuple[str, str, str, str], where: str) -> Annotation:
    surface, title, offset, length = ((element.findtext(field) or "").strip() for field in fields)
    surface = html.unescape(surface)
    if not (offset.isdecimal() and length.isdecimal()):
        raise InputError(f"{where}: the annotation {surface!r} has no offset and length that are numbers. Correct it.")
    return int(offset), int(offset) + int(length), surface, title.strip('"')


def _read(file: Path, annotations: list[Annotation]) -> str:
    """Read the text with the line ends that offsets were counted with."""
    data = file.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
    variants = (text, text.replace("\r\n", "\n"))
    return max(variants, key=lambda each: sum(each[start:end] == surface for start, end, surface, _ in annotations))
