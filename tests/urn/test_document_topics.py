"""Topics of documents: words are shared out as the formula says, and what nothing explains is the background's."""

from pathlib import Path

import numpy as np
import pytest

from tests.urn.worlds import parameters
from wikilda.linking import Document, Linker, marked
from wikilda.urn._word_evidence import Scratch, WordTable
from wikilda.urn.document_topics import _BACKGROUND, _shares, likelihood_ratios

CRICKET = "The bowler took five wickets, and the batsmen of the cricket team scored few runs at the crease."


@pytest.fixture(scope="module")
def linker(model: Path) -> Linker:
    return Linker.open(model)


def test_ratios_are_those_of_the_formula() -> None:
    table = parameters([[(0, 3.0), (2, 1.0)], [(1, 2.0)], [(0, 1.0), (1, 1.0), (3, 2.0)]])
    topics, lengths = np.array([0, 2, 3], np.uint32), np.array([1.25, 0.25, 0.5])
    whole = WordTable(table, np.zeros(3), np.ones(4, np.float32))
    found = likelihood_ratios(np.array([0, 2]), topics, whole, lengths, 0.5, Scratch.of(4))
    shares = np.array([[0.75, 0.25, 0.0], [0.25, 0.0, 0.5]])  # P(k|w)
    np.testing.assert_allclose(found, (3 * shares + 0.5) / (lengths + 0.5))


def test_shares_are_a_fixed_point() -> None:
    ratios = np.array([[8.0, 0.5], [6.0, 0.5], [0.2, 0.1], [0.3, 9.0]])
    mass, often = np.array([6.0, 0.0]), np.array([1.0, 2.0, 1.0, 1.0])
    found = _shares(mass, often, ratios)
    theta = np.append(found, 1.0 - found.sum())
    taken = np.append(mass, _BACKGROUND)
    for count, row in zip(often, ratios, strict=True):
        joint = theta * np.append(row, 1.0)
        taken = taken + count * joint / joint.sum()
    np.testing.assert_allclose(taken / taken.sum(), theta, atol=0.01)


def test_linked_topics_come_first_and_shares_leave_room_for_the_background(linker: Linker) -> None:
    linked = linker.link(marked("[[Robert Croft]] took five wickets, and [[Robert Croft]] bowled.", "x"))
    assert linked.topics[0].entity.title == "Robert Croft"
    assert 0 < sum(each.share for each in linked.topics) < 1
    assert [each.share for each in linked.topics] == sorted((each.share for each in linked.topics), reverse=True)


def test_a_text_without_mentions_has_topics_by_its_words(linker: Linker) -> None:
    titles = [each.entity.title for each in linker.link(Document(CRICKET, [], "x"), topics=8).topics]
    assert any("cricket" in title.lower() or title in ("Robert Croft", "Wasim Akram") for title in titles)
    assert linker.link(Document("", [], "x")).topics == []
    assert linker.link(Document("zzqx qqzz", [], "x")).topics == []


def test_threads_and_repeats_see_clean_scratch(linker: Linker) -> None:
    first = linker.topics(Document(CRICKET, [], "x"))
    linker.topics(marked("[[England]] and [[Pakistan]]", "y"))
    again = linker.topics(Document(CRICKET, [], "x"))
    assert first[0].tolist() == again[0].tolist()
    assert first[1].tolist() == again[1].tolist()


def test_related_topics_are_shown_if_the_text_names_them(linker: Linker) -> None:
    given = "[[Robert Croft]] took five wickets for [[England]], and the batsmen scored few runs in {}."
    with_it, without = (
        {each.entity.title for each in linker.link(marked(given.format(place), "x"), topics=20).topics}
        for place in ("cricket", "it")
    )
    assert "Cricket" in with_it - without
    assert "Robert Croft" in without


def test_broad_topics_are_those_shown_and_the_best_by_cosine(linker: Linker) -> None:
    text = marked("[[Robert Croft]] took five wickets, and the batsmen scored few runs at the crease.", "x")
    shown, (topics, shares) = linker.topics(text), linker.topics(text, by_words=5)
    cosines = _cosines(linker, [each for each in linker.encode(text).words if each >= 0])
    best = sorted(cosines, key=lambda topic: (-cosines[topic], topic))[:5]
    expected = dict.fromkeys([*shown[0].tolist(), *best], 0.0)
    for topic, share in zip(*(each.tolist() for each in shown), strict=True):
        expected[topic] += share / shown[1].sum() / 3
    for topic in best:
        expected[topic] += cosines[topic] / sum(cosines[each] for each in best) * 2 / 3
    assert dict(zip(topics.tolist(), shares.tolist(), strict=True)) == pytest.approx(expected, rel=1e-4)
    assert shares.tolist() == sorted(shares, reverse=True)
    assert linker.topics(Document("zzqx", [], "x"), by_words=5)[0].tolist() == []


def _cosines(linker: Linker, words: list[int]) -> dict[int, float]:
    """Dot products of a text and topics, whose vectors are at least 1 long."""
    found: dict[int, float] = {}
    for word in set(words):
        topics, values = linker.model.words.row(int(word))
        for topic, value in zip(topics.tolist(), values.tolist(), strict=True):
            often = 1.0 + np.log(words.count(word))
            length = max(float(linker.model.word_norms[topic]), 1.0)
            found[topic] = found.get(topic, 0.0) + often * np.sqrt(value / float(values.sum())) / length
    return found
