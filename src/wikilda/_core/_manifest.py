"""Read manifests with limits, and check every field before it is used."""

import hashlib
import json
import math
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args, get_origin

from wikilda import __version__
from wikilda._core.errors import ArtifactError
from wikilda._core.platform import cache_directory

MANIFEST = "manifest.json"
_MOST_BYTES = 1 << 26
_FILE = re.compile(r"(?:[\w-][\w.-]*/)*[\w-][\w.-]*\.npy", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]{32}")


def read_bytes(path: Path, kind: str) -> bytes:
    """Return the bytes of an artifact's manifest."""
    if path.is_file():
        hint = f"From a dump: wikilda build {path} -o NAME" if ".xml" in path.name else "Give the model first."
        raise ArtifactError(f"{path}: is a file, and a model is a directory. {hint}")
    if not path.is_dir():
        raise ArtifactError(f"{path}: no such directory. Check the path.")
    file = path / MANIFEST
    if not file.is_file():
        raise ArtifactError(f"{path}: is not wikilda {kind}: it has no {MANIFEST}. Check the path.")
    with file.open("rb") as stream:
        read = stream.read(_MOST_BYTES + 1)
    if len(read) > _MOST_BYTES:
        raise ArtifactError(
            f"{file}: is larger than {_MOST_BYTES >> 20} MB, which no manifest is. Get the artifact again."
        )
    return read


def parse(data: bytes, path: Path, kind: str, version: int) -> dict[str, Any]:
    """Parse and check a manifest of a kind and format: file names, sizes, digests and the identity."""
    try:
        manifest = json.loads(data.decode("utf-8"))
        json.dumps(manifest, ensure_ascii=False).encode()  # lone surrogates cannot be encoded
    except (ValueError, RecursionError) as error:
        raise ArtifactError(
            f"{path / MANIFEST}: is not valid JSON ({str(error)[:200]}). Get or make the artifact again."
        ) from None
    if (
        not isinstance(manifest, dict)
        or not isinstance(manifest.get("files"), dict)
        or type(manifest.get("format")) is not int
    ):
        raise ArtifactError(
            f"{path / MANIFEST}: is not the manifest of wikilda {kind}. Get or make the artifact again."
        )
    _check_kind(manifest, path, kind, version)
    for name, known in manifest["files"].items():
        if not _FILE.fullmatch(name) or not _is_known(known):
            raise ArtifactError(
                f"{path / MANIFEST}: the file {name[:200]!r} has no plain name, size and digest. "
                "Get or make the artifact again."
            )
    if manifest.get("identity") != identity_of(kind, version, manifest["files"]):
        raise ArtifactError(f"{path / MANIFEST}: its identity is not that of its files. Make {path} again.")
    return manifest


def identity_of(kind: str, version: int, files: dict[str, Any]) -> str:
    """Return the identity of an artifact: a digest of the digests of its files."""
    return hashlib.blake2b(json.dumps([kind, version, files]).encode(), digest_size=16).hexdigest()


def as_json(manifest: dict[str, Any]) -> str:
    """Return a manifest as JSON."""
    return json.dumps(manifest, indent=1, ensure_ascii=False)


def glance(path: Path) -> dict[str, Any]:
    """Return the manifest of any artifact; empty if there is none."""
    try:
        found = json.loads(read_bytes(path, ""))
    except (OSError, ValueError, RecursionError, ArtifactError):
        return {}
    return found if isinstance(found, dict) else {}


def lookup(manifest: dict[str, Any], name: str) -> Any:
    """Return a field or a nested field ("knowledge.identity"); None if it is missing."""
    value: Any = manifest
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def is_of(value: Any, kind: Any) -> bool:
    """Whether a value from JSON is of a type, such as `int`, `list[str]` or `dict[str, int]`; numbers are in range."""
    if origin := get_origin(kind):
        parts = value.values() if origin is dict and type(value) is dict else value
        return type(value) is origin and all(is_of(part, get_args(kind)[-1]) for part in parts)
    if type(value) is not kind:
        return False
    return math.isfinite(value) if kind is float else -(2**63) <= value < 2**63 if kind is int else True


def _check_kind(manifest: dict[str, Any], path: Path, kind: str, version: int) -> None:
    found, written = str(manifest.get("kind"))[:50], manifest["format"]
    if found != kind:
        hints = {
            ("knowledge", "model"): f" Make one: wikilda init {path} -o MODEL",
            ("corpus", "model"): f" Train on it: wikilda train MODEL {path} -o NEW",
        }
        raise ArtifactError(f"{path}: is wikilda {found}, not {kind}.{hints.get((found, kind), '')}")
    if written > version:
        raise ArtifactError(
            f"{path}: was written in format {written} by wikilda {str(manifest.get('wikilda', '?'))[:50]}; "
            f"this is wikilda {__version__}, which knows format {version}. Upgrade wikilda."
        )
    if written < version:
        raise ArtifactError(f"{path}: has the old format {written}. Make it again with this wikilda.")


def _is_known(known: Any) -> bool:
    return (
        isinstance(known, dict)
        and known.keys() == {"bytes", "blake2b"}
        and type(known["bytes"]) is int
        and isinstance(known["blake2b"], str)
        and _DIGEST.fullmatch(known["blake2b"]) is not None
    )


_MOST = 1000  # artifacts that are remembered at most


def stamp_of(files: Iterable[Path], rules: str) -> str:
    """Return a digest of the files' metadata and of the rules that they were checked by."""
    made = hashlib.blake2b(rules.encode(), digest_size=16)
    for file in files:
        about = file.stat()
        made.update(repr((about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)).encode())
    return made.hexdigest()


def is_remembered(path: Path, stamp: str) -> bool:
    """Whether the artifact at a path has been checked in its present state."""
    try:
        return _note(path).read_text("ascii") == stamp
    except (OSError, ValueError, RuntimeError):  # RuntimeError: there is no home directory
        return False


def remember(path: Path, stamp: str) -> None:
    """Note that an artifact has been checked. Without a writable cache it will be checked again."""
    with suppress(OSError, RuntimeError):
        note = _note(path)
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(stamp, "ascii")
        notes = sorted(note.parent.iterdir(), key=lambda each: each.stat().st_mtime_ns)
        for old in notes[:-_MOST]:
            old.unlink(missing_ok=True)


def forget(path: Path) -> None:
    """Let an artifact be checked again."""
    with suppress(OSError, RuntimeError):
        _note(path).unlink(missing_ok=True)


def _note(path: Path) -> Path:
    name = hashlib.blake2b(str(path.resolve()).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    return cache_directory() / "checked" / name
