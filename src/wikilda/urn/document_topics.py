"""What a document is about: its linked topics and their neighbours share its words; a background topic has the rest.

The topics that a document may have are those of its mentions, by their posteriors, and neighbours of these in the link
graph that its words go with; for a document without mentions, topics that its words go with. Each mention counts for
its topics, and each word is shared out by expectation maximisation:

    r_wk ∝ θ_k φ_kw        θ_k ∝ mentions_k + Σ_w n_w r_wk

    φ_kw / P(w) = (V · P(k|w) + μ) / (a_k + μ),     a_k = Σ_w P(k|w)

The background has φ_w = P(w): a word that no topic explains better than chance is its own. It is not shown.
"""

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, Whole, njit
from wikilda.documents.encoding import EncodedDocument
from wikilda.lda.packet import number_of, numbers
from wikilda.model.model import Parameters
from wikilda.urn._relatedness import neighbours_of, relatedness
from wikilda.urn.urn import Drawn, Urn

Ranking = tuple[NDArray[np.uint32], NDArray[np.float64]]

_STEPS = 30
_SMOOTHING = 1.0  # μ
_MENTION = 6.0  # a mention counts as so many words
_BACKGROUND = 30.0  # words that the background has before any is shared out
_MOST_LINKED, _MOST_RELATED, _MOST_NEIGHBOURS = 64, 8, 1000
_LOOKED_AT = 100  # neighbours whose relatedness is computed
_LEAST = 0.01  # of a share


def document_topics(urn: Urn, document: EncodedDocument, drawn: Drawn, nil: NDArray[np.bool_]) -> Ranking:
    """The topics of a document and their shares, largest first; the shares and the background's sum to 1.

    `nil` are mentions that mean nothing that is known.
    """
    words, counts = np.unique(numbers(document.words), return_counts=True)
    known = words >= 0
    words, often = words[known], 1.0 + np.log(counts[known])
    linked, mentioned = _linked(drawn, nil, urn.model.topics)
    related = _related(urn, linked, mentioned, words, often)
    topics = np.union1d(linked, related).astype(np.uint32)
    if len(topics) == 0:
        return topics, np.empty(0, np.float64)
    mass = np.zeros(len(topics), np.float64)
    mass[np.searchsorted(topics, linked)] = _MENTION * mentioned
    table, model = urn.model.words, urn.model
    lengths = model.word_sums[topics] / model.settings.mass_words
    ratios = likelihood_ratios(words, topics, table, lengths, _SMOOTHING)
    shares = _shares(mass, often, ratios)
    order = np.lexsort((topics, -shares))
    order = order[shares[order] >= _LEAST]
    return topics[order], shares[order]


