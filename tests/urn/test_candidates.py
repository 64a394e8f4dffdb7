"""What mentions may mean, and the neighbours of that."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.urn import reference
from tests.urn.reference import Row
from tests.urn.worlds import GRAPHS, ROWS, SOME_TOPICS, graph, parameters, reverse
from wikilda.urn._candidates import gather, numbered
from wikilda.urn._relatedness import neighbours_of


def found_of(symbols: list[int], rows: list[Row], most: int) -> list[dict[int, float]]:
    found = numbered(*gather(np.array(symbols, np.int64), parameters(rows), most))
    assert found.topics.tolist() == sorted(set(found.topics.tolist()))
    assert set(found.numbers.tolist()) == set(range(len(found.topics)))
    spans = [slice(found.offsets[at], found.offsets[at + 1]) for at in range(len(symbols))]
    return [
        dict(zip(found.topics[found.numbers[span]].tolist(), found.priors[span].tolist(), strict=True))
        for span in spans
    ]


@given(ROWS, st.integers(1, 10), st.data())
def test_candidates_are_the_largest_of_the_row(rows: list[Row], most: int, data: st.DataObject) -> None:
    symbols = data.draw(st.lists(st.integers(-1, len(rows) - 1), unique=True))
    found = found_of(symbols, rows, most)
    for symbol, row in zip(symbols, found, strict=True):
        expected = reference.candidates(rows[symbol], most) if symbol >= 0 else {}
        assert list(row) == list(expected)
        assert row == pytest.approx(expected)


def test_examples_of_candidates() -> None:
    rows: list[Row] = [[(2, 1.0), (4, 2.0), (7, 1.0)], []]
    assert found_of([0], rows, 64) == [{2: 0.25, 4: 0.5, 7: 0.25}]
    assert found_of([0], rows, 2) == [{2: 0.25, 4: 0.5}]  # the first of equals; P(k|v) is still that of the whole row
    assert found_of([-1, 1, 0], rows, 1) == [{}, {}, {4: 0.5}]
    assert found_of([], rows, 5) == []
    assert found_of([0], [[(0, 0.125), (1, 0.125)]], 1) == [{0: 0.5}]  # shares, however little λ̂ there is


@given(GRAPHS, SOME_TOPICS, st.integers(1, 12))
def test_neighbours_are_those_of_either_direction(out_links: list[set[int]], topics: list[int], hub: int) -> None:
    found = neighbours_of(graph(out_links), np.array(topics, np.uint32), hub, -1)
    in_links = reverse(out_links)
    assert found.offsets[-1] == len(found.topics)
    for at, topic in enumerate(topics):
        own = found.topics[found.offsets[at] : found.offsets[at + 1]].tolist()
        assert own == reference.neighbours(out_links, in_links, topic, hub)
        assert len(own) <= 2 * hub
        assert set(own) <= out_links[topic] | in_links[topic]
        if max(len(out_links[topic]), len(in_links[topic])) <= hub:
            assert set(own) == out_links[topic] | in_links[topic]


def test_neighbours_of_a_hub_are_spread_over_its_list() -> None:
    out_links: list[set[int]] = [set() for _ in range(1001)]
    out_links[1000] = set(range(1000))
    found = neighbours_of(graph(out_links), np.array([1000], np.uint32), 10, -1)
    assert found.topics.tolist() == list(range(0, 1000, 100))
