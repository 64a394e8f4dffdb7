"""A corpus: documents as numbers of symbols, sorted by the hash of their ids, in shards of memory-mapped arrays.

Any range of keys is a fair sample of the documents, so training may use any number of shards: shard m of M has the
keys from m/M to (m+1)/M of the key space.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.array_checks import Array, strings
from wikilda._core.arrays import StringTable, offsets_of
from wikilda._core.artifact import MANIFEST, Artifact
from wikilda._core.errors import ArtifactError
from wikilda._core.settings import Settings, setting
from wikilda.documents.document import Document
from wikilda.documents.encoding import EncodedDocument
from wikilda.text.contexts import MOST_CONTEXTS, Contexts


class Documents(NamedTuple):
    """Some documents: their keys, and their words and mentions from offsets[document] on.

    The urn also needs the digest of each text, and the position and the context symbols of each mention: MOST_CONTEXTS
    of them, 0 where there is none. It learns from mentions that are `counted`.
    """

    keys: NDArray[np.uint64]
    word_offsets: NDArray[np.int64]
    words: NDArray[np.uint32]
    mention_offsets: NDArray[np.int64]
    mentions: NDArray[np.uint32]
    digests: NDArray[np.uint64]
    positions: NDArray[np.uint32]
    contexts: NDArray[np.uint64]
    counted: NDArray[np.bool_] = np.empty(0, np.bool_)

    @property
    def tokens(self) -> int:
        """The number of words and mentions."""
        return len(self.words) + len(self.mentions)

    def document(self, number: int) -> EncodedDocument:
        """One of them."""
        words = self.words[self.word_offsets[number] : self.word_offsets[number + 1]]
        mentions = self.mentions[self.mention_offsets[number] : self.mention_offsets[number + 1]]
        return EncodedDocument(words, mentions, int(self.keys[number]))

    def with_contexts(self, number: int, strings: StringTable) -> EncodedDocument:
        """One of them as the urn takes it; `strings` are those of all mentions."""
        plain = self.document(number)
        span = slice(self.mention_offsets[number], self.mention_offsets[number + 1])
        own = [strings[int(symbol)] for symbol in self.mentions[span]]
        ends = np.cumsum([len(each) for each in own], dtype=np.int64).tolist()
        spans = [(end - len(each), end) for each, end in zip(own, ends, strict=True)]
        contexts = _rows(self.contexts[MOST_CONTEXTS * span.start : MOST_CONTEXTS * span.stop])
        return replace(
            plain, positions=self.positions[span].astype(np.int64), contexts=contexts, text="".join(own), spans=spans
        )

    def context_rows(self) -> Contexts:
        """The context symbols of all mentions."""
        return _rows(self.contexts)

    def chosen(self, which: NDArray[np.bool_]) -> "Documents":
        """Those that are chosen."""
        words = _chosen(self.word_offsets, self.words, which)
        mentions = np.repeat(which, np.diff(self.mention_offsets))
        return Documents(
            self.keys[which],
            *words,
            *_chosen(self.mention_offsets, self.mentions, which),
            self.digests[which],
            self.positions[mentions],
            self.contexts[np.repeat(mentions, MOST_CONTEXTS)],
            self.counted[mentions],
        )


class Corpus(Artifact):
    """A corpus. Arrays are read on first use."""

    kind = "corpus"
    format = 4
    fields = {"knowledge": str, "summary": dict[str, int], "symbols": dict[str, int]}
    arrays = {
        "*/keys": Array(np.uint64, "*/documents"),
        "*/digests": Array(np.uint64, "*/documents"),
        "*/word_offsets": Array(np.int64, "*/documents", extra=1, into="*/words"),
        "*/words": Array(np.uint32, "*/words", below="words"),
        "*/mention_offsets": Array(np.int64, "*/documents", extra=1, into="*/mentions"),
        "*/mentions": Array(np.uint32, "*/mentions", below="mentions"),
        "*/positions": Array(np.uint32, "*/mentions"),
        "*/contexts": Array(np.uint64),
        "*/counted": Array(np.bool_, "*/mentions"),
        **strings("*/ids", "*/documents"),
        **strings("sample", "sample"),
    }
    sizes_from = {"words": "symbols.words", "mentions": "symbols.mentions"}  # of the knowledge
    held = False  # there may be thousands of files

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        super().__init__(path, manifest)
        firsts = self.field("firsts", list)  # the least key of every shard
        folders = {name.partition("/")[0] for name in self.files if "/" in name}
        if folders != {f"{number:05d}" for number in range(len(firsts))} or not all(map(_is_key, firsts)):
            raise ArtifactError(f"{path / MANIFEST}: firsts are not the keys of its shards. Make {path} again.")
        self.firsts = np.array(firsts, np.uint64)

    @classmethod
    def open(cls, path: str | Path, knowledge: str | None = None) -> "Corpus":
        """Open a corpus. One made with other knowledge than `knowledge` (its identity) is refused."""
        corpus = super().open(path)
        made_with = corpus.knowledge_identity
        if knowledge is not None and made_with != knowledge:
            raise ArtifactError(
                f"{path}: was made with other knowledge ({made_with[:8]}) than the model ({knowledge[:8]}). "
                "Make the corpus again with the model's knowledge."
            )
        return corpus

    @property
    def knowledge_identity(self) -> str:
        """The identity of the knowledge of its symbols."""
        return self.field("knowledge", str)

    def check_symbols(self, known: Mapping[str, int]) -> None:
        """Refuse a corpus with symbols that are not below some numbers of words and mentions."""
        for name in self.sizes_from:
            if self.field(f"symbols.{name}", int) > known[name]:
                raise ArtifactError(
                    f"{self.path}: has more {name} than the model knows ({known[name]:,}). "
                    "Make the corpus again with the model's knowledge."
                )

    @property
    def documents(self) -> int:
        """The number of documents."""
        return self.field("summary.documents", int)

    @property
    def tokens(self) -> int:
        """The number of words and mentions."""
        return self.field("summary.tokens", int)

    def shard(self, number: int, shards: int) -> Documents:
        """Return the documents of shard m of M: those with keys from m/M to below (m+1)/M of 2⁶⁴."""
        return self.between(number * 2**64 // shards, (number + 1) * 2**64 // shards)

    def between(self, first: int, end: int) -> Documents:
        """Return the documents with keys from `first` to below `end`."""
        start = max(int(np.searchsorted(self.firsts, np.uint64(first), "right")) - 1, 0)
        parts = []
        for number in range(start, len(self.firsts)):
            if int(self.firsts[number]) >= end:
                break
            parts.append(_cut(self._shard(number), first, end))
        return _together(parts) if len(parts) != 1 else parts[0]

    def sample(self) -> list[Document]:
        """A fair sample of the documents, as they were given; those that are held out come first."""
        return [Document(**json.loads(each)) for each in self.strings("sample")]

    def id(self, key: int) -> str:
        """Return the id of the (first) document with a key."""
        number = max(int(np.searchsorted(self.firsts, np.uint64(key), "right")) - 1, 0)
        keys = self._shard(number).keys
        at = int(np.searchsorted(keys, np.uint64(key)))
        return StringTable(*(self.array(f"{number:05d}/ids.{part}") for part in ("bytes", "offsets")))[at]

    @lru_cache(maxsize=64)  # noqa: B019
    def _shard(self, number: int) -> Documents:
        found = Documents(*(self.array(f"{number:05d}/{name}") for name in Documents._fields))
        if len(found.contexts) != MOST_CONTEXTS * len(found.mentions):
            raise ArtifactError(f"{self.path}: shard {number} has too few contexts. Make {self.path} again.")
        return found


def _rows(contexts: NDArray[np.uint64]) -> Contexts:
    table = contexts.reshape(-1, MOST_CONTEXTS)
    return Contexts(offsets_of((table != 0).sum(1)), table[table != 0])


def _is_key(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**64


def _cut(documents: Documents, first: int, end: int) -> Documents:
    start = int(np.searchsorted(documents.keys, np.uint64(first)))
    stop = int(np.searchsorted(documents.keys, np.uint64(end))) if end < 2**64 else len(documents.keys)
    words = documents.word_offsets[start : stop + 1]
    mentions = documents.mention_offsets[start : stop + 1]
    its = slice(mentions[0], mentions[-1])
    return Documents(
        keys=documents.keys[start:stop],
        word_offsets=words - words[0],
        words=documents.words[words[0] : words[-1]],
        mention_offsets=mentions - mentions[0],
        mentions=documents.mentions[its],
        digests=documents.digests[start:stop],
        positions=documents.positions[its],
        contexts=documents.contexts[MOST_CONTEXTS * its.start : MOST_CONTEXTS * its.stop],
        counted=documents.counted[its],
    )


def _together(parts: list[Documents]) -> Documents:
    columns = zip(*parts, strict=True) if parts else ([] for _ in Documents._fields)
    made: list[NDArray[Any]] = [
        _offsets(list(column)) if name.endswith("_offsets") else np.concatenate([np.empty(0, kind), *column])
        for name, kind, column in zip(Documents._fields, KINDS, columns, strict=True)
    ]
    return Documents(*made)


KINDS = (np.uint64, np.int64, np.uint32, np.int64, np.uint32, np.uint64, np.uint32, np.uint64, np.bool_)


def _offsets(parts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    return offsets_of(np.concatenate([np.empty(0, np.int64), *(np.diff(each) for each in parts)]))


def _chosen(
    offsets: NDArray[np.int64], symbols: NDArray[np.uint32], which: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    lengths = np.diff(offsets)
    return offsets_of(lengths[which]), symbols[np.repeat(which, lengths)]


_STEP = 0x9E3779B97F4A7C15


def holding_order(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return numbers by which documents are held out, the smallest first.

    Keys are hashed again: shards, which are ranges of keys, have a share each.
    """
    state = np.asarray(keys, np.uint64) + np.uint64(_STEP)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (state ^ (state >> np.uint64(31))) >> np.uint64(11)


@dataclass(frozen=True)
class CorpusSettings(Settings):
    """Settings of `wikilda corpus`."""

    detect: bool = setting(True, "Detect the mentions of documents that come without spans.")
