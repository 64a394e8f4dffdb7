"""The first command after installation compiles kernels: a second process compiles half of them at the same time.

It links without the evidence that comes first (words, titles, candidates by words), so that it compiles what comes last
(sweeps, topics) while the command itself compiles the rest; the command finds those in the cache.
"""

import atexit
import subprocess
import sys
from pathlib import Path

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
    from wikilda.urn import UrnSettings

    bare = UrnSettings(backoff_share=0, word_weight=0, acronym_bonus=0, title_mismatch_penalty=0, nil_title=0)
    linker = Linker.open(model, settings=bare)
    linker.link(Document("Croft of England", [(0, 5)]), topics=5)


if __name__ == "__main__":
    main(sys.argv[1])
