"""The type of a topic, by type words: those of its title and of the beginning of its first sentence.

Function words are among them: *was*, *of* and *1998* are no content words, but tell types apart. What stands in
parentheses (pronunciation, names in other languages, dates) is left out. Words are told apart by 22 bits of their
hashes; collisions are rare and harmless.
"""

import numpy as np
from numpy.typing import NDArray

from wikilda._core.csr import offsets_of
from wikilda._core.jit import Whole, inner, njit
from wikilda.knowledge import Knowledge
from wikilda.model.context_counts import HASHES, TopicTypes
from wikilda.text.characters import Characters, characters
from wikilda.text.tokens import BREAK, WORD, Bytes, Offsets, tokenize

_BEGINNING = 15  # words of the first sentence
_LEAST = 20  # topics that a type word must have
_LARGEST = 0.2  # share of all topics that it may have
_SHIFT = np.uint64(64 - 22)
_OPEN, _CLOSE = ord("("), ord(")")

Words = NDArray[np.uint32]


def topic_types(knowledge: Knowledge, known: NDArray[np.uint32] | None = None) -> TopicTypes:
    """The type words of every topic, numbered: those that some other topics have too, but not too many.

    With `known`, the type words of another TopicTypes, those alone, so that their numbers stay.
    """
    titles, sentences = knowledge.titles, knowledge.sentences
    offsets, words = _read(titles.data, titles.offsets, sentences.data, sentences.offsets, characters())
    if known is None:
        topics = np.bincount(words, minlength=HASHES)
        common = (topics >= _LEAST) & (topics <= max(_LARGEST * len(titles), _LEAST))
    else:
        common = np.zeros(HASHES, np.bool_)
        common[known] = True
    kept = common[words]
    ends = offsets_of(kept.astype(np.int64))
    numbers = np.cumsum(common) - 1
    return TopicTypes(
        ends[offsets], numbers[words[kept]].astype(np.uint32), np.flatnonzero(common).astype(np.uint32)
    )  # fmt: skip


@njit
def _read(
    titles: Bytes, title_offsets: Offsets, sentences: Bytes, sentence_offsets: Offsets, letters: Characters
) -> tuple[Offsets, Words]:  # fmt: skip
    """The distinct words of each topic, sorted."""
    count = len(title_offsets) - 1
    offsets = np.zeros(count + 1, np.int64)
    longest = np.int64(0)
    for topic in range(count):
        longest = max(longest, title_offsets[topic + 1] - title_offsets[topic])
        longest = max(longest, sentence_offsets[topic + 1] - sentence_offsets[topic])
    hashes, starts, ends = np.empty(longest, np.uint64), np.empty(longest, np.int64), np.empty(longest, np.int64)
    own = np.empty(longest + _BEGINNING, np.uint32)
    words = np.empty(16 * max(count, 1), np.uint32)
    for topic in range(count):
        tokens = tokenize(titles, title_offsets[topic], title_offsets[topic + 1], letters, hashes, starts, ends)
        found = _add(own, np.int64(0), titles, hashes[:tokens], starts, np.int64(longest), False)
        tokens = tokenize(
            sentences, sentence_offsets[topic], sentence_offsets[topic + 1], letters, hashes, starts, ends
        )  # fmt: skip
        found = _add(own, found, sentences, hashes[:tokens], starts, np.int64(_BEGINNING), True)
        distinct = np.unique(own[:found])
        end = offsets[topic] + len(distinct)
        if end > len(words):
            words = np.concatenate((words, np.empty(len(words) + len(distinct), np.uint32)))
        words[offsets[topic] : end] = distinct
        offsets[topic + 1] = end
    return offsets, words[: offsets[-1]].copy()


@inner
def _add(
    own: Words, found: Whole, text: Bytes, tokens: NDArray[np.uint64], starts: Offsets, most: Whole, aside: bool
) -> Whole:
    """Add the first so many words of some tokens; `aside`: but for what stands in parentheses."""
    seen, depth = np.int64(0), np.int64(0)
    for at in range(len(tokens)):
        if aside and tokens[at] != BREAK:
            depth += text[starts[at]] == _OPEN
            depth -= text[starts[at]] == _CLOSE and depth > 0
        if not tokens[at] & WORD or depth > 0:
            continue
        seen += 1
        if seen > most:
            break
        own[found] = tokens[at] >> _SHIFT
        found += 1
    return found
