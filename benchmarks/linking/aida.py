"""AIDA-CoNLL documents with a title a mention, as the benchmarks of linking take them."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from wikilda.evaluation.datasets import read_dataset
from wikilda.linking import Document, Linked, Linker
from wikilda.sample import texts


class Gold(NamedTuple):
    document: Document
    titles: list[str | None]  # one a mention, None for NIL


def read_aida(path: Path) -> Iterator[Gold]:
    """Documents with their tokens joined by spaces, and their sentences by line breaks."""
    for dataset in read_dataset(path, "aida"):
        for each in dataset.documents:
            yield Gold(each, [names[0] if names else None for names in each.gold])


def documents(path: Path | None) -> list[Document]:
    """Documents with their mentions: those of a file of AIDA, or of the sample."""
    if path is not None:
        return [gold.document for gold in read_aida(path)]
    return [
        Document(each["text"], [(one["start"], one["end"]) for one in each["mentions"]], each["id"]) for each in texts()
    ]


def accuracy(linker: Linker, gold: list[Gold], answers: list[Linked]) -> dict[str, float]:
    """Share of the mentions that have a gold topic in the knowledge: micro, macro, and of the prior."""
    right, prior, known, by_document = 0, 0, 0, []
    for (_, titles), answer in zip(gold, answers, strict=True):
        hits = []
        for title, mention in zip(titles, answer.mentions, strict=True):
            if title is None:
                continue
            wanted = linker.knowledge.find_topic(title)
            named = linker.knowledge.titles[wanted] if wanted >= 0 else title
            best = mention.entity
            hits.append(best is not None and best.title == named)
            top = max(mention.candidates, key=lambda each: each.prior, default=None)
            prior += top is not None and top.entity.title == named
            known += 1
        right += sum(hits)
        if hits:
            by_document.append(sum(hits) / len(hits))
    return {"micro": right / known, "macro": float(np.mean(by_document)), "prior": prior / known, "mentions": known}
