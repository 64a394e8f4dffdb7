"""Methods on the sample wiki."""

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from wikilda._core.errors import SettingsError
from wikilda.evaluation.methods import GROUP, METHODS, Given, make_method
from wikilda.evaluation.methods.base import UNKNOWN
from wikilda.evaluation.metrics import accuracy
from wikilda.evaluation.run import Gold, run
from wikilda.knowledge import Knowledge
from wikilda.lda.settings import LdaSettings
from wikilda.linking import Linker, marked
from wikilda.model import Model
from wikilda.urn import UrnSettings

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
SETTINGS = UrnSettings()
CRICKET = marked("[[Croft]] bowled for [[England]] at [[The Oval]] against [[Pakistan]]; [[Croft]] and [[zzyzx]].", "x")


@pytest.mark.parametrize("name", METHODS)
def test_every_method_links_the_sample(name: str, model: Model, sample: Knowledge, gold: Gold) -> None:
    method = make_method(name, Given(model, sample, gold.documents))
    assert method.name == name
    one, two = run(method, gold, threads=1), run(method, gold, threads=3)
    assert one.verdicts == two.verdicts
    found = accuracy(one)
    assert found.recall == 100
    assert found.micro > 60
    answers = method.link(CRICKET)
    urn = name in ("urn", "trained")
    assert urn or answers[0] == answers[4]  # in the urn a string may mean two things
    assert answers[5] == UNKNOWN
    for answer in answers[:5]:
        assert len(set(answer.topics)) == len(answer.topics) == len(answer.scores) > 0
        assert 0 < answer.nil < 0.5 if urn else answer.nil == 0


def test_methods_of_one_s_own(model: Model, sample: Knowledge, gold: Gold, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    given = Given(model, sample)
    method = make_method("link_votes:LinkVotes", given)
    assert accuracy(run(method, gold)).micro > accuracy(run(make_method("prior", given), gold)).micro
    entry = EntryPoint("votes", "link_votes:LinkVotes", GROUP)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [entry] if group == GROUP else [])
    announced = make_method("votes", given)
    assert (announced.name, type(announced)) == ("link-votes", type(method))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("prioir", "did you mean prior"),
        ("json:loads", "not a class derived from"),
        ("no.such.module:X", "neither a method .* nor a class"),
        ("tagme:no.toml", "no TOML file"),
    ],
)
def test_methods_that_are_not_there(name: str, message: str, model: Model, sample: Knowledge) -> None:
    with pytest.raises(SettingsError, match=message):
        make_method(name, Given(model, sample))


def test_settings_from_a_file(model: Model, sample: Knowledge, tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text("epsilon = 1\n")
    method = make_method(f"tagme:{file}", Given(model, sample))
    assert method.settings.to_mapping() == {"epsilon": 1.0, "tau": 0.02}
    file.write_text("epsilom = 1\n")
    with pytest.raises(SettingsError, match="did you mean epsilon"):
        make_method(f"tagme:{file}", Given(model, sample))


def test_context_beats_the_prior(model: Model, sample: Knowledge, gold: Gold) -> None:
    runs = {name: run(make_method(name, Given(model, sample)), gold) for name in ("prior", "urn")}
    assert accuracy(runs["urn"]).micro > accuracy(runs["prior"]).micro


def test_prior_is_the_largest_count(model: Model, sample: Knowledge) -> None:
    answer = make_method("prior", Given(model, sample)).link(CRICKET)[0]
    topics, counts = sample.mentions.row(sample.find_mention("croft"))
    assert answer.scores == sorted((counts / counts.sum()).tolist(), reverse=True)
    assert answer.topics[0] in topics[counts == counts.max()]


def test_tagme_chooses_what_the_sampler_starts_from(model: Model, sample: Knowledge) -> None:
    from wikilda.documents.encoding import EncodedDocument
    from wikilda.lda.sampler import Sampler

    symbols = [sample.find_mention(text) for text in ("Croft", "England", "The Oval", "Pakistan")]
    sampled = Sampler(model, LdaSettings(), sample.graph).sample(EncodedDocument([], symbols, "x"))
    text = marked("[[Croft]] [[England]] [[The Oval]] [[Pakistan]]")
    answers = make_method("tagme", Given(model, sample)).link(text)
    assert [answer.topics[0] for answer in answers] == [sampled.guessed(number) for number in range(4)]


def test_wikilda_answers_what_the_linker_does(model: Model, sample: Knowledge) -> None:
    linked = Linker(model, sample, SETTINGS).link(CRICKET, candidates=3)
    answers = make_method("urn", Given(model, sample)).link(CRICKET)
    for mention, answer in zip(linked.mentions, answers, strict=True):
        assert [each.entity.title for each in mention.candidates] == [sample.titles[k] for k in answer.topics[:3]]
        assert [each.probability for each in mention.candidates] == answer.scores[:3]


def test_the_example_is_the_one_in_the_docs() -> None:
    code = (EXAMPLES / "link_votes.py").read_text("utf-8")
    shown = (EXAMPLES.parent / "guides" / "evaluation.md").read_text("utf-8")
    assert code[code.index("class LinkVotes") :].strip() in shown
