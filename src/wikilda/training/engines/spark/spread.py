"""Things that every node needs whole, such as sums by topic: broadcast once, then memory-mapped by its processes.

A Spark broadcast alone would be one copy in the memory of every Python process. So the first process of an executor
that needs it writes its arrays to the executor's directory, and all map them.
"""

import fcntl
import pickle
import shutil
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from pyspark import Broadcast, SparkContext, SparkFiles

Value = TypeVar("Value")


@dataclass(frozen=True)
class Spread(Generic[Value]):
    """Something that is on its way to every node."""

    name: str
    sent: "Broadcast[Any]"

    def value(self) -> Value:
        """What was sent, on a worker; its arrays are views of files."""
        place = Path(SparkFiles.getRootDirectory()) / "wikilda" / self.name
        if not place.is_dir():
            place.parent.mkdir(exist_ok=True)
            with (place.parent / "lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not place.is_dir():
                    self._write(place)
        value: Value = _mapped(place)
        return value

    def _write(self, place: Path) -> None:
        kind = self.name.split("-")[0]
        for old in place.parent.glob(f"{kind}-*"):  # of an iteration before, or left unfinished
            shutil.rmtree(old)
        head, buffers = self.sent.value
        beside = place.with_name(f"{self.name}.partial")
        beside.mkdir()
        (beside / "head").write_bytes(head)
        for number, buffer in enumerate(buffers):
            np.save(beside / f"{number:03d}.npy", buffer, allow_pickle=False)
        beside.rename(place)
        del self.sent._value  # or this process would keep it in memory


def spread(context: SparkContext, kind: str, identity: str, value: Value) -> Spread[Value]:
    """Send something to every node."""
    found: list[pickle.PickleBuffer] = []
    head = pickle.dumps(value, protocol=5, buffer_callback=found.append)
    buffers = [np.frombuffer(each.raw(), np.uint8) for each in found]
    return Spread(f"{kind}-{identity}", context.broadcast((head, buffers)))


@lru_cache(maxsize=2)
def _mapped(place: Path) -> Any:
    # Copy-on-write rather than read-only: kernels are compiled once for each of the two types.
    buffers = [np.load(file, mmap_mode="c", allow_pickle=False) for file in sorted(place.glob("*.npy"))]
    return pickle.loads((place / "head").read_bytes(), buffers=buffers)
