"""Candidates are ranked as a plain sort ranks them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikilda.linking._ranking import Rows, best_candidates

CANDIDATES = st.dictionaries(st.integers(0, 12), st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=8)


@given(st.lists(CANDIDATES, min_size=1, max_size=4), st.integers(1, 10))
def test_the_best_candidates_are_those_of_a_sort(mentions: list[dict[int, tuple[int, int]]], most: int) -> None:
    topics = np.array([topic for row in mentions for topic in row], np.uint32)
    chances, priors = (
        np.array([each[at] for row in mentions for each in row.values()], np.float64) for at in range(2)
    )  # fmt: skip
    best = best_candidates(Rows(np.cumsum([0, *map(len, mentions)]), topics, chances, priors), most)
    for at, row in enumerate(mentions):
        order = sorted(row, key=lambda topic: (-row[topic][0], -row[topic][1], topic))[:most]
        total = max(sum(chance for chance, _ in row.values()), 1e-300)
        kept = best.topics[at] >= 0
        assert best.topics[at][kept].tolist() == order
        assert best.probabilities[at][kept].tolist() == [row[topic][0] / total for topic in order]
        assert best.priors[at][kept].tolist() == [row[topic][1] for topic in order]


@given(st.lists(CANDIDATES, min_size=1, max_size=4), st.data())
def test_some_candidates_stay_with_their_mentions(
    mentions: list[dict[int, tuple[int, int]]], data: st.DataObject
) -> None:
    topics = [topic for row in mentions for topic in row]
    allowed = data.draw(st.lists(st.booleans(), min_size=len(topics), max_size=len(topics)))
    numbers = np.arange(len(topics), dtype=np.float64)
    rows = Rows(np.cumsum([0, *map(len, mentions)]), np.array(topics, np.uint32), numbers, -numbers)
    some = rows.some(np.array(allowed, np.bool_))
    flags = iter(allowed)
    for at, row in enumerate(mentions):
        wanted = [topic for topic in row if next(flags)]
        assert some.topics[some.offsets[at] : some.offsets[at + 1]].tolist() == wanted
    assert some.posterior == pytest.approx(-some.priors)
