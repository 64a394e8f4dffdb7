"""One shard with the urn as E-step: inference with the current model, and counts.

Counts are whole numbers. Each document is inferred without its own counts of the iteration before, its notes, which
the shard keeps.
"""

import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import EMPTY_RUN, Run, offsets_of, run_of_pairs
from wikilda.knowledge.context_counts import CONTEXTS, UNIT
from wikilda.model.model import BASE, EXPECTED, MENTIONS, NIL
from wikilda.training.corpus.corpus import Documents
from wikilda.training.shard import Found
from wikilda.urn import Urn, UrnSettings
from wikilda.urn.likelihood import HeldOut
from wikilda.urn.packet import STRING, WORD, Asked, Packet, Shared, view_of
from wikilda.urn.statistics import Taught, nil_counts, only, taught_by

KINDS = dict.fromkeys((MENTIONS, BASE, CONTEXTS, EXPECTED, NIL), np.iinfo(np.int64).max)  # larger than any symbol

_ALL = 1 << 62
_COLUMNS = 4  # of notes by entry: topics, shares, base, prior

Notes = NDArray[np.uint32]


def sample_urn_shard(documents: Documents, urn: Urn, previous: NDArray[np.uint32] | None = None) -> Found:
    """Infer the documents of a shard; `previous` are the notes of the iteration before."""
    started = time.process_time()
    own = _unpack(previous, len(documents.mentions)) if previous is not None else None
    taught: list[Taught] = []
    strings = urn.view.strings
    for number in range(len(documents.keys)):
        span = slice(documents.mention_offsets[number], documents.mention_offsets[number + 1])
        before = _some(own, span) if own is not None else None
        drawn = urn.draw_without(documents.with_contexts(number, strings), before)
        taught.append(only(taught_by(drawn), documents.counted[span]))
    whole = _together(taught)
    return Found(
        {
            MENTIONS: _mention_counts(documents, whole, whole.shares),
            BASE: _mention_counts(documents, whole, whole.base),
            CONTEXTS: EMPTY_RUN if urn.view.of_links else _context_counts(documents, whole, whole.shares),
            EXPECTED: EMPTY_RUN if urn.view.of_links else _context_counts(documents, whole, whole.prior),
            NIL: _nil_counts(documents, taught),
        },
        np.concatenate((np.diff(whole.offsets).astype(np.uint32), whole.nil, *whole[1:5])),
        {
            "documents": len(documents.keys),
            "tokens": documents.tokens,
            "mentions": len(documents.mentions),
            "changed": _changed(own, whole),
            "sampling seconds": time.process_time() - started,
        },
    )


def sample_packet(
    packet: Packet, shared: Shared, documents: Documents, settings: UrnSettings, previous: Notes | None = None
) -> Found:
    """Draw the documents of a shard with nothing but a packet; what is found has the model's numbers."""
    started = time.process_time()
    urn, topics, mine = _opened(packet, shared, documents, settings)
    before, mentions = None, len(documents.mentions)
    if previous is not None:
        own = np.searchsorted(topics, noted_topics(previous, mentions))
        before = _renamed(previous, mentions, own.astype(np.uint32))
    joining = time.process_time() - started
    found = sample_urn_shard(mine, urn, before)
    found.report["joining seconds"] = joining
    runs = {kind: _restored(kind, run, packet[STRING].keys, topics) for kind, run in found.runs.items()}
    return Found(runs, _renamed(found.notes, mentions, topics[noted_topics(found.notes, mentions)]), found.report)


def log_likelihoods(
    packet: Packet, shared: Shared, documents: Documents, settings: UrnSettings, particles: int,
    distinct: NDArray[np.float64],
) -> list[tuple[float, int]]:  # fmt: skip
    """The log likelihood of each document, and how many tokens it has, with nothing but a packet."""
    urn, _, mine = _opened(packet, shared, documents, settings)
    held_out = HeldOut(urn, particles, distinct=distinct)
    strings = urn.view.strings
    return [held_out.log_likelihood(mine.with_contexts(number, strings)) for number in range(len(mine.keys))]


def _opened(
    packet: Packet, shared: Shared, documents: Documents, settings: UrnSettings
) -> tuple[Urn, Notes, Documents]:
    """The urn over a packet, the model's numbers of its topics, and documents with the packet's numbers."""
    view, topics = view_of(packet, shared)
    urn = Urn.of_view(view, replace(settings, max_neighbours=_ALL))  # of a hub's neighbours the packet has but some
    mine = documents._replace(
        mentions=np.searchsorted(packet[STRING].keys, documents.mentions).astype(np.uint32),
        words=np.searchsorted(packet[WORD].keys, documents.words).astype(np.uint32),
    )
    return urn, topics, mine


def asked_by(documents: Documents, previous: Notes | None = None) -> Asked:
    """What the packet of a shard needs rows for."""
    contexts = np.unique(documents.contexts)
    noted = np.empty(0, np.uint32) if previous is None else noted_topics(previous, len(documents.mentions))
    return Asked(
        np.unique(documents.mentions).astype(np.int64), np.unique(documents.words).astype(np.int64),
        contexts[contexts != 0], np.unique(noted),
    )  # fmt: skip


