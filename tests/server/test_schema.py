"""Requests made from the OpenAPI document, good and bad: no answer is a server's error, and all are as documented."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.server.serving import CHECKS, SCHEMATHESIS, Served


def test_the_openapi_document_holds(served: Served, tmp_path: Path) -> None:
    found = SCHEMATHESIS if SCHEMATHESIS.exists() else shutil.which("schemathesis")
    if not found:
        pytest.skip("no schemathesis (pip install schemathesis)")
    command = [
        str(found), "run", f"{served.url}/openapi.json", "--max-examples", "4", "--seed", "1", "--phases", "examples,coverage,fuzzing",
        "--checks", ",".join(CHECKS), "--no-color",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False, timeout=300)
    assert done.returncode == 0, done.stdout[-6000:]
    assert served.alive()
