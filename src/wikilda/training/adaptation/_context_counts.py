"""Counting what stands around mentions of which kinds, in bounded memory."""

import numpy as np

from wikilda._core.csr import offsets_of
from wikilda._core.hash_table import table_of
from wikilda.documents.encoding import EncodedDocument
from wikilda.model.context_counts import Kinds, Surroundings, text_digest
from wikilda.urn.context_evidence import Rows, spread
from wikilda.urn.urn import Drawn

_LEAST = 1.5  # mentions that something must have stood around
_MOST_ROWS = 1 << 23  # that are added up at a time


class Counts:
    """n_cd of documents, added one after the other."""

    def __init__(self, kinds: Kinds) -> None:
        self.kinds = kinds
        self.mentions = 0
        self._texts: set[np.uint64] = set()
        self._rows: list[Rows] = []
        self._waiting = 0

    def add(self, document: EncodedDocument, drawn: Drawn) -> None:
        """Count the mentions of a text, each by the posterior of what it may mean. No text is counted twice."""
        digest = text_digest(document.text)
        if digest in self._texts or document.contexts is None:
            return
        self._texts.add(digest)
        rows = spread(document.contexts, drawn.offsets, drawn.topics, drawn.posterior, self.kinds)
        self.mentions += int(np.count_nonzero(np.diff(drawn.offsets)))
        self._rows.append(rows)
        self._waiting += len(rows[0])
        if self._waiting > _MOST_ROWS:
            self._sum()

    @property
    def texts(self) -> int:
        """How many texts were counted."""
        return len(self._texts)

    def finish(self) -> Surroundings:
        """All counts, as a table; what hardly ever stood anywhere is left out."""
        symbols, words, counts = self._sum()
        starts = np.flatnonzero(np.append(True, symbols[1:] != symbols[:-1])[: len(symbols)])
        offsets = np.append(starts, len(symbols))
        sums = np.add.reduceat(counts, starts) if len(starts) else np.empty(0)
        kept = sums >= _LEAST
        inside = np.repeat(kept, np.diff(offsets))
        keys, words, counts = symbols[starts[kept]], words[inside], counts[inside]
        totals = np.bincount(words, counts, minlength=int(self.kinds.words.max(initial=0)) + 1).astype(np.float64)
        ends = offsets_of(np.diff(offsets)[kept])
        texts = np.sort(np.fromiter(self._texts, np.uint64, len(self._texts)))
        table, counted = table_of(keys), counts.astype(np.float32)
        return Surroundings(self.kinds, table, ends, words, counted, sums[kept], totals, texts)

    def _sum(self) -> Rows:
        """Add up what has the same symbol and word."""
        if not self._rows:
            return np.empty(0, np.uint64), np.empty(0, np.uint32), np.empty(0)
        symbols, words, counts = (np.concatenate(column) for column in zip(*self._rows, strict=True))
        order = np.lexsort((words, symbols))
        symbols, words, counts = symbols[order], words[order], counts[order]
        first = np.append(True, (symbols[1:] != symbols[:-1]) | (words[1:] != words[:-1]))[: len(symbols)]
        starts = np.flatnonzero(first)
        summed = np.add.reduceat(counts, starts) if len(starts) else counts
        self._rows, self._waiting = [(symbols[starts], words[starts], summed)], 0
        return self._rows[0]
