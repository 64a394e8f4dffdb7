"""Files in, a file of results out: by threads, in order, resuming where an interrupted run stopped."""

import hashlib
import json
import os
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, NamedTuple

from wikilda._core.atomic import lock, new_file, write_text
from wikilda._core.errors import InputError
from wikilda._core.platform import available_cores
from wikilda.documents.detection import DetectorSettings
from wikilda.documents.document import Document
from wikilda.documents.reading import Bad, Read, ReadSettings, read_documents
from wikilda.documents.writing import HTML, JSON_LINES, MENTIONS, encoded_line, format_of, write_file
from wikilda.linking.batch import map_ordered
from wikilda.linking.escalation import Escalation, Span, read_decisions
from wikilda.linking.linker import Linker
from wikilda.linking.methods import MethodSettings, method_settings
from wikilda.linking.restriction import Restriction
from wikilda.linking.results import Linked
from wikilda.text.offsets import CODE_POINTS

_SECONDS = 0.5  # between notes


class Place(NamedTuple):
    """How far a run is: documents read, bad ones among them, bytes of the journal, digest of the documents."""

    read: int
    bad: int
    size: int
    digest: bytes


class Journal:
    """The answers of a run so far (`FILE.partial`, JSON lines) and the note of how far it is (`FILE.partial.note`).

    A note counts documents and bytes: what the journal has beyond it is cut off, so nothing is lost and nothing is
    there twice. It also has a digest of the documents, which are read again to find the place, and must be the same.
    """

    def __init__(self, target: Path, kind: str, run: dict[str, Any], *, overwrite: bool = False) -> None:
        if target.exists() and not overwrite:
            raise InputError(f"{target}: exists already. Choose another name, or use --overwrite.")
        self.target, self.kind, self.run = target, kind, run
        self.partial = target.with_name(target.name + ".partial")
        self._note = target.with_name(target.name + ".partial.note")
        self._digests: deque[bytes] = deque()
        self._last = time.monotonic()
        with ExitStack() as held:
            held.enter_context(lock(target))
            self.file: IO[bytes] = held.enter_context(self.partial.open("ab"))
            self._resume(overwrite=overwrite)
            self._held = held.pop_all()

    def _resume(self, *, overwrite: bool) -> None:
        note = self._read_note()
        if note["run"] != self.run:
            other = sorted(name for name in {*note["run"], *self.run} if note["run"].get(name) != self.run.get(name))
            if note["run"] and not overwrite:
                raise InputError(
                    f"{self.partial}: is of a run with another {', '.join(other)}. Remove it, or use --overwrite."
                )
            note = _nothing(self.run)
        if self.file.tell() < note["bytes"]:
            note = _nothing(self.run)
        self.place = Place(note["read"], note["bad"], note["bytes"], bytes.fromhex(note["digest"]))
        self.resumed = self.place.read
        self.file.truncate(note["bytes"])
        self.file.seek(note["bytes"])

    def _read_note(self) -> dict[str, Any]:
        try:
            return dict(json.loads(self._note.read_text("utf-8")))
        except (FileNotFoundError, ValueError):
            return _nothing({})

    def remaining(self, documents: Iterable[Read]) -> Iterator[Read]:
        """The documents that are still to be done; those that are done must be the same as they were."""
        digest, number = b"", 0
        for number, document in enumerate(documents, 1):
            digest = _chained(digest, document)
            if number > self.resumed:
                self._digests.append(digest)
                yield document
            elif number == self.resumed and digest != self.place.digest:
                raise self._others()
        if number < self.resumed:
            raise self._others()

    def _others(self) -> InputError:
        return InputError(
            f"{self.partial}: the first {self.resumed:,} documents are not those that it was made from. "
            "Remove it to start again."
        )

    def add(self, line: bytes) -> None:
        """The answer to the next document, empty for a bad one; in the order in which they were handed out."""
        self.file.write(line)
        read, bad, size, _ = self.place
        # One assignment: an interruption finds the place before this document or after it, never between.
        self.place = Place(read + 1, bad + (not line), size + len(line), self._digests.popleft())
        if time.monotonic() - self._last > _SECONDS:
            self.save()

    def save(self) -> None:
        """Put on disk how far the run is."""
        self.file.flush()
        os.fsync(self.file.fileno())
        read, bad, size, digest = self.place
        note = {"run": self.run, "read": read, "bad": bad, "bytes": size, "digest": digest.hex()}
        write_text(self._note, json.dumps(note))
        self._last = time.monotonic()

    def finish(self) -> None:
        """Write the output from the journal, give it its name, and remove what was needed to resume."""
        self.save()
        if self.kind == JSON_LINES:
            self.partial.replace(self.target)
        else:
            with new_file(self.target) as made:
                write_file(self.rows(), made, self.kind)
            self.partial.unlink()
        self._note.unlink()
        self._held.close()

    def close(self) -> None:
        """Leave things as they are for another time; a journal with nothing in it goes."""
        if not self.file.closed:
            if self.place.read == 0:
                self.partial.unlink(missing_ok=True)
                self._note.unlink(missing_ok=True)
            self._held.close()

    def rows(self) -> Iterator[dict[str, Any]]:
        """All answers so far."""
        with self.partial.open("rb") as lines:
            yield from map(json.loads, lines)


