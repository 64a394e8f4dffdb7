"""What kernels rely on is checked when an artifact is opened, once, and remembered outside of it."""

import json
import os
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from wikilda._core import array_checks
from wikilda._core import artifact as artifacts
from wikilda._core._manifest import identity_of
from wikilda._core.array_checks import Array, Wrong, check_values, hash_table, rows, strings
from wikilda._core.arrays import EMPTY, StringTable, table_of
from wikilda._core.artifact import Artifact
from wikilda._core.errors import ArtifactError
from wikilda._core.npy import save_array


class Shelf(Artifact):
    kind = "shelf"
    format = 1
    fields = {"about": str, "counts": dict[str, int], "share": float}
    arrays = {
        **strings("names", "things"),
        **rows("links/", "things", things=Array(np.uint32, below="things", increasing=True), weights=Array(np.float32)),
        **hash_table("table_", below="things"),
        "marks": Array(np.int64, "things", minimum=-1),
        "flags": Array(np.bool_, "things"),
        **rows("extra/", "things", optional=True, filled=True, levels=Array(np.uint8, below=4)),
    }


def arrays() -> dict[str, NDArray[Any]]:
    table = table_of(np.array([7 << 32, 9 << 60, 5], np.uint64))
    names = StringTable.of(["", "b", "é"])
    return {
        "names.bytes": names.data,
        "names.offsets": names.offsets,
        "links/offsets": np.array([0, 2, 2, 3], np.int64),
        "links/things": np.array([0, 2, 1], np.uint32),
        "links/weights": np.array([0.5, 1, 0], np.float32),
        "table_keys": table.keys,
        "table_values": table.values,
        "marks": np.array([-1, 0, 5], np.int64),
        "flags": np.array([True, False, True]),
        "extra/offsets": np.array([0, 1, 2, 3], np.int64),
        "extra/levels": np.array([3, 0, 1], np.uint8),
    }


def write(path: Path, **other: Any) -> Shelf:
    with Shelf.writer(path) as out:
        for name, values in arrays().items():
            out.array(name, values)
        return out.finish({"about": "é", "counts": {"things": 3}, "share": 0.5} | other)


def put(path: Path, name: str, values: NDArray[Any]) -> None:
    """Replace an array by another one, as somebody would who means harm: manifest, digest and identity are right."""
    save_array(path / f"{name}.npy", values)
    file = path / "manifest.json"
    manifest = json.loads(file.read_text())
    known = manifest["files"][f"{name}.npy"]
    known |= {"bytes": (path / f"{name}.npy").stat().st_size, "blake2b": artifacts._digest(path / f"{name}.npy")}
    manifest["identity"] = identity_of("shelf", 1, manifest["files"])
    file.write_text(json.dumps(manifest))


