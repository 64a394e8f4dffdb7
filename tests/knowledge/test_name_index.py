"""The index over the words of names."""

import unicodedata
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tests.knowledge.conftest import build
from tests.wikis import FILLER, page
from wikilda.knowledge import Knowledge
from wikilda.knowledge import name_index as names
from wikilda.knowledge.name_index import NameIndex, name_index
from wikilda.text.characters import characters
from wikilda.text.folding import fold_words, folds
from wikilda.text.tokens import as_bytes

TITLES = [
    "Boris Yeltsin", "Boris Becker", "International Monetary Fund", "Gdańsk", "Chechnya", "Bank of America", "America",
    "Mercury (planet)", "The Who",
]  # fmt: skip


@pytest.fixture(scope="module")
def knowledge(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    links = "".join(f"[[{title}]] " for title in TITLES[:4])
    pages = [page(title, f"{FILLER} {links}") for title in TITLES]
    return build(tmp_path_factory.mktemp("names"), [*pages, page("B. N. Yeltsin", redirect="Boris Yeltsin")])


def index_of(knowledge: Knowledge) -> NameIndex:
    index = name_index(knowledge)
    assert index is not None
    return index


def key(word: str) -> int:
    words = np.empty(64, np.uint64)
    data = as_bytes(word)
    assert fold_words(data, 0, len(data), characters(), folds(), words) == 1
    return int(words[0])


def rows(index: NameIndex) -> dict[int, list[tuple[int, int]]]:
    """By key the topics and the sizes of their names, in their order."""
    found = {}
    for slot, each in enumerate(index.table.keys.tolist()):
        if each:
            row = int(index.table.values[slot])
            span = slice(index.offsets[row], index.offsets[row + 1])
            found[each] = list(zip(index.topics[span].tolist(), index.sizes[span].tolist(), strict=True))
    return found


def test_words_lead_to_the_titles_that_have_them(knowledge: Knowledge) -> None:
    found = rows(index_of(knowledge))
    titles = {title: knowledge.titles.find(title) for title in TITLES}
    assert dict(found[key("yeltsins")]) == {titles["Boris Yeltsin"]: 2}  # the title is shorter than the redirect
    assert set(dict(found[key("boris")])) == {titles["Boris Yeltsin"], titles["Boris Becker"]}
    assert dict(found[key("AMERICA")]) == {titles["Bank of America"]: 3, titles["America"]: 1}
    assert dict(found[key("gdansk")]) == {titles["Gdańsk"]: 1}
    assert dict(found[key("mercury")]) == {titles["Mercury (planet)"]: 1}  # without its note
    assert key("planet") not in found


def test_every_word_of_every_name_is_there(knowledge: Knowledge) -> None:
    """Against a slow reading of the same names; what is left are initials and first letters."""
    index = index_of(knowledge)
    expected: dict[int, set[int]] = defaultdict(set)
    redirects, targets = knowledge.redirects
    named = [*zip(knowledge.titles, range(len(knowledge.titles)), strict=True), *zip(redirects, targets, strict=True)]
    for name, topic in named:
        for word in name.split(" (")[0].replace(".", "").split():
            plain = unicodedata.normalize("NFD", word).encode("ascii", "ignore").decode()
            expected[key(plain)].add(int(topic))
    found = rows(index)
    assert {word: {topic for topic, _ in found[word]} for word in expected} == expected


def test_best_known_topics_come_first_and_lists_are_bounded(
    knowledge: Knowledge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = index_of(knowledge)
    for start, end in pairwise(index.offsets.tolist()):
        known = index.popularity[index.topics[start:end]].tolist()
        assert known == sorted(known, reverse=True)
    monkeypatch.setattr(names, "MOST", 1)
    monkeypatch.setattr(names, "_PART", 3)  # sorted in many parts
    one = index_of(build(tmp_path, [page(title, f"{FILLER} [[Boris Becker]]") for title in TITLES]))
    assert np.diff(one.offsets).tolist() == [1] * (len(one.offsets) - 1)
    assert rows(one)[key("boris")][0][0] == sorted(TITLES).index("Boris Becker")
