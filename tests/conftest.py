"""Real data, where it is to be had."""

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("WIKILDA_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.fixture(scope="session")
def data() -> Path:
    """The directory of real data; tests that need it are skipped where it is not."""
    if not DATA.is_dir():
        pytest.skip(f"no real data at {DATA} (set WIKILDA_DATA)")
    return DATA
