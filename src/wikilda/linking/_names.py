"""An index of the knowledge's names for cells of tables: by tokens, with up to two typos each."""

from functools import cached_property
from threading import Lock, local
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from wikilda._core.arrays import offsets_of
from wikilda._core.jit import tier
from wikilda.knowledge import Knowledge
from wikilda.linking._channel import (
    MOST_TOKENS,
    Cells,
    Costs,
    MentionRows,
    NameTable,
    Scratch,
    Spelled,
    deletions,
    gather,
    letter_masks,
    match_cells,
    segments,
    token_bits,
)
from wikilda.text.tokens import Strings

COSTS = Costs()
LONGEST = 500  # characters of a cell that are read
_TEMPER = 0.5  # exponent of a name's count: tables repeat popular names less than texts do
_UNKNOWN = 0.3  # prior share of cells whose entity the knowledge lacks
_NEAR = 8  # least letters of unknown names that are merged if they differ by one letter
_SMOOTHING = 0.5  # of frequencies of tokens and letters
_DOUBTFUL = 0.02  # probability of an unknown name from which a cell is read again for two typos per word
_LEGAL = """
    inc incorporated corp corporation co company companies ltd limited llc llp lp plc pllc pty pte gmbh ag kg kgaa ohg
    ug mbh ev eg se sa sas sarl sarlu sl slu srl spa snc nv bv vof cv cvba bvba sprl ab as asa aps oy oyj hf ehf kft zrt
    nyrt rt doo dd ad jsc ojsc pjsc cjsc ooo oao pao zao sro spol sp zoo kk gk bhd sdn tbk pt sab ltda eirl eurl scs sca
    oyab group holding holdings intl international"""
_HONORIFICS = """
    mr mrs ms miss mx dr prof professor sir dame lord lady rev reverend hon herr frau dipl ing mag monsieur madame mme
    mlle sr sra srta senor senora don dona dott sig signor signora dhr mevr pan pani jr jnr snr phd md esq obe cbe mbe
    qc kc"""