def noted_topics(notes: Notes, mentions: int) -> Notes:
    """Return the topics in the notes of a shard with a number of mentions."""
    return notes[2 * mentions : 2 * mentions + (len(notes) - 2 * mentions) // _COLUMNS]


def _renamed(notes: Notes, mentions: int, topics: Notes) -> Notes:
    """Notes with other numbers of topics."""
    start = 2 * mentions
    return np.concatenate((notes[:start], topics, notes[start + len(topics) :]))


def _restored(kind: str, run: Run, strings: NDArray[np.int64], topics: Notes) -> Run:
    """Counts with the model's numbers of strings and topics, whose order is the packet's."""
    symbols = {MENTIONS: strings, BASE: strings, NIL: strings}.get(kind)
    return run._replace(
        symbols=run.symbols if symbols is None else symbols[run.symbols],
        topics=run.topics if kind == NIL else topics[run.topics],
    )


def _together(taught: list[Taught]) -> Taught:
    lengths = [np.empty(0, np.int64), *(np.diff(each.offsets) for each in taught)]
    topics = [np.empty(0, np.uint32), *(each.topics for each in taught)]
    shares = [np.empty(0, np.uint32), *(each.shares for each in taught)]
    base = [np.empty(0, np.uint32), *(each.base for each in taught)]
    prior = [np.empty(0, np.uint32), *(each.prior for each in taught)]
    nil = [np.empty(0, np.uint32), *(each.nil for each in taught)]
    return Taught(offsets_of(np.concatenate(lengths)), *map(np.concatenate, (topics, shares, base, prior, nil)))


def _unpack(notes: NDArray[np.uint32], mentions: int) -> Taught:
    offsets = offsets_of(notes[:mentions].astype(np.int64))
    topics, shares, base, prior = np.split(notes[2 * mentions :], 4)
    return Taught(
        offsets=offsets, topics=topics, shares=shares, base=base, prior=prior, nil=notes[mentions : 2 * mentions]
    )


def _some(taught: Taught, span: slice) -> Taught:
    offsets = taught.offsets[span.start : span.stop + 1]
    entries = slice(offsets[0], offsets[-1])
    topics, shares, base, prior = (column[entries] for column in taught[1:5])
    return Taught(
        offsets=offsets - offsets[0], topics=topics, shares=shares, base=base, prior=prior, nil=taught.nil[span]
    )


def _mention_counts(documents: Documents, taught: Taught, shares: NDArray[np.uint32]) -> Run:
    """n_vk, by the posterior or by what the base measure has of it."""
    symbols, counted = documents.mentions[taught.mentions].astype(np.int64), shares > 0
    return run_of_pairs(symbols[counted], taught.topics[counted], shares[counted].astype(np.int64))


def _nil_counts(documents: Documents, taught: list[Taught]) -> Run:
    """By string, in place of topics: in how many documents it is NIL (0), and how many have it (1)."""
    each = []
    for start, end, its in zip(documents.mention_offsets[:-1], documents.mention_offsets[1:], taught, strict=True):
        some = documents.counted[start:end]
        each.append(nil_counts(documents.mentions[start:end][some].astype(np.int64), its.nil[some]))
    symbols = np.concatenate([np.empty(0, np.int64), *(its.symbols for its in each)])
    nil = np.concatenate([np.empty(0, np.float32), *(its.nil for its in each)])
    counts = np.concatenate(((nil * UNIT).astype(np.int64), np.full(len(symbols), UNIT)))
    kinds = np.repeat(np.arange(2, dtype=np.uint32), len(symbols))
    return run_of_pairs(np.tile(symbols, 2), kinds, counts)


def _context_counts(documents: Documents, taught: Taught, by: NDArray[np.uint32]) -> Run:
    """n_ck, by the posterior, or by what strings mean elsewhere."""
    contexts = documents.context_rows()
    counted = by > 0
    mentions, topics, shares = taught.mentions[counted], taught.topics[counted], by[counted]
    lengths = np.diff(contexts.offsets)[mentions]
    offsets = offsets_of(lengths)
    source = np.arange(offsets[-1]) + np.repeat(contexts.offsets[mentions] - offsets[:-1], lengths)
    symbols = (contexts.symbols[source] >> np.uint64(1)).astype(np.int64)
    return run_of_pairs(symbols, np.repeat(topics, lengths), np.repeat(shares, lengths).astype(np.int64))


def _changed(before: Taught | None, now: Taught) -> int:
    """Return the number of mentions whose best topic has changed since the iteration before."""
    return 0 if before is None else int((_best(before) != _best(now)).sum())


def _best(taught: Taught) -> NDArray[np.int64]:
    best = np.full(len(taught.offsets) - 1, -1, np.int64)
    order = np.lexsort((taught.topics, -taught.shares.astype(np.int64), taught.mentions))
    mentions, first = np.unique(taught.mentions, return_index=True)
    best[mentions] = taught.topics[order][first]
    return best
