"""Explanations take the urn apart: what they say adds up to the answer."""

import math

import numpy as np
import pytest

from wikilda._core.errors import SettingsError
from wikilda.lda.settings import LdaSettings
from wikilda.linking import Document, Linker, marked
from wikilda.linking.explanation import explain, explain_document
from wikilda.linking.reasons import Odds
from wikilda.sample import texts
from wikilda.urn import UrnSettings

SHARPEN = UrnSettings().posterior_exponent
CROFT = Document(texts()[0]["text"], [(each["start"], each["end"]) for each in texts()[0]["mentions"]], "croft")
SURE = marked("[[Wasim Akram]] bowled a wicket to [[Croft]] at [[The Oval]], and [[Wasim Akram]] took runs.", "sure")


@pytest.fixture(scope="module")
def plain(linker: Linker) -> Linker:
    """One without NIL and candidates by words, so that mentions with one candidate are sure."""
    return Linker(linker.model, linker.knowledge, UrnSettings(nil_weight=0.0, backoff_share=0.0))


def test_candidates_are_those_of_the_answer(linker: Linker) -> None:
    linked = linker.link(CROFT, candidates=4)
    explained = explain_document(linker, CROFT, candidates=4)
    for mention, why in zip(linked.mentions, explained.mentions, strict=True):
        assert (mention.start, mention.end, mention.text) == (why.start, why.end, why.text)
        assert [(c.entity, c.probability, c.prior) for c in mention.candidates] == [
            (c.entity, c.probability, c.prior) for c in why.candidates
        ]
    assert explained.topics == linked.topics
    assert explain(linker, CROFT, 3, candidates=4) == explained.mentions[3]
    assert explain(linker, CROFT, 3, candidates=1).candidates == explained.mentions[3].candidates[:1]


def test_where_all_others_are_sure_the_parts_add_up_to_the_posterior_odds(plain: Linker) -> None:
    best, *others = explain(plain, SURE, 1, candidates=10).candidates
    assert best.rival == others[0].entity.title
    assert best.odds.total == pytest.approx(math.log(best.probability / others[0].probability), abs=1e-5)
    for each in others:
        assert each.rival == best.entity.title
        assert each.odds.total == pytest.approx(math.log(each.probability / best.probability), abs=1e-5)
    assert best.odds == Odds(
        *(-getattr(others[0].odds, name) for name in ("prior", "words", "title", "context", "graph"))
    )


def test_parts_nearly_add_up_where_others_are_not_sure(linker: Linker) -> None:
    for mention in explain_document(linker, CROFT, candidates=2).mentions:
        if len(mention.candidates) == 2:
            best, other = mention.candidates
            assert best.odds.total == pytest.approx(math.log(best.probability / other.probability), abs=0.15)


def test_the_prior_is_that_of_the_base(plain: Linker) -> None:
    best, other, *_ = explain(plain, SURE, 1).candidates
    assert best.odds.prior == pytest.approx(SHARPEN * math.log(best.prior / other.prior), rel=1e-4)


def test_words_add_up(linker: Linker) -> None:
    """Few words are in the text, so all are shown."""
    best, other, *_ = explain(linker, SURE, 1).candidates
    assert {each.word for each in best.top_words} <= {"bowled", "wicket", "took", "runs", "and", "to", "at"}
    assert sum(each.against for each in best.top_words) == pytest.approx(best.odds.words, abs=0.05)
    rivals = {each.word: each.weight for each in other.top_words}
    for each in best.top_words:
        assert each.against == pytest.approx(each.weight - rivals[each.word], abs=1e-5)


def test_support_adds_up(plain: Linker) -> None:
    best, other, *_ = explain(plain, SURE, 1).candidates
    assert {(each.mention, each.times) for each in best.support} == {("Wasim Akram", 2), ("The Oval", 1)}
    assert sum(each.weight for each in best.support) == pytest.approx(best.urn.related)
    assert best.urn.repeats == 0
    more, others = (each.urn.total / each.urn.base for each in (best, other))
    assert best.odds.graph == pytest.approx(SHARPEN * math.log(more / others))
    assert [each.weight for each in best.support] == sorted((each.weight for each in best.support), reverse=True)
    twice = explain(plain, marked("[[Lara Croft]] and [[Lara Croft]]", "twice"), 0).candidates[0]
    assert twice.urn.repeats == pytest.approx(UrnSettings().repeat_weight)


