"""Links that tables do not mark: where the text of an article mentions the topics that the article links to.

A table of links names two topics, but neither a place in a text nor a string. In the text of the linking article, a
known string is taken for a link if exactly one of its meanings is linked from there. As in a wiki, only the first
mention of a topic counts. Contexts and weights are learned from these links as from those of a dump.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from wikilda._core.arrays import HashTable, find_slot, lower_bound
from wikilda._core.artifact import Writer
from wikilda._core.jit import Whole, inner, njit
from wikilda.knowledge._pieces import Folder
from wikilda.knowledge._text_kernels import hashed_titles
from wikilda.knowledge.held_out import ARTICLES, LEAST_BYTES, LEAST_LINKS, beginning, candidates, most_of_piece, rank
from wikilda.knowledge.knowledge import Knowledge
from wikilda.knowledge.link_contexts import ARTICLES as COUNTED
from wikilda.text.characters import Characters, characters
from wikilda.text.contexts import MOST_CONTEXTS, contexts_of_pages
from wikilda.text.tokens import BREAK, Bytes, Hashes, Offsets, byte_array, chain, joined, tokenize

_TEXTS = "linking_texts"
_COMMON = 20  # occurrences of a string for each of its links, above which it is an ordinary word


class Names(NamedTuple):
    """The mention strings of the knowledge: their trie, their topics, and whether they are ordinary words."""

    trie: HashTable
    offsets: Offsets
    topics: NDArray[np.uint32]
    common: NDArray[np.bool_]


class Topics(NamedTuple):
    """The hashes of the topics' titles, which are the pages of tables, and the topics by hash."""

    keys: Hashes
    order: NDArray[np.uint32]

    def of(self, pages: Hashes) -> Offsets:
        """The topics of pages; −1 for those that are none."""
        found = self.order[np.minimum(np.searchsorted(self.keys[self.order], pages), len(self.keys) - 1)]
        return np.where(self.keys[found] == pages, found.astype(np.int64), -1)


class FoundLinks(NamedTuple):
    """The contexts of links that were found, and the articles of the sample, as the pieces of a dump have them."""

    contexts: pa.Table
    sample: pa.Table


def write_piece(folder: Folder, pages: Hashes, texts: list[bytes]) -> None:
    """Write the beginnings of the texts that may be among the first by rank."""
    ranks = rank(pages)
    chosen = np.sort(np.argsort(ranks, kind="stable")[: most_of_piece(folder.number, COUNTED)])
    kept = [beginning(texts[page]) for page in chosen.tolist()]
    folder.write(_TEXTS, {"page": pages[chosen], "rank": ranks[chosen], "text": pa.array(kept, pa.binary())})


def find_links(chunks: Path, out: Writer[Knowledge]) -> FoundLinks | None:
    """Find the links in the texts of tables; None without texts or links."""
    files = sorted(chunks.glob(f"*/{_TEXTS}.parquet"))
    if not files or not len(out.read("links/out/topics")):
        return None
    titles = out.read_strings("topics/titles")
    keys = hashed_titles(titles.data, titles.offsets)
    topics = Topics(keys, np.argsort(keys, kind="stable").astype(np.uint32))
    found = [_of_piece(pq.read_table(file), topics, out) for file in files]
    return FoundLinks(pa.concat_tables([each.contexts for each in found]),
                      pa.concat_tables([each.sample for each in found]).sort_by("rank"))  # fmt: skip


def _of_piece(texts: pa.Table, topics: Topics, out: Writer[Knowledge]) -> FoundLinks:
    """The links in the texts of one piece. A page without a topic has none."""
    pages, ranks = texts["page"].to_numpy(), texts["rank"].to_numpy()
    data, bounds = joined(texts["text"].to_pylist())
    text = byte_array(data)
    graph = out.read("links/out/offsets"), out.read("links/out/topics")
    spans, strings, targets, offsets = _find(text, bounds, topics.of(pages), characters(), _names(out), *graph)
    around = contexts_of_pages(text, np.stack([bounds[:-1], bounds[1:]]), offsets, spans, characters())
    owners = np.repeat(np.arange(len(pages)), np.diff(offsets))
    contexts = pa.table({
        "page": pages[owners], "rank": ranks[owners], "mention": strings, "target": topics.keys[targets],
        "symbols": pa.FixedSizeListArray.from_arrays(pa.array(around.ravel()), MOST_CONTEXTS),
    })  # fmt: skip
    enough = np.flatnonzero((np.diff(offsets) >= LEAST_LINKS) & (np.diff(bounds) >= LEAST_BYTES))
    first = enough[np.argsort(ranks[enough], kind="stable")[:ARTICLES]]
    return FoundLinks(contexts, candidates(
        (pages[page], ranks[page], data[bounds[page] : bounds[page + 1]], *(spans[links] - bounds[page]).T,
         topics.keys[targets[links]])
        for page in first.tolist() for links in (slice(offsets[page], offsets[page + 1]),)
    ))  # fmt: skip


