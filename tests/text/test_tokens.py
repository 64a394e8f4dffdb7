"""Tokens and mentions: what is one, and that hashes of mentions are found again in running text."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wikilda._core.jit import njit
from wikilda.text import mention_key, token_hashes, word_hash
from wikilda.text.characters import SPACE, TABLE_SIZE, characters
from wikilda.text.tokens import AFTER_SPACE, BREAK, FLAGS, WORD, as_bytes, chain, sequence_hash, tokenize

TEXTS = st.text(st.characters(codec="utf-8"), max_size=60)
# Letters with marks, scripts without spaces, joiners, punctuation, white space of several kinds: what tokens turn on.
PIECES = st.lists(
    st.sampled_from([*"aBßİΣé.'-_ \t\n\u00a0\u200b\u200d\u0301\u0e31東ก😀🏽٣\U000e0100\U0010fffd", "u.s.", "the "]),
    max_size=25,
).map("".join)


def spans(text: str) -> tuple[list[tuple[int, int]], list[int]]:
    """The tokens as spans of bytes, and their hashes."""
    source = as_bytes(text)
    hashes, places = np.empty(len(source) + 1, np.uint64), np.empty((2, len(source) + 1), np.int64)
    count = tokenize(source, 0, len(source), characters(), hashes, places[0], places[1])
    return list(zip(places[0, :count].tolist(), places[1, :count].tolist(), strict=True)), hashes[:count].tolist()


def tokens(text: str) -> list[str]:
    source = as_bytes(text).tobytes()
    return [source[start:end].decode() for start, end in spans(text)[0]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \t ", []),
        ("Two words", ["Two", "words"]),
        ("naïve Zürich", ["naïve", "Zürich"]),
        ("nai\u0308ve", ["nai\u0308ve"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("東京都", ["東", "京", "都"]),
        ("ひらカタ", ["ひ", "ら", "カ", "タ"]),
        ("iPhone東京5", ["iPhone", "東", "京", "5"]),
        ("กำลัง", ["ก", "ำ", "ลั", "ง"]),
        ("서울 시", ["서", "울", "시"]),
        ("don't", ["don", "'", "t"]),
        ("L’Avana", ["L", "’", "Avana"]),
        ("U.S.", ["U", ".", "S", "."]),
        ("well-known…", ["well", "-", "known", "…"]),
        ("3.14 km²", ["3", ".", "14", "km²"]),
        ("a\u00a0b\u2003c\u200bd", ["a", "b", "c", "d"]),
        ("👩\u200d💻!", ["👩\u200d", "💻", "!"]),
        ("👍🏽", ["👍", "🏽"]),
        ("❤\ufe0f", ["❤\ufe0f"]),
        ("\u0301a", ["\u0301a"]),
        ("a\x00b", ["a", "b"]),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


def test_a_line_break_is_a_break_among_the_tokens() -> None:
    assert tokens("\n\na b\n \nc\n") == ["a", "b", "", "c", ""]
    assert [each == BREAK for each in token_hashes("\n\na b\n \nc\n")] == [False, False, True, False, True]


def test_hashes_are_of_the_lower_case_and_flagged() -> None:
    first, second, third = token_hashes("Word WORD.")
    assert first & ~FLAGS == second & ~FLAGS == word_hash("word")
    assert (first & AFTER_SPACE, second & AFTER_SPACE, third & AFTER_SPACE) == (0, 1, 0)
    assert (first & WORD, second & WORD, third & WORD) == (WORD, WORD, 0)


def test_only_one_word_is_a_word() -> None:
    assert word_hash("word") != word_hash("words") != 0
    assert word_hash("two words") == word_hash("") == word_hash("u.s") == 0


def test_hashes_differ() -> None:
    """A broken mixing step would make neighbours collide."""
    words = [f"{a}{b}{c}" for a in "abcdefghij" for b in "klmnopqrst" for c in "uvwxyz0123456789"]
    assert len({word_hash(word) for word in words}) == len(words)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("New York", "new york"),
        ("  New \t\n York\u00a0", "new york"),
        ("U.S.", "u.s."),
        ("İzmir ΣΑΣ", "izmir σασ"),
        ("Ⱥ", "ⱥ"),
        ("A\u00adB", "a b"),
        ("", ""),
        (" \u200b ", ""),
    ],
)
def test_mention_keys(text: str, key: str) -> None:
    assert mention_key(text)[0] == key


def test_mentions_that_are_the_same() -> None:
    assert mention_key("NEW  york") == mention_key(" New\nYork ")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("u.s.", "u. s."),
        ("u.s.", "us"),
        ("new york", "newyork"),
        ("new york", "york new"),
        ("a b", "a b b"),
        ("1.5", "1,5"),
    ],
)
def test_mentions_that_are_not_the_same(one: str, other: str) -> None:
    assert mention_key(one)[1] != mention_key(other)[1]


def test_lone_surrogates_are_question_marks() -> None:
    assert mention_key("a\ud800b")[0] == "a?b"


@njit
def chained(hashes: np.ndarray, start: int, end: int) -> np.uint64:  # type: ignore[type-arg]
    sequence = BREAK
    for at in range(start, end):
        sequence = chain(sequence, hashes[at])
    return sequence


@pytest.mark.parametrize(
    "text", ["in u.s. army (u. s.)", "\n(New  York)", "東京都に", "the Σ\u0301 of İ", "don't, say"]
)
def test_every_run_of_tokens_is_found_as_the_mention_that_it_is(text: str) -> None:
    check_runs(text)


@given(PIECES | TEXTS)
def test_every_run_of_tokens_of_any_text_is_found(text: str) -> None:
    check_runs(text[:25])


def check_runs(text: str) -> None:
    """What counting occurrences relies on: chaining the tokens of a text gives the hashes of the mentions in it."""
    source = as_bytes(text)
    places, hashes = spans(text)
    every = np.array(hashes, np.uint64)
    for first in range(len(places)):
        for last in range(first, len(places)):
            if every[last] == BREAK:
                break
            start, end = places[first][0], places[last][1]
            written = source[start:end].tobytes().decode()
            spelled, key = mention_key(written)
            found = int(chained(every, first, last + 1))
            assert found == key, (written, spelled)
            assert sequence_hash(source, start, end, characters()) == (found, last + 1 - first)
            assert mention_key(spelled) == (spelled, key)


def is_space(character: str) -> bool:
    return ord(character) < TABLE_SIZE and characters().kind[ord(character)] == SPACE


@given(TEXTS | PIECES)
@example("\U0010ffff\U000e0001 \U00032400")
def test_tokens_cover_exactly_what_is_no_space(text: str) -> None:
    found, hashes = spans(text)
    source = text.encode()
    assert all(0 <= start <= end <= len(source) for start, end in found)
    assert all(before[1] <= after[0] for before, after in pairwise(found))
    assert [start == end for start, end in found] == [each == BREAK for each in hashes]
    covered = b"".join(source[start:end] for start, end in found).decode()
    assert covered == "".join(c for c in text if not is_space(c))
    assert len(token_hashes(text)) == len(found)


@given(TEXTS | PIECES)
def test_mention_keys_of_any_text(text: str) -> None:
    spelled, key = mention_key(text)
    assert mention_key(spelled) == (spelled, key)
    assert spelled == " ".join(spelled.split(" ")).strip(" ")
    assert (spelled == "") == all(map(is_space, text))
