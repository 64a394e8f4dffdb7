"""Gibbs sampling for the entity-topic model: over all articles, and over a document."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.rivals.articles import Articles
from wikilda._core.jit import Real, Whole, inner, njit
from wikilda._core.random import Stream, uniform

Numbers = NDArray[np.int64]
Reals = NDArray[np.float64]

_EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(20)
_AT_ONCE = 16  # entities that a word's target is drawn from, at most


class Pairs(NamedTuple):
    """Counts of pairs (entity, word) in a hash table, and how many places of it are taken."""

    keys: NDArray[np.uint64]
    counts: NDArray[np.float32]
    taken: NDArray[np.int64]


class Trained(NamedTuple):
    """What all articles have taught: entities by topic, topics' sizes, words by entity, entities' numbers of words."""

    entities: NDArray[np.int32]  # [entity, topic]
    sizes: NDArray[np.int64]
    words: Pairs
    lengths: NDArray[np.float64]


@njit
def train(
    articles: Articles, links: Numbers, linked: NDArray[np.uint32], words: int, topics: int, alpha: Real, beta: Real,
    delta: Real, sweeps: int, stream: Stream,
) -> Trained:  # fmt: skip
    """Sample the topics of all articles' entities, and the targets of their words."""
    number = len(links) - 1
    entities, sizes = np.zeros((number, topics), np.int32), np.zeros(topics, np.int64)
    pairs, lengths = _new_pairs(np.int64(1) << 16), np.zeros(number, np.float64)
    assigned, targets = np.empty(len(linked) + number, np.int16), np.zeros(len(articles.words), np.int32)
    for article in range(number):
        for at in range(articles.offsets[article], articles.offsets[article + 1]):  # first, words are the article's own
            pairs = _add(pairs, _key(article, articles.words[at], words), articles.counts[at])
            lengths[article] += articles.counts[at]
        for place in range(links[article + 1] - links[article] + 1):
            topic = np.int64(uniform(stream) * topics)
            assigned[links[article] + article + place] = topic
            entities[_entity(links, linked, article, place), topic] += 1
            sizes[topic] += 1
    here, sums = np.zeros(topics, np.int64), np.empty(max(topics, _AT_ONCE), np.float64)
    scales = 1.0 / (sizes + beta * number)
    for _ in range(sweeps):
        for article in range(number):
            first = links[article] + article
            count = links[article + 1] - links[article] + 1
            _topics(links, linked, article, assigned[first : first + count], entities, sizes, scales, here, sums, alpha,
                    beta, stream)  # fmt: skip
            if count > 1:
                pairs = _targets(articles, links, linked, article, targets, pairs, lengths, words, sums, delta, stream)
    return Trained(entities, sizes, pairs, lengths)


@inner
def _largest(links: Numbers) -> Whole:
    most = np.int64(0)
    for article in range(len(links) - 1):
        most = max(most, links[article + 1] - links[article])
    return most


@inner
def _entity(links: Numbers, linked: NDArray[np.uint32], article: Whole, place: Whole) -> Whole:
    """The entities of an article: itself, then what it links to."""
    return np.int64(article) if place == 0 else np.int64(linked[links[article] + place - 1])


@inner
def _topics(
    links: Numbers, linked: NDArray[np.uint32], article: Whole, assigned: NDArray[np.int16],
    entities: NDArray[np.int32], sizes: Numbers, scales: Reals, here: Numbers, sums: Reals, alpha: Real, beta: Real,
    stream: Stream,
) -> None:  # fmt: skip
    """P(z = t) ∝ (N_dt + α) (C_te + β) / (C_t + Eβ), for each entity of an article."""
    smooth = beta * len(entities)
    for topic in assigned:
        here[topic] += 1
    for place in range(len(assigned)):
        entity, old = _entity(links, linked, article, place), assigned[place]
        here[old] -= 1
        entities[entity, old] -= 1
        sizes[old] -= 1
        scales[old] = 1.0 / (sizes[old] + smooth)
        total = 0.0
        for topic in range(len(sizes)):
            total += (here[topic] + alpha) * (entities[entity, topic] + beta) * scales[topic]
            sums[topic] = total
        new = _search(sums, len(sizes), uniform(stream) * total)
        here[new] += 1
        entities[entity, new] += 1
        sizes[new] += 1
        scales[new] = 1.0 / (sizes[new] + smooth)
        assigned[place] = new
    for topic in assigned:
        here[topic] = 0


