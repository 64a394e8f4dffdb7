"""`wikilda verify`, and what opening refuses, on real artifacts."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.commands import run
from wikilda._core._manifest import identity_of
from wikilda._core.artifact import _digest
from wikilda._core.errors import ArtifactError
from wikilda._core.npy import map_array, save_array
from wikilda.cli import guarded
from wikilda.knowledge import Knowledge
from wikilda.linking import Linker
from wikilda.model import Model


@pytest.fixture
def pair(model: Path, tmp_path: Path) -> Path:
    """A copy of the sample's model, beside its knowledge."""
    shutil.copytree(model.with_name("kb"), tmp_path / "kb")
    shutil.copytree(model, tmp_path / "model")
    return tmp_path / "model"


def flip(file: Path, at: int = -1) -> None:
    data = bytearray(file.read_bytes())
    data[at] ^= 1
    file.write_bytes(data)


def test_complete_artifacts_are_reported(pair: Path) -> None:
    code, out, err = run("verify", pair)
    assert (code, err) == (0, "")
    assert [line.split(" ")[1] for line in out.splitlines()] == ["model", "knowledge"]
    assert out.count("all as it was written") == 2


@pytest.mark.parametrize("file", ["model/words/values.npy", "kb/topics/titles.bytes.npy"])
def test_one_bit_is_found(pair: Path, file: str) -> None:
    flip(pair.parent / file)
    code, out, err = run("verify", pair)
    assert (code, err.count("is damaged (its digest is another)")) == (1, 1)
    assert str(pair.parent / file) in err
    assert str(pair.parent / file.split("/")[0]) not in out


def test_other_directories_are_no_artifacts(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"kind": "weights"}')
    for path in (tmp_path, tmp_path / "nothing"):
        code, _, err = run("verify", path)
        assert (code, "neither knowledge nor a model nor a corpus" in err) == (1, True)


def forge(path: Path, name: str, values: object) -> None:
    """Replace an array as somebody would who means harm: all digests are right."""
    save_array(path / f"{name}.npy", np.asarray(values))
    manifest = json.loads((path / "manifest.json").read_text())
    file = path / f"{name}.npy"
    manifest["files"][f"{name}.npy"] = {"bytes": file.stat().st_size, "blake2b": _digest(file)}
    manifest["identity"] = identity_of(manifest["kind"], manifest["format"], manifest["files"])
    (path / "manifest.json").write_text(json.dumps(manifest))


def test_every_number_that_points_somewhere_is_checked(pair: Path) -> None:
    """Each array of knowledge and model that holds numbers of something gets one that is too large."""
    for kind in (Knowledge, Model):
        path = pair.with_name({"knowledge": "kb", "model": "model"}[kind.kind])
        for name, declared in kind.arrays.items():
            if not (path / f"{name}.npy").is_file() or not (declared.below or declared.into):
                continue
            before = np.array(map_array(path / f"{name}.npy"))
            forge(path, name, np.append(before[:-1], before.dtype.type(2**31 - 1)))
            with pytest.raises(ArtifactError, match=f"{name}.npy"):
                kind.open(path)
            forge(path, name, before)
        kind.open(path)


def test_a_model_and_knowledge_of_other_sizes_do_not_go_together(pair: Path) -> None:
    """The model says that it belongs to the knowledge, but has a topic more."""
    for name, declared in Model.arrays.items():
        if declared.size == "topics" and (pair / f"{name}.npy").is_file():
            before = np.array(map_array(pair / f"{name}.npy"))
            forge(pair, name, np.append(before, before[-1:]))
    with pytest.raises(ArtifactError, match="made together"):
        Linker.open(pair)


LATE = """
import atexit, os, signal
import wikilda.cli as commands
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background processes ignore it
def interrupt(*_):
    os.kill(os.getpid(), signal.SIGINT)
{how}
commands.main({arguments})
"""


@pytest.mark.parametrize(
    ("how", "arguments", "code"),
    [
        ("atexit.register(interrupt)", ["--version"], 0),  # after all is done
        ("commands.guarded = lambda run: (run(), interrupt(), 0)[2]", ["--version"], 130),
        ("commands.guarded = lambda run: interrupt()", ["show", "nothing"], 130),
    ],
)
def test_an_interrupt_is_never_a_traceback(how: str, arguments: list[str], code: int) -> None:
    script = LATE.format(how=how, arguments=arguments)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False)
    assert done.stderr in ("", "wikilda: interrupted\n")


def test_too_little_memory_is_one_message(capsys: pytest.CaptureFixture[str]) -> None:
    def fill() -> None:
        raise MemoryError

    assert guarded(fill) == 1
    assert "not enough memory" in capsys.readouterr().err
