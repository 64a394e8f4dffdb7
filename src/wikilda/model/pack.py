"""A model, with its knowledge, as one file to share: a tar archive in Zstandard, its contents listed first.

`pack.json` says what it is, where it comes from and under which licence; then come the manifests and arrays. Unpacking
trusts nothing: only files that a manifest lists are written, with the size that it says; then what was written is
opened, and all digests and values are compared with what is declared, before it gets its name.
"""

import io
import json
import re
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from wikilda import __version__
from wikilda._core.artifact import MANIFEST, Artifact, check_target, kind_of
from wikilda._core.atomic import lock, new_file, place_directory, scratch_directory
from wikilda._core.errors import ArtifactError, InputError
from wikilda.knowledge import Knowledge
from wikilda.model.model import Model

ABOUT, FORMAT = "pack.json", 1
INSIDE = "knowledge"  # where the knowledge of a model is in its pack
_LARGEST_LIST = 1 << 26  # bytes of a manifest
_NAME = re.compile(r"[\w-]+(?:/[\w.-]+)*\.npy")
_WIKIMEDIA = re.compile(r"//[\w.-]+\.(?:wikipedia|wiktionary|wikibooks|wikiquote|wikisource|wikivoyage|wikinews)\.org/")


def pack(path: Path, target: Path, *, licence: str = "") -> Path:
    """Write a model and its knowledge, or knowledge alone, into one file."""
    made: Artifact = Model.open(path) if kind_of(path) == Model.kind else Knowledge.open(path)
    knowledge = made.knowledge() if isinstance(made, Model) else made
    parts = {"": made} | ({f"{INSIDE}/": knowledge} if knowledge is not made else {})
    for part in parts.values():
        part.verify()
    with new_file(target) as beside, _compressing(beside) as archive:
        _add(archive, ABOUT, _about(made, knowledge, licence))
        for prefix, part in parts.items():
            _add_part(archive, prefix, part)
    return target


def _about(made: Artifact, knowledge: Any, licence: str) -> bytes:
    """What a pack is; the text of Wikimedia's wikis is under one licence."""
    site = knowledge.site
    known = f"CC BY-SA 4.0, text of {site.name} ({site.base})" if _WIKIMEDIA.search(site.base) else "not stated"
    about = {
        "format": FORMAT, "wikilda": __version__, "kind": made.kind, "identity": made.identity,
        "knowledge": knowledge.identity, "site": site.name, "source": knowledge.source, "licence": licence or known,
    }  # fmt: skip
    return json.dumps(about, ensure_ascii=False, indent=1).encode()


def _add_part(archive: tarfile.TarFile, prefix: str, part: Artifact) -> None:
    manifest = dict(part.manifest)
    if prefix == "" and isinstance(part, Model):
        manifest["knowledge"] = {**manifest["knowledge"], "path": INSIDE}
    _add(archive, prefix + MANIFEST, json.dumps(manifest, ensure_ascii=False, indent=1).encode())
    for name in sorted(part.files):
        with (part.path / name).open("rb") as file:
            archive.addfile(_entry(prefix + name, (part.path / name).stat().st_size), file)


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    archive.addfile(_entry(name, len(data)), io.BytesIO(data))


def _entry(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)  # without owner and date: the same model gives the same bytes
    entry.size = size
    return entry


@contextmanager
def _compressing(path: Path) -> Iterator[tarfile.TarFile]:
    with (
        pa.OSFile(str(path), "wb") as file,
        pa.CompressedOutputStream(file, "zstd") as stream,
        tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as archive,
    ):
        yield archive


def read_about(file: Path) -> dict[str, Any]:
    """What a pack says of itself."""
    with _opened(file) as archive:
        return _read_about(archive, file)


def unpack(file: Path, target: Path, *, overwrite: bool = False) -> Artifact:
    """Check a pack and put what it holds at `target`; nothing stays of one that is damaged or lies."""
    check_target(target, overwrite=overwrite)
    with lock(target), scratch_directory(target) as beside:
        with _opened(file) as archive:
            about = _read_about(archive, file)
            _Unpacker(archive, file, beside).run(with_knowledge=about["kind"] == Model.kind)
        kind: type[Artifact] = Model if about["kind"] == Model.kind else Knowledge
        made = kind.open(beside)
        made.verify()
        if isinstance(made, Model):
            made.knowledge(beside / INSIDE).verify()
        if made.identity != about["identity"]:
            raise ArtifactError(f"{file}: holds another {about['kind']} than it says.")
        place_directory(beside, target)
    return kind.open(target)


