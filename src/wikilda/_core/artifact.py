"""Artifacts: directories of plain arrays with a JSON manifest, memory-mapped, and written atomically.

An artifact with a manifest is complete: the manifest is written last, before the directory is renamed.
"""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Generic, Self, TypeVar

from numpy.typing import DTypeLike, NDArray

from wikilda import __version__
from wikilda._core._manifest import (
    MANIFEST,
    as_json,
    forget,
    glance,
    identity_of,
    is_of,
    is_remembered,
    lookup,
    parse,
    read_bytes,
    remember,
    stamp_of,
)
from wikilda._core.array_checks import Array, Wrong, check_sizes, check_values, declared_for
from wikilda._core.arrays import StringTable
from wikilda._core.atomic import lock, place_directory, scratch_directory, write_text
from wikilda._core.errors import ArtifactError
from wikilda._core.npy import create_array, map_array, save_array

__all__ = ["MANIFEST", "Artifact", "Writer", "check_target", "format_of", "kind_of"]

_HEAD = ("kind", "format", "wikilda", "identity", "files")  # the fields that are the same in all manifests
_TRIES = 5  # attempts to open an artifact that is being replaced
Value = TypeVar("Value")


class Artifact:
    """An artifact opened for reading: its manifest, and its arrays as views of files. Each kind is a class.

    A class declares its arrays (`wikilda._core.array_checks`) and the fields of its manifest. Opening checks types,
    lengths and fields, and once per artifact all values, so that kernels may rely on the declarations.
    """

    kind: ClassVar[str]
    format: ClassVar[int]
    arrays: ClassVar[Mapping[str, Array]]
    fields: ClassVar[Mapping[str, Any]] = {}  # of the manifest, with their types; "a.b" is a field of a field
    sizes_from: ClassVar[Mapping[str, str]] = {}  # sizes of other artifacts, by the field of the manifest that has them
    held: ClassVar[bool] = True  # whether all arrays are mapped on opening, so that the artifact may be replaced

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        self.path, self.manifest = path, manifest
        self._arrays: dict[str, NDArray[Any]] = {}

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open an artifact of this kind and format. All files come from one version."""
        path = Path(path)
        for _ in range(_TRIES):
            manifest = read_bytes(path, cls.kind)
            try:
                opened = cls(path, parse(manifest, path, cls.kind, cls.format))
                opened._check()
            except (ArtifactError, FileNotFoundError):
                if manifest == read_bytes(path, cls.kind):
                    raise
            else:
                if manifest == read_bytes(path, cls.kind):
                    return opened
        raise ArtifactError(f"{path}: is being replaced again and again. Try again later.")

    @classmethod
    def writer(cls, target: str | Path, *, overwrite: bool = False, base: Self | None = None) -> "Writer[Self]":
        """Write an artifact of this kind. With a `base`, it shares all files that are not replaced."""
        return Writer(cls, Path(target), overwrite=overwrite, base=base)

    @property
    def identity(self) -> str:
        """The digest of all contents, by which derived artifacts refer to it."""
        return self.field("identity", str)

    @property
    def summary(self) -> dict[str, int]:
        """Counts of the contents."""
        return self.field("summary", dict)

    @property
    def complaints(self) -> list[str]:
        """Examples of input that could not be read."""
        return self.field("complaints", list)

    @property
    def files(self) -> dict[str, dict[str, Any]]:
        """The arrays: file names with sizes and digests."""
        return self.field("files", dict)

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The declared sizes of its arrays, by name."""
        with self._refusing():
            known = {name: self.field(field, int) for name, field in self.sizes_from.items()}
            return check_sizes(declared_for(self.arrays, self._names), self._mapped, known)

    def field(self, name: str, kind: type[Value]) -> Value:
        """Return a field or a nested field ("knowledge.identity") of the manifest, checked for its type."""
        value: Any = lookup(self.manifest, name)
        if not is_of(value, kind):
            said = getattr(kind, "__name__", kind) if type(kind) is type else kind
            raise ArtifactError(f"{self.path / MANIFEST}: {name} is missing or not of type {said}. {self._remedy}")
        return value  # type: ignore[no-any-return]

    def has(self, name: str) -> bool:
        """Whether the artifact has an array."""
        return f"{name}.npy" in self.files

    def array(self, name: str) -> NDArray[Any]:
        """Return an array, mapped into memory. Changes to it stay private."""
        if name not in self._arrays:
            self._arrays[name] = map_array(self.path / f"{name}.npy")
        return self._arrays[name]

    def strings(self, name: str) -> StringTable:
        """A table of strings."""
        return StringTable(self.array(f"{name}.bytes"), self.array(f"{name}.offsets"))

    def verify(self) -> None:
        """Check all values again, and compare every file with its digest in the manifest."""
        forget(self.path)
        self._check()
        for name, known in self.files.items():
            if _digest(self.path / name) != known["blake2b"]:
                forget(self.path)
                raise ArtifactError(f"{self.path / name}: is damaged (its digest is another). {self._remedy}")

    def check_fits(self, other: "Artifact", *names: str) -> None:
        """Refuse to use two artifacts together whose named sizes differ."""
        for name in names:
            if self.sizes[name] != other.sizes[name]:
                raise ArtifactError(
                    f"{self.path}: has {self.sizes[name]:,} {name}, but {other.path} has {other.sizes[name]:,}. "
                    "Give those that were made together."
                )

    def rewrite_manifest(self, **fields: Any) -> None:
        """Change fields of the manifest that do not describe the contents, such as the path of the source."""
        self.manifest |= fields
        write_text(self.path / MANIFEST, as_json(self.manifest))

    @property
    def _names(self) -> set[str]:
        return {name.removesuffix(".npy") for name in self.files}

    @property
    def _remedy(self) -> str:
        return f"Make {self.path} again."

    @property
    def _mapped(self) -> Callable[[str], NDArray[Any]]:
        return self.array if self.held else lambda name: map_array(self.path / f"{name}.npy")

    def _check(self) -> None:
        """Check fields and files, and all values unless they have been checked before."""
        for name, kind in self.fields.items():
            self.field(name, kind)
        for name, known in self.files.items():
            file = self.path / name
            if not file.is_file() or file.stat().st_size != known["bytes"]:
                raise ArtifactError(f"{file}: is missing or has the wrong size. {self._remedy}")
        stamp = stamp_of((self.path / name for name in self.files), repr((sorted(self.arrays.items()), self.manifest)))
        if self.held:
            self.sizes  # noqa: B018 - maps all arrays
        if not is_remembered(self.path, stamp):
            with self._refusing():
                check_values(declared_for(self.arrays, self._names), self._mapped, self.sizes)
            remember(self.path, stamp)

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except Wrong as wrong:
            raise ArtifactError(f"{self.path / wrong.name}.npy: {wrong.what}. {self._remedy}") from None


