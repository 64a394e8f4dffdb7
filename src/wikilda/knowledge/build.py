"""`wikilda build`: pieces are extracted side by side, then assembled; what is finished is never done twice."""

import fcntl
import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from wikilda import __version__
from wikilda.errors import InputError, WikildaError, disk_worded
from wikilda.knowledge.assemble import Assembler
from wikilda.knowledge.extract import Extractor, Report
from wikilda.knowledge.knowledge import FORMAT, KIND
from wikilda.knowledge.page_props import read_page_props
from wikilda.knowledge.settings import BuildSettings
from wikilda.knowledge.tables import TableExtractor, article_batches, find_tables
from wikilda.progress import Bar, bar
from wikilda.settings import to_mapping
from wikilda.store import Artifact, Writer, check_target
from wikilda.wiki.dump import Piece, cut, site_of
from wikilda.wiki.languages import language
from wikilda.wiki.site import Site

PIECE_SIZE = 1 << 24


@dataclass(frozen=True)
class Resources:
    """What a build may use of the machine; none of it changes the result."""

    workers: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))
    memory: str = "1GB"


def build_from_dump(
    dumps: list[Path], target: Path, settings: BuildSettings, *, page_props: Path | None = None,
    resources: Resources | None = None, overwrite: bool = False,
) -> Artifact:  # fmt: skip
    """Turn MediaWiki dumps (the parts of one wiki) into knowledge."""
    resources = resources or Resources()
    check_target(target, overwrite=overwrite)
    site = _one_site(dumps)
    props = read_page_props(page_props) if page_props else None
    with _workplace(target, {"dumps": _stamps(dumps), "settings": to_mapping(settings)}) as work:
        pieces = _Pieces(work / "chunks", resources.workers)
        total = sum(path.stat().st_size for path in dumps)
        with bar("reading pages", total, unit="bytes") as shown:
            pieces.run(Extractor, (site, settings), _cut_all(dumps), shown)
        assembler = Assembler(work / "chunks", settings, memory=resources.memory, workers=resources.workers)
        steps: list[tuple[str, Callable[[Writer], None]]] = [
            ("choosing topics", lambda _: assembler.choose_topics(language(site.language), props)),
            ("writing topics", assembler.write_topics),
        ]
        source = {"dumps": [path.name for path in dumps], "page_props": page_props.name if page_props else None}
        return _assemble(assembler, steps, target, site, source, settings, overwrite=overwrite)


def build_from_tables(
    directory: Path,
    target: Path,
    settings: BuildSettings,
    *,
    resources: Resources | None = None,
    overwrite: bool = False,
) -> Artifact:
    """Turn plain tables into knowledge."""
    resources = resources or Resources()
    check_target(target, overwrite=overwrite)
    tables = find_tables(directory)
    files = [*tables.files.values(), *([tables.articles] if tables.articles else [])]
    with _workplace(target, {"tables": _stamps(files), "settings": to_mapping(settings)}) as work:
        chunks = work / "chunks"
        if not (chunks / "000000").is_dir():
            TableExtractor(chunks, tables).write_tables()
        if tables.articles is not None:
            described = bool(_report_of(chunks / "000000").counts.pop("described", 0))
            batches = article_batches(tables.articles, PIECE_SIZE, sentences=not described)
            with bar("reading articles", None) as shown:
                _Pieces(chunks, resources.workers).run(TableExtractor, (tables,), batches, shown, first=1)
        assembler = Assembler(chunks, settings, memory=resources.memory, workers=resources.workers)
        assembler.linked = "SELECT mention, sum(count) AS n FROM counted GROUP BY ALL"
        assembler.spelled = "min_by(string, row)"  # the first
        steps: list[tuple[str, Callable[[Writer], None]]] = [
            ("taking topics", lambda _: assembler.take_topics()),
            ("writing topics", assembler.write_topics),
        ]
        source = {"tables": sorted(file.name for file in files)}
        return _assemble(assembler, steps, target, tables.site(), source, settings, overwrite=overwrite)


def _assemble(
    assembler: Assembler, steps: list[tuple[str, Callable[[Writer], None]]], target: Path, site: Site,
    source: dict[str, Any], settings: BuildSettings, *, overwrite: bool,
) -> Artifact:  # fmt: skip
    steps = [
        *steps,
        ("counting mentions", lambda _: assembler.count_mentions()),
        ("writing mentions", assembler.write_mentions),
        ("writing words", assembler.write_words),
        ("writing links", assembler.write_links),
    ]
    try:
        with Writer(target, KIND, FORMAT, overwrite=overwrite) as out, bar("", len(steps)) as shown:
            for label, step in steps:
                shown.label(label)
                step(out)
                shown.advance()
            report = _whole_report(assembler.chunks)
            shown.label("writing the manifest")
            return out.finish({
                "site": asdict(site) | {"namespaces": None}, "source": source, "settings": to_mapping(settings),
                "summary": report.counts | assembler.summary, "complaints": report.examples,
            })  # fmt: skip
    finally:
        assembler.close()