def _nothing(run: dict[str, Any]) -> dict[str, Any]:
    return {"run": run, "read": 0, "bad": 0, "bytes": 0, "digest": ""}


def _chained(digest: bytes, document: Read) -> bytes:
    parts = (document.id, document.text, document.mentions) if isinstance(document, Document) else (document.place,)
    return hashlib.blake2b(digest + repr(parts).encode("utf-8", "replace"), digest_size=16).digest()


_READING, _DETECTION, _METHOD, _ALL = ReadSettings(), DetectorSettings(), method_settings(), Restriction()


@dataclass(frozen=True)
class Job:
    """How documents are read and linked, and what of the result is written; the same here and on a cluster."""

    model: Path
    knowledge: Path | None = None
    settings: MethodSettings = _METHOD
    detector: str = "dictionary"
    detection: DetectorSettings = _DETECTION
    reading: ReadSettings = _READING
    candidates: int = 5
    topics: int = 10
    with_text: bool = False
    with_mentions: bool = True
    restriction: Restriction = _ALL
    decided: Path | None = None
    escalate: float = 0.0
    nested: bool = False

    def open(self) -> Linker:
        """Open the linker."""
        return Linker.open(
            self.model, settings=self.settings, detector=self.detector, detection=self.detection,
            knowledge=self.knowledge,
        )  # fmt: skip

    def link(self, linker: Linker, document: Read) -> Linked | Bad:
        """Link one of many documents; an error becomes a `Bad`, and does not stop the others."""
        if isinstance(document, Bad):
            return document
        try:
            known = _decisions(self.decided).get(document.id) if self.decided else None
            return linker.link(
                document, candidates=self.candidates, topics=self.topics, decided=known, nested=self.nested,
                restriction=self.restriction,
            )  # fmt: skip
        except Exception as error:
            return Bad(f"document {document.id!r}", f"could not be linked ({type(error).__name__}: {error}).")

    def link_all(self, linker: Linker, documents: Iterable[Read], workers: int) -> Iterator[Linked | Bad]:
        """Link documents in their order."""
        return map_ordered(lambda document: self.link(linker, document), documents, workers)

    def row(self, linked: Linked, output_format: str = "") -> dict[str, Any]:
        """A result as it is written; a page has the text and counts in code points."""
        return linked.to_dict(**self._shown(output_format))

    def line(self, linked: Linked, output_format: str = "") -> bytes:
        """`row` as a line of JSON."""
        return encoded_line(linked.to_json(**self._shown(output_format)))

    def _shown(self, output_format: str) -> dict[str, Any]:
        page = output_format == HTML
        return {
            "offsets": CODE_POINTS if page else self.reading.offsets,
            "with_text": page or self.with_text,
            "with_mentions": page or self.with_mentions,
        }

    def fingerprint(self, linker: Linker) -> dict[str, Any]:
        """All that results depend on besides the documents, for a journal."""
        places = ("model", "knowledge", "decided")
        values = {name: value for name, value in vars(self).items() if name not in places}
        nested = ("settings", "detection", "reading", "restriction")
        plain = {name: {k: str(v) for k, v in asdict(values[name]).items()} for name in nested}
        known = {"decided": repr(sorted(_decisions(self.decided).items()))} if self.decided else {}
        return values | plain | known | {"model": linker.model.identity, "method": self.settings.method}


