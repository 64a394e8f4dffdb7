"""What a build of a dump would do, estimated from a sample of its pages: `wikilda build --dry-run`.

Plain XML and multistream bz2 are read at a few places, all other files from their beginning. Which redirects and links
lead to topics cannot be seen in a sample: they are counted together.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from wikilda._core.platform import available_cores
from wikilda.knowledge._assemble import Assembler
from wikilda.knowledge.account import Account, Entry, Part
from wikilda.knowledge.base import gather_census
from wikilda.knowledge.build import EXPANSION, Resources, disk_needed, one_site
from wikilda.knowledge.from_dump import Extractor
from wikilda.knowledge.settings import BuildSettings
from wikilda.mediawiki.dump import Piece, cut, length

_PLACES, _SIZE = 32, 1 << 18  # of a dump that can be read anywhere: at how many places, how many bytes of XML
_SETTINGS = BuildSettings()
_ASSEMBLING = 0.4  # processor time of assembling, as a share of that of reading (docs/experiments/build.md)


@dataclass(frozen=True)
class Estimate:
    """The account of a sample, scaled to the dump; the share that was read; seconds of the processor; bytes of disk."""

    account: Account
    sampled: float
    processor: float
    disk: float


def estimate(
    dumps: str | Path | Sequence[str | Path], settings: BuildSettings = _SETTINGS, *, workers: int | None = None,
    memory: str = "1GB",
) -> Estimate:  # fmt: skip
    """Estimate what a build of a dump would do: `wikilda build --dry-run`. Nothing is written.

    Parameters
    ----------
    dumps
        A dump, or the parts of one.
    settings, workers, memory
        As in `build`.

    Returns
    -------
    Estimate
        The account of a sample, scaled to the dump; the share of the dump in the sample; seconds of the processor; and
        bytes of disk.

    Examples
    --------
    >>> from wikilda import estimate
    >>> from wikilda.sample import SETTINGS, WIKI
    >>> [(part.name, part.total) for part in estimate(WIKI, SETTINGS, workers=1).account.parts][:2]
    [('pages', 416), ('links', 3052)]
    """
    files = [Path(each) for each in ([dumps] if isinstance(dumps, str | Path) else dumps)]
    resources = Resources(workers or available_cores(), memory)
    site = one_site(files)
    pieces = [piece for path in files for piece in _sample(path)]
    with TemporaryDirectory(prefix="wikilda-") as scratch:
        chunks = Path(scratch) / "chunks"
        chunks.mkdir()
        extractor = Extractor(chunks, site, settings)
        seconds = 0.0
        for number, piece in enumerate(pieces):
            if not number:
                Extractor(Path(scratch) / "first", site, settings).extract(0, piece)  # loads the kernels
            began = time.process_time()
            extractor.extract(number, piece)
            seconds += time.process_time() - began
        gather_census(chunks)
        assembler = Assembler(chunks, settings, memory=resources.memory, workers=resources.workers)
        try:
            assembler.choose_topics(site.words, None)
            assembler.count_mentions()
            assembler.account_for(site, {"dumps": [path.name for path in files]})
        finally:
            assembler.sql.close()
    assert assembler.account is not None
    scale = _scale(files, pieces, assembler.account.parts[-1].total)
    account = Account(
        assembler.account.wiki,
        assembler.account.source,
        tuple(_scaled(each, scale) for each in assembler.account.parts),
    )
    return Estimate(account, 1 / scale, seconds * scale * (1 + _ASSEMBLING), disk_needed(files))


def _scale(dumps: list[Path], pieces: list[Piece], read: int) -> float:
    """How many times larger the dump is than its sample: by bytes, or by the usual ratio where those are not known."""
    if all(piece.xml is None for piece in pieces):
        whole = sum(map(length, dumps))
        return max(whole / max(sum(piece.end - piece.start for piece in pieces), 1), 1.0)
    xml = sum(path.stat().st_size * EXPANSION.get(path.suffix, 1.0) for path in dumps)
    return max(xml / max(read, 1), 1.0)


def _sample(path: Path) -> Iterator[Piece]:
    """Pieces that are spread over a dump, or its first one."""
    if path.suffix in (".7z", ".gz", ".xz"):
        yield from islice(cut(path, _PLACES * _SIZE), 1)
        return
    pieces = list(islice(cut(path, _SIZE), 1 << 20)) if path.suffix != ".bz2" else _streams(path)
    step = max(len(pieces) // _PLACES, 1)
    yield from pieces[step // 2 :: step]


def _streams(path: Path) -> list[Piece]:
    """The pieces of a multistream dump; of one in a single stream the first."""
    pieces = cut(path, _SIZE)
    first = next(pieces)
    return [first, *pieces] if first.compressed else [first]


def _scaled(part: Part, scale: float) -> Part:
    """The classes of a whole dump; those that a sample cannot tell apart are one."""
    found: dict[str, Entry] = {}
    for each in part.entries:
        name = each.name
        if name.startswith("redirects"):
            name = "redirects"
        elif part.name == "links" and name.startswith(("to topics", "to the page", "to pages", "to missing")):
            name = "to pages, outside the text" if name.endswith("outside the text") else "to pages"
        count = round(each.count * scale) + (found[name].count if name in found else 0)
        found[name] = Entry(name, count, each.examples, each.settings)
    return Part(part.name, sum(each.count for each in found.values()), tuple(found.values()))
