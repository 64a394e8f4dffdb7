"""A model of the paper's size, and documents for it, made up: K topics in families that share a vocabulary.

python generate.py DIRECTORY [--topics 4e6] [--words 1.8e6] [--mentions 11e6]

Words are as frequent as Zipf has it, but no word has more than 500 topics. Every topic has a stream of random
numbers of its own, from which its words can be made again at any time: nothing is held in memory but counts.
"""

import argparse
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from wikilda.model import Model, ModelSettings, ModelWriter, Parameters

MOST_TOPICS, FAMILY, FAMILY_WORDS = 500, 200, 1500
MEAN_WORDS = 5.4  # of the smallest topics; the largest have thousands
SETTINGS = ModelSettings(1.0, 1.0, beta_words=1e-7, beta_mentions=1e-7, alpha=1e-5, asymmetric=False)


class Size(NamedTuple):
    topics: int
    words: int
    mentions: int
    head: float  # number of words that are frequent enough for the most topics that a word may have


def size_of(topics: int, words: int = 0, mentions: int = 0) -> Size:
    """The paper's proportions, unless said otherwise."""
    words = words or max(int(topics * 0.45), 5000)
    return Size(topics, words, mentions or int(topics * 2.75), words * 0.015)


@njit(cache=True)
def mix(x):
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(cache=True)
def number(stream):
    stream[0] += np.uint64(0x9E3779B97F4A7C15)
    return np.float64(np.int64(mix(stream[0]) >> np.uint64(11))) * (1.0 / 9007199254740992.0)


@njit(cache=True)
def any_word(x, size):
    """A word by a number from 0 to 1: as likely as any other in the head, then ever less."""
    x *= size.head * (1.0 + np.log(size.words / size.head))
    word = x if x < size.head else size.head * np.exp((x - size.head) / size.head)
    return min(np.int64(word), size.words - 1)