Made = TypeVar("Made", bound=Artifact)


class Writer(Generic[Made]):
    """Writes an artifact. A context manager that leaves nothing behind after an error."""

    def __init__(self, made: type[Made], target: Path, *, overwrite: bool, base: Made | None) -> None:
        self.made, self.target, self.base = made, target, base
        self._overwrite = overwrite
        self._held = ExitStack()
        check_target(target, overwrite=overwrite)

    def __enter__(self) -> "Writer[Made]":
        with ExitStack() as stack:
            stack.enter_context(lock(self.target))
            check_target(self.target, overwrite=self._overwrite)  # again: another process may have finished meanwhile
            self.path = stack.enter_context(scratch_directory(self.target))
            if self.base is not None:
                _share(self.base, self.path)
            self._held = stack.pop_all()
        return self

    def __exit__(self, t: type[BaseException] | None, e: BaseException | None, b: TracebackType | None) -> None:
        self._held.__exit__(t, e, b)

    def array(self, name: str, values: NDArray[Any]) -> None:
        """Write an array."""
        save_array(self._file(name), values)

    def create(self, name: str, dtype: DTypeLike, length: int) -> NDArray[Any]:
        """Return an array on disk to be filled in parts."""
        return create_array(self._file(name), dtype, length)

    def adopt(self, name: str, file: Path) -> NDArray[Any]:
        """Move an array from elsewhere on the same disk."""
        file.rename(self._file(name))
        return map_array(self.path / f"{name}.npy")

    def read(self, name: str) -> NDArray[Any]:
        """Return an array that has been written."""
        return map_array(self.path / f"{name}.npy")

    def strings(self, name: str, table: StringTable) -> None:
        """Write a table of strings."""
        self.array(f"{name}.bytes", table.data)
        self.array(f"{name}.offsets", table.offsets)

    def read_strings(self, name: str) -> StringTable:
        """Return a table of strings that has been written."""
        return StringTable(self.read(f"{name}.bytes"), self.read(f"{name}.offsets"))

    def share(self, name: str, file: Path) -> None:
        """Put the array of another artifact into this one, as a hard link or, where that fails, as a copy."""
        _link(file, self._file(name))

    def remove(self, folder: str) -> None:
        """Remove the arrays that the base has in a folder."""
        shutil.rmtree(self.path / folder, ignore_errors=True)

    def finish(self, manifest: dict[str, Any]) -> Made:
        """Write the manifest and move the artifact into place. Fields that are not given are copied from the base."""
        kind, version = self.made.kind, self.made.format
        known = {name: self._known(name) for name in _array_files(self.path)}
        identity = identity_of(kind, version, known)
        head = {"kind": kind, "format": version, "wikilda": __version__, "identity": identity}
        before = {name: value for name, value in self.base.manifest.items() if name not in _HEAD} if self.base else {}
        whole = {**head, **before, **manifest, "files": known}
        self.made(self.path, whole).sizes  # noqa: B018 - what is not declared is refused before it has its name
        write_text(self.path / MANIFEST, as_json(whole))
        place_directory(self.path, self.target)
        return self.made(self.target, whole)

    def _known(self, name: str) -> dict[str, Any]:
        """Return the size and digest of a file, without reading files that are shared with the base."""
        file = self.path / name
        if self.base is not None and name in self.base.files and _is_shared(file, self.base.path / name):
            return self.base.files[name]
        return {"bytes": file.stat().st_size, "blake2b": _digest(file)}

    def _file(self, name: str) -> Path:
        file = self.path / f"{name}.npy"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)  # it may be the base's own
        return file