@inner
def _targets(
    articles: Articles, links: Numbers, linked: NDArray[np.uint32], article: Whole, targets: NDArray[np.int32],
    pairs: Pairs, lengths: Reals, words: Whole, sums: Reals, delta: Real, stream: Stream,
) -> Pairs:  # fmt: skip
    """P(a = e) ∝ (C_ew + δ) / (C_e + Vδ), over the entities of an article, for each of its words.

    Of many entities each draw chooses among every `step`-th one: those that include the present target. As the step
    does not depend on it, this has the same stationary distribution.
    """
    count, smooth = links[article + 1] - links[article] + 1, delta * words
    least = (count + _AT_ONCE - 1) // _AT_ONCE
    step = least + np.int64(uniform(stream) * least) if least > 1 else np.int64(1)
    for at in range(articles.offsets[article], articles.offsets[article + 1]):
        word, weight = articles.words[at], articles.counts[at]
        old = _entity(links, linked, article, targets[at])
        pairs = _add(pairs, _key(old, word, words), -weight)
        lengths[old] -= weight
        total, first = 0.0, targets[at] % step
        size = (count - first + step - 1) // step
        for number in range(size):
            entity = _entity(links, linked, article, first + number * step)
            total += (_get(pairs, _key(entity, word, words)) + delta) / (lengths[entity] + smooth)
            sums[number] = total
        chosen = first + step * _search(sums, size, uniform(stream) * total)
        new = _entity(links, linked, article, chosen)
        pairs = _add(pairs, _key(new, word, words), weight)
        lengths[new] += weight
        targets[at] = chosen
    return pairs


@inner
def _search(sums: Reals, count: Whole, x: Real) -> Whole:
    """The first of some running sums that is above a number."""
    low, high = np.int64(0), np.int64(count - 1)
    while low < high:
        middle = (low + high) // 2
        if sums[middle] > x:
            high = middle
        else:
            low = middle + 1
    return low


@njit
def word_probabilities(
    trained: Trained, entities: NDArray[np.uint32], vocabulary: Numbers, words: int, delta: Real
) -> NDArray[np.float32]:
    """P(w|e) of some entities and words."""
    found = np.empty((len(entities), len(vocabulary)), np.float32)
    for i in range(len(entities)):
        whole = trained.lengths[entities[i]] + delta * words
        for j in range(len(vocabulary)):
            found[i, j] = (_get(trained.words, _key(entities[i], vocabulary[j], words)) + delta) / whole
    return found


@njit
def draw(
    mentions: Numbers, offsets: Numbers, places: Numbers, names: Reals, drawn: Reals, emitted: NDArray[np.float32],
    words: Numbers, alpha: Real, sweeps: int, burn_in: int, stream: Stream,
) -> Reals:  # fmt: skip
    """By candidate its share of the sweeps in which a mention of its string meant it.

    `mentions` are numbers of strings, whose candidates are from offsets[string] on; `places` leads from candidates to
    rows of `drawn` (P(e|t)) and `emitted` (P(w|e)); `names` has log P(m|e).
    """
    shares = np.zeros(len(places), np.float64)
    if len(mentions) == 0:
        return shares
    topics = drawn.shape[1]
    chosen, assigned = np.empty(len(mentions), np.int64), np.empty(len(mentions), np.int64)
    here = np.zeros(topics, np.int64)
    for mention in range(len(mentions)):
        start, end = offsets[mentions[mention]], offsets[mentions[mention] + 1]
        chosen[mention] = start + np.argmax(names[start:end])
        assigned[mention] = np.int64(uniform(stream) * topics)
        here[assigned[mention]] += 1
    targets = np.empty(len(words), np.int64)
    for at in range(len(words)):
        targets[at] = np.int64(uniform(stream) * len(mentions))
    logs = np.log(emitted)
    sums = np.empty(max(topics, len(mentions), _largest(offsets)), np.float64)
    own = np.empty(len(words), np.int64)
    for sweep in range(sweeps):
        for mention in range(len(mentions)):
            here[assigned[mention]] -= 1
            assigned[mention] = _topic(drawn[places[chosen[mention]]], here, alpha, sums, stream)
            here[assigned[mention]] += 1
            count = 0
            for at in range(len(words)):
                if targets[at] == mention:
                    own[count] = words[at]
                    count += 1
            start, end = offsets[mentions[mention]], offsets[mentions[mention] + 1]
            rows, topic = places[start:end], assigned[mention]
            meant = _meaning(rows, names[start:end], drawn, topic, logs, own[:count], sums, stream)
            chosen[mention] = start + meant
            if sweep >= burn_in:
                shares[chosen[mention]] += 1.0
        for at in range(len(words)):
            total = 0.0
            for mention in range(len(mentions)):
                total += np.float64(emitted[places[chosen[mention]], words[at]])
                sums[mention] = total
            targets[at] = _search(sums, len(mentions), uniform(stream) * total)
    counts = np.zeros(len(offsets), np.int64)
    for string in mentions:
        counts[string] += sweeps - burn_in
    for string in range(len(offsets) - 1):
        for at in range(offsets[string], offsets[string + 1]):
            shares[at] /= max(counts[string], 1)
    return shares


