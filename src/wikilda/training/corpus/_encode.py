"""Documents → symbols. A batch becomes a part: its documents as arrays, sorted by their keys."""

import hashlib
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.atomic import new_directory
from wikilda._core.csr import offsets_of
from wikilda._core.diagnostics import Report
from wikilda._core.npy import save_array
from wikilda._core.string_table import StringTable
from wikilda.documents.detection import Detector, DetectorSettings, DictionaryDetector
from wikilda.documents.document import Document
from wikilda.documents.encoding import MOST_CONTEXTS, Contexts, encode
from wikilda.documents.reading import Bad, Batch, ReadSettings
from wikilda.knowledge import Knowledge
from wikilda.model.context_counts import text_digest
from wikilda.training.corpus.corpus import CorpusSettings


class Recipe(NamedTuple):
    """All that a worker must know to encode a batch."""

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


def key_of(identity: str) -> int:
    """A document's place in the corpus: a hash of its id, so that any stretch of keys is a fair sample."""
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
    """Write the part of a batch; returns how many documents it has."""
    knowledge, detector = _opened(recipe)
    report = Report()
    made: list[Encoded] = []
    for document in batch.read(recipe.reading):
        report.count("documents read")
        if isinstance(document, Bad):
            report.complain("documents that cannot be read", str(document))
        else:
            made += _encoded(document, knowledge, detector, recipe.settings, report)
    made.sort(key=lambda each: key_of(each.id))  # stable: equal ids stay in their order
    with new_directory(parts / f"{number:06d}") as place:
        for name, values in arrays_of(made).items():
            save_array(place / f"{name}.npy", values)
        report.save(place)
    return report.counts.get("documents read", 0)


def _encoded(
    document: Document, knowledge: Knowledge, detector: Detector | None, settings: CorpusSettings, report: Report
) -> Iterator[Encoded]:
    name = document.id.encode("utf-8", "replace").decode()  # JSON may have halves of characters
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
    pieces = -(-(len(words) + len(mentions)) // settings.longest)
    if pieces > 1:
        report.complain("documents cut", f"document {name!r} is long: it is cut into {pieces}")
    for piece in range(pieces):
        identity = name if piece == 0 else f"{name}#{piece + 1}"
        some, its = _piece(len(words), piece, pieces), _piece(len(mentions), piece, pieces)
        digest = (int(text_digest(document.text)) + piece) % 2**64
        yield Encoded(
            identity, words[some].astype(np.uint32), mentions[its].astype(np.uint32), digest, positions[its],
            contexts[its],
        )  # fmt: skip


def _piece(length: int, piece: int, pieces: int) -> slice:
    return slice(piece * length // pieces, (piece + 1) * length // pieces)


def _padded(contexts: Contexts | None) -> NDArray[np.uint64]:
    """The context symbols of mentions as a matrix; a row ends with zeros."""
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
        "mentions": _joined([each.mentions for each in documents]),
        "mention_offsets": offsets_of([len(each.mentions) for each in documents]),
        "positions": _joined([each.positions for each in documents]),
        "contexts": np.concatenate([np.empty(0, np.uint64), *(each.contexts.ravel() for each in documents)]),
        "ids.bytes": ids.data,
        "ids.offsets": ids.offsets,
    }


def _joined(symbols: list[NDArray[np.uint32]]) -> NDArray[np.uint32]:
    return np.concatenate(symbols) if symbols else np.empty(0, np.uint32)
