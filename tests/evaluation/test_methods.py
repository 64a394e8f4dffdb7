"""Methods on the sample wiki, and AIDA's parts against slow and obvious ones."""

import itertools
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

from wikilda._core.errors import SettingsError
from wikilda.evaluation.methods import GROUP, METHODS, Given, find_method, make_method, tuned_settings
from wikilda.evaluation.methods.aida._keyphrases import Phrases, Places, phrases_of, similarities
from wikilda.evaluation.methods.aida._subgraph import Edges, densest
from wikilda.evaluation.methods.base import UNKNOWN
from wikilda.evaluation.metrics import accuracy
from wikilda.evaluation.run import Gold, run
from wikilda.knowledge import Knowledge
from wikilda.knowledge.graph import Graph
from wikilda.lda.settings import LdaSettings
from wikilda.lda.similarity import Likeness
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
    assert (announced.name, type(announced)) == ("votes", type(method))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("prioir", "did you mean prior"),
        ("json:loads", "not a class derived from"),
        ("no.such.module:X", "neither a method .* nor a class"),
        ("prior:tuned", "no tuned settings"),
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


@pytest.mark.parametrize("name", sorted(tuned_settings()))
def test_tuned_settings_are_among_those_tried(name: str) -> None:
    [kind, _], settings = find_method(name), tuned_settings()[name]
    assert all(value in kind.search[each] for each, value in settings.items())


def test_context_beats_the_prior(model: Model, sample: Knowledge, gold: Gold) -> None:
    runs = {name: run(make_method(name, Given(model, sample)), gold) for name in ("prior", "aida", "urn")}
    assert accuracy(runs["aida"]).micro > accuracy(runs["prior"]).micro
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


def test_aida_without_coherence_looks_at_each_mention_alone(model: Model, sample: Knowledge) -> None:
    aida = make_method("aida-local", Given(model, sample))
    whole = aida.link(marked("[[Croft]] bowled for [[England]]."))
    alone = aida.link(marked("[[Croft]] bowled for England."))
    assert whole[0] == alone[0]


def naive_score(words: list[int], text: list[int], inside: list[int], mention: int, weights: list[float]) -> float:
    places = [[at for at, word in enumerate(text) if word == each and inside[at] != mention] for each in words]
    there = [each for each in places if each]
    if not there:
        return 0.0
    cover = min(max(choice) - min(choice) + 1 for choice in itertools.product(*there))
    whole = sum(weights[word] for word in words)
    part = sum(weights[word] for word, each in zip(words, places, strict=True) if each)
    return len(there) / cover * (part / whole) ** 2 * whole / len(words)


@pytest.mark.parametrize("seed", range(20))
def test_keyphrases_against_all_covers(seed: int) -> None:
    generator = np.random.default_rng(seed)
    titles = [generator.choice(8, size=generator.integers(1, 5), replace=False).tolist() for _ in range(6)]
    weights = generator.random(8) + 0.1
    text = generator.integers(0, 12, size=25).tolist()  # 8 to 11 are in no title
    inside = np.where(generator.random(25) < 0.3, 7, -1)
    offsets = np.cumsum([0, *map(len, titles)])
    phrases = Phrases(offsets, np.concatenate(titles).astype(np.int32), np.arange(8, dtype=np.uint64), weights)
    known = [at for at, word in enumerate(text) if word < 8]
    order = sorted(known, key=lambda at: (text[at], at))
    places = Places(np.array([text[at] for at in order]), np.array(order), inside)
    # Topic 0 links to 1 and 2; 3 links to it.
    out, into = np.array([0, 2, 2, 2, 3, 3, 3]), np.array([0, 1, 2, 3, 3, 3, 3])
    graph = Graph(out, np.array([1, 2, 0], np.uint32), into, np.array([3, 0, 0], np.uint32))
    found = similarities(phrases, graph, places, 7, np.array([0, 4], np.uint32))
    naive = [naive_score(title, text, inside.tolist(), 7, weights.tolist()) for title in titles]
    assert found == pytest.approx([naive[0] + naive[1] + naive[2] + naive[3], naive[4]])


def test_words_of_titles_stop_at_a_parenthesis(sample: Knowledge) -> None:
    phrases = phrases_of(sample)
    sizes = np.diff(phrases.offsets)
    assert sizes[sample.titles.find("Croft (land)")] == 1
    assert sizes[sample.titles.find("Robert Croft")] == 2
    # A word that more titles have tells less.
    croft, robert = (
        phrases.weights[phrases.words[phrases.offsets[sample.titles.find("Robert Croft")] + at]] for at in (1, 0)
    )
    assert croft < robert


def alike(size: int, pairs: dict[tuple[int, int], float]) -> Likeness:
    rows: list[list[tuple[int, float]]] = [[] for _ in range(size)]
    for (a, b), value in pairs.items():
        rows[a].append((b, value))
        rows[b].append((a, value))
    offsets = np.cumsum([0, *map(len, rows)])
    flat = [each for row in rows for each in sorted(row)]
    neighbours = np.array([number for number, _ in flat], np.int32)
    return Likeness(np.arange(size, dtype=np.uint32), offsets, neighbours, np.array([v for _, v in flat], np.float32))


def test_densest_subgraph_follows_coherence() -> None:
    # Two mentions; 0 and 2 are a little better by themselves, 1 and 3 belong together.
    edges = Edges(np.array([0, 2, 4]), np.array([0, 1, 2, 3]), np.array([0.55, 0.45, 0.55, 0.45]))
    assert densest(edges, alike(4, {(1, 3): 0.8}), 0.4).tolist() == [1, 3]
    assert densest(edges, alike(4, {(1, 3): 0.8}), 0.0).tolist() == [0, 2]
    assert densest(edges, alike(4, {}), 0.4).tolist() == [0, 2]


def test_densest_subgraph_never_leaves_a_mention_without_an_entity() -> None:
    for seed in range(30):
        generator = np.random.default_rng(seed)
        sizes = generator.integers(0, 6, size=8)
        offsets = np.cumsum([0, *sizes])
        chosen = [generator.choice(20, size=size, replace=False) for size in sizes]
        edges = Edges(offsets, np.concatenate(chosen).astype(np.int64), generator.random(offsets[-1]))
        pairs = {(a, b): float(generator.random()) for a in range(20) for b in range(a) if generator.random() < 0.2}
        for mention, place in enumerate(densest(edges, alike(20, pairs), 0.4).tolist()):
            if sizes[mention]:
                assert offsets[mention] <= place < offsets[mention + 1]
            else:
                assert place == -1


def test_the_example_is_the_one_in_the_docs() -> None:
    code = (EXAMPLES / "link_votes.py").read_text("utf-8")
    shown = (EXAMPLES.parent / "evaluation.md").read_text("utf-8")
    assert code[code.index("class LinkVotes") :].strip() in shown
