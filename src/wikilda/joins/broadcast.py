"""Values that every node has, as files that its processes map."""

import pickle
import shutil
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from pyspark import Broadcast, SparkContext, SparkFiles

from wikilda._core.atomic import lock, new_directory

Value = TypeVar("Value")


@dataclass(frozen=True)
class Spread(Generic[Value]):
    """A value that is sent to every node."""

    name: str
    head: bytes  # all of it but the arrays
    sent: "Broadcast[list[NDArray[np.uint8]]]"

    def value(self) -> Value:
        """What was sent, on a worker; its arrays are views of files."""
        place = Path(SparkFiles.getRootDirectory()) / "wikilda" / self.name
        if not place.is_dir():
            with lock(place, wait=True):
                if not place.is_dir():
                    self._write(place)
        value: Value = _mapped(place, self.head)
        return value

    def _write(self, place: Path) -> None:
        kind = self.name.split("-")[0]
        for old in place.parent.glob(f"{kind}-*"):  # of an iteration before, or left unfinished
            if old.is_dir():
                shutil.rmtree(old)
        with new_directory(place) as made:
            for number, buffer in enumerate(self.sent.value):
                np.save(made / f"{number:03d}.npy", buffer, allow_pickle=False)
        del self.sent._value  # otherwise this process would keep it in memory


def spread(context: SparkContext, kind: str, identity: str, value: Value) -> Spread[Value]:
    """Send something to every node."""
    found: list[pickle.PickleBuffer] = []
    head = pickle.dumps(value, protocol=5, buffer_callback=found.append)
    buffers = [np.frombuffer(each.raw(), np.uint8) for each in found]
    return Spread(f"{kind}-{identity}", head, context.broadcast(buffers))


@lru_cache(maxsize=1)
def _mapped(place: Path, head: bytes) -> Any:
    # Copy-on-write rather than read-only: kernels are compiled once for each of the two types.
    buffers = [np.load(file, mmap_mode="c", allow_pickle=False) for file in sorted(place.glob("*.npy"))]
    return pickle.loads(head, buffers=buffers)
