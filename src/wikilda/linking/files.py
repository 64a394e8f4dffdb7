"""Link files into a file of results, with threads, in order, resuming interrupted runs."""

import hashlib
import json
import os
import shutil
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

from wikilda._core.atomic import (
    check_decisions,
    check_output,
    lock,
    new_file,
    open_private,
    private_directory,
    sync,
    write_text,
)  # fmt: skip
from wikilda._core.errors import InputError
from wikilda._core.platform import available_cores
from wikilda.documents.detection import DetectorSettings
from wikilda.documents.document import Document
from wikilda.documents.reading import Bad, Read, ReadSettings, read_documents
from wikilda.documents.writing import HTML, JSON_LINES, check_shown, encoded_line, format_of, write_file
from wikilda.linking.batch import map_ordered
from wikilda.linking.escalation import DoubtfulMentions, Span, read_decisions
from wikilda.linking.linker import Linker
from wikilda.linking.methods import MethodSettings, method_settings
from wikilda.linking.restriction import Restriction
from wikilda.linking.results import Linked
from wikilda.linking.unknown import UnknownFile
from wikilda.model.model import URN
from wikilda.text.offsets import CODE_POINTS
from wikilda.urn.prior_shift import PriorShift

Digest: TypeAlias = "hashlib.blake2b"
_SECONDS = 0.5  # between notes


class Place(NamedTuple):
    """Progress of a run: documents read, bad ones among them, size and digest of each file, digest of the input."""

    read: int
    bad: int
    sizes: tuple[int, ...]
    written: "tuple[Digest, ...]"
    digest: bytes


class SideOutput(Protocol):
    """An output besides the results, made from the same documents in the same pass."""

    @property
    def path(self) -> Path:
        """The file to write."""

    def lines(self, linked: Linked) -> bytes:
        """Return the lines that the journal keeps of a document."""

    def write(self, journal: Path, target: Path) -> None:
        """Write the output from the lines that the journal has kept."""


_RESULTS, _NOTE = "results.jsonl", "note.json"


