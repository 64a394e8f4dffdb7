"""Encoding: one tokenisation gives what each part gives."""

from bisect import bisect_left

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikilda.documents import encoding
from wikilda.documents.detection import DictionaryDetector
from wikilda.documents.document import Document
from wikilda.documents.encoding import encode
from wikilda.knowledge import Knowledge
from wikilda.linking import Linker
from wikilda.text import lower
from wikilda.text.offsets import Spans
from wikilda.text.tokens import WORD, Tokens, mention_key, tokens_of

PIECES = ["Robert", "Croft", "croft", "Lara", "wicket", "wicket,", "U.S.", "The", "Oval", "é", "e\u0301", "東", "😀", "\n",
          "  ", "\ud800", "1996", "-", "İ", "\u0301", "x"]  # fmt: skip


@st.composite
def marked_texts(draw: st.DrawFn) -> tuple[str, Spans]:
    text = "".join(draw(st.lists(st.sampled_from([*PIECES, " "]), max_size=30)))
    starts = draw(st.lists(st.integers(0, max(len(text) - 1, 0)), max_size=6)) if text else []
    return text, [(start, min(start + draw(st.integers(1, 9)), len(text))) for start in starts]


@given(marked_texts())
def test_mentions_are_those_of_their_strings(sample: Knowledge, document: tuple[str, Spans]) -> None:
    text, spans = document
    found = np.asarray(encode(Document(text, spans), sample).mentions).tolist()
    assert found == [sample.find_mention(text[start:end]) for start, end in spans]
    keys = [mention_key(text[start:end])[0] for start, end in spans]
    assert [sample.mention_strings[number] for number in found if number >= 0] == [
        key for key, number in zip(keys, found, strict=True) if number >= 0
    ]


@given(marked_texts())
def test_words_are_those_outside_of_mentions(sample: Knowledge, document: tuple[str, Spans]) -> None:
    text, spans = document
    encoded, tokens = encode(Document(text, spans), sample), tokens_of(text)
    data = tokens.text.tobytes()
    places = [len(data[:start].decode()) for start in tokens.starts.tolist()]
    words = [
        sample.word_strings.find(lower(data[start:end].decode()))
        for value, place, start, end in zip(tokens.hashes, places, tokens.starts, tokens.ends, strict=True)
        if value & WORD and not any(first <= place < last for first, last in spans)
    ]
    assert np.asarray(encoded.words).tolist() == words
    assert np.asarray(encoded.positions).tolist() == [bisect_left(places, start) for start, _ in spans]


def test_a_text_is_tokenised_once(linker: Linker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that is computed from a raw text: detection, words, positions, contexts, topics."""
    calls: list[str] = []

    def counting(text: str) -> Tokens:
        calls.append(text)
        return tokens_of(text)

    monkeypatch.setattr(encoding, "tokens_of", counting)
    monkeypatch.setattr("wikilda.documents.detection._dictionary.tokens_of", counting)
    text = "Croft took three wickets for England against Pakistan at The Oval."
    linked = linker.link(text)
    assert linked.mentions
    assert linked.topics
    assert calls == [text]


def test_detection_on_tokens_is_detection_on_the_text(sample: Knowledge) -> None:
    detector = DictionaryDetector(sample)
    text = "Éa Croft took three wickets for England 😀 against Pakistan at The Oval."
    assert (
        detector.detect_tokens(tokens_of(text))
        == detector.detect(text)
        == encode(Document(text), sample, detector).spans
    )
    assert encode(Document(text), sample).spans == []  # no detector: no mentions