@contextmanager
def _opened(file: Path) -> Iterator[tarfile.TarFile]:
    if not file.is_file():
        raise InputError(f"{file}: no such file.")
    try:
        with (
            pa.OSFile(str(file), "rb") as raw,
            pa.CompressedInputStream(raw, "zstd") as stream,
            tarfile.open(fileobj=stream, mode="r|") as archive,
        ):
            yield archive
    except (tarfile.TarError, EOFError, pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno:  # of the disk, not of the data
            raise
        raise InputError(f"{file}: is damaged, or no pack of wikilda ({error}). Get it again.") from None


def _read_about(archive: tarfile.TarFile, file: Path) -> dict[str, Any]:
    entry = archive.next()
    if entry is None or entry.name != ABOUT:
        raise InputError(f"{file}: is no pack of wikilda: it does not begin with {ABOUT}.")
    about = _json(archive, entry, file)
    if about.get("format") != FORMAT or about.get("kind") not in (Model.kind, Knowledge.kind):
        raise InputError(f"{file}: is a pack of another kind or format than this wikilda {__version__} knows.")
    return about


def _json(archive: tarfile.TarFile, entry: tarfile.TarInfo, file: Path) -> dict[str, Any]:
    content = archive.extractfile(entry) if entry.isreg() and entry.size <= _LARGEST_LIST else None
    try:
        found = json.loads(content.read()) if content else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InputError(f"{file}: {entry.name} is not a JSON object. Get it again.")
    return found


class _Unpacker:
    """Writes what manifests list, and nothing else."""

    def __init__(self, archive: tarfile.TarFile, file: Path, directory: Path) -> None:
        self._archive, self._file, self._directory = archive, file, directory

    def run(self, *, with_knowledge: bool) -> None:
        """All parts in order; what is left over is refused."""
        for prefix in ("", f"{INSIDE}/") if with_knowledge else ("",):
            self._part(prefix)
        if self._archive.next() is not None:
            raise InputError(f"{self._file}: holds more than it lists. It will not be unpacked.")

    def _part(self, prefix: str) -> None:
        entry = self._next(prefix + MANIFEST)
        manifest = _json(self._archive, entry, self._file)
        sizes = self._sizes(manifest)
        (self._directory / prefix).mkdir(exist_ok=True)
        (self._directory / prefix / MANIFEST).write_text(json.dumps(manifest, ensure_ascii=False), "utf-8")
        for name in sorted(sizes):
            entry = self._next(prefix + name)
            if entry.size != sizes[name]:
                raise InputError(f"{self._file}: {entry.name} has {entry.size} bytes, not {sizes[name]} as it says.")
            path = self._directory / prefix / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as out:
                shutil.copyfileobj(self._archive.extractfile(entry), out, 1 << 20)  # type: ignore[arg-type]

    def _sizes(self, manifest: dict[str, Any]) -> dict[str, int]:
        """The files that a manifest lists, with their sizes; they must stay in the directory, and fit on the disk."""
        files = manifest.get("files")
        listed = files.items() if isinstance(files, dict) else ()
        known: dict[str, int] = {name: each.get("bytes", -1) if isinstance(each, dict) else -1 for name, each in listed}
        for name, size in known.items():
            if not _NAME.fullmatch(name) or ".." in name or type(size) is not int or size < 0:
                raise InputError(f"{self._file}: lists {name!r}, which no artifact has. It will not be unpacked.")
        needed, free = sum(known.values()), shutil.disk_usage(self._directory).free
        if needed > free:
            raise InputError(f"{self._file}: needs {needed / 1e9:.1f} GB of disk, but {free / 1e9:.1f} GB are free.")
        return known

    def _next(self, name: str) -> tarfile.TarInfo:
        entry = self._archive.next()
        if entry is None or entry.name != name or not entry.isreg():
            found = f"{entry.name!r}" if entry else "nothing"
            raise InputError(f"{self._file}: has {found} where the file {name} should be. It will not be unpacked.")
        return entry
