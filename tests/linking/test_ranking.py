"""Candidates are ranked as a plain sort ranks them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from wikilda.linking._ranking import Rows, best_candidates
from wikilda.model.model import Parameters

COUNTS = st.dictionaries(st.integers(0, 12), st.integers(1, 4), max_size=8)


def flat(rows: list[dict[int, int]]) -> tuple[np.ndarray, np.ndarray, list[int]]:
    pairs = [sorted(row.items()) for row in rows]
    topics = np.array([topic for row in pairs for topic, _ in row], np.uint32)
    return np.cumsum([0, *map(len, rows)]), topics, [count for row in pairs for _, count in row]


@given(st.lists(st.tuples(COUNTS, COUNTS), min_size=1, max_size=4), st.integers(1, 10))
def test_the_best_candidates_are_those_of_a_sort(
    mentions: list[tuple[dict[int, int], dict[int, int]]], most: int
) -> None:
    offsets, topics, counts = flat([known for known, _ in mentions])
    sampled_offsets, sampled_topics, sweeps = flat([found for _, found in mentions])
    table = Parameters(offsets, topics, np.array(counts, np.float32))
    rows = Rows(sampled_offsets, sampled_topics, np.array(sweeps, np.float64))
    numbers = np.arange(len(mentions))
    best = best_candidates(table, rows, np.append(numbers, -1), np.append(numbers, 0), most)
    for at, (known, found) in enumerate(mentions):
        chances = {topic: found.get(topic, 0) / max(sum(found.values()), 1) for topic in known | found}
        priors = {topic: known.get(topic, 0) / max(sum(known.values()), 1) for topic in known | found}
        order = sorted(chances, key=lambda topic: (-chances[topic], -priors[topic], topic))[:most]
        kept = best.topics[at] >= 0
        assert best.topics[at][kept].tolist() == order
        assert best.probabilities[at][kept].tolist() == [chances[topic] for topic in order]
        assert best.priors[at][kept].tolist() == [priors[topic] for topic in order]
    assert best.topics[-1][best.topics[-1] >= 0].tolist() == _ranked(mentions[0][1])[:most]  # by the posterior alone


def _ranked(found: dict[int, int]) -> list[int]:
    return sorted(found, key=lambda topic: (-found[topic], topic))
