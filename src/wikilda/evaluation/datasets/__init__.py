"""Readers of gold formats."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from wikilda._core.compression import open_compressed
from wikilda._core.errors import InputError
from wikilda.evaluation.datasets._aida import is_aida, read_aida
from wikilda.evaluation.datasets._hipe import is_hipe, read_hipe
from wikilda.evaluation.datasets._jsonl import is_elevant, is_lines, is_zelda, read_elevant, read_lines, read_zelda
from wikilda.evaluation.datasets._nif import is_nif, read_nif
from wikilda.evaluation.datasets._wned import is_wned, read_wned
from wikilda.evaluation.gold import GoldDocument

Reader = Callable[[Path, list[str]], Iterator[GoldDocument]]

READERS: dict[str, tuple[Callable[[str], bool], Reader]] = {
    "aida": (is_aida, read_aida),
    "hipe": (is_hipe, read_hipe),
    "nif": (is_nif, read_nif),
    "wned": (is_wned, read_wned),
    "elevant": (is_elevant, read_elevant),
    "zelda": (is_zelda, read_zelda),
    "jsonl": (is_lines, read_lines),
}
_HEAD = 1 << 16


@dataclass(frozen=True)
class Dataset:
    """Gold documents with a name, and complaints."""

    name: str
    documents: list[GoldDocument]
    complaints: list[str]


def read_dataset(path: Path, form: str | None = None, splits: Iterable[str] = ()) -> list[Dataset]:
    """Read a file in a given or detected format; return one data set per requested split.

    The files of a directory are one set; in one with `RawText` it is the .xml next to it.
    """
    complaints: list[str] = []
    documents = [document for file in _files(path) for document in _read(file, form, complaints)]
    if not documents and complaints:
        raise InputError(complaints[0].removesuffix(" Skipped."))
    if not any(document.gold for document in documents):
        raise InputError(f"{path}: has no mentions. Use gold with at least one.")
    found = list(dict.fromkeys(document.split for document in documents))
    wanted = list(splits) or found
    if not set(wanted) & set(found):
        raise InputError(f"{path}: has no split {', '.join(wanted)}; there are: {', '.join(map(repr, found))}.")
    several = len(found) > 1
    return [
        Dataset(
            f"{path.name} {split}" if several else path.name,
            _numbered([document for document in documents if document.split == split]),
            complaints,
        )
        for split in found
        if split in wanted
    ]


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    pattern = "*.xml" if any(path.glob("RawText*")) else "*"
    found = sorted(each for each in path.glob(pattern) if each.is_file() and not each.name.startswith("."))
    if not found:
        raise InputError(f"{path}: there are no files with gold in this directory. Check the path.")
    return found


def _read(path: Path, form: str | None, complaints: list[str]) -> list[GoldDocument]:
    try:
        _, reader = READERS[form or _form(path)]
        return list(reader(path, complaints))
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 ({error.reason} at byte {error.start}). Save it as UTF-8.") from None


def _form(path: Path) -> str:
    with open_compressed(path) as file:
        head = file.read(_HEAD).decode("utf-8-sig", "ignore").lstrip()
    for name, (looks_like, _) in READERS.items():
        if looks_like(head):
            return name
    raise InputError(f"{path}: is in no known format ({', '.join(READERS)}). Name one with --format.")


def _numbered(documents: list[GoldDocument]) -> list[GoldDocument]:
    """Number documents with equal ids, because random streams and reports depend on ids."""
    seen: Counter[str] = Counter()
    named = []
    for document in documents:
        name = document.id
        seen[name] += 1
        named.append(replace(document, id=f"{name}#{seen[name]}") if seen[name] > 1 else document)
    return named
