"""Attacks of benchmarks/attacks, small: kills at random moments, damaged artifacts, too little memory."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from wikilda.sample import WIKI

ROOT = Path(__file__).parents[1]


def attack(name: str, place: Path, *arguments: object) -> tuple[int, dict[str, list[dict[str, object]]]]:
    """Run one; its exit code, and what it recorded."""
    if not (ROOT / "benchmarks").is_dir():
        pytest.skip("the benchmarks are not here")
    command = [sys.executable, "-m", f"benchmarks.attacks.{name}", *map(str, arguments)]
    environment = {**os.environ, "WIKILDA_FIGURES": str(place)}
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=600)
    assert (place / f"attacks-{name}.json").is_file(), ended.stderr
    return ended.returncode, json.loads((place / f"attacks-{name}.json").read_text())["tables"]


@pytest.mark.slow
def test_killed_at_random_moments_results_are_the_same(tmp_path: Path) -> None:
    code, tables = attack("kills", tmp_path, "--kills", 2)
    assert code == 0, tables
    assert [row["kills"] for row in tables["kills"]] == [2] * 5


@pytest.mark.slow
def test_damaged_checkpoints_give_the_same_model_or_are_refused(tmp_path: Path) -> None:
    code, tables = attack("checkpoints", tmp_path, "--count", 3)
    assert code == 0, tables
    assert [row["another end"] for row in tables["ends"]] == [0, 0]


@pytest.mark.slow
def test_damaged_artifacts_end_in_messages_or_answers(tmp_path: Path) -> None:
    code, tables = attack("artifacts", tmp_path, "--count", 15)
    assert code == 0, tables
    assert {row["command"] for row in tables["ends"]} == {"show", "link", "explain", "verify"}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit the address space")
@pytest.mark.parametrize("megabytes", [200, 300])
def test_too_little_memory_for_libraries_is_one_message(megabytes: int, model: Path, tmp_path: Path) -> None:
    """Libraries do not fit, which the linker says otherwise; where a library aborts, nobody can say anything."""
    (tmp_path / "text.txt").write_text("Croft bowled.")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    for arguments in (["link", model, tmp_path / "text.txt"], ["build", WIKI, "-o", tmp_path / "new", "-j", 1]):
        command = [sys.executable, "-m", "wikilda", *map(str, arguments)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, preexec_fn=limit)
        assert ended.returncode == 1
        assert ended.stderr == "wikilda: there is not enough memory. Use fewer --workers, or a machine with more.\n"
    assert not (tmp_path / "new").exists()
