"""Explanations come from the sweeps that the answer comes from."""

import pytest

from wikilda.linking import Linker, Text, marked
from wikilda.linking.explain import explain, explain_document
from wikilda.sample import texts

CROFT = Text(texts()[0]["text"], [(each["start"], each["end"]) for each in texts()[0]["mentions"]], "croft")


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


def test_company_pulls_croft_to_the_cricketer(linker: Linker) -> None:
    best, *others = explain(linker, CROFT, 3).candidates
    assert best.entity.title == "Robert Croft"
    assert best.prior < max(each.prior for each in others)
    assert best.coherence > max(each.coherence for each in others)
    assert {each.entity.title for each in best.company} >= {"The Oval", "Wasim Akram"}
    assert [each.similarity for each in best.company if each.probability == 1] == sorted(
        (each.similarity for each in best.company if each.probability == 1), reverse=True
    )
    assert best.sentence.startswith("Robert Damien Bale Croft")


def test_tokens_add_up(linker: Linker) -> None:
    """All words and mentions of the document have some topic in every sweep."""
    document = marked("[[Wasim Akram]] bowled a wicket to [[Wasim Akram]] and [[Waqar Younis]]", "w")
    sampled = explain_document(linker, document, candidates=100)
    wasim = sampled.mentions[0].candidates[0]
    assert wasim.probability == 1
    assert wasim.words == pytest.approx(sum(each.tokens for each in wasim.top_words), abs=0.05)
    assert all(0 < each.tokens <= each.occurrences for each in wasim.top_words)
    assert sum(each.name for each in sampled.mentions[0].candidates) == pytest.approx(1)


def test_similarities_are_the_graphs(linker: Linker) -> None:
    from wikilda.knowledge.graph import similarity

    known = linker.knowledge
    found = explain_document(linker, CROFT).similarities
    assert found
    for each in found[:20]:
        first, second = known.find_topic(each.first), known.find_topic(each.second)
        assert each.similarity == pytest.approx(similarity(known.graph, first, second), rel=1e-6)


def test_documents_with_little_in_them(linker: Linker) -> None:
    assert explain_document(linker, Text("", None, "a")).mentions == []
    unknown = explain(linker, marked("[[Xyzzy]] and [[Croft]]"), 0)
    assert (unknown.text, unknown.candidates) == ("Xyzzy", [])
    alone = explain(linker, marked("[[Croft]]"), 0).candidates[0]
    assert alone.company == []
    assert alone.coherence == 1
    with pytest.raises(IndexError):
        explain(linker, marked("[[Croft]]"), 1)
