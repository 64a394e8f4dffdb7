"""Write a model in parts, with bounded memory."""

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import njit
from wikilda.knowledge import Knowledge
from wikilda.knowledge.context_counts import CONTEXTS, PARTS, ContextCounts
from wikilda.model.model import MENTIONS, NIL, WEIGHTS, WORDS, Model, NilCounts, Parameters
from wikilda.model.settings import ModelSettings
from wikilda.model.weights import Weights

_CHUNK = 1 << 20  # parameters handled at a time


class ModelWriter:
    """Writes a model. A context manager that leaves nothing behind after an error.

    With a `base`, the model shares all files that are not replaced.
    """

    def __init__(self, target: str | Path, topics: int, *, overwrite: bool = False, base: Model | None = None) -> None:
        self.topics, self.base = topics, base
        self._writer = Model.writer(target, overwrite=overwrite, base=base)
        self._tables: dict[str, Parameters] = {}

    def __enter__(self) -> "ModelWriter":
        self._writer.__enter__()
        return self

    def __exit__(self, t: type[BaseException] | None, e: BaseException | None, b: TracebackType | None) -> None:
        self._writer.__exit__(t, e, b)

    def table(self, kind: str, offsets: NDArray[np.int64]) -> Parameters:
        """The table of words or mentions, to be filled: topics (sorted within a symbol) and values λ̂."""
        self._writer.array(f"{kind}/offsets", offsets)
        topics = self._writer.create(f"{kind}/topics", np.uint32, int(offsets[-1]))
        values = self._writer.create(f"{kind}/values", np.float32, int(offsets[-1]))
        self._tables[kind] = Parameters(offsets, topics, values)
        return self._tables[kind]

    def adopt(self, kind: str, offsets: NDArray[np.int64], topics: Path, values: Path) -> None:
        """Take a table whose arrays were written elsewhere on this disk."""
        self._writer.array(f"{kind}/offsets", offsets)
        adopted = (self._writer.adopt(f"{kind}/topics", topics), self._writer.adopt(f"{kind}/values", values))
        self._tables[kind] = Parameters(offsets, *adopted)

    def contexts(self, learned: ContextCounts | None) -> None:
        """Write the context counts, if there are any."""
        self._writer.remove(CONTEXTS)
        for name, values in learned.parts().items() if learned else ():
            self._writer.array(f"{CONTEXTS}/{name}", values)

    def share_contexts(self, knowledge: Knowledge) -> None:
        """Take the context counts of the wiki's links, if there are any."""
        for name in PARTS if knowledge.has(f"{CONTEXTS}/offsets") else ():
            self._writer.share(f"{CONTEXTS}/{name}", knowledge.path / f"{CONTEXTS}/{name}.npy")

    def nil(self, learned: NilCounts) -> None:
        """Write the counts of NIL."""
        self._writer.remove(NIL)
        for name, values in learned._asdict().items():
            self._writer.array(f"{NIL}/{name}", values)

    def weights(self, weights: Weights | None) -> None:
        """Write the weights of the evidence. Without them the model uses the pooled weights."""
        self._writer.remove(WEIGHTS)
        if weights is not None:
            self._writer.array(f"{WEIGHTS}/values", np.array(list(weights.to_mapping().values())))

    def derived(self, **fields: Any) -> Model:
        """Finish a model that has the settings, the knowledge and the popularity of its base."""
        base = self.base
        assert base is not None
        self._write_sums()
        replaced = {f"{kind} parameters": int(table.offsets[-1]) for kind, table in self._tables.items()}
        self._tables.clear()
        return self._writer.finish({"summary": base.summary | replaced, **fields})

    def finish(
        self,
        settings: ModelSettings,
        popularity: NDArray[np.float32],
        *,
        iteration: int = 0,
        method: str = "",
        knowledge: str = "",
        knowledge_path: str = "",
        more: dict[str, Any] | None = None,
    ) -> Model:
        """Sum the parameters by topic, write the manifest, and move the model into place."""
        self._write_sums()
        self._writer.array("topics/popularity", popularity.astype(np.float32))
        manifest = {
            "iteration": iteration,
            "method": method,
            "knowledge": {"identity": knowledge, "path": knowledge_path},
            "settings": settings.to_mapping(),
            "summary": {
                "topics": self.topics,
                **{kind: len(table.offsets) - 1 for kind, table in self._tables.items()},
                **{f"{kind} parameters": int(table.offsets[-1]) for kind, table in self._tables.items()},
            },
            **(more or {}),
        }
        self._tables.clear()
        return self._writer.finish(manifest)

    def _write_sums(self) -> None:
        """Write the sums by topic, derived from the tables."""
        for kind in {WORDS, MENTIONS} & self._tables.keys():
            self._writer.array(f"topics/{kind}_sums", sum_by_topic(self._tables[kind], self.topics))
        if WORDS in self._tables:
            self._writer.array("topics/word_norms", word_norms(self._tables[WORDS], self.topics))


def chunks(offsets: NDArray[np.int64], most: int = _CHUNK) -> Iterator[tuple[int, int]]:
    """Yield ranges of symbols with about this many parameters each."""
    first, symbols = 0, len(offsets) - 1
    while first < symbols:
        last = int(np.searchsorted(offsets, offsets[first] + most, side="right")) - 1
        last = min(max(last, first + 1), symbols)
        yield first, last
        first = last


def sum_by_topic(table: Parameters, topics: int) -> NDArray[np.float64]:
    """λ̂_k·: the sum of a topic's parameters."""
    sums = np.zeros(topics, np.float64)
    for start in range(0, len(table.topics), _CHUNK):
        _add(np.asarray(table.topics[start : start + _CHUNK]), np.asarray(table.values[start : start + _CHUNK]), sums)
    return sums


@njit
def _add(topics: NDArray[np.uint32], values: NDArray[np.float32], sums: NDArray[np.float64]) -> None:
    for at in range(len(topics)):
        sums[topics[at]] += np.float64(values[at])


def word_norms(words: Parameters, topics: int) -> NDArray[np.float32]:
    """√Σ_w P(k|w) of each topic: the length of its vector of words before that is made 1."""
    squares = np.zeros(topics, np.float64)
    for first, last in chunks(words.offsets):
        _add_shares(words.between(first, last), squares)
    return np.sqrt(squares).astype(np.float32)


@njit
def _add_shares(rows: Parameters, squares: NDArray[np.float64]) -> None:
    offsets, topics, values = rows
    for row in range(len(offsets) - 1):
        total = 0.0
        for at in range(offsets[row], offsets[row + 1]):
            total += np.float64(values[at])
        if total > 0.0:
            for at in range(offsets[row], offsets[row + 1]):
                squares[topics[at]] += np.float64(values[at]) / total
