"""Random numbers: splitmix64. A document's stream depends on (seed, iteration, document id) and nothing else."""

import hashlib

import numpy as np
from numpy.typing import NDArray

from wikilda.inference.types import Real
from wikilda.jit import bare

Stream = NDArray[np.uint64]  # one number, the state

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31, _11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_UNIT = 1.0 / 9007199254740992.0  # 2⁻⁵³


def stream_of(seed: int, iteration: int, document: str | int) -> int:
    """Where the random stream of a document begins."""
    text = f"{seed}/{iteration}/{document}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


@bare
def uniform(stream: Stream) -> Real:
    """The next number of a stream, from 0 to below 1."""
    state = stream[0] + _STEP
    stream[0] = state
    state = (state ^ (state >> _30)) * _FIRST
    state = (state ^ (state >> _27)) * _SECOND
    return np.float64(np.int64((state ^ (state >> _31)) >> _11)) * _UNIT
