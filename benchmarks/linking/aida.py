"""AIDA-CoNLL documents with a title a mention, as the benchmarks of linking take them."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from wikilda.evaluation.datasets import aida
from wikilda.linking import Document


class Gold(NamedTuple):
    document: Document
    titles: list[str | None]  # one a mention, None for NIL


def read_aida(path: Path) -> Iterator[Gold]:
    """Documents with their tokens joined by spaces, and their sentences by line breaks."""
    for each in aida.read_aida(path, []):
        yield Gold(each, [names[0] if names else None for names in each.gold])
