"""AIDA-CoNLL in the layout of AIDA-YAGO2-dataset.tsv: a token a line, mentions as B and I with their entity."""

import re
from collections.abc import Iterator
from pathlib import Path

from wikilda.errors import InputError
from wikilda.evaluation.gold import GoldDocument
from wikilda.linking import Text

_START = re.compile(r"-DOCSTART- \((.*)\)")
_NIL = "--NME--"


def is_aida(head: str) -> bool:
    """Whether a file that begins like this is AIDA's."""
    return head.startswith("-DOCSTART-")


def read_aida(path: Path, _complaints: list[str]) -> Iterator[GoldDocument]:
    """Documents with their tokens joined by single spaces; the split is in their names (`947testa`)."""
    name: str | None = None
    tokens: list[list[str]] = []
    for number, line in enumerate(path.read_text("utf-8-sig").splitlines(), 1):
        start = _START.match(line)
        if start:
            if name is not None:
                yield _document(name, tokens)
            name, tokens = start.group(1), []
        elif line.strip():
            tokens.append(_fields(line, f"{path}: line {number}", tokens, begun=name is not None))
    if name is None:
        raise InputError(f"{path}: has no -DOCSTART- line; not a file in the layout of AIDA-YAGO2-dataset.tsv.")
    yield _document(name, tokens)


def _fields(line: str, where: str, before: list[list[str]], *, begun: bool) -> list[str]:
    fields = line.split("\t")
    tag = fields[1] if len(fields) > 1 else "O"
    if not begun:
        raise InputError(f"{where}: is before the first -DOCSTART- line.")
    if tag not in ("B", "I", "O", ""):
        raise InputError(f"{where}: the second column is {tag!r}, not B or I.")
    if tag == "I" and not (before and len(before[-1]) > 1 and before[-1][1] in ("B", "I")):
        raise InputError(f"{where}: a mention goes on (I) that has not begun (B).")
    if tag == "B" and len(fields) < 4:
        raise InputError(f"{where}: a mention (B) needs four columns: token, B, mention, entity.")
    return fields


def _document(name: str, tokens: list[list[str]]) -> GoldDocument:
    parts: list[str] = []
    spans: list[tuple[int, int]] = []
    gold: list[tuple[str, ...]] = []
    size = 0
    for fields in tokens:
        start, size = size, size + len(fields[0])
        if len(fields) > 1 and fields[1] == "B":
            spans.append((start, size))
            gold.append(() if fields[3] == _NIL else tuple(each for each in fields[3:5] if each))
        elif len(fields) > 1 and fields[1] == "I":
            spans[-1] = (spans[-1][0], size)
        parts.append(fields[0])
        size += 1
    split = next((each for each in ("testa", "testb") if each in name.split(" ")[0]), "train")
    return GoldDocument(Text(" ".join(parts), spans, name), gold, split)
