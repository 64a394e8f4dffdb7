"""Topics of a document: its linked topics and their neighbours share its words; a background topic has the rest.

Candidates are the topics of its mentions, by their posteriors, and their neighbours in the link graph with similar
words; for a document without mentions, topics that share half of its words. Each mention counts for its topics, and
each word is shared by expectation maximisation:

    r_wk ∝ θ_k φ_kw        θ_k ∝ mentions_k + Σ_w n_w r_wk

    φ_kw / P(w) = (V · P(k|w) + μ) / (a_k + μ),     a_k = Σ_w P(k|w)

The background has φ_w = P(w): a word that no topic explains better than chance is its own. It is not shown.
"""

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, Whole, bare, inner, njit
from wikilda.documents.encoding import EncodedDocument
from wikilda.knowledge.graph import Graph
from wikilda.lda.packet import number_of, numbers
from wikilda.model.model import Parameters
from wikilda.text.characters import PUNCTUATION, SPACE, Characters, characters
from wikilda.text.tokens import Bytes, Strings, as_bytes, decode, encode, kind_of, lower_of
from wikilda.urn._candidates import order_of
from wikilda.urn._draw import LINK, SHARED_NEIGHBOUR
from wikilda.urn._relatedness import Neighbours, degree, neighbours_of, number_pages
from wikilda.urn._word_evidence import Scratch, WordTable, clear_all, is_marked, mark_all, total_of, word_scores
from wikilda.urn.urn import Drawn, Urn

Ranking = tuple[NDArray[np.uint32], NDArray[np.float64]]

_STEPS = 30
_SPACE, _OPEN, _HYPHEN = (ord(each) for each in " (-")
_SMOOTHING = 1.0  # μ
_MENTION = 6.0  # number of words that a mention counts as
_BACKGROUND = 30.0  # prior words of the background
_MOST_LINKED, _MOST_RELATED, _MOST_NEIGHBOURS = 64, 8, 1000
_LOOKED_AT = 300  # neighbours, those with the most similar words
_SURE = 0.5  # mentions of a linked topic, expected
_LEAST = 0.01  # of a share
_LEAST_WORDS, _LEAST_PART = 3, 0.5  # least words that a topic shares with a text without mentions, and their share
_BROAD = 2 / 3  # share of topics with similar words in `broad_topics`


def document_topics(urn: Urn, document: EncodedDocument, drawn: Drawn, nil: NDArray[np.bool_]) -> Ranking:
    """Return the topics of a document and their shares, largest first; with the background's they sum to 1.

    `nil` are the mentions that are NIL.
    """
    words, often = _words_of(document)
    known = np.where(nil, 0.0, 1.0 - drawn.nil)
    linked, mentioned = _linked(drawn.offsets, drawn.topics, drawn.posterior, known, urn.model.topics)
    related = _related(urn, document.text, linked, mentioned, words, often)
    topics = np.union1d(linked, related).astype(np.uint32)
    if len(topics) == 0:
        return topics, np.empty(0, np.float64)
    mass = np.zeros(len(topics), np.float64)
    mass[np.searchsorted(topics, linked)] = _MENTION * mentioned
    lengths = urn.model.word_sums[topics] / urn.model.settings.mass_words
    ratios = likelihood_ratios(words, topics, urn.words, lengths, _SMOOTHING, urn.scratch())
    shares = _shares(mass, often, ratios)
    order = np.lexsort((topics, -shares))
    order = order[shares[order] >= _LEAST]
    return topics[order], shares[order]


def broad_topics(urn: Urn, document: EncodedDocument, topics: Ranking, most: int) -> Ranking:
    """Return the topics of a document and up to `most` more with similar words, as features; shares sum to 1.

    Texts on one subject name different things, so they share few linked topics. They share words, and topics with
    similar words: these have two thirds of the shares, by their cosines with the text.
    """
    words, often = _words_of(document)
    pages = _topics_of(words, urn.model.words)
    scores = word_scores(words, often, urn.words, pages, urn.scratch())
    best = np.lexsort((pages, -scores))[:most]
    both, places = np.unique(np.concatenate((topics[0], pages[best])), return_inverse=True)
    parts = ((1.0 - _BROAD) * _normalised(topics[1]), _BROAD * _normalised(scores[best]))
    shares = np.bincount(places.ravel(), np.concatenate(parts), len(both)).astype(np.float64)
    order = np.lexsort((both, -shares))
    return both[order], _normalised(shares[order])


