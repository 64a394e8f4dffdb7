"""E, against cosines of dense vectors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.urn import reference
from tests.urn.reference import Row
from tests.urn.worlds import GRAPHS, ROWS, SOME_TOPICS, TOPICS, graph, parameters, reverse
from wikilda.model.writer import word_norms
from wikilda.urn._relatedness import neighbours_of
from wikilda.urn._word_evidence import Scratch, WordTable, word_evidence


def evidence_of(
    words: list[int], rows: list[Row], out_links: list[set[int]], topics: list[int], overlap: float
) -> list[float]:
    distinct, counts = np.unique(np.array(words, np.int64), return_counts=True)
    table, chosen = parameters(rows), np.array(topics, np.uint32)
    scratch, totals = Scratch.of(TOPICS), np.zeros(len(rows), np.float64)
    near = neighbours_of(graph(out_links), chosen, 10_000, -1)
    whole = WordTable(table, totals, word_norms(table, TOPICS))
    found = word_evidence(distinct, counts, whole, chosen, near, overlap, scratch)
    assert not scratch.values.any()
    assert not scratch.marks.any()
    assert word_evidence(distinct, counts, whole, chosen, near, overlap, scratch).tolist() == found.tolist()
    return found.tolist()


@given(ROWS)
def test_lengths(rows: list[Row]) -> None:
    found = word_norms(parameters(rows), TOPICS)
    np.testing.assert_allclose(found, reference.lengths(rows, TOPICS), rtol=1e-6)


def test_lengths_of_a_table_that_is_read_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    rows = [[(k, float(value)) for k, value in enumerate(rng.random(TOPICS)) if value > 0.5] for _ in range(40)]
    whole = word_norms(parameters(rows), TOPICS)
    pieces = [(0, 7), (7, 8), (8, 40)]
    monkeypatch.setattr("wikilda.lda.expected_phi.chunks", lambda offsets: pieces)
    np.testing.assert_allclose(word_norms(parameters(rows), TOPICS), whole, rtol=1e-6)


@given(ROWS, GRAPHS, SOME_TOPICS, st.sampled_from([0.05, 1.0]), st.data())
def test_evidence_is_the_mean_cosine_of_a_topic_and_its_neighbours(
    rows: list[Row], out_links: list[set[int]], topics: list[int], overlap: float, data: st.DataObject
) -> None:
    words = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=12))
    in_links = reverse(out_links)
    near = {topic: reference.neighbours(out_links, in_links, topic, 10_000) for topic in topics}
    expected = reference.evidence(words, rows, near, TOPICS, overlap)
    assert evidence_of(words, rows, out_links, topics, overlap) == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_a_document_that_is_the_article() -> None:
    rows: list[Row] = [[(0, 2.0)], [(0, 5.0)], [(1, 1.0)]]
    nothing: list[set[int]] = [set() for _ in range(TOPICS)]
    same, other = evidence_of([0, 1], rows, nothing, [0, 1], 1.0)
    assert same == pytest.approx(1 / np.sqrt(2.0))  # a cosine of 1 without neighbours: 1/√(1 + overlap)
    assert other == 0


def test_no_words_say_nothing() -> None:
    assert evidence_of([], [[(0, 1.0)]], [set() for _ in range(TOPICS)], [0, 1], 0.05) == [0, 0]
