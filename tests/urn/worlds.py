"""Rows and graphs as Hypothesis makes them, and as kernels take them."""

import numpy as np
from hypothesis import strategies as st

from tests.urn.reference import MeanField, Mention, Row
from wikilda.knowledge.graph import Graph
from wikilda.model.model import Parameters

TOPICS = 9

# Few values, so that there are ties; zeros, too.
ROWS = st.lists(
    st.dictionaries(st.integers(0, TOPICS - 1), st.sampled_from([0.0, 0.25, 1.0, 1.0, 3.5]), max_size=TOPICS).map(
        lambda row: sorted(row.items())
    ),
    min_size=1,
    max_size=5,
)
GRAPHS = st.lists(st.sets(st.integers(0, TOPICS - 1)), min_size=TOPICS, max_size=TOPICS).map(
    lambda links: [each - {topic} for topic, each in enumerate(links)]
)
SOME_TOPICS = st.sets(st.integers(0, TOPICS - 1), min_size=1).map(sorted)


def parameters(rows: list[Row]) -> Parameters:
    offsets = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    topics = np.array([topic for row in rows for topic, _ in row], np.uint32)
    return Parameters(offsets, topics, np.array([value for row in rows for _, value in row], np.float32))


def reverse(out_links: list[set[int]]) -> list[set[int]]:
    return [{at for at, links in enumerate(out_links) if topic in links} for topic in range(len(out_links))]


def graph(out_links: list[set[int]]) -> Graph:
    sides = []
    for lists in (out_links, reverse(out_links)):
        sides.append(np.concatenate(([0], np.cumsum([len(each) for each in lists]))).astype(np.int64))
        sides.append(np.array([link for each in lists for link in sorted(each)], np.uint32))
    return Graph(*sides)


def random_document(seed: int, mentions: int = 5, topics: int = 7) -> MeanField:
    random = np.random.default_rng(seed)
    related = random.gamma(0.3, 1.0, (topics, topics)).astype(np.float32).astype(np.float64)
    related = related + related.T
    related[random.random((topics, topics)) < 0.4] = 0.0
    np.fill_diagonal(related, 0.0)
    found, place = [], 0
    for number in range(mentions):
        place += int(random.integers(1, 15))
        size = int(random.integers(0, 4))
        chosen = sorted(random.choice(topics, size, replace=False).tolist())
        parents = [(other, float(random.random()), bool(random.random() < 0.5)) for other in range(number)
                   if random.random() < 0.3]  # fmt: skip
        found.append(Mention(
            chosen, random.normal(0.0, 2.0, size).tolist(), place, float(random.normal(-1.0, 1.0)),
            random.normal(0.0, 1.0, size).tolist(), int(random.integers(0, 3)), parents,
        ))  # fmt: skip
    return MeanField(found, related)
