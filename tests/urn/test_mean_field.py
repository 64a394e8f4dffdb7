"""Mean-field inference against the naive reference."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.urn.reference import Dense, Found, MeanField, Mention
from tests.urn.worlds import random_document
from wikilda.urn._coreference import Parents
from wikilda.urn._mean_field import Mentions, Posterior, Rules, mean_field
from wikilda.urn._relatedness import Relations


def dense_relations(related: Dense) -> Relations:
    """R whose rows are those of a matrix: every entry is the weight of a page that only one topic has, of another."""
    size = len(related)
    pages = np.arange(size, size + size**2, dtype=np.int32)
    starts = np.append(np.zeros(size, np.int64), np.arange(size**2 + 1))
    weights = np.append(np.zeros(size), related.ravel())
    members = np.tile(np.arange(size, dtype=np.int32), size)
    return Relations(np.ones(size), np.arange(size + 1) * size, pages, starts, members, weights, np.zeros(1))


def infer(naive: MeanField, tolerance: float = 1e-3) -> Posterior:
    """What the kernel finds."""
    mentions = naive.mentions
    offsets = np.concatenate(([0], np.cumsum([len(each.topics) for each in mentions]))).astype(np.int64)
    names = {name: number for number, name in enumerate(dict.fromkeys(each.name for each in mentions))}
    parents = [parent for each in mentions for parent in each.parents]
    bounds = np.concatenate(([0], np.cumsum([len(each.parents) for each in mentions]))).astype(np.int64)
    given = Mentions(
        offsets, np.array([k for each in mentions for k in each.topics], np.int32),
        np.array([score for each in mentions for score in each.scores], np.float64),
        np.array([each.place for each in mentions], np.int64),
        np.array([names[each.name] for each in mentions], np.int64),
        np.array([each.nil for each in mentions], np.float64),
        np.array([value for each in mentions for value in each.against], np.float64),
        Parents(bounds, np.array([each[0] for each in parents], np.int64),
                np.array([each[1] for each in parents], np.float64),
                np.array([each[2] for each in parents], np.bool_)),
    )  # fmt: skip
    rules = Rules(
        naive.alone, naive.repeats, naive.near, naive.reach, naive.coreference, naive.graph, naive.nil_parents,
        naive.nil_same, naive.nil_level, naive.nil_fit, naive.nil_mentions, naive.usual_fit,
    )  # fmt: skip
    return mean_field(given, dense_relations(naive.related), rules, tolerance)


def agree(found: Posterior, expected: Found) -> None:
    assert found.shares == pytest.approx([share for row in expected.shares for share in row], abs=1e-6)
    assert found.nil == pytest.approx(expected.nil, abs=1e-6)
    assert found.content == pytest.approx([each for row in expected.content for each in row], rel=1e-5)
    assert found.features == pytest.approx(np.array(expected.features).reshape(-1, 5), abs=1e-5)


@given(
    st.integers(0, 10**6),
    st.sampled_from(
        [{}, {"near": 0.0}, {"repeats": 0.0}, {"reach": 0.5}, {"reach": 1000.0}, {"alone": 5.0}, {"graph": 0.0},
         {"coreference": 9.0}, {"nil_level": 0.0}]
    ),
)  # fmt: skip
def test_the_kernel_does_what_the_definition_says(seed: int, changes: dict[str, float]) -> None:
    naive = replace(random_document(seed), **changes)
    agree(infer(naive), naive.run())


@given(st.integers(0, 10**6))
def test_terms_sum_to_the_log_posterior(seed: int) -> None:
    """The log odds of two candidates are the differences of their scores and of the urn's content, exactly."""
    naive = random_document(seed)
    found, at = infer(naive), 0
    for each in naive.mentions:
        span = slice(at, at + len(each.topics))
        logs = np.array(each.scores) + naive.graph * np.log(found.content[span])
        if len(logs):
            assert np.log(found.shares[span]) == pytest.approx(logs - np.logaddexp.reduce(logs), abs=1e-6)
        at = span.stop


def test_related_topics_are_inferred_together() -> None:
    related: Dense = np.zeros((4, 4))
    related[0, 2] = related[2, 0] = 1.0
    naive = MeanField(
        [Mention([0, 1], [0.0, 0.1], 0, -9.0, [0.0, 0.0], 0), Mention([2, 3], [0.0, 0.1], 5, -9.0, [0.0, 0.0], 1)],
        related,
    )
    found = infer(naive)
    assert found.shares[0] > 0.9
    assert found.shares[2] > 0.9


def test_an_unknown_longer_name_makes_a_surname_unknown() -> None:
    related: Dense = np.zeros((1, 1))
    parent = Mention([], [], 0, name=0)
    child = Mention([0], [0.0], 9, -1.0, [0.0], name=1, parents=[(0, 1.0, True)])
    stranger = replace(child, parents=[(0, 1.0, False)])
    surname, given_name = (
        infer(MeanField([parent, each], related, nil_parents=3.0)).nil[1] for each in (child, stranger)
    )
    assert surname > given_name + 0.3


def test_nothing_to_infer() -> None:
    assert len(infer(MeanField([], np.zeros((0, 0)))).nil) == 0
    alone = infer(MeanField([Mention([0], [0.0], 4, -3.0, [0.0])], np.zeros((1, 1))))
    assert alone.shares.tolist() == [1.0]
    assert infer(MeanField([Mention([], [], 4)], np.zeros((1, 1)))).nil.tolist() == [1.0]
