"""`wikilda corpus`: batches are encoded side by side, then brought together in the order of their keys."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikilda._core.artifact import Writer, check_target
from wikilda._core.csr import offsets_of
from wikilda._core.diagnostics import Report
from wikilda._core.errors import InputError
from wikilda._core.platform import available_cores
from wikilda._core.progress import bar
from wikilda._core.string_table import StringTable
from wikilda._core.workdir import work_directory
from wikilda._core.workers import Pool, Workers
from wikilda.documents.detection import Detector, DetectorSettings
from wikilda.documents.encoding import MOST_CONTEXTS
from wikilda.documents.reading import ReadSettings, batches
from wikilda.knowledge import Knowledge
from wikilda.training.corpus._encode import Recipe, encode_part
from wikilda.training.corpus.corpus import Corpus, CorpusSettings

SHARD_TOKENS = 1 << 24  # a shard of the corpus has about so many words and mentions
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
    check_target(target, overwrite=overwrite)
    recipe = Recipe(known.path.resolve(), settings, reading, detector)
    with work_directory(target, "encoding", {}, restart=True) as work:
        parts = work / "parts"
        with pool or Workers(workers or available_cores()) as own, bar("reading documents", None) as shown:
            tasks = ((recipe, parts, number, batch) for number, batch in enumerate(batches(inputs, reading)))
            for count in own.run(encode_part, tasks):
                shown.advance(count)
        kept = _without_copies(parts)
        report = _report(parts, kept)
        if not report.counts.get("documents"):
            examples = "".join(f"\n  {each}" for each in report.examples)
            raise InputError(f"{', '.join(map(str, inputs))}: there is no document to take.{examples}")
        with Corpus.writer(target, overwrite=overwrite) as writer:
            firsts = _write_shards(parts, kept, writer, report.counts["tokens"])
            about = {"knowledge": known.identity, "settings": settings.to_mapping(), "firsts": firsts}
            inputs_named = sorted(path.name for path in inputs)
            about["symbols"] = {name: known.sizes[name] for name in ("words", "mentions")}
            summary = {"summary": report.counts, "complaints": report.examples, "source": inputs_named}
            return writer.finish({**about, **summary})


def _parts(parts: Path) -> list[Path]:
    return sorted(parts.glob("[0-9]" * 6))


def _without_copies(parts: Path) -> dict[str, NDArray[np.bool_]]:
    """Which documents of each part are kept: of those with the same text, the one with the least key."""
    names = _parts(parts)
    every = [(_load(part, "digests"), _load(part, "keys")) for part in names]
    if not every:
        return {}
    digests, keys = (np.concatenate(column) for column in zip(*every, strict=True))
    order = np.lexsort((keys, digests))
    kept = np.ones(len(order), np.bool_)
    kept[order[1:]] = digests[order[1:]] != digests[order[:-1]]
    bounds = np.cumsum([len(each) for each, _ in every])[:-1]
    return {part.name: some for part, some in zip(names, np.split(kept, bounds), strict=True)}


def _report(parts: Path, kept: dict[str, NDArray[np.bool_]]) -> Report:
    """What was met in all parts, and how much there is to keep."""
    whole = Report()
    for part in _parts(parts):
        whole.add(Report.read(part))
        some = kept[part.name]
        whole.count("documents", int(some.sum()))
        if not some.all():
            whole.count("copies of other documents", int((~some).sum()))
        for offsets in ("word_offsets", "mention_offsets"):
            whole.count("tokens", int(np.diff(_load(part, offsets))[some].sum()))
    return whole


def _load(part: Path, name: str) -> NDArray[Any]:
    return np.asarray(np.load(part / f"{name}.npy", mmap_mode="r", allow_pickle=False))


def _write_shards(parts: Path, kept: dict[str, NDArray[np.bool_]], writer: Writer[Corpus], tokens: int) -> list[int]:
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


def _write_shard(
    slices: list[tuple[Path, int, int]], kept: dict[str, NDArray[np.bool_]], writer: Writer[Corpus], name: str
) -> None:
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
