"""The pieces of an earlier build, for an update: which pages they hold, and what a newer dump leaves of them."""

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from wikilda._core.errors import InputError
from wikilda.knowledge._pieces import (
    ARTICLE,
    CENSUS,
    OTHER,
    PAGES_A_PIECE,
    REDIRECT,
    folders,
    is_own,
)
from wikilda.knowledge.knowledge import Knowledge
from wikilda.knowledge.settings import BuildSettings
from wikilda.mediawiki.dump import site_of
from wikilda.mediawiki.site import Site

PIECES = "pieces"  # where knowledge keeps the pieces that it was made from
MADE_FROM, PROPS = "made-from.json", "props.parquet"
_FORMAT = 2
_WHOLE = 0.5  # of the articles and redirects that were there: a dump with fewer has only changed pages


def made_from(site: Site, settings: BuildSettings) -> dict[str, Any]:
    """All that extraction depends on, but for the pages."""
    return {"format": _FORMAT, "site": asdict(site), "redirect_words": list(settings.redirect_words)}


def gather_census(chunks: Path, first: int = 0) -> pa.Table:
    """Put the rows of all pieces from a number on into one census."""
    parts = [pq.read_table(folder / CENSUS) for folder in folders(chunks) if int(folder.name) >= first]
    census = pa.concat_tables(parts)
    pq.write_table(census, chunks / CENSUS, compression="zstd")
    return census


