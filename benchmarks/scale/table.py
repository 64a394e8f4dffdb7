"""Results of several sizes as the tables of docs/experiments/scale.md, with the power at which each row grows."""

import math
from itertools import pairwise

from benchmarks.scale.steps import Row

_SHOWN = {
    "mentions": "mention strings",
    "words": "words",
    "mention parameters": "(mention, topic) parameters",
    "word parameters": "(word, topic) parameters",
    "links between topics": "distinct links",
    "generate s": "**generate** the tables, s",
    "generate: disk MB": "… disk MB",
    "build s": "**build**, s",
    "build CPU s": "… CPU s",
    "build: anonymous MB": "… anonymous MB",
    "build: disk at the peak MB": "… everything on disk at the peak, MB",
    "knowledge MB": "… knowledge MB",
    "init s": "**init**, s",
    "weights s": "**weights**, made once a model, s",
    "model with weights MB": "… model with weights MB",
    "open s": "**open** the model, s",
    "start: Python s": "**first answer** of a new process, Python, s",
    "start: command s": "… `wikilda link`, s",
    "start: command s, to the end": "… to the end of the process, s",
    "start: cold command s, median": "… cold: nothing in the file cache, s",
    "start: anonymous MB": "… anonymous MB",
    "one: resident MB": "… resident MB (mapped files)",
    "p50 ms": "**link** a document: median, ms",
    "p99 ms": "… 99th percentile, ms",
    "documents/s, 1 thread": "… documents a second, 1 thread",
    "documents/s, 2 threads": "… documents a second, 2 threads",
    "many: anonymous MB": "… anonymous MB after 1,500 documents",
    "many: resident MB": "… resident MB (mapped files)",
    "work: entries of words' rows": "work: entries of words' rows, mean",
    "work: candidates": "work: candidates of all mentions, mean",
    "work: links to candidates": "work: links to candidates, mean",
    "corpus s": "**encode** the documents, s",
    "train: documents": "**train**: documents",
    "train: documents/s": "… documents a second, 2 workers",
    "train: sampling CPU s": "… sampling, CPU s",
    "train: joining CPU s": "… forming shards, CPU s",
    "train: merging CPU s": "… merging, CPU s",
    "train: joins beside sampling %": "… joins (the last two) beside sampling, %",
    "train: sampling CPU ms a document": "… sampling a document, CPU ms",
    "train: largest worker, anonymous MB": "… anonymous MB of the largest worker",
    "train: largest worker, resident MB": "… resident MB of the largest worker",
    "train: parent, anonymous MB": "… anonymous MB of the parent",
    "train: anonymous MB": "… anonymous MB of all three",
    "disk of all, MB": "disk of all, MB",
}

_ACCURACY = {
    "accuracy: prior %": "prior",
    "accuracy: TagMe* %": "TagMe\\*",
    "accuracy: sampler %": "the paper's sampler (`lda`)",
    "accuracy: linker %": "the linker (`urn`)",
    "trained, accuracy: linker %": "… after one iteration of training",
}

# Of all documents that were trained on: where their number differs, so do these, and there is nothing to compare.
_OF_ALL = (
    "corpus s", "corpus CPU s", "train: documents", "train: tokens", "train: sampling CPU s", "train: joining CPU s",
    "train: joins beside sampling %",
)  # fmt: skip


def exponents(rows: list[Row], name: str) -> list[float]:
    """From size to size, the power of the number of topics with which `name` grows: 1 is in proportion."""
    return [
        math.log(after[name] / before[name]) / math.log(after["topics"] / before["topics"])
        for before, after in pairwise(rows)
        if before.get(name, 0) > 0 and after.get(name, 0) > 0
        if name not in _OF_ALL or before.get("train: documents") == after.get("train: documents")
    ]


def tables(rows: list[Row]) -> dict[str, list[dict[str, str]]]:
    """For the record: what each size takes, and the accuracy of each method, a column a size."""
    parts = {"sizes": _SHOWN, "accuracy": _ACCURACY}
    return {
        title: [_row(rows, name, label) for name, label in shown.items() if any(name in row for row in rows)]
        for title, shown in parts.items()
    }


def _row(rows: list[Row], name: str, label: str) -> dict[str, str]:
    cells = {f"{row['topics']:,.0f} topics": _cell(row[name]) if name in row else "" for row in rows}
    powers = ", ".join(f"{power:.2f}" for power in exponents(rows, name))
    return {" ": label, **cells, **({"exponents": powers} if name in _SHOWN else {})}


def _cell(value: float) -> str:
    whole = value >= 100 or value == int(value)
    return f"{value:,.0f}" if whole else f"{value:,.2f}" if value < 10 else f"{value:,.1f}"
