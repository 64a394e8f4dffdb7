"""Similarity on the link graph, against sets."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikilda.knowledge.graph import Graph, count_common, nearest, similarity


def graph_of(links: set[tuple[int, int]], topics: int) -> Graph:
    def lists(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
        offsets = np.zeros(topics + 1, np.int64)
        for source, _ in pairs:
            offsets[source + 1] += 1
        return np.cumsum(offsets), np.array([target for _, target in sorted(pairs)], np.uint32)

    return Graph(*lists(sorted(links)), *lists([(target, source) for source, target in links]))


def brute(links: set[tuple[int, int]], topics: int, a: int, b: int) -> float:
    """Milne & Witten's measure, word for word."""
    if a == b:
        return 1.0
    first = {source for source, target in links if target == a}
    second = {source for source, target in links if target == b}
    if not first & second:
        return 0.0
    if min(len(first), len(second)) == topics:
        return 1.0
    top = math.log(max(len(first), len(second))) - math.log(len(first & second))
    return max(0.0, 1.0 - top / (math.log(topics) - math.log(min(len(first), len(second)))))


@given(
    st.integers(2, 12).flatmap(
        lambda n: st.tuples(st.just(n), st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))))
    )
)
def test_similarity_is_that_of_the_sets(world: tuple[int, set[tuple[int, int]]]) -> None:
    topics, links = world
    graph = graph_of(links, topics)
    for a in range(topics):
        for b in range(topics):
            assert similarity(graph, a, b) == pytest.approx(brute(links, topics, a, b), abs=1e-12)


@given(st.sets(st.integers(0, 5000), max_size=8), st.sets(st.integers(0, 5000), min_size=200, max_size=400))
def test_galloping_counts_what_two_sets_share(short: set[int], long: set[int]) -> None:
    a, b = (np.array(sorted(each), np.uint32) for each in (short, long))
    assert count_common(a, b) == count_common(b, a) == len(short & long)


def test_nearest_are_the_most_similar() -> None:
    rng = np.random.default_rng(5)
    topics = 40
    links = {(int(a), int(b)) for a, b in rng.integers(0, topics, (300, 2)) if a != b}
    graph = graph_of(links, topics)
    for topic in range(0, topics, 7):
        scored = [(similarity(graph, topic, other), -other) for other in range(topics) if other != topic]
        shared = [(score, -minus) for score, minus in sorted(scored, reverse=True) if score > 0]
        found = [(score, other) for other, score in nearest(graph, topic, topics) if score > 0]
        assert [other for _, other in found] == [other for _, other in shared]
        assert [score for score, _ in found] == pytest.approx([score for score, _ in shared])
