"""What is compiled holds as long as all that it was compiled from is the same."""

import os
import pickle
import re
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


def test_the_private_names_of_numba_are_there() -> None:
    """All that the package uses of Numba beside its documentation; `jit` is the one module that does."""
    if jit._numba.config.DISABLE_JIT:
        pytest.skip("nothing is compiled")
    cache = tokens.normalize._cache  # type: ignore[attr-defined]
    assert isinstance(cache, caching.FunctionCache)
    for name in ("_load_overload", "_guard_against_spurious_io_errors", "load_overload"):
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
