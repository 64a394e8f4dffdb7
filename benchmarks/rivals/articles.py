"""Articles as bags of words, and how much of a context they share."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import njit
from wikilda.documents.encoding import encode
from wikilda.knowledge import Knowledge
from wikilda.linking import Document


class Articles(NamedTuple):
    """The words of topic k, sorted, and their counts, from offsets[k] on; how rare each word is; lengths of vectors."""

    offsets: NDArray[np.int64]
    words: NDArray[np.int32]
    counts: NDArray[np.float32]
    rarity: NDArray[np.float64]  # log(topics / topics with the word)
    norms: NDArray[np.float64]  # of vectors (1 + log count) · rarity


class Context(NamedTuple):
    """The distinct words of a text, sorted, and their counts."""

    words: NDArray[np.int64]
    counts: NDArray[np.int64]


def articles_of(knowledge: Knowledge) -> Articles:
    """The articles of some knowledge."""
    topics = len(knowledge.page_ids)
    table = knowledge.words
    offsets, words, counts = _transposed(table.offsets, table.topics, table.counts, topics)
    rarity = np.log(max(topics, 2) / np.maximum(knowledge.word_frequencies, 1))
    return Articles(offsets, words, counts, rarity, _norms(offsets, words, counts, rarity))


def context_of(document: Document, span: tuple[int, int], knowledge: Knowledge, window: int = 0) -> Context:
    """The words of a document but those of one mention; at most `window` characters away, if that is not 0."""
    start, end = span
    first, last = (max(0, start - window), end + window) if window else (0, len(document.text))
    part = Document(document.text[first:last], [(start - first, end - first)])
    words = np.asarray(encode(part, knowledge).words)
    return Context(*np.unique(words[words >= 0], return_counts=True))


def document_words(document: Document, knowledge: Knowledge) -> Context:
    """All words of a document, those of its mentions as well."""
    words = np.asarray(encode(Document(document.text, []), knowledge).words)
    return Context(*np.unique(words[words >= 0], return_counts=True))


@njit
def _transposed(
    offsets: NDArray[np.int64], topics: NDArray[np.uint32], counts: NDArray[np.uint32], number: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    starts = np.zeros(number + 1, np.int64)
    for topic in topics:
        starts[topic + 1] += 1
    for topic in range(number):
        starts[topic + 1] += starts[topic]
    to = starts[:-1].copy()
    words, values = np.empty(len(topics), np.int32), np.empty(len(topics), np.float32)
    for word in range(len(offsets) - 1):
        for at in range(offsets[word], offsets[word + 1]):
            place = to[topics[at]]
            words[place], values[place] = word, counts[at]
            to[topics[at]] += 1
    return starts, words, values


@njit
def _norms(
    offsets: NDArray[np.int64], words: NDArray[np.int32], counts: NDArray[np.float32], rarity: NDArray[np.float64]
) -> NDArray[np.float64]:
    norms = np.zeros(len(offsets) - 1, np.float64)
    for topic in range(len(norms)):
        for at in range(offsets[topic], offsets[topic + 1]):
            norms[topic] += ((1.0 + np.log(counts[at])) * rarity[words[at]]) ** 2
    return np.sqrt(norms)


@njit
def overlaps(
    articles: Articles, topics: NDArray[np.uint32], context: Context
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """For each topic: the words that its article shares with a context, their rarity in all, and the cosine."""
    shared = np.zeros(len(topics), np.float64)
    rare, cosine = np.zeros(len(topics), np.float64), np.zeros(len(topics), np.float64)
    length = 0.0
    for at in range(len(context.words)):
        length += ((1.0 + np.log(context.counts[at])) * articles.rarity[context.words[at]]) ** 2
    for i in range(len(topics)):
        topic, here = topics[i], 0
        for at in range(articles.offsets[topic], articles.offsets[topic + 1]):
            word = articles.words[at]
            here += np.searchsorted(context.words[here:], word)
            if here == len(context.words):
                break
            if context.words[here] == word:
                rarity = articles.rarity[word]
                shared[i] += 1.0
                rare[i] += rarity
                cosine[i] += (1.0 + np.log(articles.counts[at])) * (1.0 + np.log(context.counts[here])) * rarity**2
        cosine[i] /= max(np.sqrt(length) * articles.norms[topic], 1e-300)
    return shared, rare, cosine
