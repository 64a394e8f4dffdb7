"""Compressed files are read as they are, and never beyond all bounds."""

import bz2
import gzip
import io
import lzma
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest

from wikilda._core import compression
from wikilda._core.compression import CompressionError, lines_up_to, open_compressed, read_up_to, uncompressed_suffix

PACK: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
TEXT = b"".join(f"line {at} of a text\n".encode() for at in range(50_000))


@pytest.mark.parametrize("suffix", [*PACK, ".GZ", ""])
def test_what_was_compressed_comes_back(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.txt{suffix}"
    pack = PACK.get(suffix.lower(), bytes)
    path.write_bytes(pack(TEXT[:500_000]) + pack(TEXT[500_000:]))  # also as two streams
    with open_compressed(path) as stream:
        assert stream.read(7) == b"line 0 "
        assert stream.readline() == b"of a text\n"
        assert stream.read() == TEXT[17:]
    assert uncompressed_suffix(path) == ".txt"


@pytest.mark.parametrize("suffix", PACK)
def test_damage_is_reported(tmp_path: Path, suffix: str) -> None:
    whole = PACK[suffix](TEXT)
    path = tmp_path / f"a{suffix}"
    for data, words in (
        (whole[:-30], "cut short|cannot be decompressed"),
        (whole[: len(whole) // 2], "cut short"),
        (b"no such thing", "cannot be decompressed"),
        (whole[:500] + bytes(20) + whole[520:], "cannot be decompressed"),
    ):
        path.write_bytes(data)
        with pytest.raises(CompressionError, match=words) as caught, open_compressed(path) as stream:
            stream.read()
        assert str(caught.value).startswith(f"{path}: ")


def sizes(stream: IO[bytes]) -> Iterator[int]:
    """What can be read before it is refused."""
    with pytest.raises(CompressionError, match="expands to more than 300 times"):
        yield from iter(lambda: len(stream.read(1 << 16)), 0)


@pytest.mark.parametrize("suffix", PACK)
def test_a_bomb_goes_no_further_than_the_bound(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "FREE_BYTES", 1 << 22)
    path = tmp_path / f"a{suffix}"
    path.write_bytes(PACK[suffix](bytes(1 << 25)))
    with open_compressed(path) as stream:
        read = sum(sizes(stream))
    assert 1 << 22 <= read < 1 << 23


def test_a_line_or_a_whole_that_is_too_long_is_not_held() -> None:
    assert list(lines_up_to(io.BytesIO(b"ab\nabcdef\nabc"), 3)) == [b"ab\n", None, b"abc"]
    assert read_up_to(io.BytesIO(b"abc"), 3) == b"abc"
    assert read_up_to(io.BytesIO(b"abcd"), 3) is None
