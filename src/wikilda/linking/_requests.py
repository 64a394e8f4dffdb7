"""Linking by joins, on a worker: what documents ask for, step by step, and their answers.

1. `ask_for_tokens`: what detection reads of the tokens of documents.
2. `ask_for_names`: mentions are detected; they and the words around them ask for their rows, names for rows of the
   index of names.
3. `ask_for_titled`: names ask for the topics whose titles have their words.
4. `wikilda.joins.packets.ask_for_candidates`: known mention strings ask for theirs.
5. `link_partition`: the packet of a shard is whole, and its documents are linked as on one machine.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from wikilda import __version__
from wikilda._core.errors import InputError, WikildaError
from wikilda.documents.detection import DictionaryDetector
from wikilda.documents.detection.framing import handles, words_of_handle
from wikilda.documents.document import Document
from wikilda.documents.encoding import EncodedDocument, encode
from wikilda.documents.reading import Bad
from wikilda.documents.reading.rows import from_row
from wikilda.documents.writing.parquet import storable
from wikilda.joins import blocks
from wikilda.joins.blocks import Buckets, Value
from wikilda.joins.broadcast import Spread
from wikilda.joins.dictionary import asked_by_tokens
from wikilda.joins.packets import parameters_of
from wikilda.lda.packet import numbers
from wikilda.linking._packets import Everywhere, PacketKnowledge, linker_of
from wikilda.linking.files import Job
from wikilda.linking.linker import Linker
from wikilda.linking.unknown import unknown_in
from wikilda.text.layout import shown
from wikilda.text.tokens import Strings, tokens_of
from wikilda.urn import packet as packets
from wikilda.urn.name_rows import NameParts, halves, keys_of_names, named_candidates
from wikilda.urn.packet import Keyed, Numbers, candidates_of

PLACE = "place of the row"  # an added column: the id of documents without one
_AT_ONCE = 64  # answers, which are Python objects
_MANY = 1 << 20  # requests, of which those that repeat others are dropped


@dataclass(frozen=True)
class Linking:
    """How a worker links."""

    job: Job
    everywhere: Spread[Everywhere]
    buckets: Buckets
    version: str  # of the driver's package
    clusters: bool  # whether answers come with their unknown names

    def check(self) -> None:
        """Refuse another version of the package than the driver's."""
        if self.version != __version__:
            raise WikildaError(
                f"a node has wikilda {__version__}, but the driver has {self.version}. Install the same version on all."
            )

    def values(self) -> Everywhere:
        """Return the values that all packets share."""
        return self.everywhere.value()


def document_value(row: dict[str, Any], shard: int, number: int, job: Job) -> Value:
    """Return a row of the input as a value of its shard."""
    given, text = row.get(job.reading.id_column or "id"), row.get(job.reading.text_column)
    kept = {
        "id": None if given is None else str(given), "text": text if isinstance(text, str) else None,
        "mentions": row.get("mentions"), "place": row.get(PLACE) or "",
    }  # fmt: skip
    return Value(blocks.NONE, number, blocks.TEXT, shard, json.dumps(kept, default=str).encode())


def _read(value: Value, job: Job) -> Document | Bad:
    row = json.loads(bytes(value.data))
    place, reading = row["place"], job.reading
    given = {reading.id_column or "id": row["id"], reading.text_column: row["text"], "mentions": row["mentions"]}
    try:
        return from_row(given, place, reading)
    except InputError as error:
        return Bad(place if row["id"] is None else row["id"], str(error))


def _good(values: Iterable[Value], job: Job) -> Iterator[Document]:
    return (found for each in values if isinstance(found := _read(each, job), Document))


class _Requests:
    """Keys that shards need, of which most repeat others."""

    def __init__(self, buckets: Buckets) -> None:
        self.buckets, self.keys, self.count = buckets, defaultdict[tuple[int, int], list[Numbers]](list), 0

    def add(self, shard: int, side: int, keys: Numbers) -> None:
        self.keys[shard, side].append(keys)
        self.count += len(keys)
        if self.count > _MANY:
            self.keys = defaultdict(list, {place: [_distinct(found)] for place, found in self.keys.items()})
            self.count = 0

    def values(self) -> Iterator[Value]:
        """Yield the requests."""
        for (shard, side), found in self.keys.items():
            yield from blocks.requests_of(side, _distinct(found), self.buckets, shard)


def _distinct(keys: list[Numbers]) -> Numbers:
    found: Numbers = np.unique(np.concatenate(keys))
    return found


def ask_for_tokens(batches: Iterator[pa.RecordBatch], linking: Linking) -> Iterator[pa.RecordBatch]:
    """Ask for what detection reads of the tokens of documents, which may come in any order."""
    linking.check()
    asked = _Requests(linking.buckets)
    for value in blocks.values_of(batches):
        for document in _good([value], linking.job):
            for side, keys in _asked_by_text(document):
                asked.add(value.shard, side, halves(keys))
    yield from blocks.batches_of(asked.values())


def _asked_by_text(document: Document) -> Iterator[tuple[int, NDArray[np.uint64]]]:
    text, given = document.text, document.mentions
    seen = shown(text) if given is None else None
    shown_text = text if seen is None else seen.text
    parts = [shown_text]
    if "@" in shown_text or "#" in shown_text:
        parts += [each for start, end in handles(shown_text) for each in _read_as(shown_text[start:end])]
    for start, end in given or ():  # they may begin inside of a token
        parts += _read_as(text[start:end]) if text[max(start - 1, 0)] in "@#" else (text[start:end],)
    for part in parts:
        beginnings, words = asked_by_tokens(tokens_of(part).hashes)
        yield blocks.PREFIXES, beginnings
        yield blocks.SPELLINGS, words


