"""AIDA-CoNLL in the format of AIDA-YAGO2-dataset.tsv: one token per line, mentions as B and I with their entity."""

import re
from collections.abc import Iterator
from pathlib import Path

from wikilda._core.errors import InputError
from wikilda.evaluation.gold import GoldDocument

_START = re.compile(r"-DOCSTART- \((.*)\)")
_NIL = "--NME--"


def is_aida(head: str) -> bool:
    """Whether the beginning of a file is AIDA's."""
    return head.startswith("-DOCSTART-")


def read_aida(path: Path, _complaints: list[str]) -> Iterator[GoldDocument]:
    """Read documents, joining tokens by spaces and sentences by line breaks. Names have the split (947testa)."""
    name: str | None = None
    tokens: list[list[str]] = []
    for number, line in enumerate(path.read_text("utf-8-sig").split("\n"), 1):
        start = _START.match(line)
        if start:
            if name is not None:
                yield _document(name, tokens)
            name, tokens = start.group(1), []
        elif not line.strip():
            tokens.append([])  # the end of a sentence
        else:
            tokens.append(_fields(line, f"{path}: line {number}", tokens, begun=name is not None))
    if name is None:
        raise InputError(
            f"{path}: has no -DOCSTART- line, so it is not in the format of AIDA-YAGO2-dataset.tsv. "
            "Choose another --format."
        )
    yield _document(name, tokens)


def _fields(line: str, where: str, before: list[list[str]], *, begun: bool) -> list[str]:
    fields = line.split("\t")
    tag = fields[1] if len(fields) > 1 else "O"
    if not begun:
        raise InputError(f"{where}: is before the first -DOCSTART- line. Remove the line.")
    if tag not in ("B", "I", "O", ""):
        raise InputError(f"{where}: the second column is {tag!r}. Write B, I or nothing.")
    last = next((each for each in reversed(before) if each), [])
    if tag == "I" and last[1:2] not in (["B"], ["I"]):
        raise InputError(f"{where}: a mention continues (I) that has not begun (B). Write B for its first token.")
    if tag == "B" and len(fields) < 4:
        raise InputError(f"{where}: a mention (B) has too few columns. Write token, B, mention, entity.")
    return fields


def _document(name: str, tokens: list[list[str]]) -> GoldDocument:
    text = ""
    spans: list[tuple[int, int]] = []
    gold: list[tuple[str, ...]] = []
    for fields in tokens:
        if not fields:
            text = text.rstrip() + "\n"
            continue
        tag = fields[1] if len(fields) > 1 else "O"
        if tag == "I":  # some mentions continue in the next sentence: headlines that were cut
            text = text.rstrip()
        text = text + fields[0] if text[-1:] in ("", "\n") else f"{text} {fields[0]}"
        start = len(text) - len(fields[0])
        if tag == "B":
            spans.append((start, len(text)))
            gold.append(() if fields[3] == _NIL else tuple(each for each in fields[3:5] if each))
        elif tag == "I":
            spans[-1] = (spans[-1][0], len(text))
    split = next((each for each in ("testa", "testb") if each in name.split(" ")[0]), "train")
    return GoldDocument(text.rstrip(), spans, name, gold, split)
