"""Explanations take a posterior apart: their terms sum to the log odds of the answer."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikilda._core.errors import SettingsError
from wikilda.lda.settings import LdaSettings
from wikilda.linking import Document, Linker, marked
from wikilda.linking.reasons import Explanation
from wikilda.linking.restriction import Restriction
from wikilda.model.weights import pooled
from wikilda.sample import texts
from wikilda.urn import UrnSettings

TEXTS = [each["text"] for each in texts()]
CROFT = Document(TEXTS[0], [(each["start"], each["end"]) for each in texts()[0]["mentions"]], "croft")
SURE = marked("[[Wasim Akram]] bowled a wicket to [[Croft]] at [[The Oval]], and [[Wasim Akram]] took runs.", "sure")
WORDS = ["Croft", "England", "Bush", "Jordan", "JFK", "Zebulon Quux", "Wasim Akram", "wickets", "basketball", "the"]


@pytest.fixture(scope="module")
def plain(linker: Linker) -> Linker:
    """One without NIL and candidates by words, so that mentions with one candidate are sure."""
    return Linker(linker.model, linker.knowledge, UrnSettings(backoff_candidates=0, weights=("nil_constant=-1000",)))


def explained(linker: Linker, document: Document, number: int, candidates: int = 5) -> Explanation:
    return linker.explain(document, candidates=candidates).mentions[number]


def adds_up(explanation: Explanation) -> int:
    """Compare the terms with the posterior; return how many candidates were compared."""
    compared = 0
    best, *others = explanation.candidates or [None]
    for each in explanation.candidates:
        rival = best if each is not best else (others[0] if others else None)
        if each.rival is None or rival is None or min(each.probability, rival.probability) < 1e-250:
            continue
        assert each.rival == rival.entity.title
        expected = math.log(each.probability / rival.probability)
        assert each.odds.total == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert all(support.weight >= 0.005 for support in each.support)
        compared += 1
    if explanation.unknown and 1e-12 < explanation.nil < 1 - 1e-12:
        odds = math.log(explanation.nil / (1 - explanation.nil))
        assert explanation.unknown.total == pytest.approx(odds, rel=1e-6, abs=1e-6)
        compared += 1
    return compared


def test_terms_sum_to_the_log_odds_of_the_posterior(linker: Linker) -> None:
    compared = sum(
        adds_up(each) for text in TEXTS for each in linker.explain(Document(text), candidates=100).mentions
    )  # fmt: skip
    assert compared > 100


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12))
def test_terms_sum_to_the_log_odds_in_any_text(linker: Linker, words: list[str]) -> None:
    names = [f"[[{word}]]" if word[0].isupper() else word for word in words]
    for each in linker.explain(marked(" ".join(names), "any"), candidates=100).mentions:
        adds_up(each)


def test_candidates_are_those_of_the_answer(linker: Linker) -> None:
    linked = linker.link(CROFT, candidates=4)
    found = linker.explain(CROFT, candidates=4)
    for mention, why in zip(linked.mentions, found.mentions, strict=True):
        assert (mention.start, mention.end, mention.text) == (why.start, why.end, why.text)
        assert (mention.entity, mention.confidence, mention.nil) == (why.entity, why.confidence, why.nil)
        assert [(c.entity, c.probability, c.prior) for c in mention.candidates] == [
            (c.entity, c.probability, c.prior) for c in why.candidates
        ]
    assert found.topics == linked.topics
    assert linker.explain(linked.mentions[3], candidates=4) == found.mentions[3]
    assert linker.explain(linked.mentions[3], candidates=1).candidates == found.mentions[3].candidates[:1]


def test_the_rival_of_the_best_is_the_second_best(plain: Linker) -> None:
    best, *others = explained(plain, SURE, 1, 10).candidates
    assert best.rival == others[0].entity.title
    assert {each.rival for each in others} == {best.entity.title}
    names = ("prior", "words", "title", "context", "graph")
    for name in names:
        assert getattr(best.odds, name) == pytest.approx(-getattr(others[0].odds, name))


def test_the_prior_is_the_one_that_was_used(plain: Linker) -> None:
    for document, number in ((marked("[[Croft]]"), 0), (SURE, 1)):
        best, other, *_ = explained(plain, document, number).candidates
        assert best.odds.prior == pytest.approx(math.log(best.prior / other.prior))


def test_words_add_up(linker: Linker) -> None:
    """Few words are in the text, so all are shown."""
    best, other, *_ = explained(linker, SURE, 1).candidates
    assert {each.word for each in best.top_words} <= {"bowled", "wicket", "took", "runs", "and", "to", "at"}
    assert sum(each.against for each in best.top_words) == pytest.approx(best.odds.words, abs=0.05)
    rivals = {each.word: each.weight for each in other.top_words}
    for each in best.top_words:
        assert each.against == pytest.approx(each.weight - rivals[each.word], abs=1e-5)


def test_support_adds_up_to_the_graph(plain: Linker) -> None:
    """The supports of a candidate and those of its rival are all of the graph term."""
    best, other, *_ = explained(plain, SURE, 1).candidates
    assert {(each.mention, each.times) for each in best.support} == {("Wasim Akram", 2), ("The Oval", 1)}
    weights = [each.weight for each in best.support]
    assert sum(weights) - sum(each.weight for each in other.support) == pytest.approx(best.odds.graph, abs=0.02)
    assert weights == sorted(weights, reverse=True)


def test_another_mention_of_the_entity_is_a_support(plain: Linker) -> None:
    twice = explained(plain, marked("[[Croft]] met [[Colin Croft]].", "twice"), 0, 10)
    colin = next(each for each in twice.candidates if each.entity.title == "Colin Croft")
    assert [(each.mention, each.entity.title) for each in colin.support] == [("Colin Croft", "Colin Croft")]


def test_links_and_shared_neighbours_are_the_graphs(linker: Linker) -> None:
    graph, known = linker.knowledge.graph, linker.knowledge

    def around(title: str) -> set[int]:
        topic = known.find_topic(title)
        lists = (graph.out_offsets, graph.out_topics), (graph.in_offsets, graph.in_topics)
        return {int(each) for offsets, topics in lists for each in topics[offsets[topic] : offsets[topic + 1]]}

    seen = set()
    for reasons in (each for mention in linker.explain(CROFT).mentions for each in mention.candidates):
        mine = around(reasons.entity.title)
        for each in reasons.support:
            assert each.linked is (known.find_topic(each.entity.title) in mine)
            assert each.shared == len(mine & around(each.entity.title))
            seen.add(each.linked)
    assert seen == {True, False}


def test_relatedness_is_the_urns(linker: Linker) -> None:
    inference = linker.infer(CROFT)
    found = inference.explain().related
    drawn = inference.inferred.parts[0]  # type: ignore[attr-defined]
    names = [linker.knowledge.titles[int(topic)] for topic in drawn.topics]
    assert len(found) > 20
    for each in found:
        assert each.relatedness == drawn.related[names.index(each.first), names.index(each.second)]
    assert np.all(np.diff([each.relatedness for each in found]) <= 0)


def test_titles_speak_for_names(linker: Linker) -> None:
    house = explained(linker, marked("[[White House]]"), 0).candidates[0]
    assert house.entity.title == "White House"
    assert house.odds.title >= pooled().title


def test_documents_with_little_in_them(linker: Linker) -> None:
    assert linker.explain(Document("", None, "a")).mentions == []
    unknown = explained(linker, marked("[[Xyzzy]] and [[Croft]]"), 0)
    assert (unknown.text, unknown.candidates, unknown.confidence, unknown.entity) == ("Xyzzy", [], 0, None)
    alone = explained(linker, marked("[[Croft]]"), 0).candidates[0]
    assert (alone.support, alone.top_words) == ([], [])
    assert alone.odds.graph == pytest.approx(0, abs=1e-9)
    only = explained(linker, marked("[[Wasim Akram]]"), 0).candidates
    assert [(each.rival, each.odds.total) for each in only] == [(None, 0)]


def test_nil_has_reasons(linker: Linker) -> None:
    """An unknown name is a reason for its surname; what has no candidate needs no reason."""
    unknown = explained(linker, marked("[[Quentin Zebulon Croft]] came, and [[Croft]] spoke."), 1).unknown
    alone = explained(linker, marked("[[Quentin]] came, and [[Croft]] spoke."), 1).unknown
    assert unknown is not None
    assert alone is not None
    assert [name for name, _ in unknown.parents] == ["Quentin Zebulon Croft"]
    assert unknown.names > alone.names == 0
    assert 0 < unknown.new_meaning <= 1
    assert explained(linker, marked("[[Xyzzy]]"), 0).unknown is None


def test_restricted_answers_are_explained_among_what_is_allowed(linker: Linker) -> None:
    linked = linker.link("Croft took five wickets for England.", restriction=Restriction(types=("person",)))
    why = linker.explain(linked)
    assert [each.text for each in why.mentions] == ["Croft"]
    assert [each.entity for each in why.mentions[0].candidates] == [
        each.entity for each in linked.mentions[0].candidates
    ]
    adds_up(why.mentions[0])


def test_own_entities_are_explained(linker: Linker) -> None:
    acme = {"title": "Acme Corporation", "names": ["Acme"], "description": "A maker of anvils."}
    linked = linker.link("Acme sells anvils in London.", entities=[acme])
    why = linker.explain(linked.mentions[0])
    assert why.entity is not None
    assert why.entity.title == "Acme Corporation"


def test_the_papers_sampler_is_not_explained(linker: Linker) -> None:
    lda = Linker(linker.model, linker.knowledge, LdaSettings())
    with pytest.raises(SettingsError, match="the method lda cannot explain"):
        lda.explain(CROFT)