def check_target(target: Path, *, overwrite: bool) -> None:
    """Refuse to overwrite anything but an artifact, and that only with `overwrite`."""
    if not target.exists():
        return
    if not overwrite:
        raise ArtifactError(f"{target}: exists already. Choose another name, or use --overwrite.")
    if not (target / MANIFEST).is_file():
        raise ArtifactError(f"{target}: was not written by wikilda and will not be overwritten. Choose another name.")


def kind_of(path: Path) -> str:
    """Return the kind of artifact that a directory claims to be; empty if it does not."""
    return str(glance(path).get("kind", ""))


def format_of(path: Path) -> int:
    """Return the format that a directory claims to have; 0 if it does not."""
    version = glance(path).get("format", 0)
    return version if type(version) is int else 0


def _share(base: Artifact, path: Path) -> None:
    """Put the files of an artifact into a directory, as hard links or, where that fails, as copies."""
    beside = [each.name for each in base.path.iterdir() if each.is_file() and each.name != MANIFEST]
    for name in {*base.files, *beside}:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        _link(base.path / name, path / name)


def _link(file: Path, other: Path) -> None:
    try:
        os.link(file, other)
    except OSError:
        shutil.copyfile(file, other)


def _is_shared(file: Path, other: Path) -> bool:
    return other.is_file() and file.samefile(other)


def _array_files(path: Path) -> list[str]:
    return [file.relative_to(path).as_posix() for file in sorted(path.rglob("*.npy"))]


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