def _words_of(document: EncodedDocument) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The distinct words that the wiki has, and 1 plus the logarithm of how often each occurs."""
    words, counts = np.unique(numbers(document.words), return_counts=True)
    known = words >= 0
    return words[known], 1.0 + np.log(counts[known])


def _normalised(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return weights / max(float(weights.sum()), 1e-300)


@njit
def _linked(
    offsets: NDArray[np.int64], topics: NDArray[np.uint32], posterior: NDArray[np.float64], known: NDArray[np.float64],
    size: Whole,
) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:  # fmt: skip
    """Return the topics of mentions, and the expected number of mentions of each; none from `size` on.

    `known` is the probability that a mention is not NIL.
    """
    mentions = np.empty(len(topics), np.int64)
    for mention in range(len(known)):
        for at in range(offsets[mention], offsets[mention + 1]):
            mentions[at] = mention
    found, mass, count = np.empty(len(topics), np.uint32), np.zeros(len(topics) + 1), np.int64(0)
    for at in order_of(topics):
        if count == 0 or found[count - 1] != topics[at]:
            count -= count > 0 and not (mass[count - 1] > _SURE and found[count - 1] < size)
            found[count], mass[count] = topics[at], 0.0
            count += 1
        mass[count - 1] += known[mentions[at]] * posterior[at]
    count -= count > 0 and not (mass[count - 1] > _SURE and found[count - 1] < size)
    while count > _MOST_LINKED:
        least = np.int64(0)
        for at in range(count):
            least = np.int64(at) if mass[at] <= mass[least] else least
        count -= 1
        for at in range(least, count):
            found[at], mass[at] = found[at + 1], mass[at + 1]
    return found[:count], mass[:count]


def _related(
    urn: Urn, text: str, linked: NDArray[np.uint32], mentioned: NDArray[np.float64], words: NDArray[np.int64],
    often: NDArray[np.float64],
) -> NDArray[np.uint32]:  # fmt: skip
    """Return topics with similar words: neighbours of linked topics that the text names; any without linked topics."""
    near = neighbours_of(urn.knowledge.graph, linked, _MOST_NEIGHBOURS, -1)
    several = 2 if len(linked) > 1 else 1
    pages = in_several(near.topics, several) if len(linked) else _supported(words, urn.model.words)
    scores = word_scores(words, often, urn.words, pages, urn.scratch())
    pages, scores = pages[scores > 0], scores[scores > 0]
    if len(linked):
        best = np.sort(np.lexsort((pages, -scores))[:_LOOKED_AT])
        best = best[_named(text, pages[best], urn)]
        pages, scores = pages[best], scores[best] * _pull(urn, linked, mentioned, near, pages[best])
    best = np.lexsort((pages, -scores))[:_MOST_RELATED]
    return pages[best[scores[best] > 0]]


def _topics_of(words: NDArray[np.int64], rows: Parameters) -> NDArray[np.uint32]:
    """Return the topics of any of some words."""
    found = [rows.topics[rows.offsets[word] : rows.offsets[word + 1]] for word in words]
    return np.unique(np.concatenate(found)) if found else np.empty(0, np.uint32)


def _supported(words: NDArray[np.int64], rows: Parameters) -> NDArray[np.uint32]:
    """Return the topics that share several words of a text without mentions, and a large part of its words."""
    found = [rows.topics[rows.offsets[word] : rows.offsets[word + 1]] for word in words]
    topics, counts = np.unique(np.concatenate(found), return_counts=True) if found else (np.empty(0, np.uint32),) * 2
    supported: NDArray[np.uint32] = topics[counts >= max(_LEAST_WORDS, _LEAST_PART * len(words))]
    return supported


def _named(text: str, topics: NDArray[np.uint32], urn: Urn) -> NDArray[np.bool_]:
    """Return which titles, without parentheses, occur in the text, in any case or with an ending.

    Related topics that it does not name mostly share words only, such as *Cricket* in a report of a court.
    """
    titles = urn.knowledge.titles
    return _named_in(as_bytes(text), topics, Strings(titles.data, titles.offsets), characters())


@njit
def _named_in(text: Bytes, topics: NDArray[np.uint32], titles: Strings, table: Characters) -> NDArray[np.bool_]:
    """Return which titles continue like the text from one of its words on."""
    folded = np.empty(2 * len(text) + 2, np.uint8)
    size = _fold(text, np.int64(0), np.int64(len(text)), table, folded)
    folded[size] = _SPACE
    heads, following = np.full(256, np.int32(-1)), np.full(size + 1, np.int32(-1))  # words, by their first bytes
    for at in range(size):
        if folded[at] == _SPACE:
            following[at] = heads[folded[at + 1]]
            heads[folded[at + 1]] = at
    named = np.zeros(len(topics), np.bool_)
    for number in range(len(topics)):
        start, end = titles.offsets[topics[number]], titles.offsets[topics[number] + 1]
        title = np.empty(2 * (end - start) + 2, np.uint8)
        length = _fold(titles.data, start, _note(titles.data, start, end), table, title)
        word: Whole = heads[title[1]] if length > 1 else np.int32(-1)
        while word >= 0 and not named[number]:
            same = word + length <= size
            for byte in range(length):
                same = same and folded[word + byte] == title[byte]
            named[number] = same
            word = following[word]
    return named


@bare
def _note(data: Bytes, start: Whole, end: Whole) -> Whole:
    """Where a title's note begins, or where it ends: `Mercury (planet)`."""
    for at in range(start, end - 1):
        if data[at] == _SPACE and data[at + 1] == _OPEN:
            return at
    return end


