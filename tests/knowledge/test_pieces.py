"""Pieces keep strings and numbers; what is read of them has the hashes again."""

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from tests.knowledge.conftest import build
from tests.wikis import FILLER, page
from wikilda._core.arrays import offsets_of
from wikilda.knowledge import BuildSettings, _words
from wikilda.knowledge._pieces import Folder, read_links, read_strings, read_tokens, read_vocabulary, read_words
from wikilda.knowledge._text_kernels import Numbers, normalized, text_lengths
from wikilda.text import token_hashes
from wikilda.text.characters import characters
from wikilda.text.tokens import byte_array, joined, mention_key, word_hash

TEXTS = [
    "One U.S. dollar, two dollars.\nTwo\n\nlines: İstanbul, ΣΟΦΟΣ.",
    "",
    "東京 is Tokyo; e\u0301 and é, (U. S.) dollar" + " many more words" * 300,
    " ".join(f"word{at}" for at in range(40_000)),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    text, bounds = joined([each.encode() for each in TEXTS])
    with Folder(tmp_path, 3) as made:
        made.write_texts(np.arange(7, 7 + len(TEXTS), dtype=np.uint64), byte_array(text), bounds, bounds[:-1])
    return made.path


def test_tokens_come_back(folder: Path) -> None:
    expected = [token for each in TEXTS for token in [*token_hashes(each).tolist(), 0]]
    # Whether a token is a word does not matter to mentions.
    assert read_tokens(folder).tolist() == [each & ~2 for each in expected]


def test_words_are_counted_from_tokens(folder: Path) -> None:
    topics = {7: 5, 9: 0, 10: 2}  # the second page is none
    topic_of = np.vectorize(lambda each: topics.get(int(each), -1), otypes=[np.int32])
    [(words, rows)] = read_words(folder, topic_of)
    found = Counter({(int(words[word]), int(topic)): int(count) for word, topic, count in rows.T})
    expected = Counter(
        (int(token) & ~3, topics[7 + at])
        for at, each in enumerate(TEXTS)
        for token in token_hashes(each)
        if token & np.uint64(2) and 7 + at in topics
    )
    assert found == expected


def test_the_spelling_of_words_tells_their_hashes(folder: Path) -> None:
    spelled = {row["string"]: row["word"] for batch in read_vocabulary(folder) for row in batch.to_pylist()}
    assert spelled["dollar"] == word_hash("Dollar")
    assert spelled["σοφοσ"] == word_hash("ΣΟΦΟΣ")
    assert {"e\u0301", "é", "東", "京", "(", "istanbul", "word39999"} <= set(spelled)


def test_lower_case_changes_neither_the_kind_of_a_character_nor_itself_again() -> None:
    """Else the hash of a word could not be told from its spelling."""
    kind, lower, _ = characters()
    assert (kind[lower] == kind).all()
    assert (lower[lower] == lower).all()


def test_links_come_back(tmp_path: Path) -> None:
    names, anchors = (
        normalized(byte_array(text), bounds[:-1], bounds[1:])
        for text, bounds in (joined([b"Paris", b"U.S."]), joined([b"the  City", b"u.s.", b"Paris", b"paris"]))
    )
    source, target = np.array([0, 1, 1, 0]), np.array([9, 8, 9, 9], np.uint64)
    with Folder(tmp_path, 2) as folder:
        of_names, of_anchors = folder.write_mentions(names, anchors)
        folder.write_links(source, of_anchors, target, np.array([True, False, False, False]))
    assert of_names.tolist() == of_anchors[[2, 1]].tolist()
    strings = {row["mention"]: row["string"] for batch in read_strings(folder.path) for row in batch.to_pylist()}
    assert strings == {mention_key(each)[1]: each for each in ("paris", "the city", "u.s.")}
    found = pa.Table.from_batches(read_links(folder.path)).to_pylist()
    got = sorted((row["source"] - (2 << 24), strings[row["mention"]], row["target"], row["aside"]) for row in found)
    expected = [(0, "the city", 9, True), (1, "u.s.", 8, False), (1, "paris", 9, False), (0, "paris", 9, False)]
    assert got == sorted(expected)


@pytest.mark.parametrize("most", [1, 3, 50])
def test_the_best_topics_are_kept_in_any_order(most: int) -> None:
    random = np.random.default_rng(most)
    rows = np.stack([random.integers(0, 5, 400), random.permutation(400), random.integers(1, 6, 400)]).astype(np.uint32)
    frequency = np.bincount(rows[0], minlength=5)
    offsets = offsets_of(np.minimum(frequency, most))
    topics, counts = np.zeros(offsets[-1], np.uint32), np.zeros(offsets[-1], np.uint32)
    filled = np.zeros(5, np.int64)
    for part in np.array_split(rows, 7, axis=1):
        _words._keep_best(np.ascontiguousarray(part), offsets, 0, filled, topics, counts)
    _words._sort_rows(offsets, 0, 5, topics, counts)
    for word in range(5):
        ranked = sorted((-int(count), int(topic)) for each, topic, count in rows.T if each == word)[:most]
        row = slice(offsets[word], offsets[word + 1])
        assert topics[row].tolist() == sorted(topic for _, topic in ranked)
        assert dict(zip(topics[row].tolist(), counts[row].tolist(), strict=True)) == {t: -c for c, t in ranked}


def test_words_in_many_passes_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = [page(f"Rock {n}", f"Rock {n} is a kind{n % 3} of stone{n % 7}. {FILLER}") for n in range(30)]
    settings = BuildSettings(topics_per_word=4)
    (tmp_path / "one").mkdir()
    (tmp_path / "many").mkdir()
    one = build(tmp_path / "one", pages, settings)
    monkeypatch.setattr(_words, "_ENTRIES", 10)
    assert len(list(_words._spans(one.array("words/offsets")))) > 2
    assert build(tmp_path / "many", pages, settings).identity == one.identity


@pytest.mark.parametrize("text", ["", "   ", "a", " a  b\n\n c ", "é\u00a0x", "x" * 100 + "\n" * 50 + "東京"])
def test_lengths_count_characters_and_runs_of_white_space_once(text: str) -> None:
    def naive() -> int:
        return len(" ".join(part for part in text.replace("\n", " ").split(" ") if part))

    found: Numbers = text_lengths(byte_array(text.encode()), np.array([0, len(text.encode())]))
    assert found.tolist() == [naive()]
