"""AIDA-CoNLL documents, from the layout of AIDA-YAGO2-dataset.tsv."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from wikilda.linking import Text

_START = re.compile(r"-DOCSTART- \((.*)\)")
NIL = "--NME--"


class Gold(NamedTuple):
    document: Text
    titles: list[str | None]  # one a mention, None for NIL


def read_aida(path: Path) -> Iterator[Gold]:
    """Documents with their tokens joined by spaces, and their sentences by line breaks."""
    name, tokens = "", []
    for line in path.read_text("utf-8").splitlines():
        start = _START.match(line)
        if start:
            if tokens:
                yield _document(name, tokens)
            name, tokens = start.group(1), []
        else:
            tokens.append(line.split("\t"))
    if tokens:
        yield _document(name, tokens)


def _document(name: str, tokens: list[list[str]]) -> Gold:
    text, spans, titles = "", [], []
    for fields in tokens:
        if fields == [""]:
            text += "\n"
            continue
        text += "" if text.endswith("\n") or not text else " "
        start = len(text)
        text += fields[0]
        if len(fields) > 1 and fields[1] == "B":
            spans.append((start, len(text)))
            titles.append(None if fields[3] == NIL else fields[3])
        elif len(fields) > 1:
            spans[-1] = (spans[-1][0], len(text))
    return Gold(Text(text, spans, name), titles)
