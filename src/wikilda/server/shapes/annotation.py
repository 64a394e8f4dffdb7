"""Spotlight's XML of a text with given mentions: `<annotation text="…"><surfaceForm name="…" offset="…"/>`."""

from xml.parsers import expat

from wikilda.linking import Text
from wikilda.server.problems import Problem, invalid


def read_annotation(data: str) -> Text:
    """The text of an annotation and the spans of its surface forms."""
    texts: list[str] = []
    forms: list[dict[str, str]] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        if name == "annotation":
            texts.append(attributes.get("text", ""))
        elif name == "surfaceForm":
            forms.append(attributes)

    def doctype(*_: object) -> None:
        raise Problem(400, "doctype", "The XML has a DOCTYPE, which no annotation has.")

    parser = expat.ParserCreate("UTF-8")
    parser.StartElementHandler, parser.StartDoctypeDeclHandler = start, doctype
    try:
        parser.Parse(data.encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        what = expat.errors.messages[error.code]
        raise Problem(400, "not_xml", f"line {error.lineno}, column {error.offset}: {what}.") from None
    if len(texts) != 1:
        raise invalid('text: there must be one <annotation text="…"> with <surfaceForm name="…" offset="…"/> in it.')
    return Text(texts[0], [_span(each, texts[0]) for each in forms])


def _span(form: dict[str, str], text: str) -> tuple[int, int]:
    name, offset = form.get("name", ""), form.get("offset", "")
    if not (name and offset.isascii() and offset.isdigit() and len(offset) < 10):
        raise invalid('text: a <surfaceForm> needs a name="…" and an offset="…" in characters.')
    start = int(offset)
    if text[start : start + len(name)] != name:
        raise invalid(f"text: the surface form at offset {start} is not what the text has there.")
    return start, start + len(name)
