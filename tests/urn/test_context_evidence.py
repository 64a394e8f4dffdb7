"""The evidence of contexts against its formula: rows of every length, with and without a document's own counts."""

import math
from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from wikilda._core.arrays import offsets_of, table_of
from wikilda.knowledge.context_counts import UNIT, ContextCounts, TopicTypes
from wikilda.text.contexts import Contexts
from wikilda.urn._candidates import Candidates
from wikilda.urn.context_evidence import NOT_DENSE, NOTHING_TAUGHT, Dense, context_evidence, dense_rows
from wikilda.urn.statistics import Taught

WORDS, TOPICS = 900, 60
LENGTHS = (0, 1, 7, 40, 56, 57, 113, 300, 880, WORDS)  # of rows: those with a sixteenth of all words and more are dense


class World:
    """Random counts, contexts, candidates, and what a document has counted itself."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        of_topics = [np.sort(rng.choice(WORDS, rng.integers(0, 6), replace=False)) for _ in range(TOPICS)]
        offsets = offsets_of([len(each) for each in of_topics])
        types = TopicTypes(offsets, np.concatenate(of_topics).astype(np.uint32), np.empty(0, np.uint32))
        words = [np.sort(rng.choice(WORDS, length, replace=False)) for length in LENGTHS]
        size = sum(LENGTHS)
        counts = (rng.exponential(1.0, size) + 1.5).astype(np.float32)
        expected = rng.exponential(1.5, size).astype(np.float32)
        starts, every = offsets_of(LENGTHS), np.concatenate(words).astype(np.uint32)
        sums = np.array([counts[a:b].sum(dtype=np.float64) for a, b in pairwise(starts.tolist())])
        self.symbols = np.arange(100, 100 + 2 * len(LENGTHS), 2).astype(np.uint64)
        totals = np.bincount(every, counts, minlength=WORDS)
        self.known = ContextCounts(
            types, table_of(self.symbols), starts, every, counts, expected, sums, totals, np.empty(0, np.uint64)
        )
        self.mentions = 25
        around = [rng.choice(np.append(self.symbols, 999), rng.integers(0, 6), replace=False) for _ in range(25)]
        self.contexts = Contexts(offsets_of([len(each) for each in around]), np.concatenate(around).astype(np.uint64))
        strings = [np.sort(rng.choice(TOPICS + 2, length, replace=False)) for length in (0, 1, 3, 12, 40, 5)]
        topics = np.unique(np.concatenate(strings)).astype(np.uint32)  # the last two are a caller's own entities
        numbers = np.searchsorted(topics, np.concatenate(strings)).astype(np.int32)
        bounds = offsets_of([len(each) for each in strings])
        self.candidates = Candidates(topics, bounds, numbers, np.ones(len(numbers)), np.ones(len(strings)))
        self.chosen = rng.permutation(25)[:20]
        self.rows = rng.integers(0, len(strings), 20)
        own = [np.sort(rng.choice(TOPICS, rng.integers(0, 4), replace=False)) for _ in range(25)]
        shares = [rng.integers(0, UNIT // 8, sum(len(each) for each in own)).astype(np.uint32) for _ in range(3)]
        self.own = Taught(
            offsets_of([len(each) for each in own]), np.concatenate(own).astype(np.uint32), *shares,
            np.zeros(25, np.uint32),
        )  # fmt: skip

    def found(self, own: Taught, dense: Dense) -> NDArray[np.float64]:
        """The kernel's evidence."""
        known = self.known
        return context_evidence(self.contexts, self.chosen, self.rows, self.candidates, known, known.total, own, dense)

    def wanted(self, own: Taught) -> list[float]:
        """The evidence by the formula."""
        known, types, found = self.known, self.known.types, list[float]()
        mine, chance = defaultdict[tuple[int, int], float](float), defaultdict[tuple[int, int], float](float)
        for mention in range(len(own.offsets) - 1):
            for at in range(own.offsets[mention], own.offsets[mention + 1]):
                words = self.words(int(own.topics[at]))
                for symbol in self.around(mention):
                    for word in words:
                        mine[symbol, word] += own.shares[at] / UNIT / len(words)
                        chance[symbol, word] += own.prior[at] / UNIT / len(words)
        counted = {(c, d): (n, e) for c, row in enumerate(self.symbols.tolist()) for d, n, e in self.row(c)}
        total = known.total
        assert types.offsets[-1]
        for mention, row in zip(self.chosen.tolist(), self.rows.tolist(), strict=True):
            for at in range(self.candidates.offsets[row], self.candidates.offsets[row + 1]):
                topic, logs = int(self.candidates.topics[self.candidates.numbers[at]]), 0.0
                words = self.words(topic)
                for symbol in self.around(mention) if words else []:
                    c = (symbol - 100) // 2
                    if not 0 <= c < len(LENGTHS):
                        continue
                    usual = known.sums[c] - sum(n for (its, _), n in mine.items() if its == symbol)
                    logs_here = []
                    for d in words:
                        n, e = counted.get((c, d), (0.0, 0.0))
                        n, e = max(n - mine[symbol, d], 0.0), max(e - chance[symbol, d], 0.0)
                        usual_here = max(usual, 0.0) * known.totals[d] / total
                        logs_here.append(math.log((n + 0.3) / math.sqrt((usual_here + 0.3) * (e + 0.3))))
                    logs += sum(logs_here) / len(words)
                found.append(logs)
        return found

    def words(self, topic: int) -> list[int]:
        """The type words of a topic."""
        offsets = self.known.types.offsets
        return self.known.types.words[offsets[topic] : offsets[topic + 1]].tolist() if topic < TOPICS else []

    def around(self, mention: int) -> list[int]:
        """The context symbols of a mention."""
        return self.contexts.symbols[self.contexts.offsets[mention] : self.contexts.offsets[mention + 1]].tolist()

    def row(self, c: int) -> list[tuple[int, float, float]]:
        """The row of a context symbol."""
        span = slice(self.known.offsets[c], self.known.offsets[c + 1])
        columns = self.known.words[span], self.known.counts[span], self.known.expected[span]
        return list(zip(*(each.tolist() for each in columns), strict=True))


@pytest.mark.parametrize("seed", range(5))
def test_evidence_is_that_of_the_formula(seed: int) -> None:
    world = World(seed)
    dense = dense_rows(world.known)
    assert (dense.numbers >= 0).tolist() == [length > WORDS / 16 for length in LENGTHS]
    for own in (NOTHING_TAUGHT, world.own):
        found = world.found(own, dense)
        np.testing.assert_allclose(found, world.wanted(own), rtol=1e-9, atol=1e-9)
        assert found.tobytes() == world.found(own, NOT_DENSE).tobytes(), "how rows are read changes nothing"
    assert not np.allclose(world.found(NOTHING_TAUGHT, dense), world.found(world.own, dense))


def test_dense_rows_are_within_a_limit_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(0)
    monkeypatch.setattr("wikilda.urn.context_evidence._MOST_DENSE", 2 * WORDS)
    dense = dense_rows(world.known)
    assert np.flatnonzero(dense.numbers >= 0).tolist() == [8, 9], "the most frequent symbols"
    assert world.found(world.own, dense).tobytes() == world.found(world.own, NOT_DENSE).tobytes()
