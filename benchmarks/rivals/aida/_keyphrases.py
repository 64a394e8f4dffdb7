"""Keyphrases of entities, and how well they are found in a text (Hoffart et al. 2011, Section 3.2).

The keyphrases of an entity are the titles of the articles that it links to and that link to it. A phrase need
not be found whole: its cover is the shortest stretch of the text with all of its words that occur at all, and

    score(q) = z · (Σ_{w in cover} weight(w) / Σ_{w in q} weight(w))²      z = matching words / length of the cover

The similarity of a mention to an entity is the sum over its phrases, each weighted by how much its words tell
(the mean of their weights: log of the number of titles over the number of titles with the word).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, Whole, inner, njit
from wikilda.knowledge import Knowledge
from wikilda.knowledge.graph import Graph
from wikilda.text.characters import Characters, characters
from wikilda.text.tokens import FLAGS, WORD, tokenize

MOST_WORDS = 8  # of a phrase
MOST_LINKS = 2000  # of an entity, each way
_PARENTHESIS = 40


class Phrases(NamedTuple):
    """Words of titles by topic, as numbers; hashes of words, sorted, by number; what each word tells."""

    offsets: NDArray[np.int64]
    words: NDArray[np.int32]
    hashes: NDArray[np.uint64]
    weights: NDArray[np.float64]


class Places(NamedTuple):
    """Where the words of a text are: word numbers, sorted, and their positions; by position the mention they are in."""

    words: NDArray[np.int64]
    positions: NDArray[np.int64]
    inside: NDArray[np.int64]


def phrases_of(knowledge: Knowledge) -> Phrases:
    """The titles of some knowledge, cut into words."""
    titles = knowledge.titles
    offsets, hashes = _title_words(titles.data, titles.offsets, characters())
    distinct, words = np.unique(hashes, return_inverse=True)
    counts = np.bincount(words, minlength=len(distinct))
    weights = np.log(max(len(titles), 2) / np.maximum(counts, 1))
    return Phrases(offsets, words.astype(np.int32), distinct, weights)


@njit
def _title_words(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], table: Characters
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Hashes of the words of all titles, up to a parenthesis; each word of a title once."""
    longest = 0
    for at in range(len(offsets) - 1):
        longest = max(longest, offsets[at + 1] - offsets[at])
    tokens, starts = np.empty(longest + 1, np.uint64), np.empty(longest + 1, np.int64)
    ends = np.empty(longest + 1, np.int64)
    found, to = np.empty(len(data) + 1, np.uint64), np.zeros(len(offsets), np.int64)
    count = np.int64(0)
    for at in range(len(offsets) - 1):
        first, last = offsets[at], offsets[at + 1]
        end = first
        while end < last and (data[end] != _PARENTHESIS or end == first):
            end += 1
        for token in range(tokenize(data, first, end, table, tokens, starts, ends)):
            fresh = tokens[token] & WORD != 0 and count - to[at] < MOST_WORDS
            for before in range(to[at], count):
                fresh &= found[before] != tokens[token] & ~FLAGS
            if fresh:
                found[count] = tokens[token] & ~FLAGS
                count += 1
        to[at + 1] = count
    return to, found[:count].copy()


@njit
def similarities(
    phrases: Phrases, graph: Graph, places: Places, mention: Whole, topics: NDArray[np.uint32]
) -> NDArray[np.float64]:
    """How well the keyphrases of a mention's candidates are found in the text around it."""
    scores = np.zeros(len(topics), np.float64)
    for at in range(len(topics)):
        topic = topics[at]
        for way in range(2):
            offsets, links = (graph.out_offsets, graph.out_topics) if way == 0 else (graph.in_offsets, graph.in_topics)
            start, end = offsets[topic], offsets[topic + 1]
            for link in range(start, min(end, start + MOST_LINKS)):
                scores[at] += _score(phrases, places, mention, links[link])
        scores[at] += _score(phrases, places, mention, topic)
    return scores


@inner
def _score(phrases: Phrases, places: Places, mention: Whole, title: Whole) -> Real:
    """The score of one phrase."""
    starts = np.empty(MOST_WORDS, np.int64)
    matched, size = np.int64(0), phrases.offsets[title + 1] - phrases.offsets[title]
    whole, weight = 0.0, 0.0
    for at in range(phrases.offsets[title], phrases.offsets[title + 1]):
        word = phrases.words[at]
        whole += phrases.weights[word]
        start = _after(places, mention, np.searchsorted(places.words, word), word)
        if start < len(places.words) and places.words[start] == word:
            starts[matched] = start
            matched += 1
            weight += phrases.weights[word]
    if matched == 0 or whole <= 0.0:
        return 0.0
    z = matched / _cover(places, mention, starts, matched)
    return z * (weight / whole) ** 2 * whole / size


@inner
def _after(places: Places, mention: Whole, at: Whole, word: Whole) -> Whole:
    """The next place of a word that is not inside the mention itself."""
    while at < len(places.words) and places.words[at] == word and places.inside[places.positions[at]] == mention:
        at += 1
    return at


@inner
def _cover(places: Places, mention: Whole, at: NDArray[np.int64], count: Whole) -> Whole:
    """The length of the shortest stretch of text that has all of some words."""
    best = np.int64(1) << 60
    while True:
        first, last = np.int64(1) << 60, np.int64(-1)
        least: Whole = np.int64(0)
        for number in range(count):
            position = places.positions[at[number]]
            if position < first:
                first, least = position, number
            last = max(last, position)
        best = min(best, last - first + 1)
        word = places.words[at[least]]
        following = _after(places, mention, at[least] + 1, word)
        if following >= len(places.words) or places.words[following] != word:
            return best
        at[least] = following
