"""`wikilda build`: pieces are extracted in parallel, then assembled. Finished work is not repeated."""

import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from wikilda._core.artifact import Writer, check_target
from wikilda._core.atomic import is_whole, work_directory
from wikilda._core.compression import open_compressed, whole_lines
from wikilda._core.errors import InputError, Report, WikildaError
from wikilda._core.platform import available_cores
from wikilda._core.progress import Bar, bar
from wikilda._core.workers import Workers
from wikilda.knowledge._assemble import Assembler
from wikilda.knowledge._from_tables import (
    TableExtractor,
    Tables,
    article_batches,
    find_tables,
    given_types,
    write_given,
    write_tables,
)
from wikilda.knowledge._instances import check_instances, read_instances
from wikilda.knowledge._pieces import CENSUS, folders
from wikilda.knowledge.base import MADE_FROM, PIECES, PROPS, Base, gather_census, made_from
from wikilda.knowledge.entities import EntityList
from wikilda.knowledge.from_dump import Extractor
from wikilda.knowledge.knowledge import Knowledge
from wikilda.knowledge.name_index import write_name_index
from wikilda.knowledge.settings import BuildSettings
from wikilda.knowledge.types import write_types
from wikilda.mediawiki.dump import Piece, check, cut, length, site_of
from wikilda.mediawiki.site import Site

_UNINFORMATIVE = 0.5  # share of links; .02 in real dumps
PIECE_SIZE = 1 << 24
DISK_A_BYTE = 0.65  # of XML: work files and knowledge together, as measured (docs/experiments/build.md)
EXPANSION = {".7z": 5.5, ".bz2": 4.5, ".gz": 3.5, ".xz": 5.0, ".zim": 2.0}  # XML to compressed bytes in dumps


@dataclass(frozen=True)
class Resources:
    """Resources of a build. They do not change the result."""

    workers: int = field(default_factory=available_cores)
    memory: str = "1GB"


def build_from_dump(
    dumps: list[Path], target: Path, settings: BuildSettings, *, page_props: Path | None = None,
    instances: Path | None = None, resources: Resources | None = None, overwrite: bool = False,
    base: Base | None = None,
) -> Knowledge:  # fmt: skip
    """Turn MediaWiki dumps (the parts of one wiki) into knowledge.

    With a `base`, pages in its pieces are not extracted again.
    """
    resources = resources or Resources()
    check_target(target, overwrite=overwrite)
    site = base.site_for(dumps) if base else one_site(dumps)
    if instances:
        check_instances(instances)
    props = read_page_props(page_props) if page_props else base.props() if base else None
    with work_directory(target, "building", _inputs("dumps", dumps, settings)) as work:
        _check_disk(dumps, work)
        chunks, total = work / "chunks", sum(map(length, dumps))
        known, first = base.begin(chunks, site, settings) if base else (None, 0)
        with bar("reading pages", total, unit="bytes") as shown:
            making = (chunks, site, settings, known)
            _extract_all(Extractor, making, _cut_all(dumps), resources.workers, shown, first=first)
        _keep_inputs(chunks, site, settings, props)
        if base:
            base.take_census(chunks, first, dumps)
        else:
            gather_census(chunks)
        assembler = Assembler(chunks, settings, memory=resources.memory, workers=resources.workers)
        steps: list[_Step] = [
            ("choosing topics", lambda _: assembler.choose_topics(site.words, props)),
            ("writing topics", assembler.write_topics),
        ]
        source = {"dumps": [path.name for path in dumps], "page_props": page_props.name if page_props else None}
        return _assemble(assembler, steps, target, site, source, settings, instances, overwrite=overwrite)


def _keep_inputs(chunks: Path, site: Site, settings: BuildSettings, props: pa.Table | None) -> None:
    """Write the inputs of the pieces, which an update compares."""
    (chunks / MADE_FROM).write_text(json.dumps(made_from(site, settings)), "utf-8")
    if props is not None:
        pq.write_table(props, chunks / PROPS)


def build_from_tables(
    directory: Path,
    target: Path,
    settings: BuildSettings,
    *,
    instances: Path | None = None,
    resources: Resources | None = None,
    overwrite: bool = False,
) -> Knowledge:
    """Turn plain tables into knowledge."""
    resources = resources or Resources()
    check_target(target, overwrite=overwrite)
    tables = find_tables(directory)
    if instances:
        check_instances(instances)
    files = [*tables.files.values(), *([tables.articles] if tables.articles else [])]
    source = {"tables": sorted(file.name for file in files)}
    with work_directory(target, "building", _inputs("tables", files, settings)) as work:
        finish = partial(_assemble, target=target, site=tables.site(), source=source, settings=settings,
                         instances=instances, overwrite=overwrite)  # fmt: skip
        return finish(*_read_tables(tables, work / "chunks", settings, resources))


