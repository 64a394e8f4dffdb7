"""R, against dense matrices."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.urn import reference
from tests.urn.worlds import GRAPHS, SOME_TOPICS, graph
from wikilda.urn._relatedness import neighbours_of, relations, rows_of


def related(
    out_links: list[set[int]], topics: list[int], links: float = 1.0, shared: float = 0.8, hub: int = 10_000
) -> NDArray[np.float32]:
    whole, chosen = graph(out_links), np.array(topics, np.uint32)
    made = relations(whole, chosen, neighbours_of(whole, chosen, hub, -1), links, shared)
    return rows_of(made, np.arange(len(topics)))


@given(GRAPHS, SOME_TOPICS, st.sampled_from([(1.0, 0.8), (0.0, 1.0), (2.0, 0.0), (0.0, 0.0)]))
def test_dense_matrices_say_the_same(
    out_links: list[set[int]], topics: list[int], settings: tuple[float, float]
) -> None:
    found = related(out_links, topics, *settings)
    np.testing.assert_allclose(found, reference.relatedness(out_links, topics, *settings), rtol=1e-5, atol=1e-6)


@given(GRAPHS, SOME_TOPICS, st.integers(1, 12))
def test_it_is_symmetric_with_thinned_hubs(out_links: list[set[int]], topics: list[int], hub: int) -> None:
    found = related(out_links, topics, hub=hub)
    assert np.isfinite(found).all()
    assert (found >= 0).all()
    assert (found == found.T).all()
    assert not found.diagonal().any()


def test_a_link_with_a_hub_counts_though_its_list_is_thinned() -> None:
    out_links: list[set[int]] = [{100} for _ in range(100)] + [set()]
    found = related(out_links, [3, 100], shared=0.0, hub=10)
    assert found[0, 1] == found[1, 0] > 0


def test_topics_without_links_are_not_related() -> None:
    assert not related([set() for _ in range(5)], [0, 2, 4]).any()
    assert related([set()], [0]).shape == (1, 1)


def test_a_neighbour_of_many_says_little() -> None:
    few: list[set[int]] = [{2}, {2}, set(), set()]
    many = [*few[:3], *({2} for _ in range(200))]
    assert 0 < related(many, [0, 1])[0, 1] < related(few, [0, 1])[0, 1]


def test_a_larger_graph() -> None:
    rng = np.random.default_rng(5)
    size = 60
    out_links = [set(np.flatnonzero(rng.random(size) < 0.1).tolist()) - {topic} for topic in range(size)]
    topics = list(range(0, size, 2))
    np.testing.assert_allclose(
        related(out_links, topics), reference.relatedness(out_links, topics, 1.0, 0.8), rtol=1e-5, atol=1e-6
    )
