"""`wikilda corpus`: batches are encoded in parallel, then merged in the order of their keys."""

import hashlib
import json
from collections.abc import Callable, Iterator
from functools import lru_cache
from heapq import heappop, heappush
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import StringTable, offsets_of
from wikilda._core.artifact import Writer, check_target
from wikilda._core.atomic import new_directory, work_directory
from wikilda._core.errors import InputError, Report
from wikilda._core.jit import LINKED, tier
from wikilda._core.npy import save_array
from wikilda._core.platform import available_cores
from wikilda._core.progress import bar
from wikilda._core.workers import Pool, Workers
from wikilda.documents.detection import Detector, DetectorSettings, DictionaryDetector
from wikilda.documents.document import Document
from wikilda.documents.encoding import encode
from wikilda.documents.reading import Bad, Batch, ReadSettings, batches
from wikilda.knowledge import Knowledge
from wikilda.knowledge.context_counts import text_digest
from wikilda.text.contexts import MOST_CONTEXTS, Contexts
from wikilda.text.tokens import token_hashes
from wikilda.training.corpus._copies import SKETCH, Sourced, counted, sketch, without_near_copies
from wikilda.training.corpus.corpus import Corpus, CorpusSettings, holding_order


class Recipe(NamedTuple):
    """Everything that a worker needs to encode a batch."""

    knowledge: Path
    settings: CorpusSettings
    reading: ReadSettings
    detector: "DetectorSettings | Callable[[Knowledge], Detector]"


class Encoded(NamedTuple):
    """A document as numbers of symbols; of each mention also its position and its context symbols (0: none)."""

    id: str
    words: NDArray[np.uint32]
    mentions: NDArray[np.uint32]
    digest: int = 0
    positions: NDArray[np.uint32] = np.empty(0, np.uint32)
    contexts: NDArray[np.uint64] = np.empty((0, MOST_CONTEXTS), np.uint64)
    sketch: NDArray[np.uint64] = np.zeros(SKETCH, np.uint64)
    source: int = 0


def key_of(identity: str) -> int:
    """Return a document's key, a hash of its id, so that any range of keys is a fair sample."""
    return int.from_bytes(hashlib.blake2b(identity.encode(), digest_size=8).digest(), "little")


@lru_cache(maxsize=2)
def _opened(recipe: Recipe) -> tuple[Knowledge, Detector | None]:
    knowledge = Knowledge.open(recipe.knowledge)
    if not recipe.settings.detect:
        return knowledge, None
    if isinstance(recipe.detector, DetectorSettings):
        return knowledge, DictionaryDetector(knowledge, recipe.detector)
    return knowledge, recipe.detector(knowledge)


def encode_part(recipe: Recipe, parts: Path, number: int, batch: Batch) -> int:
    """Write the part of a batch, and return its number of documents."""
    knowledge, detector = _opened(recipe)
    report = Report()
    made: list[Encoded] = []
    sampled: list[tuple[int, int, str]] = []
    for document in batch.read(recipe.reading):
        report.count("documents read")
        if isinstance(document, Bad):
            report.complain("documents that cannot be read", str(document))
            continue
        its = list(_encoded(document, knowledge, detector, report))
        made += its
        if len(its) == 1 and len(document.text) <= _LONGEST_SAMPLE:
            key = key_of(its[0].id)
            heappush(sampled, (-int(holding_order(np.array([key], np.uint64))[0]), key, _as_json(document, its[0].id)))
            if len(sampled) > SAMPLED:
                heappop(sampled)
    made.sort(key=lambda each: key_of(each.id))  # stable: equal ids stay in their order
    with new_directory(parts / f"{number:06d}") as place:
        for name, values in arrays_of(made).items():
            save_array(place / f"{name}.npy", values)
        (place / _SAMPLE).write_text(json.dumps(sampled), "utf-8")
        report.save(place)
    return report.counts.get("documents read", 0)


def _as_json(document: Document, name: str) -> str:
    text = document.text.encode("utf-8", "replace").decode()
    return json.dumps({"text": text, "mentions": document.mentions, "id": name}, ensure_ascii=False)


