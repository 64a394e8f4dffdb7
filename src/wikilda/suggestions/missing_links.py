"""`wikilda suggest`: build a model of pages, learn from their links, and find missing ones."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from wikilda._core.artifact import MANIFEST
from wikilda._core.errors import InputError, Report
from wikilda._core.progress import bar
from wikilda._core.settings import suggestion
from wikilda.documents.detection import EveryName
from wikilda.linking import Linker
from wikilda.model import Model
from wikilda.suggestions._scores import fit, pooled, probabilities, scaled
from wikilda.suggestions.candidates import Candidates, Vector, find_candidates
from wikilda.suggestions.pages import Page
from wikilda.suggestions.sources import Source, open_source

LEAST = 0.5
_AROUND = 60  # characters of context on either side


@dataclass(frozen=True)
class Suggestion:
    """A link that a page lacks.

    Attributes
    ----------
    page, place
        The page's title and its file; for a dump both are the title.
    line, start, end
        Where the text is: its line, and its span in characters of the source.
    text, target, link
        The text, the page that it means, and the link that would replace the text.
    probability
        The probability that the authors of these pages would link here.
    reason
        The evidence for it.
    before, after
        The text around it.
    """

    page: str
    place: str
    line: int
    start: int
    end: int
    text: str
    target: str
    link: str
    probability: float
    reason: str
    before: str
    after: str

    def to_dict(self) -> dict[str, Any]:
        """The suggestion as plain values."""
        return asdict(self)


@dataclass
class Suggestions:
    """The suggestions of some pages, most probable first, with counts and complaints."""

    rows: list[Suggestion]
    report: Report


def suggest(
    path: str | Path, *, least: float = LEAST, pages: Sequence[str] = (), model: str | Path | None = None,
    workers: int | None = None,
) -> Suggestions:  # fmt: skip
    """Suggest links that the pages of a wiki or a folder of notes lack.

    Parameters
    ----------
    path
        A folder of Markdown notes (Obsidian, Logseq), or a MediaWiki dump.
    least
        The least probability of a suggestion.
    pages
        Titles or files of the pages to suggest links for; all by default.
    model
        Where to keep the model of the pages. One that is there is used as it is. By default it is not kept.
    workers
        Threads and processes; one per core by default.

    Examples
    --------
    >>> from wikilda.sample import WIKI
    >>> from wikilda import suggest
    >>> found = suggest(WIKI, workers=1)
    >>> [(each.page, each.text, each.target) for each in found.rows][:1]
    [('Rugby league', 'Leeds', 'Leeds')]
    """
    source = open_source(Path(path))
    if model is not None:
        return _suggest(source, Path(model), least, pages, workers)
    with TemporaryDirectory(prefix="wikilda-suggest-") as work:
        return _suggest(source, Path(work) / "model", least, pages, workers)


def _suggest(source: Source, model: Path, least: float, pages: Sequence[str], workers: int | None) -> Suggestions:
    if not (model / MANIFEST).is_file():
        source.build(model, workers)
    opened = Model.open(model)
    linker = Linker(opened, detector=EveryName(opened.knowledge()))
    with bar("reading pages", None, unit="pages") as shown:
        found = find_candidates(linker, source, workers or 1, shown.advance)
    linked, chances = found.linked, judge(found)
    source.report.count("pages", len(found.titles))
    source.report.count("links", int(linked.sum()))
    wanted = _wanted(source, pages)
    chosen: dict[int, list[int]] = {}
    for at in np.flatnonzero(~linked & (chances >= least)).tolist():
        chosen.setdefault(found.places[at].page, []).append(at)
    rows = []
    for number, page in enumerate(source.pages()):
        if number in chosen and (wanted is None or page.place in wanted):
            rows += [_made(source, linker, page, found, at, float(chances[at])) for at in chosen[number]]
    rows.sort(key=lambda each: (-each.probability, each.place, each.start))
    source.report.count("suggestions", len(rows))
    return Suggestions(rows, source.report)


def judge(found: Candidates) -> Vector:
    """Return how probable a link is at each place.

    A page without any link is not learned from: most likely nobody has linked it yet.
    """
    features, learned = scaled(found.features), {page for page, _ in found.links}
    chosen = np.array([each.page in learned for each in found.places], np.bool_)
    weights = fit(features[chosen], found.linked[chosen], pooled())
    chances: Vector = probabilities(features, weights) * [each.posterior for each in found.places]
    return chances


def _wanted(source: Source, pages: Sequence[str]) -> set[str] | None:
    """Return the places of the requested pages."""
    if not pages:
        return None
    places = {name: page.place for page in source.pages() for name in (page.title, page.place)}
    for name in pages:
        if name not in places:
            raise InputError(f"there is no page {name!r}{suggestion(name, list(places))}")
    return {places[name] for name in pages}


def _made(
    source: Source, linker: Linker, page: Page, found: Candidates, at: int, chance: float
) -> Suggestion:  # fmt: skip
    place = found.places[at]
    text = page.source[place.start : place.end]
    target = source.target(linker.knowledge, place.topic)
    before = page.source[max(place.start - _AROUND, 0) : place.start]
    after = page.source[place.end : place.end + _AROUND]
    return Suggestion(
        page.title, page.place, page.source.count("\n", 0, place.start) + 1, place.start, place.end, text, target,
        source.link(target, text), round(chance, 4), found.reason(at),
        _one_line(before).lstrip(), _one_line(after).rstrip(),
    )  # fmt: skip


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def apply(source: str, rows: Iterable[Suggestion]) -> str:
    """Return a page's source with links in place of their texts."""
    parts, at = [], 0
    for each in sorted(rows, key=lambda each: each.start):
        if source[each.start : each.end] != each.text or each.start < at:
            raise InputError(
                f"{each.place}, line {each.line}: {each.text!r} is not where it was. Run wikilda suggest again."
            )
        parts += [source[at : each.start], each.link]
        at = each.end
    return "".join([*parts, source[at:]])