def _read_as(name: str) -> tuple[str, str]:
    return name, words_of_handle(name)


def ask_for_names(batches: Iterator[pa.RecordBatch], linking: Linking) -> Iterator[pa.RecordBatch]:
    """Detect the mentions of a shard, and ask for their rows."""
    for shard, found in _shards(batches):
        asked, everywhere = _Requests(linking.buckets), linking.values()
        knowledge = PacketKnowledge.of(rows_in(found), everywhere)
        detector, strings = DictionaryDetector(knowledge, everywhere.detection), dict[str, bool]()
        for document in _good(found.get(blocks.TEXT, []), linking.job):
            encoded = _encoded(document, knowledge, detector, linking.job, everywhere)
            if encoded is None:
                continue
            mentions, words = numbers(encoded.mentions), numbers(encoded.words)
            asked.add(shard, blocks.STRINGS, knowledge.mentions_here[mentions[mentions >= 0]])
            asked.add(shard, blocks.WORDS, knowledge.words_here[words[words >= 0]])
            if encoded.contexts is not None:
                asked.add(shard, blocks.CONTEXTS, halves(encoded.contexts.symbols))
            strings.update(zip(encoded.strings, (mentions >= 0).tolist(), strict=True))
        if strings and everywhere.has_names:
            names, variants = keys_of_names(Strings.of(list(strings)))
            asked.add(shard, blocks.NAMES, halves(names))
            asked.add(shard, blocks.VARIANTS, halves(variants))
            yield from blocks.batches_of(
                [Value(blocks.NONE, blocks.NONE, blocks.STRING_LIST, shard, json.dumps(strings).encode())]
            )
        yield from blocks.batches_of(asked.values())


def _encoded(
    document: Document, knowledge: PacketKnowledge, detector: DictionaryDetector, job: Job, everywhere: Everywhere
) -> EncodedDocument | None:
    """Return a document as symbols; None if that fails: linking will say why."""
    try:
        return encode(
            document, knowledge, detector, contexts=everywhere.needs_contexts, parts="all" if job.nested else "unknown"
        )
    except MemoryError:
        raise
    except Exception:
        return None


def ask_for_titled(batches: Iterator[pa.RecordBatch], linking: Linking) -> Iterator[pa.RecordBatch]:
    """Ask for what the names of a shard may mean by the words of titles."""
    for shard, found in _shards(batches):
        if blocks.STRING_LIST not in found:
            continue
        strings: dict[str, bool] = json.loads(bytes(found[blocks.STRING_LIST][0].data))
        most, known = linking.values().settings.backoff_candidates, np.array(list(strings.values()), np.bool_)
        parts = NameParts.of(rows_in(found))
        mentions, topics = named_candidates(Strings.of(list(strings)), known, parts, most)
        for side, keys in ((blocks.STRINGS, mentions), (blocks.TOPICS, topics.astype(np.int64))):
            yield from blocks.batches_of(blocks.requests_of(side, keys, linking.buckets, shard))


def link_partition(batches: Iterator[pa.RecordBatch], linking: Linking, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Link the documents of a shard."""
    for _, found in _shards(batches):
        rows = rows_in(found)
        everywhere = linking.values()
        _check(rows, everywhere.settings.max_candidates)
        linker = linker_of(rows, everywhere)
        documents = sorted(found.get(blocks.TEXT, []), key=lambda each: each.bucket)
        for at in range(0, len(documents), _AT_ONCE):
            some = [_answer(linker, each, linking) for each in documents[at : at + _AT_ONCE]]
            yield pa.RecordBatch.from_pylist(some, schema)


def _answer(linker: Linker, value: Value, linking: Linking) -> dict[str, Any]:
    """Return the row of a document: its answers, or an error."""
    document, job = _read(value, linking.job), linking.job
    linked = document if isinstance(document, Bad) else job.link(linker, document)
    if isinstance(linked, Bad):
        return {"id": document.place if isinstance(document, Bad) else document.id, "error": linked.why}
    names = [json.dumps(each.to_json()) for each in unknown_in(linked)] if linking.clusters else None
    return storable(job.row(linked)) | {"unknown": names}


def _check(rows: dict[int, Keyed], candidates: int) -> None:
    """Refuse a packet that lacks rows that every string or candidate has."""
    strings, topics = rows[packets.STRING].keys, rows[packets.TOPIC].keys
    whole = np.array_equal(rows[packets.BASE].keys, strings) and np.array_equal(rows[blocks.ENTITY].keys, topics)
    base = parameters_of(rows[packets.BASE])
    if not whole or not np.isin(candidates_of(base, rows[packets.BY_WORDS], strings, candidates), topics).all():
        raise WikildaError("a table of the model is cut short: files of it are missing. Remove it: see --tables.")


def rows_in(found: dict[int, list[Value]]) -> dict[int, Keyed]:
    """Return the rows of a packet by kind."""
    return {kind: blocks.rows_of_kind(found, kind) for kind in blocks.ENTRY}


def _shards(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, dict[int, list[Value]]]]:
    """The values of the shard of a partition, by kind; nothing of a partition without values."""
    by_kind: dict[int, list[Value]] = {}
    for value in blocks.values_of(batches):
        by_kind.setdefault(value.kind, []).append(value)
    if by_kind:
        yield next(iter(by_kind.values()))[0].shard, by_kind
