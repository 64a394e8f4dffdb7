"""A model, with its knowledge, as one file to share: a tar archive in Zstandard, its contents listed first.

`pack.json` has the contents, the source and the licence; manifests and arrays follow. Unpacking checks everything:
only files that a manifest lists are written, with the declared size. All digests and values are compared before the
directory is renamed.
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
from wikilda._core.atomic import check_output, lock, new_file, place_directory, scratch_directory
from wikilda._core.compression import check_expansion
from wikilda._core.errors import ArtifactError, InputError
from wikilda._core.tar import Entry, TarReader
from wikilda.knowledge import Knowledge
from wikilda.model.model import Model

ABOUT, FORMAT = "pack.json", 1
INSIDE = "knowledge"  # where the knowledge of a model is in its pack
_LARGEST_LIST = 1 << 23  # bytes of a manifest
_NAME = re.compile(r"[\w-]+(?:/[\w.-]+)*\.npy")
_WIKIMEDIA = re.compile(r"//[\w.-]+\.(?:wikipedia|wiktionary|wikibooks|wikiquote|wikisource|wikivoyage|wikinews)\.org/")


def pack(path: str | Path, target: str | Path | None = None, *, licence: str = "") -> Path:
    """Write a model and its knowledge, or only knowledge, into one file: `wikilda pack`.

    Parameters
    ----------
    path
        The model, or knowledge.
    target
        The file to write, by default `NAME.wikilda` beside it.
    licence
        The licence to note in the file; by default that of a Wikimedia wiki's text.

    Examples
    --------
    >>> from wikilda import get, pack
    >>> file = pack(sample, scratch / "sample.wikilda")
    >>> get(file, scratch / "unpacked")
    Model('samplewiki', 249 topics, iteration 0)
    """
    path = Path(path)
    target = Path(target) if target else path.with_name(f"{path.name}.wikilda")
    check_output(target, overwrite=True, inputs=[path])
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
    """Return the description of a pack. The text of Wikimedia's wikis has one licence."""
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
        tarfile.open(fileobj=stream, mode="w|", format=tarfile.GNU_FORMAT) as archive,
    ):
        yield archive


def read_about(file: Path) -> dict[str, Any]:
    """Return the description in a pack."""
    with _opened(file) as archive:
        return _read_about(archive, file)


def get(source: str | Path, target: str | Path | None = None, *, overwrite: bool = False) -> Artifact:
    """Check a packed model, from a file or a URL, and unpack it: `wikilda get`.

    Parameters
    ----------
    source
        A file, or an address. An interrupted download resumes when it is called again.
    target
        The directory to write, by default named after the file.
    overwrite
        Whether to replace what is there.

    Examples
    --------
    >>> get(scratch / "missing.wikilda")
    Traceback (most recent call last):
    wikilda._core.errors.InputError: ...
    """
    place = Path(target) if target else None
    file = fetched(source, place)
    return unpack(file, place or file.with_suffix(""), overwrite=overwrite)


def fetched(source: str | Path, target: Path | None) -> Path:
    """Return the file of a pack; one from a URL is downloaded beside the target."""
    if "://" not in str(source):
        return Path(source)
    from wikilda.mediawiki.download import fetch, remote_file

    return fetch(remote_file(str(source)), target.parent if target else Path(), checks_itself=True)


def unpack(file: Path, target: Path, *, overwrite: bool = False) -> Artifact:
    """Check a pack and unpack it to `target`. A damaged or forged pack leaves nothing behind."""
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
        if made.identity != about.get("identity"):
            raise ArtifactError(f"{file}: holds another {about['kind']} than it declares. Get it again.")
        place_directory(beside, target)
    return kind.open(target)


class _Archive(TarReader):
    """The files of a pack."""

    def damaged(self, why: object) -> InputError:
        """Return the error for a file that is not a pack, or is incomplete."""
        return InputError(f"{self._file}: is damaged, or not a pack of wikilda ({why}). Get it again.")