def build_from_entities(
    listed: EntityList, target: Path, settings: BuildSettings, *, resources: Resources | None = None,
    overwrite: bool = False,
) -> Knowledge:  # fmt: skip
    """Turn a list of entities into knowledge: every listed name is a mention string of its entity."""
    resources = resources or Resources()
    check_target(target, overwrite=overwrite)
    source: dict[str, Any] = {"entities": [Path(listed.source).name]}
    least = max(1, len(listed.rows) // 75)  # descriptions are short: in a small list each word counts
    settings = replace(settings, min_word_topics=min(settings.min_word_topics, least))
    with work_directory(target, "building", {}, restart=True) as work:
        titles = write_tables(listed, work / "tables")
        assembler, steps = _read_tables(find_tables(work / "tables"), work / "chunks", settings, resources)
        return _assemble(
            assembler, steps, target=target, site=Site(name=Path(listed.source).name.split(".")[0], language=""),
            source=source, settings=settings, instances=None, overwrite=overwrite, given=(listed, titles),
        )  # fmt: skip


_Step = tuple[str, Callable[[Writer[Knowledge]], None]]


def _read_tables(
    tables: Tables, chunks: Path, settings: BuildSettings, resources: Resources
) -> tuple[Assembler, list[_Step]]:
    """Turn tables into pieces, and return the assembler and its first steps."""
    if not is_whole(chunks / "000000"):
        TableExtractor(chunks, tables).write_tables()
    if tables.articles is not None:
        described = bool(Report.read(chunks / "000000").counts.pop("described", 0))
        batches = article_batches(tables.articles, PIECE_SIZE, sentences=not described)
        with bar("reading articles", None) as shown:
            _extract_all(TableExtractor, (chunks, tables), batches, resources.workers, shown, first=1)
    assembler = Assembler(chunks, settings, memory=resources.memory, workers=resources.workers)
    assembler.linked = "SELECT mention, sum(count) AS n FROM counted GROUP BY ALL"
    assembler.spelled = "min_by(string, row)"  # the first
    return assembler, [
        ("taking topics", lambda _: assembler.take_topics()),
        ("writing topics", assembler.write_topics),
    ]


def _assemble(
    assembler: Assembler, steps: list[_Step], target: Path, site: Site, source: dict[str, Any],
    settings: BuildSettings, instances: Path | None, *, overwrite: bool,
    given: tuple[EntityList, dict[str, str]] | None = None,
) -> Knowledge:  # fmt: skip
    steps = [
        *steps,
        ("counting mentions", lambda _: assembler.count_mentions()),
        ("accounting", lambda _: assembler.account_for(site, source)),
        ("writing mentions", assembler.write_mentions),
        ("writing links", assembler.write_links),
        ("finding links in texts", assembler.find_links),
        ("keeping a sample of articles", assembler.write_sample),
        ("counting contexts", assembler.write_contexts),
        ("writing words", assembler.write_words),
        ("indexing names", write_name_index),
        ("writing categories", lambda out: assembler.write_categories(out, site.words, site.name)),
        ("finding types", lambda out: _write_types(out, site, instances, given)),
    ]
    if given is not None:
        steps.append(("writing ids", lambda out: write_given(out, *given)))
    source |= {"instances": instances.name} if instances else {}
    try:
        with Knowledge.writer(target, overwrite=overwrite) as out, bar("", len(steps)) as shown:
            for label, step in steps:
                shown.label(label)
                step(out)
                shown.advance()
            report = _whole_report(assembler.chunks)
            if given is not None:
                report.add(given[0].report)
            shown.label("writing the manifest")
            complaints = [*report.examples, *([] if given else _uninformative(out))]
            if assembler.account is not None:
                assembler.account.save(out.path, complaints)
            made = out.finish({
                "site": asdict(site) | {"namespaces": None}, "source": source, "settings": settings.to_mapping(),
                "summary": report.counts | assembler.summary, "complaints": complaints,
            })  # fmt: skip
        _keep_pieces(made, assembler.chunks)
        return made
    finally:
        assembler.sql.close()


def _keep_pieces(made: Knowledge, chunks: Path) -> None:
    """Move the pieces of dumps into the knowledge, for updates."""
    if not (chunks / CENSUS).is_file():
        return
    for file in chunks.glob(f"*/{CENSUS}"):
        file.unlink()
    chunks.rename(made.path / PIECES)


def _uninformative(out: Writer[Knowledge]) -> list[str]:
    """Report if link probabilities are uninformative because most strings are always links."""
    linked, occurrences = out.read("mentions/linked").astype(np.int64), out.read("mentions/occurrences")
    share = linked[linked >= occurrences].sum() / max(linked.sum(), 1)
    if share < _UNINFORMATIVE:
        return []
    return [
        f"{share:.0%} of the links are of strings that are links wherever they occur: link probabilities say little, "
        "and mentions in raw text are detected less well. Bring the articles that hold the links."
    ]


def disk_needed(dumps: list[Path]) -> float:
    """Estimate the peak disk of a build in bytes: work files and knowledge."""
    return DISK_A_BYTE * sum(path.stat().st_size * EXPANSION.get(path.suffix, 1.0) for path in dumps)


def _write_types(
    out: Writer[Knowledge], site: Site, instances: Path | None, given: tuple[EntityList, dict[str, str]] | None
) -> None:
    lists = read_instances(instances, out.read("topics/wikidata")) if instances else None
    known = out.read_strings("topics/titles")
    write_types(out, site.language, lists, given=given_types(*given, known) if given else None)


def _check_disk(dumps: list[Path], work: Path) -> None:
    """Refuse a build that the disk cannot hold."""
    made = sum(file.stat().st_size for file in work.rglob("*") if file.is_file())  # by an earlier run
    needed, free = disk_needed(dumps) - made, shutil.disk_usage(work).free
    if free < needed:
        raise WikildaError(
            f"{work.parent}: the build needs about {needed / 1e9:.1f} GB of disk, but {free / 1e9:.1f} GB are free. "
            "Free some, or write the knowledge to another disk."
        )


def one_site(dumps: list[Path]) -> Site:
    """Return the wiki of the dumps. Parts of different wikis are refused."""
    sites = [site_of(path) for path in dumps]
    for path, site in zip(dumps, sites, strict=True):
        if site.database != sites[0].database:
            raise InputError(
                f"{path}: is of {site.database}, but {dumps[0]} is of {sites[0].database}. Build them apart."
            )
    return sites[0]


def _cut_all(dumps: list[Path]) -> Iterator[Piece]:
    for path in dumps:
        check(path)
        yield from cut(path, PIECE_SIZE)


def _inputs(kind: str, files: list[Path], settings: BuildSettings) -> dict[str, Any]:
    """Return the inputs of pieces. Pieces of an earlier run with the same inputs are used."""
    stamps = [[str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns] for file in sorted(files)]
    return {kind: stamps, "piece": PIECE_SIZE, "settings": settings.to_mapping()}


def _extract_all(
    kind: type, making: tuple[Any, ...], pieces: Iterator[Any], workers: int, shown: Bar, first: int = 0
) -> None:
    """Extract pieces with `kind(*making).extract(number, piece)`. Existing folders are kept."""
    todo = _missing(making[0], enumerate(pieces, first), shown)
    _start(kind, *making)
    for number, piece in islice(todo, 1):  # compiles the kernels once, before there are workers
        shown.advance(_extract(number, piece))
    with Workers(workers, _start, kind, *making) as pool:
        for size in pool.run(_extract, todo):
            shown.advance(size)


def _missing(chunks: Path, numbered: Iterable[tuple[int, Any]], shown: Bar) -> Iterator[tuple[int, Any]]:
    for number, piece in numbered:
        if is_whole(chunks / f"{number:06d}"):
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
    for folder in folders(chunks):
        if (folder / "report.json").is_file():  # without pieces of an earlier build
            whole.add(Report.read(folder))
    whole.counts.pop("described", None)
    return whole


_ROW = re.compile(rb"\((\d+),'(?:wikibase_item','[Qq](\d+)'|(disambiguation|hiddencat)',)")


def read_page_props(path: Path) -> pa.Table:
    """Return rows of (id, wikidata, disambiguation, hidden), one per page."""
    if not path.is_file():
        raise InputError(f"{path}: no such file. Run `wikilda download --page-props` to fetch it.")
    items: dict[str, list[np.ndarray]] = {"item": [], "disambiguation": [], "hiddencat": []}
    with open_compressed(path) as lines:
        for line in whole_lines(lines, path):
            if line.startswith(b"INSERT INTO"):
                _read_line(line, items)
    if not any(items.values()):
        raise InputError(f"{path}: has no rows of the table page_props. Give the dump's page_props.sql.gz.")
    return _as_table(items)


def _read_line(line: bytes, items: "dict[str, list[np.ndarray]]") -> None:
    found = _ROW.findall(line)
    pairs = [(int(page), int(item)) for page, item, mark in found if not mark]
    items["item"].append(np.array(pairs, np.int64).reshape(-1, 2))
    for mark in ("disambiguation", "hiddencat"):
        items[mark].append(np.array([int(page) for page, _, met in found if met == mark.encode()], np.int64))


def _as_table(items: "dict[str, list[np.ndarray]]") -> pa.Table:
    pairs, unclear, hidden = (np.concatenate(items[name]) for name in ("item", "disambiguation", "hiddencat"))
    marked = np.append(unclear, hidden)
    pages, first = np.unique(np.append(pairs[:, 0], marked), return_index=True)
    wikidata = np.append(pairs[:, 1], np.zeros(len(marked), np.int64))[first]
    marks = {"disambiguation": np.isin(pages, unclear), "hidden": np.isin(pages, hidden)}
    return pa.table({"id": pages, "wikidata": wikidata, **marks})