@lru_cache(maxsize=4)
def _decisions(path: Path) -> dict[str, dict[Span, str | None]]:
    return read_decisions(path)


class Observer:
    """Is told how a run goes; this one does not care."""

    def resume(self, documents: int, bad: int) -> None:
        """An earlier run has done so many documents and skipped so many."""

    def note(self, linked: Linked | Bad) -> None:
        """A document is done, or skipped."""


class LinkedFiles(NamedTuple):
    """What `link_files` did: where the results are, how many documents they have, how many were skipped."""

    output: Path
    documents: int
    skipped: int


def link_files(
    model: str | Path,
    files: Sequence[str | Path] | str | Path,
    output: str | Path,
    *,
    method: str | None = None,
    settings: MethodSettings | Mapping[str, Any] | None = None,
    detector: str = "dictionary",
    detection: DetectorSettings = _DETECTION,
    reading: ReadSettings = _READING,
    output_format: str | None = None,
    candidates: int = 5,
    topics: int = 10,
    nested: bool = False,
    with_text: bool = False,
    with_mentions: bool = True,
    workers: int | None = None,
    overwrite: bool = False,
    knowledge: str | Path | None = None,
    observer: Observer | None = None,
) -> LinkedFiles:
    """Link the documents of files and write the results: `wikilda link MODEL FILE... -o OUTPUT`.

    An interrupted run resumes when it is called again with the same arguments, and gives the same bytes.

    Parameters
    ----------
    model, method, settings, detector, detection, knowledge
        As in `Linker.open`.
    files
        Files or directories: text, JSON lines, CSV, TSV or Parquet, compressed or not.
    output, output_format
        The file to write: `jsonl`, `tsv`, `parquet` or `html`, by default by the end of its name.
    reading
        The format and columns of the files, and the unit of offsets.
    candidates, topics, nested
        As in `Linker.link`.
    with_text, with_mentions
        As in `Linked.to_dict`.
    workers
        Threads; all cores by default.
    overwrite
        Whether to replace the output if it exists.
    observer
        Is told of each document.

    Returns
    -------
    LinkedFiles
        The output, the number of documents in it, and of those that could not be read or linked.

    Examples
    --------
    >>> from wikilda import link_files
    >>> done = link_files(sample, news, scratch / "links.jsonl", candidates=1, topics=0)
    >>> done.documents, done.skipped
    (2, 0)
    """
    job = Job(
        Path(model), Path(knowledge) if knowledge else None, method_settings(method, settings), detector, detection,
        reading, candidates, topics, with_text, with_mentions, nested=nested,
    )  # fmt: skip
    paths = [Path(each) for each in ([files] if isinstance(files, str | Path) else files)]
    if not paths:
        raise InputError("there are no files to link.")
    documents = read_documents(paths, None, reading)
    names = [str(each) for each in paths]
    return run(job, documents, names, Path(output), output_format, workers, observer or Observer(), overwrite=overwrite)


def run(
    job: Job, documents: Iterable[Read], names: list[str], output: Path, output_format: str | None,
    workers: int | None, observer: Observer, *, overwrite: bool,
) -> LinkedFiles:  # fmt: skip
    """Link documents into a file, through a journal."""
    if not output.parent.is_dir():
        raise InputError(f"{output}: there is no directory {output.parent}.")
    kind, linker = output_format if output_format == MENTIONS else format_of(output, output_format), job.open()
    job.restriction.check(linker.knowledge)  # an error of the run, not of each document
    journal = Journal(
        output, kind, job.fingerprint(linker) | {"files": names, "output format": kind}, overwrite=overwrite
    )
    doubts = Escalation(output, job.escalate, linker, journal.place.read) if job.escalate else None
    try:
        observer.resume(journal.place.read - journal.place.bad, journal.place.bad)
        for linked in job.link_all(linker, journal.remaining(documents), workers or available_cores()):
            if doubts:
                doubts.add(linked)
            journal.add(job.line(linked, kind) if isinstance(linked, Linked) else b"")
            observer.note(linked)
        if not journal.place.read:
            raise InputError("there are no documents in the input.")
        journal.finish()
    except KeyboardInterrupt:
        journal.save()
        raise
    finally:
        journal.close()
        if doubts:
            doubts.close()
    return LinkedFiles(output, journal.place.read - journal.place.bad, journal.place.bad)