def _names(out: Writer[Knowledge]) -> Names:
    linked, occurrences = (out.read(f"mentions/{name}").astype(np.int64) for name in ("linked", "occurrences"))
    trie = HashTable(out.read("mentions/trie_keys"), out.read("mentions/trie_values"))
    return Names(trie, out.read("mentions/offsets"), out.read("mentions/topics"), occurrences > _COMMON * linked)


@njit
def _find(
    text: Bytes, bounds: Offsets, sources: Offsets, table: Characters, names: Names, graph_offsets: Offsets,
    graph_topics: NDArray[np.uint32],
) -> tuple[Offsets, Hashes, NDArray[np.uint32], Offsets]:  # fmt: skip
    """Return spans, hashes of strings and topics of the links of pages; those of page i are from offsets[i] on.

    At each place the longest known string counts, whether it is a link or not.
    """
    longest = np.int64(np.diff(bounds).max()) + 1
    hashes, places = np.empty(longest, np.uint64), np.empty((2, longest), np.int64)
    most = np.int64(0)  # a topic is linked once in a page
    for source in sources:
        if source >= 0:
            most += graph_offsets[source + 1] - graph_offsets[source]
    spans, strings, targets = np.empty((most, 2), np.int64), np.empty(most, np.uint64), np.empty(most, np.uint32)
    offsets, size = np.zeros(len(sources) + 1, np.int64), np.int64(0)
    for page in range(len(sources)):
        offsets[page + 1] = size
        if sources[page] < 0:
            continue
        linked = graph_topics[graph_offsets[sources[page]] : graph_offsets[sources[page] + 1]]
        tokens = tokenize(text, bounds[page], bounds[page + 1], table, hashes, places[0], places[1])
        at: Whole = np.int64(0)
        while at < tokens:
            string, key, after = _longest(hashes[:tokens], at, names.trie)
            if string >= 0 and not names.common[string]:
                target = _only_linked(names, string, np.uint32(sources[page]), linked)
                if target >= 0 and not _among(targets[offsets[page] : size], np.uint32(target)):
                    spans[size, 0], spans[size, 1] = places[0, at], places[1, after - 1]
                    strings[size], targets[size] = key, target
                    size += 1
            at = after
        offsets[page + 1] = size
    return spans[:size].copy(), strings[:size].copy(), targets[:size].copy(), offsets


@inner
def _longest(tokens: Hashes, start: int, trie: HashTable) -> tuple[Whole, np.uint64, Whole]:
    """The longest mention string that begins at a token (−1: none), its hash, and the token after it."""
    found, key, after = np.int64(-1), BREAK, start + 1
    sequence = BREAK
    at = start
    while at < len(tokens) and tokens[at] != BREAK:
        sequence = chain(sequence, tokens[at])
        slot = find_slot(trie.keys, sequence)
        if trie.keys[slot] != sequence:
            break
        at += 1
        if trie.values[slot] >= 0:
            found, key, after = np.int64(trie.values[slot]), sequence, at
    return found, key, after


@inner
def _only_linked(names: Names, string: Whole, source: np.uint32, linked: NDArray[np.uint32]) -> Whole:
    """The one meaning of a string that is linked; −1 if there are none or several, or if the page may be meant."""
    found = np.int64(-1)
    for place in range(names.offsets[string], names.offsets[string + 1]):
        topic = names.topics[place]
        at = lower_bound(linked, np.int64(0), np.int64(len(linked)), topic)
        if topic == source:
            return np.int64(-1)
        if at < len(linked) and linked[at] == topic:
            if found >= 0:
                return np.int64(-1)
            found = np.int64(topic)
    return found


@inner
def _among(values: NDArray[np.uint32], wanted: np.uint32) -> bool:
    found = False
    for value in values:
        found = found or value == wanted
    return found