LIGHT = {*_LEGAL.split(), *_HONORIFICS.split(), "the", "and", "und", "et", "y", "de", "of"}
_LETTERS = {"ß": "ss", "ø": "o", "đ": "d", "ł": "l", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ı": "i", "&": " and "}


class Found(NamedTuple):
    """The candidates of cells by their names."""

    topics: NDArray[np.int64]  # best first; −1: no more
    logs: NDArray[np.float64]  # their log weights
    unknown: NDArray[np.float64]  # the log weight of an unknown name
    names: NDArray[np.int64]  # the most similar mention string of each cell, −1 for none

    def posterior(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The probability of each topic, and that of an unknown name."""
        highest = np.maximum(self.logs.max(axis=1), self.unknown)
        shares, nothing = np.exp(self.logs - highest[:, None]), np.exp(self.unknown - highest)
        total = shares.sum(axis=1) + nothing
        return shares / total[:, None], nothing / total


def fold(strings: pa.Array) -> pa.Array:
    """Return strings in lower case without accents and marks, with single spaces."""
    plain = pc.replace_substring_regex(pc.utf8_normalize(strings, "NFKD"), r"\p{Mn}+", "")
    plain = pc.utf8_lower(plain)
    for letter, plainer in _LETTERS.items():
        plain = pc.replace_substring(plain, letter, plainer)
    plain = pc.replace_substring_regex(plain, r"\b(\pL)/(\pL)\b", r"\1\2")
    plain = pc.replace_substring_regex(plain, r"[.'’ʼ`´]+", "")
    return pc.utf8_trim(pc.replace_substring_regex(plain, r"[^\pL\pN]+", " "), " ")


class NameMatcher:
    """Matches cells with the names of knowledge."""

    def __init__(self, knowledge: Knowledge, costs: Costs = COSTS) -> None:
        self.knowledge, self.costs = knowledge, costs
        self._local: Any = local()
        self._lock = Lock()

    @property
    def _index(self) -> tuple[NameTable, pa.Array]:
        with self._lock, tier.now():  # threads wait while one computes it; interpreted it would take minutes
            return self.index

    @cached_property
    def index(self) -> tuple[NameTable, pa.Array]:
        """The index, and its tokens; made when the first cell is matched."""
        known = self.knowledge
        strings = known.mention_strings
        folded = fold(_arrow(Strings(strings.data, strings.offsets)))
        lists = pc.split_pattern(folded, " ")
        flat = lists.flatten().dictionary_encode()
        tokens, ids = flat.dictionary.cast(pa.large_string()), flat.indices.to_numpy().astype(np.int32)
        offsets = np.asarray(lists.offsets, np.int64)
        lengths, counts = np.diff(offsets), _sums(known.mentions.counts, known.mentions.offsets)
        frequency = np.bincount(ids, minlength=len(tokens)).astype(np.float64)
        owners = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
        posts = owners[np.lexsort((-counts[owners], lengths[owners], ids))]
        tempered = np.maximum(counts, 1.0) ** _TEMPER
        logs = np.log(tempered / tempered.sum())
        data = _strings(tokens)
        hashes, of_hashes = _sorted(*deletions(*data))
        keys, of_keys = _sorted(*segments(*data))
        light = np.array([each in LIGHT for each in tokens.to_pylist()], np.bool_)
        heavy = np.minimum(_sums(~light[ids], offsets), 255).astype(np.uint8)
        table = NameTable(
            *data, -np.log(frequency / frequency.sum()), light, offsets, ids,
            logs, offsets_of(frequency.astype(np.int64)), posts, heavy[posts], logs[posts].astype(np.float32),
            token_bits(ids, offsets, np.diff(data[1]) == 1)[posts], hashes,
            of_hashes, keys, of_keys, letter_masks(*data)[of_keys], _letters(data), _lengths(lengths),
        )  # fmt: skip
        return table, tokens

    def find(self, cells: list[str], most: int = 8, allowed: NDArray[np.bool_] | None = None) -> Found:
        """Return the candidates of cells by their names. Doubtful cells are read again with two typos per word."""
        table, tokens = self._index
        given = pa.array([each[:LONGEST] for each in cells], pa.large_string())
        lists = pc.split_pattern(fold(given), " ")
        flat = lists.flatten()
        places = pc.index_in(flat, tokens).fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        light = pc.is_in(flat, pa.array(sorted(LIGHT), flat.type)).to_numpy(zero_copy_only=False)
        read = Cells(*_strings(flat), np.asarray(lists.offsets, np.int64), places, light)
        spelled = given, pc.utf8_lower(given)
        found = self._find(table, read, spelled, np.arange(len(cells)), 1, most, allowed)
        doubtful = np.flatnonzero(found.posterior()[1] > _DOUBTFUL)
        if len(doubtful):
            again = self._find(table, read, spelled, doubtful, 2, most, allowed)
            for old, new in zip(found, again, strict=True):
                old[doubtful] = new
        return found

    def _find(
        self, table: NameTable, read: Cells, spelled: tuple[pa.Array, pa.Array], chosen: NDArray[np.int64],
        edits: int, most: int, allowed: NDArray[np.bool_] | None,
    ) -> Found:  # fmt: skip
        scratch = self._scratch(table)
        scratch.seen[:] = 0
        with tier.now():
            names, weights, unknown = match_cells(table, self.costs, read, chosen, edits, scratch)
        known = self.knowledge
        strings, titles = known.mention_strings, known.titles
        rows = MentionRows(
            strings=Strings(strings.data, strings.offsets),
            offsets=known.mentions.offsets,
            topics=known.mentions.topics,
            counts=known.mentions.counts,
            titles=Strings(titles.data, titles.offsets),
        )
        raw, lower = (_strings(each.take(pa.array(chosen))) for each in spelled)
        cells = Spelled(*raw, *lower)
        everything = np.ones(0, np.bool_)
        topics, logs = gather(
            names, weights, rows, cells, self.costs, most, everything if allowed is None else allowed
        )  # fmt: skip
        return Found(topics=topics, logs=logs, unknown=unknown + np.log(_UNKNOWN), names=names[:, 0].astype(np.int64))

    def _scratch(self, table: NameTable) -> Scratch:
        if not hasattr(self._local, "scratch"):
            tokens, names = len(table.info), len(table.log_counts)
            self._local.scratch = Scratch(np.zeros(tokens, np.int32), np.zeros(names, np.int32))
        found: Scratch = self._local.scratch
        return found


def near_pairs(names: list[str]) -> list[tuple[int, int]]:
    """Pairs of names that differ by one letter, by their numbers; short ones and numbers do not count."""
    long = [at for at, each in enumerate(names) if len(each) >= _NEAR]
    hashes, numbers = _sorted(*deletions(*_strings(pa.array([names[at].replace(" ", "") for at in long], pa.string()))))
    same = np.flatnonzero(hashes[1:] == hashes[:-1])
    return [
        (long[one], long[other]) for one, other in zip(numbers[same].tolist(), numbers[same + 1].tolist(), strict=True)
    ]


def _arrow(strings: Strings) -> pa.Array:
    buffers = [None, pa.py_buffer(np.ascontiguousarray(strings.offsets, np.int64)), pa.py_buffer(strings.data)]
    return pa.Array.from_buffers(pa.large_string(), len(strings.offsets) - 1, buffers)


def _strings(strings: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    strings = strings.cast(pa.large_string())
    _, offsets, data = strings.buffers()
    places = np.frombuffer(offsets, np.int64)[strings.offset : strings.offset + len(strings) + 1]
    found = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    return found, places if len(places) else np.zeros(1, np.int64)


def _sums(values: NDArray[Any], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    ends = np.concatenate(([0], np.cumsum(values, dtype=np.float64)))
    found: NDArray[np.float64] = ends[offsets[1:]] - ends[offsets[:-1]]
    return found


def _sorted(hashes: NDArray[np.uint64], tokens: NDArray[np.int32]) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    order = np.argsort(hashes, kind="stable")
    return hashes[order], tokens[order]


def _letters(data: tuple[NDArray[np.uint8], NDArray[np.int64]]) -> NDArray[np.float32]:
    """−log P(byte | byte before) in the distinct tokens; 0 is the beginning and the end."""
    letters, offsets = data
    counts = np.full((256, 256), _SMOOTHING)
    spaced = np.zeros(int(offsets[-1] - offsets[0]) + len(offsets), np.uint8)
    places = np.arange(offsets[0], offsets[-1])
    spaced[places - offsets[0] + 1 + np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))] = letters[places]
    np.add.at(counts, (spaced[:-1], spaced[1:]), 1.0)
    found: NDArray[np.float32] = -np.log(counts / counts.sum(axis=1, keepdims=True)).astype(np.float32)
    return found


def _lengths(lengths: NDArray[np.int64]) -> NDArray[np.float64]:
    counts = np.bincount(np.minimum(lengths, MOST_TOKENS), minlength=MOST_TOKENS + 1) + _SMOOTHING
    found: NDArray[np.float64] = -np.log(counts / counts.sum())
    return found
