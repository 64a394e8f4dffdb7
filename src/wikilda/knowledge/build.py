"""`wikilda build`: pieces are extracted side by side, then assembled; what is finished is never done twice."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from wikilda.errors import InputError
from wikilda.knowledge.assemble import Assembler
from wikilda.knowledge.extract import Extractor
from wikilda.knowledge.knowledge import FORMAT, KIND
from wikilda.knowledge.page_props import read_page_props
from wikilda.knowledge.settings import BuildSettings
from wikilda.knowledge.tables import TableExtractor, article_batches, find_tables
from wikilda.progress import Bar, bar
from wikilda.report import Report
from wikilda.settings import to_mapping
from wikilda.store import Artifact, Writer, check_target
from wikilda.wiki.dump import Piece, cut, site_of
from wikilda.wiki.languages import language
from wikilda.wiki.site import Site
from wikilda.workers import Workers, processors
from wikilda.workplace import workplace

PIECE_SIZE = 1 << 24


@dataclass(frozen=True)
class Resources:
    """What a build may use of the machine; none of it changes the result."""

    workers: int = field(default_factory=processors)
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
    with workplace(target, "building", _inputs("dumps", dumps, settings)) as work:
        chunks, total = work / "chunks", sum(path.stat().st_size for path in dumps)
        with bar("reading pages", total, unit="bytes") as shown:
            _extract_all(Extractor, (chunks, site, settings), _cut_all(dumps), resources.workers, shown)
        assembler = Assembler(chunks, settings, memory=resources.memory, workers=resources.workers)
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
    with workplace(target, "building", _inputs("tables", files, settings)) as work:
        chunks = work / "chunks"
        if not (chunks / "000000").is_dir():
            TableExtractor(chunks, tables).write_tables()
        if tables.articles is not None:
            described = bool(Report.read(chunks / "000000").counts.pop("described", 0))
            batches = article_batches(tables.articles, PIECE_SIZE, sentences=not described)
            with bar("reading articles", None) as shown:
                _extract_all(TableExtractor, (chunks, tables), batches, resources.workers, shown, first=1)
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


def _inputs(kind: str, files: list[Path], settings: BuildSettings) -> dict[str, Any]:
    """What pieces depend on: those that an earlier run has made of the same are used."""
    stamps = [[str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns] for file in sorted(files)]
    return {kind: stamps, "piece": PIECE_SIZE, "settings": to_mapping(settings)}


def _extract_all(
    kind: type, making: tuple[Any, ...], pieces: Iterator[Any], workers: int, shown: Bar, first: int = 0
) -> None:
    """Extract pieces with `kind(*making).extract(number, piece)`; folders that are there already are left alone."""
    todo = _missing(making[0], enumerate(pieces, first), shown)
    _start(kind, *making)
    for number, piece in islice(todo, 1):  # compiles the kernels once, before there are workers
        shown.advance(_extract(number, piece))
    with Workers(workers, _start, kind, *making) as pool:
        for size in pool.run(_extract, todo):
            shown.advance(size)


def _missing(chunks: Path, numbered: Iterable[tuple[int, Any]], shown: Bar) -> Iterator[tuple[int, Any]]:
    for number, piece in numbered:
        if (chunks / f"{number:06d}").is_dir():
            shown.advance(_size(piece))
        else:
            yield number, piece


_extractor: Any = None


def _start(kind: type, *making: Any) -> None:
    global _extractor
    _extractor = kind(*making)


def _extract(number: int, piece: Any) -> float:
    _extractor.extract(number, piece)
    return _size(piece)


def _size(piece: Any) -> float:
    return float(piece.end - piece.start) if isinstance(piece, Piece) and piece.xml is None else 1.0


def _whole_report(chunks: Path) -> Report:
    whole = Report()
    for chunk in sorted(chunks.glob("[0-9]" * 6)):
        whole.add(Report.read(chunk))
    whole.counts.pop("described", None)
    return whole
