"""Artifacts are whole or absent, and know what they are."""

import json
from pathlib import Path

import numpy as np
import pytest

from wikilda._core.array_checks import Array, strings
from wikilda._core.arrays import StringTable
from wikilda._core.artifact import Artifact
from wikilda._core.errors import ArtifactError


class Thing(Artifact):
    kind = "thing"
    format = 3
    arrays = {
        "a/numbers": Array(np.uint32, optional=True),
        "empty": Array(np.float32),
        "more": Array(np.float64, optional=True),
        **strings("names", "names"),
    }


class Model(Artifact):
    kind = "model"
    format = 3
    arrays = {}


def write(path: Path, values: list[int], **options: bool) -> Thing:
    with Thing.writer(path, **options) as out:
        out.array("a/numbers", np.array(values, np.uint32))
        out.array("empty", np.empty(0, np.float32))
        out.strings("names", StringTable.of(["", "b", "é"]))
        return out.finish({"about": "a test"})


def test_arrays_and_strings_come_back(tmp_path: Path) -> None:
    write(tmp_path / "x", [3, 1, 2])
    opened = Thing.open(tmp_path / "x")
    assert opened.array("a/numbers").tolist() == [3, 1, 2]
    assert opened.array("empty").shape == (0,)
    assert list(opened.strings("names")) == ["", "b", "é"]
    assert opened.manifest["about"] == "a test"
    opened.verify()
    opened.array("a/numbers")[0] = 9  # private to this process
    assert Thing.open(tmp_path / "x").array("a/numbers")[0] == 3


def test_identity_is_of_the_content(tmp_path: Path) -> None:
    first, same, other = (write(tmp_path / name, values) for name, values in (("x", [1]), ("y", [1]), ("z", [2])))
    assert first.identity == same.identity != other.identity


def test_an_error_leaves_nothing_behind(tmp_path: Path) -> None:
    def write_half() -> None:
        with Thing.writer(tmp_path / "x") as out:
            out.array("a", np.arange(3))
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        write_half()
    assert list(tmp_path.iterdir()) == []


def test_overwriting_replaces_all_of_it(tmp_path: Path) -> None:
    write(tmp_path / "x", [1])
    (tmp_path / "x" / "old.txt").write_text("")
    write(tmp_path / "x", [2], overwrite=True)
    assert Thing.open(tmp_path / "x").array("a/numbers").tolist() == [2]
    assert [each.name for each in tmp_path.iterdir()] == ["x"]
    assert not (tmp_path / "x" / "old.txt").exists()


def damage(path: Path, how: str) -> None:
    manifest = path / "manifest.json"
    known = json.loads(manifest.read_text())
    if how == "newer":
        manifest.write_text(json.dumps(known | {"format": 4}))
    elif how == "older":
        manifest.write_text(json.dumps(known | {"format": 2}))
    elif how == "not json":
        manifest.write_text("{")
    elif how == "strange":
        manifest.write_text("[]")
    elif how == "no manifest":
        manifest.unlink()
    elif how == "cut":
        file = path / "a" / "numbers.npy"
        file.write_bytes(file.read_bytes()[:-1])
    else:
        (path / "empty.npy").unlink()


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("newer", "format 4.*Upgrade wikilda"),
        ("older", "old format 2"),
        ("not json", "not valid JSON"),
        ("strange", "not the manifest"),
        ("no manifest", "is not wikilda thing"),
        ("cut", "numbers.npy: is missing or has the wrong size"),
        ("missing", "empty.npy: is missing"),
    ],
)
def test_what_is_not_whole_or_not_ours_is_refused(tmp_path: Path, how: str, words: str) -> None:
    write(tmp_path / "x", [1, 2])
    damage(tmp_path / "x", how)
    with pytest.raises(ArtifactError, match=words):
        Thing.open(tmp_path / "x")


def test_another_kind_and_no_directory_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "x", [1])
    with pytest.raises(ArtifactError, match="is wikilda thing, not model"):
        Model.open(tmp_path / "x")
    with pytest.raises(ArtifactError, match="no such directory"):
        Model.open(tmp_path / "y")


def test_changed_bytes_are_found_by_verify(tmp_path: Path) -> None:
    write(tmp_path / "x", [1, 2])
    file = tmp_path / "x" / "a" / "numbers.npy"
    file.write_bytes(file.read_bytes()[:-1] + b"\x07")
    opened = Thing.open(tmp_path / "x")
    with pytest.raises(ArtifactError, match="damaged"):
        opened.verify()


def test_a_derived_artifact_shares_what_is_not_replaced(tmp_path: Path) -> None:
    base = write(tmp_path / "x", [1, 2])
    (base.path / "record.txt").write_text("made so")
    with Thing.writer(tmp_path / "y", base=base) as out:
        out.array("a/numbers", np.array([7], np.uint32))
        out.array("more", np.array([1.5]))
        made = out.finish({"also": 1})
    assert (made.manifest["about"], made.manifest["also"]) == ("a test", 1)
    assert made.identity != base.identity
    opened = Thing.open(made.path)
    opened.verify()
    assert (opened.array("a/numbers").tolist(), opened.array("more").tolist()) == ([7], [1.5])
    assert list(opened.strings("names")) == ["", "b", "é"]
    assert (opened.path / "names.bytes.npy").samefile(base.path / "names.bytes.npy")
    assert (opened.path / "record.txt").read_text() == "made so"
    base.verify()
    assert Thing.open(base.path).array("a/numbers").tolist() == [1, 2]


def test_a_derived_artifact_without_changes_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = write(tmp_path / "x", [1, 2])

    def no_links(_source: Path, _target: Path) -> None:
        raise OSError("this disk has no hard links")

    monkeypatch.setattr("os.link", no_links)  # so they are copied
    with Thing.writer(tmp_path / "y", base=base) as out:
        assert out.finish({}).identity == base.identity
    with Thing.writer(tmp_path / "z", base=base) as out:
        out.remove("a")
        assert not out.finish({}).has("a/numbers")
    assert base.has("a/numbers")


def test_fields_of_the_manifest_have_types(tmp_path: Path) -> None:
    made = write(tmp_path / "x", [1])
    assert made.field("about", str) == "a test"
    assert made.field("files", dict)
    for name, kind in (("about", int), ("nothing", str), ("about.more", str)):
        with pytest.raises(ArtifactError, match=f"manifest.json: {name} is missing or not of type"):
            made.field(name, kind)


def test_sorted_strings_are_found() -> None:
    words = sorted(
        {"", "a", "ab", "b", "é", "z", "日本", "日本語"} | {f"w{at}" for at in range(50)}, key=lambda w: w.encode()
    )
    table = StringTable.of(words)
    assert [table.find(word) for word in words] == list(range(len(words)))
    assert table.find("c") == table.find("zz") == table.find("日") == -1
    assert [table[at] for at in table.beginning_with("w1", 3)] == ["w1", "w10", "w11"]
    assert StringTable.of([]).find("a") == -1