@njit(cache=True)
def words_of(topic, size, stream, words, values):
    """The words of a topic and their λ̂; returns how many. Some are there twice."""
    stream[0] = mix(np.uint64(topic) + np.uint64(1))
    count = min(np.int64(MEAN_WORDS * max(number(stream), 1e-6) ** (-1 / 1.33)), len(words))
    family = np.uint64(topic // FAMILY)
    for at in range(count):
        if number(stream) < 0.6:
            place = np.uint64(FAMILY_WORDS ** number(stream)) - np.uint64(1)
            x = np.float64(np.int64(mix((family << np.uint64(20)) + place) >> np.uint64(11))) / 9007199254740992.0
        else:
            x = number(stream)
        words[at] = any_word(x, size)
        values[at] = max(0.3, 4.0 * count / (at + 2.0) ** 0.8 / count**0.2 * np.exp(number(stream) - 0.5))
    return count


@njit(cache=True)
def count_words(size):
    counts, last = np.zeros(size.words, np.int64), np.full(size.words, -1, np.int64)
    stream, words, values = np.zeros(1, np.uint64), np.empty(20000, np.int64), np.empty(20000)
    for topic in range(size.topics):
        for at in range(words_of(topic, size, stream, words, values)):
            if last[words[at]] != topic:
                last[words[at]] = topic
                counts[words[at]] += 1
    return counts


@njit(cache=True)
def fill_words(size, counts, offsets, topics, values_out):
    seen, last, filled = np.zeros(size.words, np.int64), np.full(size.words, -1, np.int64), offsets[:-1].copy()
    stream, words, values = np.zeros(1, np.uint64), np.empty(20000, np.int64), np.empty(20000)
    for topic in range(size.topics):
        for at in range(words_of(topic, size, stream, words, values)):
            word = words[at]
            if last[word] == topic:
                continue
            last[word] = topic
            seen[word] += 1
            kept = min(counts[word], MOST_TOPICS)  # evenly spaced, if there are too many
            if seen[word] * kept // counts[word] > (seen[word] - 1) * kept // counts[word]:
                topics[filled[word]], values_out[filled[word]] = topic, values[at]
                filled[word] += 1


@njit(cache=True)
def mention_lengths(size):
    """Names of topics come first, one each; some of them are names of other topics, too."""
    lengths, stream = np.ones(size.mentions, np.int64), np.zeros(1, np.uint64)
    for mention in range(min(size.topics, size.mentions)):
        stream[0] = mix(np.uint64(mention) + np.uint64(1 << 40))
        if number(stream) < 0.15:
            lengths[mention] += min(np.int64(1.3 * max(number(stream), 1e-6) ** (-1 / 1.5)), 99, size.topics // 4)
    return lengths


@njit(cache=True)
def fill_mentions(size, offsets, topics, values):
    stream = np.zeros(1, np.uint64)
    for mention in range(size.mentions):
        stream[0] = mix(np.uint64(mention) + np.uint64(1 << 41))
        start, end = offsets[mention], offsets[mention + 1]
        own = mention if mention < size.topics else np.int64(number(stream) * size.topics)
        step = max(size.topics // (end - start + 1), 1)
        row = np.empty(end - start, np.int64)
        for at in range(end - start):
            row[at] = (own + at * step) % size.topics
        row.sort()
        for at in range(end - start):
            topics[start + at] = row[at]
            values[start + at] = np.exp(1.0 + 2.4 * (number(stream) - 0.5)) * (3.0 if row[at] == own else 1.0)


def generate_model(target: Path, size: Size) -> Model:
    """Write the model; one that is there already is opened."""
    if target.exists():
        return Model.open(target)
    counts = count_words(size)
    with ModelWriter(target, size.topics) as writer:
        words = writer.table("words", _offsets(np.minimum(counts, MOST_TOPICS)))
        fill_words(size, counts, words.offsets, *_plain(words))
        mentions = writer.table("mentions", _offsets(mention_lengths(size)))
        fill_mentions(size, mentions.offsets, *_plain(mentions))
        return writer.finish(SETTINGS, np.ones(size.topics, np.float32))


def _offsets(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))


def _plain(table: Parameters) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
    return np.asarray(table.topics), np.asarray(table.values)


@njit(cache=True)
def make_document(size, seed, length):
    """Words and mentions of about a dozen topics, most of one family, and a quarter of any words."""
    stream, own = np.zeros(1, np.uint64), np.zeros(1, np.uint64)
    stream[0] = mix(np.uint64(seed) + np.uint64(1 << 42))
    words, values, weights = np.empty(20000, np.int64), np.empty(20000), np.empty(12)
    chosen = np.empty(12, np.int64)
    for at in range(12):
        anywhere = np.int64(number(stream) * size.topics)
        family = chosen[0] // FAMILY * FAMILY if at else np.int64(0)
        related = min(family + np.int64(number(stream) * FAMILY), size.topics - 1)
        chosen[at] = anywhere if at == 0 or number(stream) < 0.3 else related
        weights[at] = -np.log(max(number(stream), 1e-9)) * (3.0 if at == 0 else 1.0)
    weights /= weights.sum()
    out_words, out_mentions = np.empty(length, np.int64), np.empty(length, np.int64)
    n = m = 0
    for at in range(12):
        count = words_of(chosen[at], size, own, words, values)
        total = values[:count].sum()
        for _ in range(np.int64(weights[at] * length * 0.75 + 0.5)):
            if n + m == length:
                break
            if number(stream) < 0.1:
                out_mentions[m] = chosen[at]
                m += 1
                continue
            x, word = number(stream) * total, 0
            while word < count - 1 and x >= values[word]:
                x -= values[word]
                word += 1
            out_words[n] = words[word]
            n += 1
    while n + m < length:
        out_words[n] = min(np.int64(100.0 * (size.words / 100.0) ** number(stream)) - 100, size.words - 1)
        n += 1
    return np.maximum(out_words[:n], 0), out_mentions[:m]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    for name, default in (("topics", 4e6), ("words", 0.0), ("mentions", 0.0)):
        parser.add_argument(f"--{name}", type=float, default=default)
    given, started = parser.parse_args(), time.perf_counter()
    size = size_of(int(given.topics), int(given.words), int(given.mentions))
    model = generate_model(given.directory, size)
    print(f"{model.manifest['summary']} in {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