@bare
def _fold(text: Bytes, start: Whole, end: Whole, table: Characters, folded: Bytes) -> Whole:
    """Write text in lower case, a space before each word, without punctuation but for hyphens; returns its length."""
    size: Whole = np.int64(0)
    at: Whole = start
    after_space = True
    while at < end:
        point, length = decode(text, at)
        at += length
        if kind_of(point, table) in (SPACE, PUNCTUATION) and point != _HYPHEN:
            after_space = True
            continue
        if after_space:
            folded[size] = _SPACE
            size += 1
            after_space = False
        size = encode(lower_of(point, table), folded, size)
    return size


@njit
def in_several(topics: NDArray[np.uint32], times: Whole) -> NDArray[np.uint32]:
    """Return the topics that occur at least a number of times."""
    pages, keys, count = number_pages(topics[:0], topics)
    seen, found, kept = np.zeros(count, np.int64), np.empty(count, np.uint32), np.int64(0)
    for page in pages:
        seen[page] += 1
        if seen[page] == times:
            found[kept] = keys[page]
            kept += 1
    return found[:kept]


def _pull(
    urn: Urn, linked: NDArray[np.uint32], mentioned: NDArray[np.float64], near: Neighbours, pages: NDArray[np.uint32]
) -> NDArray[np.float64]:
    """Return the relatedness of pages to linked topics."""
    graph = urn.knowledge.graph
    around = neighbours_of(graph, pages, _MOST_NEIGHBOURS, -1)
    masses = np.minimum(mentioned, 3.0)
    return pull(graph, linked, masses, near, pages, around, LINK, SHARED_NEIGHBOUR, urn.scratch())


