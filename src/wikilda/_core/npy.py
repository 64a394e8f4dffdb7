"""Arrays in `.npy` files: written so that a full disk is an error, grown at the end, mapped into memory."""

import mmap
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import DTypeLike, NDArray

from wikilda._core.errors import ArtifactError
from wikilda._core.platform import reserve

# The header of a one-dimensional array of numbers as NumPy writes it. Nothing else is read or evaluated.
_MAGIC = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(rb"\{'descr': '([<|][uifb][1248])', 'fortran_order': False, 'shape': \((\d{1,18}),\), \} *\n")
_LONGEST_HEADER = 1 << 12


def save_array(path: Path, values: NDArray[Any]) -> None:
    """Write an array. Unlike `numpy.save`, a full disk raises a clear error."""
    values = np.ascontiguousarray(values)
    with path.open("wb") as file:
        npy.write_array_header_1_0(file, npy.header_data_from_array_1_0(values))
        file.write(values.tobytes() if values.size == 0 else values.data.cast("B"))


def create_array(path: Path, dtype: DTypeLike, length: int) -> NDArray[Any]:
    """Return an array on disk to be filled in parts."""
    if length == 0:
        save_array(path, np.empty(0, dtype))
        return np.empty(0, dtype)
    made: NDArray[Any] = npy.open_memmap(path, mode="w+", dtype=dtype, shape=(length,))
    # Allocate the disk now: writing to a mapped hole on a full disk would kill the process.
    with path.open("r+b") as file:
        reserve(file, path.stat().st_size)
    return made


def map_array(path: Path) -> NDArray[Any]:
    """Return an array, mapped into memory. Changes stay private. Only one-dimensional arrays are accepted."""
    with path.open("rb") as file:
        head = file.read(_LONGEST_HEADER)
        start = len(_MAGIC) + 2 + int.from_bytes(head[len(_MAGIC) : len(_MAGIC) + 2], "little")
        found = _HEADER.fullmatch(head[len(_MAGIC) + 2 : start])
        if not head.startswith(_MAGIC) or found is None or start % 16:
            raise ArtifactError(f"{path}: is not an array of numbers in one dimension. Get or make the artifact again.")
        dtype, length = np.dtype(found[1].decode()), int(found[2])
        if file.seek(0, 2) != start + length * dtype.itemsize:
            raise ArtifactError(
                f"{path}: does not have the {length:,} values that its header declares. Get or make the artifact again."
            )
        if length == 0:
            return np.empty(0, dtype)
        # Copy-on-write rather than read-only: kernels are compiled once for each of the two types.
        whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    return np.frombuffer(whole, dtype, length, start)


class GrowingArray:
    """An array on disk that grows at its end. Its length is written by `finish`."""

    def __init__(self, path: Path, dtype: DTypeLike) -> None:
        self.path, self.dtype, self.length = path, np.dtype(dtype), 0
        self._file = path.open("wb")
        self._write_header()

    def append(self, values: NDArray[Any]) -> None:
        """Add values at the end."""
        self._file.write(np.ascontiguousarray(values, self.dtype).tobytes())
        self.length += len(values)

    def finish(self) -> Path:
        """Write the length, which completes the file."""
        self._file.seek(0)
        self._write_header()  # same length as before: NumPy leaves room for the number
        self._file.close()
        return self.path

    def _write_header(self) -> None:
        empty = npy.header_data_from_array_1_0(np.empty(0, self.dtype))
        npy.write_array_header_1_0(self._file, {**empty, "shape": (self.length,)})