@inner
def _topic(entity: Reals, here: Numbers, alpha: Real, sums: Reals, stream: Stream) -> Whole:
    total = 0.0
    for topic in range(len(here)):
        total += (here[topic] + alpha) * entity[topic]
        sums[topic] = total
    return _search(sums, len(here), uniform(stream) * total)


@inner
def _meaning(
    places: Numbers, names: Reals, drawn: Reals, topic: Whole, logs: NDArray[np.float32], words: Numbers, sums: Reals,
    stream: Stream,
) -> Whole:  # fmt: skip
    """P(e) ∝ P(e|z) P(m|e) Π P(w|e), over the words whose target the mention is."""
    largest = -np.inf
    for at in range(len(places)):
        sums[at] = names[at] + np.log(drawn[places[at], topic])
        for word in words:
            sums[at] += np.float64(logs[places[at], word])
        largest = max(largest, sums[at])
    total = 0.0
    for at in range(len(places)):
        total += np.exp(sums[at] - largest)
        sums[at] = total
    return _search(sums, len(places), uniform(stream) * total)


@inner
def _new_pairs(size: Whole) -> Pairs:
    return Pairs(np.full(size, _EMPTY, np.uint64), np.zeros(size, np.float32), np.zeros(1, np.int64))


@inner
def _key(entity: Whole, word: Whole, words: Whole) -> Whole:
    return np.uint64(entity) * np.uint64(words) + np.uint64(word)


@inner
def _place(keys: NDArray[np.uint64], key: Whole) -> Whole:
    mask = len(keys) - 1
    slot = np.int64((key * _MULTIPLIER) >> _SHIFT) & mask
    while keys[slot] != key and keys[slot] != _EMPTY:
        slot = (slot + 1) & mask
    return slot


@inner
def _get(pairs: Pairs, key: Whole) -> Real:
    slot = _place(pairs.keys, key)
    return np.float64(pairs.counts[slot]) if pairs.keys[slot] == key else 0.0


@inner
def _add(pairs: Pairs, key: Whole, weight: Real) -> Pairs:
    """Add to a count; the table that comes back is a larger one when this was too full."""
    if 2 * pairs.taken[0] > len(pairs.keys):
        pairs = _grown(pairs)
    slot = _place(pairs.keys, key)
    if pairs.keys[slot] != key:
        pairs.keys[slot] = key
        pairs.taken[0] += 1
    pairs.counts[slot] += weight
    return pairs


@inner
def _grown(pairs: Pairs) -> Pairs:
    """A table with twice the places, without the pairs whose count is 0."""
    larger = _new_pairs(2 * len(pairs.keys))
    for at in range(len(pairs.keys)):
        if pairs.keys[at] != _EMPTY and pairs.counts[at] > 0:
            slot = _place(larger.keys, pairs.keys[at])
            larger.keys[slot], larger.counts[slot] = pairs.keys[at], pairs.counts[at]
            larger.taken[0] += 1
    return larger
