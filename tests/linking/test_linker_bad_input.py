"""Texts that nobody would write: answers that make sense, the same each time, in time and memory that do not explode."""

import tracemalloc
from collections import Counter
from itertools import pairwise

import pytest

from wikilda.linking import Document, Linked, Linker

MANY, FEWER = 100_000, 2_000
BYTES_A_MENTION = 4_000


def spans_of(linked: Linked) -> list[tuple[int, int]]:
    return [(each.start, each.end) for each in linked.mentions]


def test_one_name_a_hundred_thousand_times(linker: Linker) -> None:
    linked = linker.link("Robert Croft, " * MANY, candidates=1, topics=0)
    assert len(linked.mentions) == MANY
    assert {each.entity.title for each in linked.mentions if each.entity} == {"Robert Croft"}


@pytest.mark.parametrize("name", ["Robert Croft", "Zyx Quux"])
def test_memory_is_in_proportion_to_the_mentions(linker: Linker, name: str) -> None:
    tracemalloc.start()
    linked = linker.link(f"{name}, " * FEWER, candidates=1, topics=0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(linked.mentions) == FEWER
    assert peak < BYTES_A_MENTION * FEWER


def test_one_name_again_and_again_is_not_one_long_name(linker: Linker) -> None:
    linked = linker.link("Croft " * 5_000, topics=0)
    assert {each.text for each in linked.mentions} <= {"Croft"}


def test_a_list_of_ten_thousand_names_without_a_sentence(linker: Linker) -> None:
    titles = [linker.knowledge.titles[at % 200] for at in range(10_000)]
    text = "\n".join(titles)
    linked = linker.link(text, topics=0)
    assert len(linked.mentions) > 9_000
    assert linked == linker.link(text, topics=0)
    right = [each.entity is not None and each.entity.title.startswith(each.text) for each in linked.mentions]
    assert sum(right) > 0.9 * len(right)


def test_a_page_in_capitals(linker: Linker) -> None:
    linked = linker.link("CROFT TOOK FIVE WICKETS FOR ENGLAND IN CARDIFF. " * 50, topics=0)
    found = {(each.text, each.entity.title) for each in linked.mentions if each.entity}
    assert ("CROFT", "Robert Croft") in found
    assert not [each for each in linked.mentions if " " in each.text]


def test_a_language_without_capitals_and_without_names_of_the_wiki(linker: Linker) -> None:
    assert linker.link("東京都は日本の首都です。" * 500, topics=0).mentions == []


def test_spans_that_overlap_or_repeat_are_answered_as_given(linker: Linker) -> None:
    text = "Robert Croft of Glamorgan bowled for England."
    given = [(0, 12), (7, 12), (0, 25), (16, 25), (37, 44)]
    linked = linker.link(Document(text, given), topics=0)
    assert spans_of(linked) == given
    assert [each.entity.title if each.entity else None for each in linked.mentions][:2] == 2 * ["Robert Croft"]


def test_mentions_of_long_texts_do_not_overlap(linker: Linker) -> None:
    sentence = "Croft met Zyx Robert Croft in England in 1996. "
    spans = spans_of(linker.link(sentence * 2_000, topics=0))
    found = Counter(start // len(sentence) for start, _ in spans)
    # Croft, England and Robert Croft; the first Croft may be short for the unknown Zyx Robert Croft that follows it.
    assert {found[at] for at in range(1, 2_000)} == {3}
    assert found[0] in {2, 3}
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