DAMAGES: dict[str, tuple[str, Any, str]] = {
    "another type": ("marks", np.array([0, 0, 0], np.int32), "type int32, not int64"),
    "too short": ("marks", np.array([0, 0], np.int64), "has length 2, not 3"),
    "below the least": ("marks", np.array([0, -2, 0], np.int64), "value -2, which is not at least -1"),
    "a flag that is neither yes nor no": ("flags", np.array([0, 7, 1], np.uint8).view(np.bool_), "not below 2"),
    "no offsets": ("links/offsets", np.empty(0, np.int64), "is empty"),
    "offsets that do not begin at 0": ("links/offsets", np.array([1, 2, 2, 3], np.int64), "from 1 to 3"),
    "offsets that do not end at the length": ("links/offsets", np.array([0, 2, 2, 9], np.int64), "from 0 to 9"),
    "offsets that decrease": ("links/offsets", np.array([0, 2, 1, 3], np.int64), "decreases at 1"),
    "offsets that overflow": ("links/offsets", np.array([0, 2**62, -(2**62), 3], np.int64), "decreases at 1"),
    "a number out of range": ("links/things", np.array([0, 3, 1], np.uint32), "value 3, which is not below 3"),
    "a row that decreases": ("links/things", np.array([2, 0, 1], np.uint32), "does not increase within a row"),
    "not a number": ("links/weights", np.array([0, np.nan, 0], np.float32), "value nan"),
    "infinity": ("links/weights", np.array([0, np.inf, 0], np.float32), "not finite"),
    "a negative weight": ("links/weights", np.array([0, -1, 0], np.float32), "not at least 0"),
    "a full table": ("table_keys", np.ones(12, np.uint64), "12 of 12 slots taken"),
    "a table's value out of range": ("table_values", np.full(12, 3, np.int32), "not below 3"),
    "a table's value below -1": ("table_values", np.full(12, -2, np.int32), "not at least -1"),
    "half a character": ("names.offsets", np.array([0, 1, 2, 3], np.int64), "ends within a character"),
    "no UTF-8": ("names.bytes", np.array([98, 255, 98], np.uint8), "not UTF-8 at 1"),
    "an empty row": ("extra/offsets", np.array([0, 1, 1, 3], np.int64), "empty row"),
    "above a number": ("extra/levels", np.array([4, 0, 1], np.uint8), "not below 4"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_every_damage_is_refused(tmp_path: Path, damage: str) -> None:
    name, values, words = DAMAGES[damage]
    assert len(arrays()["table_keys"]) == 12  # or the damages of the table are none
    write(tmp_path / "x")
    put(tmp_path / "x", name, values)
    with pytest.raises(ArtifactError, match=words) as error:
        Shelf.open(tmp_path / "x")
    assert str(tmp_path / "x") in str(error.value)


def test_a_table_with_hardly_any_room_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "x")
    keys = np.ones(9000, np.uint64)
    keys[::4500] = 0
    put(tmp_path / "x", "table_values", np.zeros(9000, np.int32))
    put(tmp_path / "x", "table_keys", keys)
    with pytest.raises(ArtifactError, match="4,499 of 9,000 slots"):
        Shelf.open(tmp_path / "x")


def test_optional_arrays_are_there_together_or_not_at_all(tmp_path: Path) -> None:
    whole = write(tmp_path / "x")
    with Shelf.writer(tmp_path / "y", base=whole) as out:
        out.remove("extra")
        out.finish({})
    assert not Shelf.open(tmp_path / "y").has("extra/levels")
    manifest = json.loads((tmp_path / "x" / "manifest.json").read_text())
    del manifest["files"]["extra/levels.npy"]
    manifest["identity"] = identity_of("shelf", 1, manifest["files"])
    (tmp_path / "x" / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ArtifactError, match=r"extra/levels.npy: is missing"):
        Shelf.open(tmp_path / "x")


def test_what_is_not_declared_is_not_written(tmp_path: Path) -> None:
    whole = write(tmp_path / "x")
    with Shelf.writer(tmp_path / "y", base=whole) as out:
        out.array("other", np.arange(3))
        with pytest.raises(ArtifactError, match="is not declared"):
            out.finish({})


MANIFESTS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "another type": lambda m: m | {"about": 3},
    "no field": lambda m: {name: value for name, value in m.items() if name != "about"},
    "a field of a field": lambda m: m | {"counts": {"things": "3"}},
    "a large number": lambda m: m | {"counts": {"things": 2**63}},
    "not a number": lambda m: m | {"share": float("nan")},
    "half a character": lambda m: m | {"about": "\ud800"},
    "a way out": lambda m: m | {"files": {"../x.npy": m["files"]["marks.npy"]}},
    "a file with another field": lambda m: m | {"files": m["files"] | {"marks.npy": {"bytes": 3}}},
    "another digest": lambda m: m | {"files": m["files"] | {"marks.npy": {"bytes": 152, "blake2b": "0" * 32}}},
    "a name that ends early": lambda m: m | {"files": {"marks.npy\0": m["files"]["marks.npy"]}},
    "too deep": lambda m: [*m, json.loads("[" * 900 + "]" * 900)],
    "a format that is no number": lambda m: m | {"format": True},
    "another identity": lambda m: m | {"identity": "0" * 32},
    "an identity that is no string": lambda m: m | {"identity": ["0"]},
}


@pytest.mark.parametrize("damage", MANIFESTS)
def test_every_damaged_manifest_is_refused(tmp_path: Path, damage: str) -> None:
    write(tmp_path / "x")
    file = tmp_path / "x" / "manifest.json"
    file.write_text(json.dumps(MANIFESTS[damage](json.loads(file.read_text()))))
    with pytest.raises(ArtifactError, match=r"manifest\.json"):
        Shelf.open(tmp_path / "x")


