"""Artifacts: directories of plain arrays with a JSON manifest, memory-mapped, written beside and renamed.

Whatever has a manifest is whole: it is written last, before the directory gets its name.
"""

import hashlib
import json
import os
import shutil
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from wikilda import __version__
from wikilda.errors import ArtifactError
from wikilda.strings import StringTable

MANIFEST = "manifest.json"


class Artifact:
    """An artifact opened for reading: its manifest, and its arrays as views of files."""

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        self.path, self.manifest = path, manifest

    @classmethod
    def open(cls, path: Path, kind: str, version: int) -> "Artifact":
        """Open a directory that should hold an artifact of a kind, in a format no newer than ours."""
        manifest = _read_manifest(path, kind)
        if manifest["format"] > version:
            raise ArtifactError(
                f"{path}: was written in format {manifest['format']} by wikilda {manifest.get('wikilda', '?')}; "
                f"this is wikilda {__version__}, which knows format {version}. Upgrade wikilda."
            )
        if manifest["format"] < version:
            raise ArtifactError(f"{path}: has the old format {manifest['format']}. Make it anew with this wikilda.")
        for name, size in manifest["files"].items():
            file = path / name
            if not file.is_file() or file.stat().st_size != size["bytes"]:
                raise ArtifactError(f"{file}: is missing or has the wrong size. Make {path} anew.")
        return cls(path, manifest)

    @property
    def identity(self) -> str:
        """What the artifact is, as a digest of all that it holds."""
        return str(self.manifest["identity"])

    def array(self, name: str) -> NDArray[Any]:
        """An array, mapped into memory; changes to it stay private."""
        # Copy-on-write rather than read-only: kernels are compiled once for each of the two types.
        return np.asarray(np.load(self.path / f"{name}.npy", mmap_mode="c", allow_pickle=False))

    def strings(self, name: str) -> StringTable:
        """A table of strings."""
        return StringTable(self.array(f"{name}.bytes"), self.array(f"{name}.offsets"))

    def verify(self) -> None:
        """Compare every file with its digest in the manifest."""
        for name, known in self.manifest["files"].items():
            if _digest(self.path / name) != known["blake2b"]:
                raise ArtifactError(f"{self.path / name}: is damaged (its digest is another). Make {self.path} anew.")


class Stored:
    """What an artifact holds, opened."""

    def __init__(self, artifact: Artifact) -> None:
        self.artifact = artifact

    @property
    def path(self) -> Path:
        """Where it is."""
        return self.artifact.path

    @property
    def identity(self) -> str:
        """What it is, as a digest of all that it holds; what is made from it refers to it by this."""
        return self.artifact.identity


class Writer:
    """Writes an artifact; used as a context, it leaves nothing behind when something goes wrong."""

    def __init__(self, target: Path, kind: str, version: int, *, overwrite: bool = False) -> None:
        self.target, self.kind, self.version = target, kind, version
        self.path = target.with_name(f"{target.name}.writing")
        check_target(target, overwrite=overwrite)

    def __enter__(self) -> "Writer":
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.mkdir(parents=True)
        return self

    def __exit__(self, _t: type[BaseException] | None, _e: BaseException | None, _b: TracebackType | None) -> None:
        shutil.rmtree(self.path, ignore_errors=True)  # after `finish` there is nothing left to remove

    def array(self, name: str, values: NDArray[Any]) -> None:
        """Write an array."""
        save_array(self._file(name), values)

    def create(self, name: str, dtype: DTypeLike, length: int) -> NDArray[Any]:
        """An array on disk to be filled piece by piece."""
        if length == 0:
            self.array(name, np.empty(0, dtype))
            return np.empty(0, dtype)
        file = self._file(name)
        made: NDArray[Any] = np.lib.format.open_memmap(file, mode="w+", dtype=dtype, shape=(length,))
        # Take the disk now: writing to a mapped hole on a full one would kill the process without a word.
        with file.open("r+b") as stream:
            os.posix_fallocate(stream.fileno(), 0, file.stat().st_size)
        return made

    def adopt(self, name: str, file: Path) -> NDArray[Any]:
        """Take an array that was written elsewhere on this disk."""
        file.rename(self._file(name))
        return np.asarray(np.load(self._file(name), mmap_mode="c", allow_pickle=False))

    def strings(self, name: str, table: StringTable) -> None:
        """Write a table of strings."""
        self.array(f"{name}.bytes", table.data)
        self.array(f"{name}.offsets", table.offsets)

    def finish(self, manifest: dict[str, Any]) -> Artifact:
        """Write the manifest and move the artifact into place."""
        files = {str(file.relative_to(self.path)): file for file in sorted(self.path.rglob("*.npy"))}
        known = {name: {"bytes": file.stat().st_size, "blake2b": _digest(file)} for name, file in files.items()}
        identity = hashlib.blake2b(json.dumps([self.kind, self.version, known]).encode(), digest_size=16).hexdigest()
        head = {"kind": self.kind, "format": self.version, "wikilda": __version__, "identity": identity}
        whole = {**head, **manifest, "files": known}
        text = json.dumps(whole, indent=1, ensure_ascii=False)
        with (self.path / MANIFEST).open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        move_into_place(self.path, self.target)
        return Artifact(self.target, whole)

    def _file(self, name: str) -> Path:
        file = self.path / f"{name}.npy"
        file.parent.mkdir(parents=True, exist_ok=True)
        return file


