"""The first command after installation compiles kernels: a second process compiles half of them at the same time.

It draws no mentions at all, so that it compiles what comes last (sweeps, topics) while the command itself compiles the
rest (detection, candidates); the command finds those in the cache.
"""

import atexit
import subprocess
import sys
from pathlib import Path

import numpy as np

from wikilda._core.jit import is_cached
from wikilda._core.platform import available_cores


def compile_ahead(model: Path) -> None:
    """Start the second process, if nothing is in the cache yet and there is a core for it."""
    from wikilda.linking._ranking import best_candidates  # the last kernel of the way

    if available_cores() < 2 or is_cached(best_candidates):
        return
    command = [sys.executable, "-m", __name__, str(model)]
    nothing = subprocess.DEVNULL
    try:
        child = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing)
    except OSError:  # then it takes longer
        return
    atexit.register(child.kill)


def main(model: str) -> None:
    """What the second process does."""
    from wikilda.linking import Document, Linker
    from wikilda.urn import Drawn
    from wikilda.urn.document_topics import document_topics
    from wikilda.urn.method import UrnMethod

    linker = Linker.open(model)
    method = linker.method
    assert isinstance(method, UrnMethod)
    method.urn.draw_nothing()
    linker.link(Document("", []), topics=0)
    one, encoded = np.ones(1, np.float64), linker.encode(Document("Croft of England", [(0, 5)]))
    drawn = Drawn(np.arange(2), np.zeros(1, np.uint32), one, one, 1.0 - one, [])
    document_topics(method.urn, encoded, drawn, np.zeros(1, np.bool_))


if __name__ == "__main__":
    main(sys.argv[1])
