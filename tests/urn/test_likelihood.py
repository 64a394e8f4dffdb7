"""Held-out likelihood, left to right: against the enumerated joint, and 0 where nothing was learned."""

import math
from pathlib import Path

import numpy as np
import pytest

from tests.urn.reference import Sampler
from tests.urn.test_gibbs import random_sampler
from wikilda.documents.encoding import encode
from wikilda.knowledge import Knowledge
from wikilda.linking import Document
from wikilda.model import Model
from wikilda.sample import texts
from wikilda.training.engines.local import LocalEngine
from wikilda.training.learn import empty_counts
from wikilda.training.pipeline import train
from wikilda.training.settings import TrainingPlan, UrnTraining
from wikilda.urn._coreference import Parents
from wikilda.urn._gibbs import Mentions, Rules
from wikilda.urn.likelihood import HeldOut, left_to_right


def exact(sampler: Sampler, logs: list[list[float]], earlier: list[int] | None = None) -> float:
    """P(C_i, C_i+1, … | z_<i), by all assignments."""
    drawn = earlier or []
    if len(drawn) == len(sampler.mentions):
        return 1.0
    mention = sampler.mentions[len(drawn)]
    before = Sampler(sampler.mentions[: len(drawn) + 1], sampler.related)
    chances = before.conditional([*drawn, mention.topics[0]], len(drawn))[:-1]  # what it has itself does not count
    each = zip(mention.topics, chances, logs[len(drawn)], strict=True)
    return sum(chance * math.exp(log) * exact(sampler, logs, [*drawn, topic]) for topic, chance, log in each)


@pytest.mark.parametrize("seed", range(4))
def test_the_estimate_is_the_joint_of_two_mentions(seed: int) -> None:
    sampler = random_sampler(seed, mentions=2, topics=4)
    rng = np.random.default_rng(seed)
    logs = [rng.normal(0.0, 1.5, len(each.topics)).tolist() for each in sampler.mentions]
    priors = np.concatenate([each.priors for each in sampler.mentions])
    weights = np.concatenate([each.weights for each in sampler.mentions]) * priors**sampler.exponent
    offsets = np.cumsum([0, *(len(each.topics) for each in sampler.mentions)])
    mentions = Mentions(
        offsets,
        np.array([topic for each in sampler.mentions for topic in each.topics], np.int32),
        weights,
        sampler.base * priors ** (1.0 - sampler.exponent),
        np.array([each.place for each in sampler.mentions], np.int64),
        np.zeros(len(weights)),
        np.arange(2),
        Parents(np.zeros(3, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0, np.bool_)),
    )
    rules = Rules(1, 0, sampler.base, sampler.repeats, sampler.near, sampler.reach, 0.0, 0.0, 0.0)
    stream, flat = np.array([seed], np.uint64), np.concatenate(logs)
    found = left_to_right(mentions, sampler.related.astype(np.float32), rules, flat, 20_000, stream)
    assert found == pytest.approx(math.log(exact(sampler, logs)), abs=0.02)


def test_what_was_learned_predicts_contexts(model: Path, sample: Knowledge, tmp_path: Path) -> None:
    lines = tmp_path / "texts.txt"
    lines.write_text("\n\n".join(each["text"] for each in texts()), "utf-8")
    how = UrnTraining(sweeps=8, burn_in=2, held_out=0.0, evaluated=0)
    made = train(model, lines, tmp_path / "made", how, TrainingPlan(1, 1), engine=LocalEngine(1))
    spans = [(mention["start"], mention["end"]) for mention in texts()[0]["mentions"]]
    document = encode(Document(texts()[0]["text"], spans, "x"), sample, contexts=True)
    before, after = (HeldOut(each, sample, how.urn(), 5) for each in (Model.open(model), made))
    assert before.log_likelihood(document)[0] == 0.0
    gain, seen = after.log_likelihood(document)
    assert gain > 0 < seen
    assert made.contexts is not None
    nothing = made.with_learned(made.learned._replace(contexts=empty_counts(made.contexts.types)), 1)
    assert HeldOut(nothing, sample, how.urn(), 5).log_likelihood(document) == (0.0, 0)


def test_contexts_are_smoothed_by_how_many_a_type_has() -> None:
    """Against the formula: a symbol that was never counted with a type has what new ones may expect."""
    from wikilda._core.arrays import table_of
    from wikilda.documents.encoding import Contexts
    from wikilda.model.context_counts import ContextCounts, TopicTypes
    from wikilda.urn.likelihood import _distinct, context_logs

    types = TopicTypes(np.array([0, 1, 3]), np.array([0, 0, 1], np.uint32), np.arange(2, dtype=np.uint32))
    counts = np.array([[6.0, 0.0], [1.0, 3.0]])  # two symbols, two type words
    known = ContextCounts(
        types, table_of(np.array([10, 20], np.uint64)), np.array([0, 1, 3]), np.array([0, 0, 1], np.uint32),
        np.array([6.0, 1.0, 3.0], np.float32), np.zeros(3, np.float32), counts.sum(1), counts.sum(0), np.empty(0, np.uint64),
    )  # fmt: skip
    contexts = Contexts(np.array([0, 3]), np.array([10, 20, 30], np.uint64))
    topics = np.array([0, 1], np.uint32)
    found, seen = context_logs(contexts, np.array([0]), np.array([0, 2]), topics, known, known.total, _distinct(known))
    chance, distinct = counts.sum(1) / 10, np.array([2.0, 1.0])
    psi = (counts / chance[:, None] + distinct) / (counts.sum(0) + distinct)
    assert seen == 2
    assert found == pytest.approx([np.log(psi[:, 0]).sum(), np.log(psi.mean(1)).sum()])