def _encoded(document: Document, knowledge: Knowledge, detector: Detector | None, report: Report) -> Iterator[Encoded]:
    name = document.id.encode("utf-8", "replace").decode()  # JSON may have lone surrogates
    if not document.text.strip():
        report.complain("empty documents", f"document {name!r} is empty")
        return
    alone = document.without_overlaps()
    report.count("overlapping mentions", len(document.spans) - len(alone.spans))
    encoded = encode(alone, knowledge, detector, contexts=True)
    words, mentions = np.asarray(encoded.words), np.asarray(encoded.mentions)
    report.count("words", len(words))
    report.count("words not in the knowledge", int((words < 0).sum()))
    report.count("mentions", len(mentions))
    report.count("mentions not in the knowledge", int((mentions < 0).sum()))
    known = mentions >= 0
    positions, contexts = np.asarray(encoded.positions, np.uint32)[known], _padded(encoded.contexts)[known]
    words, mentions = words[words >= 0], mentions[known]
    if len(words) + len(mentions) == 0:
        report.complain("documents without known words", f"document {name!r} has no word that the knowledge has")
        return
    pieces, hashes = -(-(len(words) + len(mentions)) // LONGEST), token_hashes(document.text)
    if pieces > 1:
        report.complain("documents cut", f"document {name!r} is long: it is cut into {pieces}")
    for piece in range(pieces):
        identity = name if piece == 0 else f"{name}#{piece + 1}"
        some, its = _piece(len(words), piece, pieces), _piece(len(mentions), piece, pieces)
        digest = (int(text_digest(document.text)) + piece) % 2**64
        yield Encoded(
            id=identity,
            words=words[some].astype(np.uint32),
            mentions=mentions[its].astype(np.uint32),
            digest=digest,
            positions=positions[its],
            contexts=contexts[its],
            sketch=sketch(hashes, piece),
            source=key_of(document.source) if document.source else 0,
        )


def _piece(length: int, piece: int, pieces: int) -> slice:
    return slice(piece * length // pieces, (piece + 1) * length // pieces)


def _padded(contexts: Contexts | None) -> NDArray[np.uint64]:
    """Return the context symbols of mentions as a matrix, padded with zeros."""
    assert contexts is not None
    lengths = np.diff(contexts.offsets)
    made = np.zeros((len(lengths), MOST_CONTEXTS), np.uint64)
    columns = np.arange(contexts.offsets[-1]) - np.repeat(contexts.offsets[:-1], lengths)
    made[np.repeat(np.arange(len(lengths)), lengths), columns] = contexts.symbols
    return made


def arrays_of(documents: list[Encoded]) -> dict[str, NDArray[Any]]:
    """Documents as the arrays that a corpus has."""
    ids = StringTable.of(each.id for each in documents)
    return {
        "keys": np.array([key_of(each.id) for each in documents], np.uint64),
        "words": _joined([each.words for each in documents]),
        "word_offsets": offsets_of([len(each.words) for each in documents]),
        "digests": np.array([each.digest for each in documents], np.uint64),
        "sketches": np.concatenate([np.empty(0, np.uint64), *(each.sketch for each in documents)]),
        "sources": np.array([each.source for each in documents], np.uint64),
        "mentions": _joined([each.mentions for each in documents]),
        "mention_offsets": offsets_of([len(each.mentions) for each in documents]),
        "positions": _joined([each.positions for each in documents]),
        "contexts": np.concatenate([np.empty(0, np.uint64), *(each.contexts.ravel() for each in documents)]),
        "ids.bytes": ids.data,
        "ids.offsets": ids.offsets,
    }


def _joined(symbols: list[NDArray[np.uint32]]) -> NDArray[np.uint32]:
    return np.concatenate(symbols) if symbols else np.empty(0, np.uint32)


Kept = dict[str, NDArray[np.bool_]]  # by part
SAMPLED = 200  # documents whose texts are kept, to show what training changes
_LONGEST_SAMPLE = 20_000  # characters
_SAMPLE = "sample.json"
LONGEST = 20_000  # words and mentions of a document; longer ones are cut into several
SHARD_TOKENS = 1 << 24  # words and mentions of a shard of the corpus
_DEFAULT, _READING, _DETECTOR = CorpusSettings(), ReadSettings(), DetectorSettings()


def make_corpus(
    inputs: list[Path],
    knowledge: str | Path,
    target: str | Path,
    settings: CorpusSettings = _DEFAULT,
    *,
    reading: ReadSettings = _READING,
    detector: DetectorSettings | Callable[[Knowledge], Detector] = _DETECTOR,
    workers: int | None = None,
    pool: Pool | None = None,
    overwrite: bool = False,
) -> Corpus:
    """Encode documents with the symbols of a model, to train on: `wikilda corpus`.

    Parameters
    ----------
    inputs
        Files and directories as `wikilda link` reads them.
    knowledge
        A model, or knowledge.
    target
        The directory to write.
    settings, reading, detector
        How documents are encoded and read, and their mentions detected.
    workers, pool
        Processes of this machine, or what else runs the tasks; the result does not depend on them.
    overwrite
        Whether to replace a corpus that exists.
    """
    target, known = Path(target), Knowledge.open(knowledge)
    tier.expect_files(map(Path, inputs), LINKED)
    check_target(target, overwrite=overwrite)
    recipe = Recipe(knowledge=known.path.resolve(), settings=settings, reading=reading, detector=detector)
    with work_directory(target, "encoding", {}, restart=True) as work:
        parts = work / "parts"
        with pool or Workers(workers or available_cores()) as own, bar("reading documents", None) as shown:
            tasks = ((recipe, parts, number, batch) for number, batch in enumerate(batches(inputs, reading)))
            for count in own.run(encode_part, tasks):
                shown.advance(count)
        kept, report = _choose(parts)
        if not report.counts.get("documents"):
            examples = "".join(f"\n  {each}" for each in report.examples)
            names = ", ".join(map(str, inputs))
            raise InputError(f"{names}: there is no document to take. Give files with text.{examples}")
        _count_sources(parts, kept, report)
        with Corpus.writer(target, overwrite=overwrite) as writer:
            firsts = _write_shards(parts, kept, writer, report.counts["tokens"])
            writer.strings("sample", StringTable.of(_sampled(parts, kept)))
            about = {"knowledge": known.identity, "settings": settings.to_mapping(), "firsts": firsts}
            inputs_named = sorted(path.name for path in inputs)
            about["symbols"] = {name: known.sizes[name] for name in ("words", "mentions")}
            summary = {"summary": report.counts, "complaints": report.examples, "source": inputs_named}
            return writer.finish({**about, **summary})


def _parts(parts: Path) -> list[Path]:
    return sorted(parts.glob("[0-9]" * 6))


def _choose(parts: Path) -> tuple[Kept, Report]:
    """Choose the documents of each part, of copies and near-copies the one with the least key; and report."""
    names, whole = _parts(parts), Report()
    if not names:
        return {}, whole
    digests, keys, sketches = (_column(names, name) for name in ("digests", "keys", "sketches"))
    order = np.lexsort((keys, digests))
    first = np.ones(len(order), np.bool_)
    first[order[1:]] = digests[order[1:]] != digests[order[:-1]]
    by_key = np.argsort(keys, kind="stable")
    every = without_near_copies(sketches.reshape(-1, SKETCH), by_key[first[by_key]])
    for part in names:
        whole.add(Report.read(part))
    for name, found in (("copies of other documents", ~first), ("near-copies of other documents", first & ~every)):
        if found.any():
            whole.count(name, int(found.sum()))
    whole.count("documents", int(every.sum()))
    for offsets in ("word_offsets", "mention_offsets"):
        lengths = [np.diff(_load(part, offsets)) for part in names]
        whole.count("tokens", int(np.concatenate([np.empty(0, np.int64), *lengths])[every].sum()))
    bounds = np.cumsum([len(_load(part, "keys")) for part in names])[:-1]
    return {part.name: some for part, some in zip(names, np.split(every, bounds), strict=True)}, whole


def _column(parts: list[Path], name: str) -> NDArray[Any]:
    return np.concatenate([np.empty(0, np.uint64), *(_load(part, name) for part in parts)])


def _count_sources(parts: Path, kept: Kept, report: Report) -> None:
    """Write which mentions of each part count: no source dominates a string."""
    names = _parts(parts)
    sizes = [len(_load(part, "mentions")) for part in names]
    counts = np.ones(sum(sizes), np.bool_)
    keys, sources = _column(names, "keys"), _column(names, "sources")
    if sources.any():
        ranks = np.empty(len(keys), np.int64)
        ranks[np.argsort(keys, kind="stable")] = np.arange(len(keys))
        lengths = np.concatenate([np.diff(_load(part, "mention_offsets")) for part in names])
        chosen = np.repeat(np.concatenate([kept[part.name] for part in names]), lengths)
        strings = np.concatenate([_load(part, "mentions") for part in names]).astype(np.int64)
        rows = (np.repeat(sources, lengths), np.repeat(ranks, lengths), strings)
        counts[chosen] = counted(Sourced(*(each[chosen] for each in rows)))
        if not counts.all():
            report.count("mentions that do not count: too many of one source", int((~counts).sum()))
    for part, some in zip(names, np.split(counts, np.cumsum(sizes)[:-1]), strict=True):
        save_array(part / "counted.npy", some)


def _sampled(parts: Path, kept: Kept) -> list[str]:
    """The documents of the sample, those that are held out first come first."""
    found: list[tuple[int, int, str]] = []
    for part in _parts(parts):
        there = set(_load(part, "keys")[kept[part.name]].tolist())
        rows = json.loads((part / _SAMPLE).read_text("utf-8"))
        found += [(-row[0], row[1], row[2]) for row in rows if row[1] in there]
    return [row for _, _, row in sorted(found)[:SAMPLED]]


def _load(part: Path, name: str) -> NDArray[Any]:
    return np.asarray(np.load(part / f"{name}.npy", mmap_mode="r", allow_pickle=False))


def _write_shards(parts: Path, kept: Kept, writer: Writer[Corpus], tokens: int) -> list[int]:
    """Write all documents in the order of their keys; returns the least key that each shard may have."""
    shards = -(-tokens // SHARD_TOKENS)
    firsts = [number * 2**64 // shards for number in range(shards)]
    for number, first in enumerate(firsts):
        end = firsts[number + 1] if number + 1 < shards else 2**64
        _write_shard(list(_slices(parts, first, end)), kept, writer, f"{number:05d}")
    return firsts


def _slices(parts: Path, first: int, end: int) -> Iterator[tuple[Path, int, int]]:
    """Where in each part the documents of a range of keys are."""
    for part in _parts(parts):
        keys = _load(part, "keys")
        start = int(np.searchsorted(keys, np.uint64(first)))
        stop = int(np.searchsorted(keys, np.uint64(end))) if end < 2**64 else len(keys)
        if stop > start:
            yield part, start, stop


def _write_shard(slices: list[tuple[Path, int, int]], kept: Kept, writer: Writer[Corpus], name: str) -> None:
    columns = {}
    for column in ("keys", "digests"):
        found = [_load(part, column)[start:stop] for part, start, stop in slices]
        columns[column] = np.concatenate([np.empty(0, np.uint64), *found])
    some = np.concatenate([np.empty(0, np.bool_), *(kept[part.name][start:stop] for part, start, stop in slices)])
    order = np.argsort(columns["keys"], kind="stable")
    order = order[some[order]]
    for column, values in columns.items():
        writer.array(f"{name}/{column}", values[order])
    for data, offsets in (("words", "word_offsets"), ("mentions", "mention_offsets")):
        symbols, bounds = _ordered(slices, data, offsets, order, np.dtype(np.uint32))
        writer.array(f"{name}/{data}", symbols)
        writer.array(f"{name}/{offsets}", bounds)
    positions, _ = _ordered(slices, "positions", "mention_offsets", order, np.dtype(np.uint32))
    writer.array(f"{name}/positions", positions)
    counts, _ = _ordered(slices, "counted", "mention_offsets", order, np.dtype(np.bool_))
    writer.array(f"{name}/counted", counts)
    contexts, _ = _ordered(slices, "contexts", "mention_offsets", order, np.dtype(np.uint64), MOST_CONTEXTS)
    writer.array(f"{name}/contexts", contexts)
    writer.strings(f"{name}/ids", StringTable(*_ordered(slices, "ids.bytes", "ids.offsets", order, np.dtype(np.uint8))))


def _ordered(
    slices: list[tuple[Path, int, int]], data: str, offsets: str, order: NDArray[np.int64], kind: "np.dtype[Any]",
    each: int = 1,
) -> tuple[NDArray[Any], NDArray[np.int64]]:  # fmt: skip
    """Pieces of all slices in the order of their documents; an entry of the offsets has `each` values."""
    values, lengths = [np.empty(0, kind)], [np.empty(0, np.int64)]
    for part, start, stop in slices:
        bounds = each * np.asarray(_load(part, offsets)[start : stop + 1], np.int64)
        values.append(_load(part, data)[bounds[0] : bounds[-1]])
        lengths.append(np.diff(bounds))
    every, size = np.concatenate(values), np.concatenate(lengths)
    starts = np.cumsum(size) - size
    kept = size[order]
    bounds = offsets_of(kept)
    places = np.arange(bounds[-1]) + np.repeat(starts[order] - bounds[:-1], kept)
    return every[places], bounds
