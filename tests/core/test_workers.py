"""Worker processes that end before their work is done."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from wikilda._core.errors import WikildaError
from wikilda._core.workers import Workers


def _end(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_a_worker_that_the_system_kills_is_one_message() -> None:
    """Also for the tasks that are handed out after it was noticed."""
    with Workers(2) as pool, pytest.raises(WikildaError, match="a worker process was killed, perhaps because memory"):
        list(pool.run(_end, ((number,) for number in range(1000))))


_SCRIPT = """
import sys
from pathlib import Path
import wikilda
print("begun")
plan = wikilda.TrainingPlan(iterations=1, shards=2)
made = wikilda.train(sys.argv[1], sys.argv[2], sys.argv[3], plan=plan, workers=2)
print(made.path.name)
"""


def test_a_script_needs_no_guard_against_its_workers(model: Path, tmp_path: Path) -> None:
    """Each worker would run it, too, and fail with Python's message on bootstrapping."""
    script, texts = tmp_path / "script.py", tmp_path / "texts.txt"
    script.write_text(_SCRIPT)
    texts.write_text("Croft bowled for England.")
    command = [sys.executable, script, model, texts, tmp_path / "trained"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stdout) == (0, "begun\ntrained\n"), done.stderr