class Journal:
    """The directory `OUTPUT.partial` of an unfinished run: one file per output, and a note of the progress.

    The note has the number of documents, and the size and the digest of each file. When a run resumes, files are cut to
    that size, so that no result is lost or repeated. If a digest differs, the run starts over. The
    note also has a digest of the documents read so far, which must be the same when they are read again. Outputs are
    renamed when all documents are done.
    """

    def __init__(
        self, target: Path, kind: str, run: dict[str, Any], sides: Sequence[SideOutput] = (), *,
        inputs: Sequence[Path] = (), overwrite: bool = False,
    ) -> None:  # fmt: skip
        self.target, self.kind, self.sides = target, kind, sides
        self.run = run | {"side outputs": [str(side.path) for side in sides]}
        self.directory = target.with_name(target.name + ".partial")
        self._paths = [self.directory / _RESULTS, *(self.directory / f"side-{at}.jsonl" for at in range(len(sides)))]
        self._digests: deque[bytes] = deque()
        self._last = time.monotonic()
        self._finishing = False
        with ExitStack() as held:
            held.enter_context(lock(target))
            note = self._read_note(overwrite=overwrite)
            for output in (target, *(side.path for side in sides)):
                # A run that was killed while its outputs were renamed has written some of them.
                check_output(output, overwrite=overwrite or note["finishing"], inputs=inputs)
            private_directory(self.directory)
            self._files = [held.enter_context(open_private(path)) for path in self._paths]
            self._resume(note)
            self._held = held.pop_all()

    def _read_note(self, *, overwrite: bool) -> dict[str, Any]:
        """Return the note of an earlier run that this one can resume, or an empty one."""
        try:
            note: dict[str, Any] = json.loads(_unsealed((self.directory / _NOTE).read_bytes()))
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return self._nothing()
        if not (self.directory / _RESULTS).exists():  # the run was killed after its output had been renamed
            return self._nothing()
        if note["run"] != self.run:
            other = sorted(name for name in {*note["run"], *self.run} if note["run"].get(name) != self.run.get(name))
            if not overwrite:
                raise InputError(
                    f"{self.directory}: belongs to a run with another {', '.join(other)}. Remove it, or use "
                    "--overwrite."
                )
            return self._nothing()
        found = [_digest_of(path, size).hexdigest() for path, size in zip(self._paths, note["bytes"], strict=True)]
        return note if found == note["digests"] else self._nothing()

    def _nothing(self) -> dict[str, Any]:
        none = [0] * len(self._paths)
        return {"run": self.run, "read": 0, "bad": 0, "bytes": none, "digest": "", "finishing": False}

    def _resume(self, note: dict[str, Any]) -> None:
        sizes = tuple(note["bytes"])
        written = tuple(_digest_of(path, size) for path, size in zip(self._paths, sizes, strict=True))
        self.place = Place(
            read=note["read"], bad=note["bad"], sizes=sizes, written=written, digest=bytes.fromhex(note["digest"])
        )
        self.resumed = self.place.read
        for file, size in zip(self._files, sizes, strict=True):
            file.truncate(size)
            file.seek(size)

    def remaining(self, documents: Iterable[Read]) -> Iterator[Read]:
        """Yield the documents that are not done yet; those that are done must be the same as before."""
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
            f"{self.directory}: its first {self.resumed:,} documents are not those of the input. "
            "Remove it to start again."
        )

    def add(self, line: bytes, linked: Linked | None = None) -> None:
        """Append the result of the next document, in the order of the input; an empty one for a bad document."""
        parts = [line, *(side.lines(linked) if linked else b"" for side in self.sides)]
        for file, part in zip(self._files, parts, strict=True):
            file.write(part)
        read, bad, sizes, written, _ = self.place
        grown = tuple(size + len(part) for size, part in zip(sizes, parts, strict=True))
        fed = tuple(_fed(digest, part) for digest, part in zip(written, parts, strict=True))
        # One assignment: an interruption finds the place before this document or after it, never between.
        self.place = Place(
            read=read + 1, bad=bad + (not line), sizes=grown, written=fed, digest=self._digests.popleft()
        )
        if time.monotonic() - self._last > _SECONDS:
            self.save()

    def save(self) -> None:
        """Write the progress to the disk."""
        for file in self._files:
            file.flush()
            os.fsync(file.fileno())
        read, bad, sizes, written, digest = self.place
        note = {
            "run": self.run, "read": read, "bad": bad, "bytes": sizes,
            "digests": [each.hexdigest() for each in written], "digest": digest.hex(), "finishing": self._finishing,
        }  # fmt: skip
        write_text(self.directory / _NOTE, _sealed(json.dumps(note)))
        self._last = time.monotonic()

    def finish(self) -> None:
        """Write the outputs from the journal, give them their names, and remove the journal."""
        self._finishing = True
        self.save()
        for side, path in zip(self.sides, self._paths[1:], strict=True):
            with new_file(side.path) as made:
                side.write(path, made)
        if self.kind == JSON_LINES:
            check_decisions(self.target)
            self._paths[0].replace(self.target)
            sync(self.target.parent)
        else:
            with new_file(self.target) as made:
                write_file(self.rows(), made, self.kind)
        self._remove()
        self._held.close()

    def close(self) -> None:
        """Keep the journal for another run, unless there is nothing in it."""
        if not self._files[0].closed:
            if self.place.read == 0:
                self._remove()
            self._held.close()

    def _remove(self) -> None:
        (self.directory / _RESULTS).unlink(missing_ok=True)  # first: without the note the rest is not a journal
        shutil.rmtree(self.directory)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Return all results so far."""
        with self._paths[0].open("rb") as lines:
            yield from map(json.loads, lines)


def _digest_of(path: Path, size: int) -> Digest:
    """Return the digest of the first bytes of a file; of no bytes if it is missing."""
    made = hashlib.blake2b(digest_size=16)
    with suppress(FileNotFoundError), path.open("rb") as file:
        while size > 0 and (data := file.read(min(size, 1 << 20))):
            made.update(data)
            size -= len(data)
    return made


def _fed(digest: Digest, data: bytes) -> Digest:
    made = digest.copy()
    made.update(data)
    return made


def _sealed(note: str) -> str:
    return f"{hashlib.blake2b(note.encode(), digest_size=16).hexdigest()} {note}"


def _unsealed(data: bytes) -> str:
    """The note that was sealed; a ValueError if it is another."""
    text = data.decode()
    note = text.partition(" ")[2]
    if _sealed(note) != text:
        raise ValueError("is damaged")
    return note


def _chained(digest: bytes, document: Read) -> bytes:
    parts = (document.id, document.text, document.mentions) if isinstance(document, Document) else (document.place,)
    return hashlib.blake2b(digest + repr(parts).encode("utf-8", "replace"), digest_size=16).digest()


_READING, _DETECTION, _METHOD, _ALL = ReadSettings(), DetectorSettings(), method_settings(), Restriction()


@dataclass(frozen=True)
class Job:
    """How documents are read, linked and written, on this machine and on a cluster."""

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
        except (MemoryError, ImportError):  # not an error of the document
            raise
        except Exception as error:
            return Bad(f"document {document.id!r}", f"could not be linked ({type(error).__name__}: {error}).")

    def link_all(self, linker: Linker, documents: Iterable[Read], workers: int) -> Iterator[Linked | Bad]:
        """Link documents in their order."""
        return map_ordered(lambda document: self.link(linker, document), documents, workers)

    def row(self, linked: Linked, output_format: str = "") -> dict[str, Any]:
        """Return a result as it is written. Pages have the text, and offsets in code points."""
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

    def with_estimated_prior(self, documents: Iterable[Read]) -> "tuple[Job, PriorShift]":
        """Return the job with the prior that its first documents have, and what was found."""
        found = self.open().estimate_prior(each for each in documents if isinstance(each, Document))
        given = self.settings.to_mapping()
        weights = (*given["weights"], *(f"{name}={value}" for name, value in found.settings().items()))
        return replace(self, settings=method_settings(URN, given | {"weights": weights})), found

    def fingerprint(self, linker: Linker) -> dict[str, Any]:
        """Return everything but the documents that results depend on."""
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
    """Follows the progress of a run. This base class ignores it."""

    def resume(self, documents: int, bad: int) -> None:
        """Start from the counts of an earlier run."""

    def note(self, linked: Linked | Bad) -> None:
        """Note that a document is linked or skipped."""


class LinkedFiles(NamedTuple):
    """The result of `link_files`: the output, and the numbers of linked and skipped documents."""

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
    restriction: Restriction = _ALL,
    decided: str | Path | None = None,
    escalate: float = 0.0,
    with_text: bool = False,
    with_mentions: bool = True,
    workers: int | None = None,
    overwrite: bool = False,
    knowledge: str | Path | None = None,
    unknown: str | Path | None = None,
    estimate_prior: bool = False,
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
        The file to write: `jsonl`, `tsv`, `parquet` or `html`, by default by the end of its name; or `mentions`,
        Parquet with one row per mention.
    reading
        The format and columns of the files, and the unit of offsets.
    candidates, topics, nested, restriction
        As in `Linker.link`.
    escalate
        Write mentions with less confidence than this to OUTPUT.doubtful.jsonl, for a person or a larger model.
    decided
        Such a file with titles filled in: the other mentions are inferred given these.
    with_text, with_mentions
        As in `Linked.to_dict`.
    workers
        Threads; all cores by default.
    overwrite
        Whether to replace outputs that exist.
    unknown
        A file to write with the names that the knowledge lacks, clustered over all documents, as JSON lines.
    estimate_prior
        Whether to estimate from the first documents how their prior differs from the wiki's (`Linker.estimate_prior`),
        and link with that.
    observer
        Follows the progress.

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
        model=Path(model), knowledge=Path(knowledge) if knowledge else None, settings=method_settings(method, settings),
        detector=detector, detection=detection, reading=reading, candidates=candidates, topics=topics,
        with_text=with_text, with_mentions=with_mentions, restriction=restriction,
        decided=Path(decided) if decided else None, escalate=escalate, nested=nested,
    )  # fmt: skip
    paths = [Path(each) for each in ([files] if isinstance(files, str | Path) else files)]
    if not paths:
        raise InputError("there are no files to link. Give one at least.")
    if estimate_prior:
        job, _ = job.with_estimated_prior(read_documents(paths, None, reading))
    documents = read_documents(paths, None, reading)
    return run(
        job, documents, paths, Path(output), output_format, workers, observer or Observer(), overwrite=overwrite,
        unknown=Path(unknown) if unknown else None,
    )  # fmt: skip


def run(
    job: Job, documents: Iterable[Read], files: Sequence[Path], output: Path, output_format: str | None,
    workers: int | None, observer: Observer, *, overwrite: bool, unknown: Path | None = None,
) -> LinkedFiles:  # fmt: skip
    """Link documents into a file, through a journal."""
    kind = format_of(output, output_format)
    check_shown(kind, with_text=job.with_text, with_mentions=job.with_mentions)
    inputs = [*files, *([job.decided] if job.decided else [])]
    for target in (output, unknown):
        if target:
            check_output(target, overwrite=True, inputs=inputs)
    linker = job.open()
    job.restriction.check(linker.knowledge)  # an error of the run, not of each document
    sides: list[SideOutput] = [DoubtfulMentions(output, job.escalate, linker)] if job.escalate else []
    sides += [UnknownFile(unknown)] if unknown else []
    made = job.fingerprint(linker) | {"files": [str(each) for each in files], "output format": kind}
    journal = Journal(output, kind, made, sides, inputs=inputs, overwrite=overwrite)
    try:
        observer.resume(journal.place.read - journal.place.bad, journal.place.bad)
        for linked in job.link_all(linker, journal.remaining(documents), workers or available_cores()):
            if isinstance(linked, Linked):
                journal.add(job.line(linked, kind), linked)
            else:
                journal.add(b"")
            observer.note(linked)
        if not journal.place.read:
            raise InputError("there are no documents in the input. Give files with at least one document.")
        journal.finish()
    except KeyboardInterrupt:
        journal.save()
        raise
    finally:
        journal.close()
    return LinkedFiles(output, journal.place.read - journal.place.bad, journal.place.bad)
