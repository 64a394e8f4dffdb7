"""Similarities in a shard: by the links of the topics that are known when it is formed."""

import numpy as np
import pytest

from wikilda.knowledge import Knowledge
from wikilda.lda.similarity import likeness
from wikilda.training.shard import alike_by


def without_links(graph: object, topics: np.ndarray) -> object:
    """The graph without links to some topics."""
    lengths = np.diff(graph.in_offsets)
    kept = np.repeat(~np.isin(np.arange(len(lengths)), topics), lengths)
    lengths[topics] = 0
    return graph._replace(in_offsets=np.append(0, np.cumsum(lengths)), in_topics=np.array(graph.in_topics)[kept])


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_topics_that_were_gained_are_like_no_other(sample: Knowledge, share: float) -> None:
    generator = np.random.default_rng(1)
    count = len(sample.titles)
    topics = np.sort(generator.choice(count, 60, replace=False)).astype(np.uint32)
    known = topics[generator.random(60) < share]
    found = alike_by(sample.graph, known)(topics)
    wanted = likeness(without_links(sample.graph, np.setdiff1d(topics, known)), topics)
    for mine, theirs in zip(found, wanted, strict=True):
        assert mine.dtype == theirs.dtype
        assert mine.tolist() == theirs.tolist()
    assert (len(found.values) > 0) == (share > 0)