def test_links_and_shared_neighbours_are_the_graphs(linker: Linker) -> None:
    graph, known = linker.knowledge.graph, linker.knowledge

    def around(title: str) -> set[int]:
        topic = known.find_topic(title)
        lists = (graph.out_offsets, graph.out_topics), (graph.in_offsets, graph.in_topics)
        return {int(each) for offsets, topics in lists for each in topics[offsets[topic] : offsets[topic + 1]]}

    seen = set()
    for reasons in (each for mention in explain_document(linker, CROFT).mentions for each in mention.candidates):
        mine = around(reasons.entity.title)
        for each in reasons.support:
            assert each.linked is (known.find_topic(each.entity.title) in mine)
            assert each.shared == len(mine & around(each.entity.title))
            seen.add(each.linked)
    assert seen == {True, False}


def test_relatedness_is_the_urns(linker: Linker) -> None:
    found = explain_document(linker, CROFT).related
    drawn = linker.draw(CROFT).parts[0]
    names = [linker.knowledge.titles[int(topic)] for topic in drawn.topics]
    assert len(found) > 20
    for each in found:
        assert each.relatedness == drawn.related[names.index(each.first), names.index(each.second)]
    assert np.all(np.diff([each.relatedness for each in found]) <= 0)


def test_titles_speak_for_names(linker: Linker) -> None:
    kennedy = explain(linker, marked("[[JFK]]"), 0).candidates[0]
    assert (kennedy.entity.title, kennedy.odds.title) == ("John F. Kennedy", SHARPEN * UrnSettings().acronym_bonus)
    house = explain(linker, marked("[[White House]]"), 0).candidates[0]
    assert (house.entity.title, house.odds.title) == ("White House", SHARPEN * UrnSettings().title_mismatch_penalty)


def test_documents_with_little_in_them(linker: Linker) -> None:
    assert explain_document(linker, Document("", None, "a")).mentions == []
    unknown = explain(linker, marked("[[Xyzzy]] and [[Croft]]"), 0)
    assert (unknown.text, unknown.candidates) == ("Xyzzy", [])
    alone = explain(linker, marked("[[Croft]]"), 0).candidates[0]
    assert (alone.support, alone.top_words, alone.odds.graph) == ([], [], 0)
    only = explain(linker, marked("[[Wasim Akram]]"), 0).candidates
    assert [(each.rival, each.odds.total) for each in only] == [(None, 0)]
    with pytest.raises(IndexError):
        explain(linker, marked("[[Croft]]"), 1)


def test_nil_has_reasons_that_add_up(linker: Linker) -> None:
    """The odds of NIL against the best candidate; exact where all others are sure."""
    why = explain(linker, SURE, 1)
    assert why.unknown is not None
    assert why.unknown.total == pytest.approx(math.log(why.nil / (1 - why.nil)), abs=0.3)
    assert 0 < why.unknown.new_meaning <= 1
    assert explain(linker, marked("[[Xyzzy]]"), 0).unknown is None


def test_an_unknown_name_is_a_reason_for_its_surname(linker: Linker) -> None:
    unknown = explain(linker, marked("[[Quentin Zebulon Croft]] came, and [[Croft]] spoke."), 1).unknown
    alone = explain(linker, marked("[[Quentin]] came, and [[Croft]] spoke."), 1).unknown
    assert unknown is not None
    assert alone is not None
    assert [name for name, _ in unknown.parents] == ["Quentin Zebulon Croft"]
    assert unknown.names > alone.names == 0


def test_the_papers_sampler_is_not_explained(linker: Linker) -> None:
    lda = Linker(linker.model, linker.knowledge, LdaSettings())
    with pytest.raises(SettingsError, match="the method lda cannot explain"):
        explain(lda, CROFT, 0)