@dataclass
class Base:
    """The pieces that some knowledge was made from.

    `changes` says whether newer dumps have only the pages that changed; None lets their number of pages decide.
    """

    knowledge: Knowledge
    changes: bool | None = None

    def __post_init__(self) -> None:
        self.pieces = self.knowledge.path / PIECES
        self.counts: dict[str, int] = {}  # of pages of the newer dump
        self.census = pq.read_table(self.pieces / CENSUS) if (self.pieces / CENSUS).is_file() else None

    @property
    def site(self) -> Site:
        """The wiki, as its dump described it."""
        known = json.loads((self.pieces / MADE_FROM).read_text("utf-8"))["site"]
        return Site(**known)

    def site_for(self, dumps: list[Path]) -> Site:
        """The wiki of newer dumps; another wiki is refused. One that tells nothing of itself is taken for the same."""
        sites = [site_of(path) for path in dumps]
        for path, site in zip(dumps, sites, strict=True):
            for what, was, now in (
                ("database", self.knowledge.site.database, site.database),
                ("address", self.knowledge.site.base, site.base),
            ):
                if was and now and was != now:
                    raise InputError(
                        f"{path}: is a dump of another wiki (its {what} is {now}), but {self.knowledge.path} was built "
                        f"from {was}. Give a newer dump of that wiki, or build a model of this one."
                    )
        if self.census is not None and (self.changes or not any(site.database or site.base for site in sites)):
            return self.site
        return sites[0]

    def props(self) -> pa.Table | None:
        """The page properties of the earlier build."""
        file = self.pieces / PROPS
        return pq.read_table(file) if file.is_file() else None

    def begin(self, chunks: Path, site: Site, settings: BuildSettings) -> tuple[Path | None, int]:
        """Bring the pieces; returns a file of the digests that they hold, and the number of the first new piece.

        None are brought if they were made by other rules: then all pages have to be read.
        """
        if self.census is None:
            return None, 0
        if json.loads((self.pieces / MADE_FROM).read_text("utf-8")) != made_from(site, settings):
            if self.changes:
                raise InputError(f"{self.pieces}: were made by other rules. Build from a whole dump instead.")
            self.census = None
            return None, 0
        for folder in folders(self.pieces):
            if not (chunks / folder.name).is_dir():
                _link(folder, chunks / folder.name)
        chunks.mkdir(parents=True, exist_ok=True)
        rows = self.census.filter(pc.less(self.census["kind"], OTHER))
        columns = [rows[name].to_numpy() for name in ("digest", "digest_end", "page")]
        known = np.stack(columns)[:, np.argsort(columns[0], kind="stable")]
        np.save(chunks.parent / "known.npy", known)
        return chunks.parent / "known.npy", max(int(each.name) for each in folders(self.pieces)) + 1

    def take_census(self, chunks: Path, first: int, dumps: list[Path]) -> None:
        """Write the census of the newer wiki; pieces of which nothing is left go."""
        new = gather_census(chunks, first)
        if self.census is None:
            self._count(new, first)
            known = len(self.knowledge.titles) + len(self.knowledge.redirects[0])
            if self.changes or (self.changes is None and _pages(new) < _WHOLE * known):
                raise InputError(
                    f"{self.knowledge.path}: does not have the pages that it was built from ({self.pieces}), which are "
                    "needed to add changed pages. Give a whole dump."
                )
            return
        self._count(new, first)
        if self.changes is None:
            self.changes = _pages(new) < _WHOLE * _pages(self.census)
        _refuse_older(self.census, new, dumps, changes=self.changes)
        census = new
        if self.changes:
            census = self._changed(chunks, new)
        pq.write_table(census, chunks / CENSUS, compression="zstd")
        used = set(np.unique(census["page"].to_numpy() // PAGES_A_PIECE).tolist())
        for folder in folders(chunks):
            if int(folder.name) not in used and not is_own(folder):
                shutil.rmtree(folder)

    def _count(self, new: pa.Table, first: int) -> None:
        """How many pages with content were read, and how many of them were known."""
        pages = new["page"].to_numpy()[new["kind"].to_numpy() < OTHER]
        known = int((pages < first * PAGES_A_PIECE).sum())
        self.counts = {"pages that have not changed": known, "pages that are new or have changed": len(pages) - known}

    def _changed(self, chunks: Path, new: pa.Table) -> pa.Table:
        """The old census with newer rows instead of those of the same pages; rows that are older than theirs are left.

        A page is the same if its title is, or its id where ids can be trusted: a page that was moved keeps its id.
        """
        titles = _titles(chunks)
        old = _named(self.census, titles)
        now = _named(new, titles)
        same = now.join(old.select(["name", "stamp", "id"]), "name", join_type="inner", right_suffix="_before")
        late = same.filter(pc.less(same["stamp"], same["stamp_before"]))["name"]
        now = now.filter(pc.invert(pc.is_in(now["name"], late.combine_chunks())))
        replaced = pc.is_in(old["name"], now["name"].combine_chunks())
        if (pc.sum(pc.equal(same["id"], same["id_before"])).as_py() or 0) > len(same) / 2:
            moved = pc.is_in(old["id"], now["id"].combine_chunks())
            replaced = pc.or_(replaced, pc.and_(moved, pc.not_equal(old["id"], 0)))
        kept = old.filter(pc.invert(replaced))
        return pa.concat_tables([kept, now]).drop_columns(["name"]).select(new.schema.names)


def _pages(census: pa.Table) -> int:
    return int(pc.sum(pc.is_in(census["kind"], pa.array([ARTICLE, REDIRECT], pa.uint8()))).as_py() or 0)


def _refuse_older(old: pa.Table, new: pa.Table, dumps: list[Path], *, changes: bool) -> None:
    before, now = (pc.max(each["stamp"]).as_py() or 0 for each in (old, new))
    if now and before and now < before and not changes:
        raise InputError(
            f"{dumps[0]}: is older than the model (newest page: {_date(now)}; in the model: {_date(before)}). "
            "Give a newer dump, or build from this one."
        )


def _date(stamp: int) -> str:
    digits = f"{stamp:014d}"
    return f"{digits[:4]}-{digits[4:6]}-{digits[6:8]}"


def _titles(chunks: Path) -> pa.Table:
    """The titles of all articles and redirects that pieces hold."""
    parts = [
        pq.read_table(folder / "pages.parquet", columns=["page", "title"])
        for folder in folders(chunks) if not is_own(folder)
    ]  # fmt: skip
    return pa.concat_tables(parts)


def _named(census: pa.Table, titles: pa.Table) -> pa.Table:
    """The census with a column of names: the namespace and the title."""
    joined = census.join(titles, "page", join_type="left outer", right_suffix="_of_page")
    title = pc.coalesce(joined["title"], joined["title_of_page"])
    name = pc.binary_join_element_wise(pc.cast(joined["namespace"], pa.string()), title, ":")
    return joined.drop_columns(["title_of_page"]).append_column("name", name)


def _link(folder: Path, target: Path) -> None:
    """The same files in another folder: under another name where the disk can, else copies."""
    beside = target.with_name(f"{target.name}.writing")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    for file in _files(folder):
        try:
            os.link(file, beside / file.name)
        except OSError:
            shutil.copyfile(file, beside / file.name)
    beside.rename(target)


def _files(folder: Path) -> Iterator[Path]:
    """The files of a piece; what the earlier build complained of is not the newer dump's."""
    for file in folder.iterdir():
        if file.is_file() and file.name not in ("dead.npy", "report.json"):
            yield file
