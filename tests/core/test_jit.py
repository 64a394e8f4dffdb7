"""What is compiled holds as long as all that it was compiled from is the same."""

import errno
import os
import pickle
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest
from numba.core import caching, event, runtime
from numba.core.options import DefaultOptions, TargetOptions

from wikilda._core import jit
from wikilda.text import tokens

CURRENT = pickle.dumps(numba.__version__)
KERNEL = "from wikilda._core.jit import njit\n"


@pytest.fixture
def stamps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of its own: a imports b, b imports c and a, c has no kernels and imports d."""
    monkeypatch.setattr(jit, "_PACKAGE", tmp_path)
    (tmp_path / "x").mkdir()
    (tmp_path / "a.py").write_text(KERNEL + "from wikilda.x.b import f\n")
    (tmp_path / "x" / "b.py").write_text(KERNEL + "from wikilda.c import g\nfrom wikilda.a import (\n    h,\n)\n")
    (tmp_path / "c.py").write_text("from wikilda.d import i\n")
    (tmp_path / "d.py").write_text(KERNEL)
    return tmp_path


def stamp(file: Path) -> str:
    jit._read.cache_clear()
    jit.stamp.cache_clear()
    return jit.stamp(file)


def test_a_stamp_is_of_all_kernels_that_are_imported(stamps: Path) -> None:
    before = stamp(stamps / "a.py")
    assert stamp(stamps / "a.py") == before
    (stamps / "c.py").write_text("# has no kernels\nfrom wikilda.d import i\n")
    (stamps / "d.py").write_text(KERNEL + "# is not imported by one that has\n")
    assert stamp(stamps / "a.py") == before
    (stamps / "x" / "b.py").write_text(KERNEL + "from wikilda.c import g\nfrom wikilda.a import h\n")
    assert stamp(stamps / "a.py") != before


def test_numba_keeps_the_stamp() -> None:
    """A private place: should Numba move it, this says so."""
    if jit._numba.config.DISABLE_JIT:
        pytest.skip("nothing is compiled")
    own, ours = tokens.normalize._cache._cache_file._source_stamp  # type: ignore[attr-defined]
    jit.stamp.cache_clear()
    jit._read.cache_clear()
    assert own
    assert ours == jit.stamp(Path(tokens.__file__))


@pytest.mark.parametrize("index", [b"cut short", CURRENT, CURRENT + b"cut short", CURRENT + b"cwikilda.gone\nKind\n."])
def test_a_cache_that_cannot_be_read_is_made_anew(tmp_path: Path, index: bytes) -> None:
    """Such as one of a version whose modules had other names: it holds types of theirs."""
    if jit._numba.config.DISABLE_JIT:
        pytest.skip("nothing is compiled")
    program = "from wikilda._core.random import alias_table; import numpy; "
    program += "from wikilda._core.jit import is_cached; "
    program += "print(is_cached(alias_table), alias_table(numpy.ones(2))[0], is_cached(alias_table))"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    run = [sys.executable, "-c", program]
    assert subprocess.check_output(run, text=True, env=environment) == "False [1. 1.] True\n"
    assert subprocess.check_output(run, text=True, env=environment) == "True [1. 1.] True\n"
    for file in tmp_path.rglob("*.nbi"):
        file.write_bytes(index)
    assert subprocess.check_output(run, text=True, env=environment) == "False [1. 1.] True\n"
    assert all(len(file.read_bytes()) > len(index) for file in tmp_path.rglob("*.nbi"))


PROGRAM = """
from wikilda._core.random import alias_table
import numpy
print(alias_table(numpy.ones(2))[0], alias_table(numpy.ones(3))[1].dtype)
"""
DONE = "[1. 1.] uint32\n"
ONCE, EVERY_TIME = "compiling kernels: once after installation", "compiling kernels: every process does"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The package where nothing can be written: a file is where its own cache would be."""
    if jit._numba.config.DISABLE_JIT:
        pytest.skip("nothing is compiled")
    source, copy = Path(jit.__file__).parents[1], tmp_path / "wikilda"
    shutil.copytree(source / "_core", copy / "_core", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(source / "__init__.py", copy)
    for each in (copy, copy / "_core"):
        (each / "__pycache__").write_text("")
    (tmp_path / "file").write_text("")
    return tmp_path


def start(package: Path, **places: Path) -> "subprocess.Popen[str]":
    """A process that needs a kernel, with these places for a cache and no others."""
    kept = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    environment = {**kept, "PYTHONPATH": str(package), **{name: str(place) for name, place in places.items()}}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", PROGRAM], text=True, env=environment, **pipes)  # type: ignore[call-overload,no-any-return]


def finish(process: "subprocess.Popen[str]") -> list[str]:
    """What a process that has done its work has said, in lines."""
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (0, DONE), err
    return err.splitlines()


def test_without_a_place_for_a_cache_every_process_compiles_and_says_so_once(package: Path) -> None:
    [said] = finish(start(package, HOME=package / "file", NUMBA_CACHE_DIR=package / "file"))
    assert said.startswith(EVERY_TIME)
    assert "NUMBA_CACHE_DIR" in said


def test_a_home_is_enough_and_two_processes_may_compile_at_once(package: Path) -> None:
    both = [start(package, HOME=package / "home") for _ in range(2)]
    assert [[line.startswith(ONCE) for line in finish(each)] for each in both] == [[True], [True]]
    assert finish(start(package, HOME=package / "home")) == []


def test_a_read_only_home_is_no_loss_where_another_place_is_given(package: Path) -> None:
    [said] = finish(start(package, HOME=package / "file", NUMBA_CACHE_DIR=package / "given"))
    assert said.startswith(ONCE)
    assert finish(start(package, HOME=package / "file", NUMBA_CACHE_DIR=package / "given")) == []


def test_a_full_disk_is_no_error(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    if jit._numba.config.DISABLE_JIT:
        pytest.skip("nothing is compiled")
    monkeypatch.setattr(caching.FunctionCache, "_save_overload", full)

    @jit.njit
    def twice(x: int) -> int:
        return 2 * x

    assert (twice(2), twice(2.5)) == (4, 5.0)  # type: ignore[arg-type]
    assert capsys.readouterr().err.count("cannot be kept (No space left on device)") == 1


def test_the_private_names_of_numba_are_there() -> None:
    """All that the package uses of Numba beside its documentation; `jit` is the one module that does."""
    if jit._numba.config.DISABLE_JIT:
        pytest.skip("nothing is compiled")
    cache = tokens.normalize._cache  # type: ignore[attr-defined]
    assert isinstance(cache, caching.FunctionCache)
    for name in ("_load_overload", "_save_overload", "_guard_against_spurious_io_errors", "load_overload"):
        assert callable(getattr(caching.FunctionCache, name)), name
    assert callable(runtime.rtsys.initialize)
    assert {"_nrt", "no_cfunc_wrapper", "no_cpython_wrapper"} <= set(TargetOptions.__dict__) | set(
        DefaultOptions.__dict__
    )
    assert callable(event.register)
    assert {"on_start", "on_end"} <= set(dir(event.Listener))


def test_one_module_knows_numba() -> None:
    """Whatever changes in Numba is mended in one place."""
    source = Path(jit.__file__).parents[1]
    users = [
        file.name
        for file in source.rglob("*.py")
        if re.search(r"^\s*(import|from) (numba|llvmlite)", file.read_text("utf-8"), re.M)
    ]
    assert users == ["jit.py"]
