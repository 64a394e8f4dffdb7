"""Held-out likelihood, left to right: against the enumerated joint, and 0 where nothing was learned."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.urn.reference import MeanField
from tests.urn.worlds import random_document
from wikilda.documents.encoding import encode
from wikilda.knowledge import Knowledge
from wikilda.linking import Document
from wikilda.model import Model
from wikilda.sample import texts
from wikilda.training.engines.local import LocalEngine
from wikilda.training.learn import empty_counts
from wikilda.training.pipeline import train
from wikilda.training.settings import TrainingPlan, UrnTraining
from wikilda.urn import Urn
from wikilda.urn._coreference import Parents
from wikilda.urn._mean_field import Mentions, Rules
from wikilda.urn.likelihood import HeldOut, left_to_right


def exact(naive: MeanField, logs: list[list[float]], earlier: list[int] | None = None) -> float:
    """P(C_i, C_i+1, … | z_<i), by all assignments."""
    drawn = earlier or []
    if len(drawn) == len(naive.mentions):
        return 1.0
    mention, number = naive.mentions[len(drawn)], len(drawn)
    held = [[float(topic == means) for topic in each.topics]
            for each, means in zip(naive.mentions, drawn, strict=False)]  # fmt: skip
    held += [[0.0] * len(each.topics) for each in naive.mentions[number:]]
    weights = [math.exp(score) * naive.content(held, number, topic) ** naive.graph
               for topic, score in zip(mention.topics, mention.scores, strict=True)]  # fmt: skip
    each = zip(mention.topics, weights, logs[number], strict=True)
    return sum(
        weight / sum(weights) * math.exp(log) * exact(naive, logs, [*drawn, topic]) for topic, weight, log in each
    )


@pytest.mark.parametrize("seed", [0, 1, 4, 5])
def test_the_estimate_is_the_joint_of_two_mentions(seed: int) -> None:
    whole = random_document(seed, mentions=8, topics=4)
    chosen = [replace(each, parents=[]) for each in whole.mentions if each.topics][:2]
    naive = replace(whole, mentions=chosen)
    rng = np.random.default_rng(seed)
    logs = [rng.normal(0.0, 1.5, len(each.topics)).tolist() for each in naive.mentions]
    scores = np.concatenate([each.scores for each in naive.mentions])
    mentions = Mentions(
        np.cumsum([0, *(len(each.topics) for each in naive.mentions)]),
        np.array([topic for each in naive.mentions for topic in each.topics], np.int32),
        scores,
        np.array([each.place for each in naive.mentions], np.int64),
        np.arange(2),
        np.zeros(2),
        np.zeros(len(scores)),
        Parents(np.zeros(3, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0, np.bool_)),
    )
    rules = Rules(naive.alone, naive.repeats, naive.near, naive.reach, 0.0, naive.graph, *[0.0] * 6)
    stream, flat = np.array([seed], np.uint64), np.concatenate(logs)
    found = left_to_right(mentions, naive.related.astype(np.float32), rules, flat, 20_000, stream)
    assert found == pytest.approx(math.log(exact(naive, logs)), abs=0.02)


def test_what_was_learned_predicts_contexts(model: Path, sample: Knowledge, tmp_path: Path) -> None:
    lines = tmp_path / "texts.txt"
    lines.write_text("\n\n".join(each["text"] for each in texts()), "utf-8")
    how = UrnTraining(held_out=0.0, evaluated=0)
    made = train(model, lines, tmp_path / "made", how, TrainingPlan(1, 1), engine=LocalEngine(1))
    spans = [(mention["start"], mention["end"]) for mention in texts()[0]["mentions"]]
    document = encode(Document(texts()[0]["text"], spans, "x"), sample, contexts=True)
    before, after = (HeldOut(Urn(each, sample, how.urn()), 5) for each in (Model.open(model), made))
    gain, seen = after.log_likelihood(document)
    assert gain > before.log_likelihood(document)[0] > 0.0 < seen
    assert made.contexts is not None
    nothing = made.with_learned(made.learned._replace(contexts=empty_counts(made.contexts.types)), 1)
    assert HeldOut(Urn(nothing, sample, how.urn()), 5).log_likelihood(document) == (0.0, 0)


def test_contexts_are_smoothed_by_how_many_a_type_has() -> None:
    """Against the formula: a symbol that was never counted with a type has what new ones may expect."""
    from wikilda._core.arrays import table_of
    from wikilda.knowledge.context_counts import ContextCounts, TopicTypes
    from wikilda.text.contexts import Contexts
    from wikilda.urn.likelihood import context_logs, distinct_contexts

    types = TopicTypes(np.array([0, 1, 3]), np.array([0, 0, 1], np.uint32), np.arange(2, dtype=np.uint32))
    counts = np.array([[6.0, 0.0], [1.0, 3.0]])  # two symbols, two type words
    known = ContextCounts(
        types, table_of(np.array([10, 20], np.uint64)), np.array([0, 1, 3]), np.array([0, 0, 1], np.uint32),
        np.array([6.0, 1.0, 3.0], np.float32), np.zeros(3, np.float32), counts.sum(1), counts.sum(0), np.empty(0, np.uint64),
    )  # fmt: skip
    contexts = Contexts(np.array([0, 3]), np.array([10, 20, 30], np.uint64))
    topics = np.array([0, 1], np.uint32)
    distinct = np.maximum(distinct_contexts(known.words, known.counts, len(known.totals)), 1.0)
    found, seen = context_logs(contexts, np.array([0]), np.array([0, 2]), topics, known, known.total, distinct)
    chance, distinct = counts.sum(1) / 10, np.array([2.0, 1.0])
    psi = (counts / chance[:, None] + distinct) / (counts.sum(0) + distinct)
    assert seen == 2
    assert found == pytest.approx([np.log(psi[:, 0]).sum(), np.log(psi.mean(1)).sum()])