@pytest.mark.parametrize(
    "head",
    [
        b"", b"PK\x03\x04", b"\x93NUMPY\x01\x00v\x00{'descr': '<i8', 'fortran_order': False, 'shape': (4,), }", b"\x93NUMPY\x01\x00\xff\xff", b"\x93NUMPY\x02\x00v\x00\x00\x00{",
        b"\x93NUMPY\x01\x00\x10\x00{'descr': '<i8'}", b"\x93NUMPY\x01\x00v\x00{'descr': '<i8', 'shape': (99999999999,)",
    ],
)  # fmt: skip
def test_headers_are_not_believed(tmp_path: Path, head: bytes) -> None:
    write(tmp_path / "x")
    file = tmp_path / "x" / "marks.npy"
    file.write_bytes((head + file.read_bytes()[len(head) :])[: file.stat().st_size] if head else b"\0" * 152)
    with pytest.raises(ArtifactError, match=r"marks\.npy: is not an array|does not have"):
        Shelf.open(tmp_path / "x")


def test_values_are_checked_once_until_a_file_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checks: list[int] = []
    whole = artifacts.check_values
    monkeypatch.setattr(artifacts, "check_values", lambda *given: (checks.append(1), whole(*given)))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write(tmp_path / "x")
    Shelf.open(tmp_path / "x")
    Shelf.open(tmp_path / "x")
    assert len(checks) == 1
    os.utime(tmp_path / "x" / "marks.npy", ns=(1, 1))
    Shelf.open(tmp_path / "x")
    assert len(checks) == 2
    Shelf.open(tmp_path / "x").verify()
    assert len(checks) == 3
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x" / "marks.npy"))  # nothing can be written there
    Shelf.open(tmp_path / "x")
    Shelf.open(tmp_path / "x")
    assert len(checks) == 5
    assert sorted(each.name for each in (tmp_path / "x").iterdir() if each.suffix != ".npy") == [
        "extra",
        "links",
        "manifest.json",
    ]


def test_an_open_artifact_stays_what_it_was(tmp_path: Path) -> None:
    opened = write(tmp_path / "x")
    opened = Shelf.open(tmp_path / "x")
    with Shelf.writer(tmp_path / "x", overwrite=True) as out:
        for name, values in arrays().items():
            out.array(name, values[::-1].copy() if name == "marks" else values)
        out.finish({"about": "new", "counts": {}, "share": 0.0})
    assert opened.array("marks").tolist() == [-1, 0, 5]
    assert list(opened.strings("names")) == ["", "b", "é"]
    assert Shelf.open(tmp_path / "x").array("marks").tolist() == [5, 0, -1]


def test_what_is_replaced_while_it_is_opened_is_opened_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "x")
    newer = write(tmp_path / "y", about="newer")
    mapping = artifacts.map_array

    def replacing(file: Path) -> NDArray[Any]:
        if newer.path.exists():
            (tmp_path / "x").rename(tmp_path / "old")
            newer.path.rename(tmp_path / "x")
        return mapping(file)

    monkeypatch.setattr(artifacts, "map_array", replacing)
    assert Shelf.open(tmp_path / "x").field("about", str) == "newer"


def test_a_table_of_nothing_may_have_free_slots_and_no_keys() -> None:
    declared = hash_table("table_", below="things")
    free = {"table_keys": np.zeros(4, np.uint64), "table_values": np.zeros(4, np.int32)}
    check_values(declared, free.__getitem__, {"things": 0})
    taken = free | {"table_keys": np.array([0, 7, 0, 0], np.uint64)}
    with pytest.raises(Wrong, match="has keys, and there are no things"):
        check_values(declared, taken.__getitem__, {"things": 0})


@pytest.mark.parametrize("chunk", [3, 7, 1 << 20])
def test_runs_and_decreases_are_found_in_chunks(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(array_checks, "_CHUNK", chunk)
    draw = np.random.default_rng(chunk)
    for _ in range(500):
        keys = np.where(draw.random(draw.integers(1, 20)) < draw.random(), EMPTY, 1).astype(np.uint64)
        taken = "".join("01"[int(each != EMPTY)] for each in keys)
        longest = min(max(map(len, (2 * taken).split("0"))), len(taken))
        assert min(array_checks._longest_run(keys), len(keys)) == longest, taken
        offsets = np.concatenate(([0], np.cumsum(draw.integers(0, 4, draw.integers(0, 6))))).astype(np.int64)
        values = draw.integers(0, 6, offsets[-1]).astype(np.float32)
        if draw.random() < 0.5:
            values = np.concatenate([np.sort(each) for each in np.split(values, offsets[1:-1])])
        places = (at for one, end in pairwise(offsets) for at in range(one + 1, end))
        first = next((at for at in places if values[at] <= values[at - 1]), -1)
        assert array_checks._first_decrease(offsets, values) == first, (offsets, values)
