"""What each command compiles: the kernels that it calls, each for one set of types."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from wikilda._core import kernel_cache
from wikilda._core.jit import DISABLED
from wikilda.cli.compile import WORK, kernels_of
from wikilda.knowledge import Knowledge

LINKING = {"wikilda._core", "wikilda.documents", "wikilda.linking", "wikilda.text", "wikilda.urn"}
# By command the packages that its kernels may come from, and the number of kernels that is enough.
ALLOWED = {
    "link": (LINKING, 24),
    "show": (LINKING | {"wikilda.knowledge"}, 6),
    "topics": (LINKING, 22),
    "explain": (LINKING, 24),
    "match": (LINKING, 18),
    "serve": (LINKING | {"wikilda.knowledge"}, 30),
    "evaluate": (LINKING | {"wikilda.knowledge", "wikilda.model", "wikilda.training", "wikilda.lda"}, 34),
    "build": (LINKING | {"wikilda.knowledge", "wikilda.mediawiki", "wikilda.model"}, 45),
    "train": (LINKING | {"wikilda.knowledge", "wikilda.model", "wikilda.training", "wikilda.lda"}, 40),
}


def test_all_commands_are_here() -> None:
    assert set(ALLOWED) == set(WORK)


@pytest.mark.parametrize("command", ALLOWED)
def test_a_command_compiles_no_more_than_it_calls(command: str) -> None:
    packages, most = ALLOWED[command]
    found = [each.function for each, _ in kernels_of(command)]
    names = [f"{each.__module__}.{each.__qualname__}" for each in found]
    assert {".".join(each.__module__.split(".")[:2]) for each in found} <= packages, names
    assert 0 < len(names) <= most, names
    assert len(names) - len(set(names)) <= (command in ("build", "train")), names  # types that differ compile twice


def test_what_is_recorded_can_be_compiled_for(sample: Knowledge) -> None:
    """The examples that stand for arguments are read by the kernels' own functions."""
    for kernel, described in kernels_of("match"):
        assert kernel.function.__module__.startswith("wikilda.")
        for each in json.loads(described):
            assert kernel_cache.describe(kernel_cache.example(each)) == each


def test_the_list_of_a_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "wikilda", "compile", "match", "--list"], capture_output=True, text=True
    )
    if DISABLED:
        assert (done.returncode, "NUMBA_DISABLE_JIT is set" in done.stderr) == (1, True)
    else:
        assert (done.returncode, done.stderr) == (0, "")
        assert "wikilda.urn._draw.draw" in done.stdout.splitlines()


def test_a_cache_that_cannot_be_written_to_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if DISABLED:
        pytest.skip("nothing is compiled")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    done = subprocess.run([sys.executable, "-m", "wikilda", "compile", "match"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "cannot be written to. Set NUMBA_CACHE_DIR" in done.stderr
