"""Worker processes that end before their work is done."""

import os
import signal

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