@njit
def pull(
    graph: Graph, linked: NDArray[np.uint32], masses: NDArray[np.float64], near: Neighbours, pages: NDArray[np.uint32],
    around: Neighbours, links: Real, shared: Real, scratch: Scratch,
) -> NDArray[np.float64]:  # fmt: skip
    """Σ_k mass_k R(k, page) over what is linked, without R: what neighbours pass on is summed up by neighbour first."""
    weights = _neighbour_weights(graph, near.topics, shared, scratch)
    scales, own = np.empty(len(linked)), np.zeros(len(linked))
    for i in range(len(linked)):
        start, end = near.offsets[i], near.offsets[i + 1]
        scales[i] = masses[i] / np.sqrt(max(np.float64(end - start), 1.0))
        for at in range(start, end):
            scratch.values[near.topics[at]] += np.float32(scales[i] * weights[at])
            own[i] += scales[i] * weights[at]
    pulled = np.empty(len(pages))
    for j in range(len(pages)):
        start, end = around.offsets[j], around.offsets[j + 1]
        total = 0.0
        for at in range(start, end):
            total += np.float64(scratch.values[around.topics[at]])
        for i in range(len(linked)):
            if linked[i] == pages[j]:
                total -= own[i]
            elif number_of(around.topics[start:end], linked[i]) >= 0 or (
                number_of(near.topics[near.offsets[i] : near.offsets[i + 1]], pages[j]) >= 0
            ):
                total += links * scales[i]
        pulled[j] = total / np.sqrt(max(np.float64(end - start), 1.0))
    clear_all(scratch, near.topics)
    return pulled


@inner
def _neighbour_weights(graph: Graph, topics: NDArray[np.uint32], shared: Real, scratch: Scratch) -> NDArray[np.float64]:
    """Return the weights of shared neighbours. Repeated ones are computed once."""
    weights = np.empty(len(topics))
    for at in range(len(topics)):
        if scratch.values[topics[at]] == np.float32(0):
            scratch.values[topics[at]] = shared / np.log(2.0 + degree(graph, topics[at]))
        weights[at] = scratch.values[topics[at]]
    clear_all(scratch, topics)
    return weights


@njit
def likelihood_ratios(
    words: NDArray[np.int64], topics: NDArray[np.uint32], table: WordTable, lengths: NDArray[np.float64], mu: Real,
    scratch: Scratch,
) -> NDArray[np.float64]:  # fmt: skip
    """φ_kw / P(w) of a document's words (rows) and topics (columns)."""
    rows = table.rows
    symbols: Whole = len(rows.offsets) - 1
    ratios = np.empty((len(words), len(topics)), np.float64)
    for number in range(len(words)):
        for column in range(len(topics)):
            ratios[number, column] = mu / (lengths[column] + mu)
    mark_all(scratch, topics)
    for number in range(len(words)):
        total = total_of(table, words[number])
        for at in range(np.uint64(rows.offsets[words[number]]), np.uint64(rows.offsets[words[number] + 1])):
            if is_marked(scratch, np.uint64(rows.topics[at])):
                column = number_of(topics, rows.topics[at])
                ratios[number, column] += symbols * np.float64(rows.values[at]) / total / (lengths[column] + mu)
    clear_all(scratch, topics)
    return ratios


def _shares(mass: NDArray[np.float64], often: NDArray[np.float64], ratios: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return θ by expectation maximisation, without the background's."""
    whole = np.append(mass, _BACKGROUND)
    table = np.column_stack((ratios, np.ones(len(often))))
    return maximise(whole, often, table)[:-1]


@njit
def maximise(whole: NDArray[np.float64], often: NDArray[np.float64], table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return θ from the mass of each topic and its share of each word."""
    theta, taken = np.empty(len(whole), np.float64), np.empty(len(whole), np.float64)
    for k in range(len(whole)):  # loops: array expressions take long to compile
        theta[k] = whole[k] + 1.0
    total = 0.0
    for _ in range(_STEPS):
        for k in range(len(whole)):
            taken[k] = whole[k]
        for number in range(len(often)):
            total = 0.0
            for k in range(len(theta)):
                total += table[number, k] * theta[k]
            for k in range(len(theta)):
                taken[k] += often[number] / total * table[number, k] * theta[k]
        total = 0.0
        for k in range(len(whole)):
            theta[k] = taken[k]
            total += taken[k]
    for k in range(len(whole)):
        theta[k] /= total
    return theta
