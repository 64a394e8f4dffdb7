"""Measures, against numbers that were worked out by hand."""

import numpy as np
import pytest

from tests.evaluation.conftest import made_run, said
from wikilda.evaluation import bootstrap, metrics
from wikilda.evaluation.run import Scores, Verdict, micro_and_macro
from wikilda.knowledge import Knowledge

ROBERT, COLIN, LARA = "Robert Croft", "Colin Croft", "Lara Croft"


def test_accuracy(sample: Knowledge) -> None:
    right, wrong = said(sample, ROBERT, COLIN, gold=ROBERT), said(sample, COLIN, ROBERT, gold=ROBERT)
    lost = said(sample, COLIN, gold=ROBERT)
    nothing = said(sample, COLIN)
    run = made_run(
        sample,
        [
            [(ROBERT, right), (ROBERT, right), (ROBERT, wrong), (ROBERT, lost)],
            [(ROBERT, right), (None, nothing)],
            [(None, nothing)],  # has no mention that counts
            [("Absent", nothing), (ROBERT, wrong)],
        ],
    )
    found = metrics.accuracy(run)
    assert found.mentions == 6
    assert found.micro == pytest.approx(100 * 3 / 6)
    assert found.macro == pytest.approx(100 * (2 / 4 + 1 + 0) / 3)
    assert found.micro_all == pytest.approx(100 * 3 / 7)
    assert found.recall == pytest.approx(100 * 5 / 6)


def test_an_answer_of_nil_does_not_change_disambiguation(sample: Knowledge) -> None:
    run = made_run(sample, [[(ROBERT, said(sample, ROBERT, gold=ROBERT, nil=0.9))]])
    assert metrics.accuracy(run).micro == 100
    assert metrics.nil_scores(run).accuracy == 0


def test_slices(sample: Knowledge) -> None:
    rows = sample.mentions.row(sample.find_mention("Croft"))[0]
    run = made_run(sample, [[(ROBERT, said(sample, ROBERT, gold=ROBERT)), (COLIN, said(sample, ROBERT, gold=COLIN))]])
    assert run.gold.ambiguity.tolist() == [len(rows)] * 2
    there = [each for each in metrics.by_ambiguity(run) if each.mentions]
    assert [(each.mentions, each.accuracy) for each in there] == [(2, 50)]
    by_rank = {each.name: each for each in metrics.by_prior_rank(run)}
    assert sum(each.mentions for each in by_rank.values()) == 2
    assert by_rank[metrics.NO_CANDIDATE].mentions == 0


def test_prior_rank_is_the_order_of_counts(sample: Knowledge) -> None:
    topics, counts = sample.mentions.row(sample.find_mention("Croft"))
    best, last = sample.titles[int(topics[counts.argmax()])], sample.titles[int(topics[counts.argmin()])]
    run = made_run(sample, [[(best, said(sample, best)), (last, said(sample, last)), ("Cornwall", said(sample, last))]])
    assert run.gold.prior_rank.tolist()[0] == 0
    assert run.gold.prior_rank.tolist()[1] >= int((counts > counts.min()).sum())
    assert run.gold.prior_rank.tolist()[2] == -1


def test_bootstrap_deviation_is_that_of_theory(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(0)
    right = (generator.random(400) < 0.8).astype(np.float64)
    found = bootstrap.shares(right, np.ones(400), 4000)
    theory = np.sqrt(right.mean() * (1 - right.mean()) / 400)
    assert found.micro == found.macro == pytest.approx(right.mean())
    assert bootstrap.deviation(found.micros) == pytest.approx(theory, rel=0.05)
    monkeypatch.setattr(bootstrap, "_BLOCK", 1000)  # the blocks it is done in change nothing
    assert np.array_equal(found.micros, bootstrap.shares(right, np.ones(400), 4000).micros)


def test_paired_bootstrap(sample: Knowledge) -> None:
    right, wrong = said(sample, ROBERT, gold=ROBERT), said(sample, COLIN, gold=ROBERT)
    good = made_run(sample, [[(ROBERT, right)] * 2] * 30)
    bad = made_run(sample, [[(ROBERT, right), (ROBERT, wrong)]] * 30)
    assert metrics.compare(good, bad)["micro"] == pytest.approx((50, 50, 50, 2 / 1001))
    assert metrics.compare(good, good)["micro"] == (0, 0, 0, 1)
    # One document of thirty makes no difference that would stay.
    chance = made_run(sample, [[(ROBERT, right)] * 2] * 29 + [[(ROBERT, right), (ROBERT, wrong)]])
    assert metrics.compare(good, chance)["macro"].p > 0.3


def test_nil(sample: Knowledge) -> None:
    sure, refused = said(sample, ROBERT, gold=ROBERT), said(sample, ROBERT, gold=ROBERT, nil=0.7)
    unknown = Verdict([], [], 1.0, -1)
    run = made_run(
        sample, [[(ROBERT, sure), (ROBERT, refused), (None, unknown), ("Absent", unknown), (None, said(sample, COLIN))]]
    )
    found = metrics.nil_scores(run)
    assert found.mentions == 3
    assert (found.precision, found.recall) == pytest.approx((100 * 2 / 3, 100 * 2 / 3))
    assert found.accuracy == pytest.approx(100 * 3 / 5)


def test_calibration() -> None:
    confidence = np.array([0.95, 0.95, 0.15, 1.0])
    found = metrics.calibration(confidence, np.array([True, False, False, True]))
    assert [each.count for each in found.bins] == [0, 1, 0, 0, 0, 0, 0, 0, 0, 3]
    assert found.bins[9].confidence == pytest.approx(2.9 / 3)
    assert found.error == pytest.approx((3 * abs(2.9 / 3 - 2 / 3) + 0.15) / 4)
    assert metrics.calibration(np.empty(0), np.empty(0, np.bool_)).error == 0


def test_end_to_end() -> None:
    gold = [[(0, 5, 1), (6, 9, 2), (10, 12, -1)], [], [(0, 1, 4)]]
    found = [[(0, 5, 1), (6, 8, 2), (10, 12, 3), (20, 22, -1)], [], []]
    micro, macro = micro_and_macro(gold, found)
    assert micro == Scores(*(pytest.approx(100 * each) for each in (1 / 3, 1 / 3, 1 / 3)))
    assert macro.recall == pytest.approx(100 * (1 / 2 + 1 + 0) / 3)
    assert macro.precision == pytest.approx(100 * (1 / 3 + 1 + 0) / 3)
