"""The journal of a run that can be interrupted: results so far, and a note of how many documents they are."""

import hashlib
import json
import os
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, NamedTuple

from wikilda._core.atomic import lock, new_file, write_text
from wikilda._core.errors import InputError
from wikilda.documents.document import Document
from wikilda.documents.reading import Read
from wikilda.documents.writing import JSON_LINES, write_file
from wikilda.documents.writing.json_lines import json_line

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

    def add(self, row: dict[str, Any] | None) -> None:
        """The answer to the next document, or None for a bad one; in the order in which they were handed out."""
        line = b"" if row is None else json_line(row)
        self.file.write(line)
        read, bad, size, _ = self.place
        # One assignment: an interruption finds the place before this document or after it, never between.
        self.place = Place(read + 1, bad + (row is None), size + len(line), self._digests.popleft())
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
