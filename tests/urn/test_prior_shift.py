"""The exponents of the prior, estimated from texts without labels."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

from wikilda import Linker, link_files
from wikilda.cli.link import command as link_command
from wikilda.documents.document import Document
from wikilda.documents.encoding import encode
from wikilda.knowledge import Knowledge
from wikilda.model import Model
from wikilda.sample import texts
from wikilda.urn.prior_shift import LEAST, Evidence, PriorShift, _ascend, estimate, evidence_of, joined
from wikilda.urn.urn import Urn

CENTRE = np.array([0.5, 0.8])


def world(naming: float, popularity: float, mentions: int, unknown: float = 0.0) -> Evidence:
    """Mentions whose topics are drawn from the prior, with evidence that is their true likelihood.

    Unknown ones have evidence for candidates at random, and do not count.
    """
    generator = np.random.default_rng(5)
    lengths = generator.integers(2, 6, mentions)
    prior = np.column_stack([generator.normal(-4, 1.5, lengths.sum()), generator.normal(0, 1.5, lengths.sum())])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    rest, known = np.empty(len(prior)), np.ones(mentions)
    for at in range(mentions):
        span = slice(offsets[at], offsets[at + 1])
        scores = prior[span] @ [naming, popularity]
        shares = np.exp(scores - scores.max())
        right = generator.choice(lengths[at], p=shares / shares.sum())
        if generator.random() < unknown:
            known[at], right = 0.0, generator.integers(lengths[at])
        values = generator.normal(0, 1, lengths[at])
        values[right] += 2.0
        rest[span] = 2.0 * values  # log of N(2, 1) over N(0, 1), but for a constant
    return Evidence(offsets, prior, rest, known)


@pytest.mark.parametrize(("naming", "popularity"), [(1.0, 1.0), (0.3, 1.5), (0.8, 0.4)])
def test_planted_exponents_are_recovered(naming: float, popularity: float) -> None:
    found = _ascend(world(naming, popularity, 6000), CENTRE, CENTRE, 10.0)
    np.testing.assert_allclose(found, [naming, popularity], atol=0.07)


def test_unknown_mentions_do_not_pull_the_estimate_away() -> None:
    evidence = world(1.0, 1.2, 6000, unknown=0.4)
    counted = _ascend(evidence, CENTRE, CENTRE, 10.0)
    all_known = _ascend(evidence._replace(known=np.ones(len(evidence.known))), CENTRE, CENTRE, 10.0)
    np.testing.assert_allclose(counted, [1.0, 1.2], atol=0.1)
    assert np.abs(all_known - [1.0, 1.2]).max() > 2 * np.abs(counted - [1.0, 1.2]).max()


def likelihood(evidence: Evidence, exponents: NDArray[np.float64], spread: float) -> float:
    """By the formula, mention by mention."""
    total = -float(np.square(exponents - CENTRE).sum()) / (2 * spread**2)
    for at, known in enumerate(evidence.known):
        span = slice(evidence.offsets[at], evidence.offsets[at + 1])
        prior = np.exp(evidence.prior[span] @ exponents)
        total += known * np.log(prior / prior.sum() @ np.exp(evidence.rest[span]))
    return total


def test_the_estimate_is_the_maximum_of_the_likelihood() -> None:
    evidence = world(0.4, 1.1, 300)
    found = _ascend(evidence, CENTRE, CENTRE, 0.5)
    best = likelihood(evidence, found, 0.5)
    for step in ([0.01, 0], [-0.01, 0], [0, 0.01], [0, -0.01]):
        assert likelihood(evidence, found + step, 0.5) < best


def test_few_texts_leave_the_default() -> None:
    few, many = (_ascend(world(0.1, 2.0, size), CENTRE, CENTRE, 0.3) for size in (3, 3000))
    assert np.abs(few - CENTRE).max() < 0.15
    assert np.abs(many - [0.1, 2.0]).max() < 0.15
    nothing = joined([])
    assert np.array_equal(_ascend(nothing, CENTRE, CENTRE, 0.3), CENTRE)


def test_exponents_stay_positive() -> None:
    """Evidence against all that is common."""
    evidence = world(1.0, 1.0, 500)
    against = evidence._replace(rest=-3.0 * evidence.prior.sum(1))
    assert (_ascend(against, CENTRE, CENTRE, 10.0) >= LEAST).all()


def test_evidence_without_the_prior_gives_the_posterior_with_it(model: Path, sample: Knowledge) -> None:
    """What is read is the whole log weight: with the prior of the urn it is its posterior."""
    urn = Urn(Model.open(model), sample)
    encoded = [encode(Document(each["text"]), sample, Linker.open(model).detector) for each in texts()]
    drawn = [part for each in encoded for part in urn.draw(each).parts]
    evidence = evidence_of(urn, lambda other: ((p, other.fame(p.topics)) for e in encoded for p in other.draw(e).parts))
    wanted = [
        part.posterior[part.mentions.offsets[at] : part.mentions.offsets[at + 1]]
        for part in drawn
        for at in np.flatnonzero(np.diff(part.mentions.offsets) > 1).tolist()
    ]
    assert len(wanted) == len(evidence.known) > 3
    weights = np.array([urn.weights.naming, urn.weights.popularity])
    for at, posterior in enumerate(wanted):
        span = slice(evidence.offsets[at], evidence.offsets[at + 1])
        scores = evidence.prior[span] @ weights + evidence.rest[span]
        shares = np.exp(scores - scores.max())
        np.testing.assert_allclose(shares / shares.sum(), posterior, atol=1e-9)


def test_a_string_counts_once_per_document(model: Path, sample: Knowledge) -> None:
    urn = Urn(Model.open(model), sample)
    once, thrice = (
        encode(Document("Croft bowled. " * times, [(14 * at, 14 * at + 5) for at in range(times)]), sample)
        for times in (1, 3)
    )
    found = [
        evidence_of(urn, lambda other, each=each: ((p, other.fame(p.topics)) for p in other.draw(each).parts))
        for each in (once, thrice)
    ]
    assert [len(each.known) for each in found] == [1, 3]
    assert found[1].known.sum() <= 1.0 + 1e-9


def test_descriptions_are_plain() -> None:
    assert PriorShift(0.4, 1.05, 900.0, 300).describe() == (
        "In these texts, the wiki's use of names counts less than usual (× 0.40) and popularity as usual "
        "(estimated from 300 texts with 900 ambiguous names)."
    )


def test_linking_with_an_estimated_prior(model: Path, tmp_path: Path) -> None:
    """The command and the call link as with the same weights given."""
    source = tmp_path / "in.jsonl"
    rows = [{"id": str(at), "text": each["text"]} for at, each in enumerate(texts())]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    linker = Linker.open(model)
    shift = linker.estimate_prior(row["text"] for row in rows)
    assert estimate(linker.method.urn, map(linker.encode, (row["text"] for row in rows))) == shift
    assert shift.texts == len(rows)
    arguments = [str(model), str(source), "--estimate-prior", "-o", str(tmp_path / "a.jsonl")]
    result = CliRunner().invoke(link_command, arguments)
    assert result.exit_code == 0, result.output
    assert shift.describe() in result.output
    link_files(model, source, tmp_path / "b.jsonl", estimate_prior=True)
    link_files(model, source, tmp_path / "c.jsonl", settings=shift.settings())
    contents = [(tmp_path / f"{name}.jsonl").read_bytes() for name in "abc"]
    assert contents[0] == contents[1] == contents[2]


@pytest.mark.parametrize(("more", "message"), [([], "give FILEs"), (["--method", "lda"], "method urn")])
def test_what_cannot_be_estimated_is_refused(model: Path, more: list[str], message: str, tmp_path: Path) -> None:
    source = tmp_path / "in.txt"
    source.write_text("Croft bowled.", "utf-8")
    files = [str(source)] if more else []
    result = CliRunner().invoke(link_command, [str(model), *files, "--estimate-prior", *more])
    assert result.exit_code == 2
    assert message in result.output
