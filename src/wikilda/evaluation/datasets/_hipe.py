"""HIPE-2022's TSV: one token per line, mentions as B and I of the literal coarse tags, entities as Wikidata items."""

import re
from collections.abc import Iterator
from pathlib import Path

from wikilda._core.errors import InputError
from wikilda.evaluation.gold import GoldDocument

_NAME = re.compile(r"#\s*(?:[\w-]+:)?document_id\s*=\s*(.*\S)")
_TAG, _ITEM, _LAYOUT = "NE-COARSE-LIT", "NEL-LIT", "MISC"
_BREAKS = {"EndOfLine", "EndOfSentence"}
_SPLITS = ("train", "dev", "test")

Columns = dict[str, int]


def is_hipe(head: str) -> bool:
    """Whether the beginning of a file is HIPE's: the header names its columns."""
    header = next((line for line in head.split("\n") if line and not line.startswith("#")), "")
    return {"TOKEN", _TAG, _ITEM} <= set(header.rstrip("\r").split("\t"))


def read_hipe(path: Path, _complaints: list[str]) -> Iterator[GoldDocument]:
    """Read documents, joining tokens by MISC (NoSpaceAfter, EndOfLine). NIL, `_` or an empty item is NIL."""
    split = next((each for each in _SPLITS if re.search(rf"\b{each}\b", path.name.replace("_", "-"))), "test")
    draft: _Draft | None = None
    columns: Columns = {}
    for number, line in enumerate(path.read_text("utf-8-sig").split("\n"), 1):
        where = f"{path}: line {number}"
        named = _NAME.match(line)
        if named:
            if draft:
                yield draft.document(split)
            draft = _Draft(named.group(1))
        elif not columns and line and not line.startswith("#"):
            columns = _columns(line, where)
        elif line and not line.startswith("#"):
            draft = draft or _Draft(path.stem)  # text before the first name
            draft.add(line.split("\t"), columns, where)
    if draft:
        yield draft.document(split)


def _columns(header: str, where: str) -> Columns:
    columns = {name: at for at, name in enumerate(header.split("\t"))}
    for name in ("TOKEN", _TAG, _ITEM):
        if name not in columns:
            raise InputError(
                f"{where}: the header has no column {name}, so it is not in the format of HIPE-2022. "
                "Choose another --format."
            )
    return columns


class _Draft:
    """A document under construction."""

    def __init__(self, name: str) -> None:
        self.name, self.text, self.space = name, "", ""
        self.spans: list[tuple[int, int]] = []
        self.gold: list[tuple[str, ...]] = []
        self.open = False

    def add(self, fields: list[str], columns: Columns, where: str) -> None:
        """Add a token."""
        if len(fields) <= max(columns["TOKEN"], columns[_TAG], columns[_ITEM]):
            raise InputError(f"{where}: has {len(fields)} columns; the header has {len(columns)}. Correct the line.")
        tag, layout = fields[columns[_TAG]], fields[columns[_LAYOUT]] if len(fields) > columns.get(_LAYOUT, 99) else ""
        if tag[:1] not in ("B", "I", "O", "_", ""):
            raise InputError(f"{where}: the tag is {tag!r}. Write B-…, I-… or O.")
        start = len(self.text) + len(self.space)
        self.text += self.space + fields[columns["TOKEN"]]
        if tag.startswith("B") or (tag.startswith("I") and not self.open):
            self.spans.append((start, len(self.text)))
            self.gold.append(_names(fields[columns[_ITEM]]))
        elif tag.startswith("I"):
            self.spans[-1] = (self.spans[-1][0], len(self.text))
        self.open = tag[:1] in ("B", "I")
        marks = set(layout.split("|"))
        self.space = "\n" if marks & _BREAKS else "" if "NoSpaceAfter" in marks else " "

    def document(self, split: str) -> GoldDocument:
        """Return the document."""
        return GoldDocument(self.text, self.spans, self.name, self.gold, split)


def _names(item: str) -> tuple[str, ...]:
    first = item.split("|")[0]  # systems may rank several items
    return () if first in ("NIL", "_", "null", "") else (first,)