def save_array(path: Path, values: NDArray[Any]) -> None:
    """Write an array as `.npy`; unlike `numpy.save`, a full disk is an error that says so."""
    values = np.ascontiguousarray(values)
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(values))
        file.write(values.tobytes() if values.size == 0 else values.data.cast("B"))


class Growing:
    """An array on disk that grows at its end; its length is written when it is done."""

    def __init__(self, path: Path, dtype: DTypeLike) -> None:
        self.path, self.dtype, self.length = path, np.dtype(dtype), 0
        self._file = path.open("wb")
        self._write_header()

    def append(self, values: NDArray[Any]) -> None:
        """Add values at the end."""
        self._file.write(np.ascontiguousarray(values, self.dtype).tobytes())
        self.length += len(values)

    def finish(self) -> Path:
        """Write the length; the file is then an array like any other."""
        self._file.seek(0)
        self._write_header()  # as long as before: NumPy leaves room for the number
        self._file.close()
        return self.path

    def _write_header(self) -> None:
        empty = np.lib.format.header_data_from_array_1_0(np.empty(0, self.dtype))
        np.lib.format.write_array_header_1_0(self._file, {**empty, "shape": (self.length,)})


def check_target(target: Path, *, overwrite: bool) -> None:
    """Refuse to write over anything but an artifact that the user gives up."""
    if not target.exists():
        return
    if not overwrite:
        raise ArtifactError(f"{target}: exists already. Choose another name, or say --overwrite.")
    if not (target / MANIFEST).is_file():
        raise ArtifactError(f"{target}: is not something that wikilda wrote; it will not be overwritten.")


def move_into_place(made: Path, target: Path) -> None:
    """Give a finished directory its name; one that had it before goes."""
    old = target.with_name(f"{target.name}.replaced")
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        target.rename(old)
    made.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def kind_of(path: Path) -> str:
    """The kind of artifact that a directory says it holds; nothing if it does not."""
    try:
        return str(json.loads((path / MANIFEST).read_text("utf-8"))["kind"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _read_manifest(path: Path, kind: str) -> dict[str, Any]:
    if not path.is_dir():
        raise ArtifactError(f"{path}: no such directory.")
    try:
        manifest = json.loads((path / MANIFEST).read_text("utf-8"))
    except FileNotFoundError:
        raise ArtifactError(f"{path}: is not wikilda {kind}: it has no {MANIFEST}.") from None
    except (ValueError, UnicodeDecodeError) as error:
        raise ArtifactError(f"{path / MANIFEST}: is not valid JSON ({error}).") from None
    if (
        not isinstance(manifest, dict)
        or not isinstance(manifest.get("files"), dict)
        or not isinstance(manifest.get("format"), int)
    ):
        raise ArtifactError(f"{path / MANIFEST}: is not the manifest of wikilda {kind}.")
    if manifest.get("kind") != kind:
        hint = (
            f" Make one: wikilda init {path} -o MODEL" if (manifest.get("kind"), kind) == ("knowledge", "model") else ""
        )
        raise ArtifactError(f"{path}: is wikilda {manifest.get('kind')}, not {kind}.{hint}")
    return manifest


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