def _one_site(dumps: list[Path]) -> Site:
    """The wiki of the dumps; parts of different wikis do not mix."""
    sites = [site_of(path) for path in dumps]
    for path, site in zip(dumps, sites, strict=True):
        if site.database != sites[0].database:
            raise InputError(
                f"{path}: is of {site.database}, but {dumps[0]} is of {sites[0].database}. Build them apart."
            )
    return sites[0]


def _cut_all(dumps: list[Path]) -> Iterator[Piece]:
    for path in dumps:
        yield from cut(path, PIECE_SIZE)


def _stamps(files: list[Path]) -> list[list[Any]]:
    return [[str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns] for file in sorted(files)]


@contextmanager
def _workplace(target: Path, inputs: dict[str, Any]) -> Iterator[Path]:
    """The directory beside the target where a build works: kept when it is interrupted, gone when it is done.

    What an earlier run left is used if it came from the same inputs and settings, else removed.
    """
    work = target.with_name(f"{target.name}.building")
    work.mkdir(parents=True, exist_ok=True)
    with (work / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise WikildaError(
                f"{work}: another build of {target} is running. Wait for it, or choose another -o."
            ) from None
        stamp = json.dumps({"wikilda": __version__, "piece": PIECE_SIZE} | inputs, sort_keys=True)
        known = work / "inputs.json"
        if not known.is_file() or known.read_text("utf-8") != stamp:
            shutil.rmtree(work / "chunks", ignore_errors=True)
            (work / "chunks").mkdir()
            known.write_text(stamp, "utf-8")
        with disk_worded(work):
            yield work
        shutil.rmtree(work)


class _Pieces:
    """Extracts pieces in worker processes, a bounded number at a time; those already there are left alone."""

    def __init__(self, chunks: Path, workers: int) -> None:
        self.chunks, self.workers = chunks, workers

    def run(self, kind: type, arguments: tuple[Any, ...], pieces: Iterator[Any], shown: Bar, first: int = 0) -> None:
        """Extract all pieces with `kind(chunks, *arguments).extract(number, piece)`."""
        todo = self._missing(pieces, shown, first)
        if self.workers <= 1:
            _start(kind, self.chunks, *arguments)
            for number, piece in todo:
                shown.advance(_extract(number, piece))
            return
        ahead = [each for _, each in zip(range(2), todo, strict=False)]
        _start(kind, self.chunks, *arguments)
        for number, piece in ahead[:1]:
            shown.advance(_extract(number, piece))  # compiles the kernels once, before there are workers
        if len(ahead) > 1:
            self._spread(kind, arguments, ahead[1:], todo, shown)

    def _missing(self, pieces: Iterator[Any], shown: Bar, first: int) -> Iterator[tuple[int, Any]]:
        for number, piece in enumerate(pieces, first):
            if (self.chunks / f"{number:06d}").is_dir():
                shown.advance(_size(piece))
            else:
                yield number, piece

    def _spread(
        self,
        kind: type,
        arguments: tuple[Any, ...],
        ahead: list[tuple[int, Any]],
        todo: Iterator[tuple[int, Any]],
        shown: Bar,
    ) -> None:
        running: set[Future[float]] = set()
        with ProcessPoolExecutor(
            self.workers, get_context("spawn"), _start_worker, (kind, self.chunks, *arguments)
        ) as pool:
            try:
                for number, piece in (each for group in (ahead, todo) for each in group):
                    running.add(pool.submit(_extract, number, piece))
                    if len(running) > self.workers + 1:
                        running = _collect(running, shown)
                while running:
                    running = _collect(running, shown)
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise


def _collect(running: "set[Future[float]]", shown: Bar) -> "set[Future[float]]":
    done, rest = wait(running, return_when=FIRST_COMPLETED)
    try:
        for each in done:
            shown.advance(each.result())
    except BrokenProcessPool:
        raise WikildaError(
            "a worker process was killed, perhaps for want of memory. "
            "Run the same command again: it goes on from here, and fewer --workers need less memory."
        ) from None
    return rest


_extractor: Any = None


def _start_worker(kind: type, chunks: Path, *arguments: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    _start(kind, chunks, *arguments)


def _start(kind: type, chunks: Path, *arguments: Any) -> None:
    global _extractor
    _extractor = kind(chunks, *arguments)


def _extract(number: int, piece: Any) -> float:
    _extractor.extract(number, piece)
    return _size(piece)


def _size(piece: Any) -> float:
    return float(piece.end - piece.start) if isinstance(piece, Piece) and piece.xml is None else 1.0


def _report_of(chunk: Path) -> Report:
    known = json.loads((chunk / "report.json").read_text("utf-8"))
    return Report(known["counts"], known["examples"])


def _whole_report(chunks: Path) -> Report:
    whole = Report()
    for chunk in sorted(chunks.glob("[0-9]" * 6)):
        whole.add(_report_of(chunk))
    whole.counts.pop("described", None)
    return whole