@contextmanager
def _opened(file: Path) -> Iterator[_Archive]:
    if not file.is_file():
        raise InputError(f"{file}: no such file. Check the path.")
    archive = _Archive(io.BytesIO(), file)
    try:
        with pa.OSFile(str(file), "rb") as raw, pa.CompressedInputStream(raw, "zstd") as stream:
            archive = _Archive(stream, file)
            yield archive
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno:  # an error of the disk, not of the data
            raise
        raise archive.damaged(error) from None


def _read_about(archive: _Archive, file: Path) -> dict[str, Any]:
    entry = archive.next()
    if entry is None or entry.name != ABOUT:
        raise InputError(
            f"{file}: is not a pack of wikilda: it does not begin with {ABOUT}. Give a file that `wikilda pack` wrote."
        )
    about = _json(archive, entry, file)
    if about.get("format") != FORMAT or about.get("kind") not in (Model.kind, Knowledge.kind):
        raise InputError(
            f"{file}: is a pack of a kind or format that wikilda {__version__} does not know. Upgrade wikilda."
        )
    return about


def _json(archive: _Archive, entry: Entry, file: Path) -> dict[str, Any]:
    found = None
    if entry.size <= _LARGEST_LIST:
        try:
            found = json.loads(archive.read(entry.size))
            json.dumps(found, ensure_ascii=False).encode()  # lone surrogates cannot be written
        except (ValueError, RecursionError):
            found = None
    if not isinstance(found, dict):
        raise InputError(f"{file}: {entry.name} is not a JSON object. Get it again.")
    return found


class _Unpacker:
    """Writes what manifests list, and nothing else."""

    def __init__(self, archive: _Archive, file: Path, directory: Path) -> None:
        self._archive, self._file, self._directory = archive, file, directory

    def run(self, *, with_knowledge: bool) -> None:
        """Unpack all parts in order. Anything else is refused."""
        for prefix in ("", f"{INSIDE}/") if with_knowledge else ("",):
            self._part(prefix)
        if self._archive.next() is not None:
            raise InputError(f"{self._file}: holds more than it lists. Get it again from its maker.")

    def _part(self, prefix: str) -> None:
        entry = self._next(prefix + MANIFEST)
        manifest = _json(self._archive, entry, self._file)
        sizes = self._sizes(manifest)
        (self._directory / prefix).mkdir(exist_ok=True)
        (self._directory / prefix / MANIFEST).write_text(json.dumps(manifest, ensure_ascii=False), "utf-8")
        for name in sorted(sizes):
            entry = self._next(prefix + name)
            if entry.size != sizes[name]:
                raise InputError(
                    f"{self._file}: {entry.name} has {entry.size} bytes, not {sizes[name]} as declared. "
                    "Get it again from its maker."
                )
            path = self._directory / prefix / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as out:
                while data := self._archive.read(1 << 20):
                    out.write(data)

    def _sizes(self, manifest: dict[str, Any]) -> dict[str, int]:
        """The files that a manifest lists, with their sizes; they must stay in the directory, and fit on the disk."""
        files = manifest.get("files")
        listed = files.items() if isinstance(files, dict) else ()
        known: dict[str, int] = {name: each.get("bytes", -1) if isinstance(each, dict) else -1 for name, each in listed}
        for name, size in known.items():
            if not _NAME.fullmatch(name) or ".." in name or type(size) is not int or not 0 <= size < 1 << 60:
                raise InputError(f"{self._file}: lists {name!r}, which no artifact has. Get it again from its maker.")
        needed, free = sum(known.values()), shutil.disk_usage(self._directory).free
        check_expansion(self._file, self._file.stat().st_size, needed)
        if needed > free:
            raise InputError(
                f"{self._file}: needs {needed / 1e9:.1f} GB of disk, but {free / 1e9:.1f} GB are free. Free some space."
            )
        return known

    def _next(self, name: str) -> Entry:
        entry = self._archive.next()
        if entry is None or entry.name != name:
            found = f"{entry.name!r}" if entry else "nothing"
            raise InputError(f"{self._file}: has {found} where the file {name} should be. Get it again from its maker.")
        return entry