def _linked(drawn: Drawn, nil: NDArray[np.bool_], size: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
    """The topics of mentions that are not NIL, and how many mentions each has, expected; none from `size` on."""
    lengths = np.diff(drawn.offsets)
    known = np.repeat(np.where(nil, 0.0, 1.0 - drawn.nil), lengths) * drawn.posterior
    topics, places = np.unique(drawn.topics, return_inverse=True)
    mass: NDArray[np.float64] = np.bincount(places.ravel(), known, len(topics)).astype(np.float64)
    best = np.argsort(-mass, kind="stable")[:_MOST_LINKED]
    best = np.sort(best[(mass[best] > 0.1) & (topics[best] < size)])
    return topics[best], mass[best]


def _related(
    urn: Urn, linked: NDArray[np.uint32], mentioned: NDArray[np.float64], words: NDArray[np.int64],
    often: NDArray[np.float64],
) -> NDArray[np.uint32]:  # fmt: skip
    """Topics that the words go with: neighbours of what is linked, or any where nothing is."""
    scratch, rows = urn.scratch(), urn.model.words
    touched = add_cosines(words, often, rows, urn.lengths, scratch)
    if len(linked):
        near = neighbours_of(urn.knowledge.graph, linked, _MOST_NEIGHBOURS)
        pages, links = np.unique(near.topics, return_counts=True)
        pages = pages[(links > 1) | (len(linked) == 1)]
    else:
        pages = touched
    scores = scratch[pages].astype(np.float64)
    scratch[touched] = 0.0
    if len(linked):
        best = np.sort(np.lexsort((pages, -scores))[:_LOOKED_AT])
        pages, scores = pages[best], scores[best] * _pull(urn, linked, mentioned, pages[best])
    best = np.lexsort((pages, -scores))[:_MOST_RELATED]
    return pages[best[scores[best] > 0]].astype(np.uint32)


def _pull(
    urn: Urn, linked: NDArray[np.uint32], mentioned: NDArray[np.float64], pages: NDArray[np.uint32]
) -> NDArray[np.float64]:
    """How related pages are to what is linked."""
    s, graph = urn.settings, urn.knowledge.graph
    topics = np.union1d(linked, pages).astype(np.uint32)
    near = neighbours_of(graph, topics, _MOST_NEIGHBOURS)
    related = relatedness(graph, topics, near, s.link_weight, s.shared_neighbour_weight)
    rows, columns = np.searchsorted(topics, linked), np.searchsorted(topics, pages)
    pulled: NDArray[np.float64] = np.minimum(mentioned, 3.0) @ related[np.ix_(rows, columns)]
    return pulled


@njit
def add_cosines(
    words: NDArray[np.int64], often: NDArray[np.float64], rows: Parameters, lengths: NDArray[np.float32],
    scratch: NDArray[np.float32],
) -> NDArray[np.uint32]:  # fmt: skip
    """Add to `scratch` how well a document's words go with each topic; gives the topics that any goes with."""
    count = np.int64(0)
    for word in words:
        count += rows.offsets[word + 1] - rows.offsets[word]
    touched = np.empty(count, np.uint32)
    count = np.int64(0)
    for number in range(len(words)):
        total = 0.0
        for at in range(rows.offsets[words[number]], rows.offsets[words[number] + 1]):
            total += np.float64(rows.values[at])
        for at in range(rows.offsets[words[number]], rows.offsets[words[number] + 1]):
            topic = rows.topics[at]
            if scratch[topic] == 0.0:
                touched[count] = topic
                count += 1
            weight = often[number] * np.sqrt(np.float64(rows.values[at]) / max(total, 1e-300))
            scratch[topic] += np.float32(weight / max(np.float64(lengths[topic]), 1.0))
    return touched[:count].copy()


@njit
def likelihood_ratios(
    words: NDArray[np.int64], topics: NDArray[np.uint32], rows: Parameters, lengths: NDArray[np.float64], mu: Real
) -> NDArray[np.float64]:
    """φ_kw / P(w) of a document's words (rows) and topics (columns)."""
    symbols: Whole = len(rows.offsets) - 1
    ratios = np.empty((len(words), len(topics)), np.float64)
    for column in range(len(topics)):
        ratios[:, column] = mu / (lengths[column] + mu)
    for number in range(len(words)):
        start, end = rows.offsets[words[number]], rows.offsets[words[number] + 1]
        total = 0.0
        for at in range(start, end):
            total += np.float64(rows.values[at])
        for at in range(start, end):
            column = number_of(topics, rows.topics[at])
            if column >= 0:
                share = np.float64(rows.values[at]) / max(total, 1e-300)
                ratios[number, column] += symbols * share / (lengths[column] + mu)
    return ratios


def _shares(mass: NDArray[np.float64], often: NDArray[np.float64], ratios: NDArray[np.float64]) -> NDArray[np.float64]:
    """θ by expectation maximisation, without the background's."""
    whole = np.append(mass, _BACKGROUND)
    table = np.column_stack((ratios, np.ones(len(often))))
    theta: NDArray[np.float64] = (whole + 1.0) / (whole + 1.0).sum()
    for _ in range(_STEPS):
        joint = table * theta
        taken = often @ (joint / joint.sum(1, keepdims=True)) if len(often) else np.zeros(len(theta))
        theta = (whole + taken) / (whole + taken).sum()
    return theta[:-1]
