"""Files, found in directories."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from wikilda._core.errors import InputError

STANDARD_INPUT = "standard input"


def find_files(paths: Sequence[Path]) -> Iterator[Path]:
    """All files, those of directories in the order of their names; hidden ones in directories are left alone."""
    for path in paths:
        if not path.exists():
            raise InputError(f"{path}: no such file or directory.")
    for path in paths:
        if path.is_dir():
            yield from _walk(path)
        else:
            yield path


def _walk(directory: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(directory):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        yield from (Path(folder, name) for name in sorted(files) if not name.startswith("."))
