"""A world as a MediaWiki dump: units of some thousand pages, made side by side, written in order."""

import bz2
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.generate.articles import Author, Style
from benchmarks.generate.chance import Numbers, Shuffle
from benchmarks.generate.spelling import joined
from benchmarks.generate.world import World

_STREAM = 100  # pages a bz2 stream, as in official dumps
_UNIT = 4000  # pages a unit of work, about
_TOPIC_SHARE = 0.475  # of pages
_NAMESPACES = {-2: "Media", -1: "Special", 0: "", 1: "Talk", 6: "File", 10: "Template", 14: "Category"}
_SHA1 = "r8z4f2v7hs0f2u1a6m1c8p9k3t5w0x2"
_REVISION = """      <timestamp>2026-11-01T00:00:00Z</timestamp>
      <contributor>
        <username>Generator</username>
        <id>1</id>
      </contributor>
      <comment>made up</comment>
      <model>wikitext</model>
      <format>text/x-wiki</format>
      <text bytes=\""""
_FOOTER = b"</mediawiki>\n"
_TEMPLATES = {
    "Disambiguation": "{{Dmbox|text=may refer to}}__DISAMBIG__", "Reflist": "<references />",
    "Infobox person": "{| class=infobox\n! {{{name}}}\n|}", "Cite web": "{{{title}}}. {{{url}}}",
}  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """How many pages of each kind there are, and how they are spread over units."""

    pages: int
    topics: int
    units: int
    groups: int
    lists: int
    seed: int

    def share(self, of: int, unit: int) -> Numbers:
        """The numbers below `of` that belong to a unit."""
        return np.arange(unit * of // self.units, (unit + 1) * of // self.units)


@dataclass(frozen=True)
class Order:
    """What to make: at least this number of pages, from this seed, in this style."""

    pages: int
    seed: int
    style: Style


def planned(order: Order) -> tuple[World, Plan]:
    """The world of a dump, and its plan; list pages fill it up to the wanted size."""
    world = World(max(50, int(order.pages * _TOPIC_SHARE)), order.seed)
    redirects = int(world.alias_counts(np.arange(world.size)).sum())
    rest = order.pages - world.size - redirects - world.group_count - world.clusters - len(_TEMPLATES)
    lists = max(rest, order.pages // 200)
    total = order.pages - rest + lists
    return world, Plan(total, world.size, max(1, order.pages // _UNIT), world.group_count, lists, order.seed)


def write_dump(order: Order, path: Path, workers: int) -> tuple[Plan, int]:
    """Write a dump, `.xml.bz2` (multistream) or `.xml`; returns its plan and its bytes of XML."""
    compressed = path.suffix == ".bz2"
    _, plan = planned(order)
    size = 0
    with path.open("wb") as out:
        out.write(_packed(_header(), compressed))
        for unit, length in _units(order, plan, compressed, workers):
            out.write(unit)
            size += length
        out.write(_packed(_FOOTER, compressed))
    return plan, size + len(_header()) + len(_FOOTER)


def _units(order: Order, plan: Plan, compressed: bool, workers: int) -> Iterator[tuple[bytes, int]]:
    """All units in order; no more than a few wait to be written."""
    waiting: deque[Future[tuple[bytes, int]]] = deque()
    with ProcessPoolExecutor(workers, get_context("spawn"), _start, (order,)) as pool:
        for unit in range(plan.units):
            waiting.append(pool.submit(_unit, unit, compressed))
            if len(waiting) > 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


_author: Author
_plan: Plan


def _start(order: Order) -> None:
    global _author, _plan
    pa.set_cpu_count(1)
    world, _plan = planned(order)
    _author = Author(world, order.style)


def _unit(unit: int, compressed: bool) -> tuple[bytes, int]:
    pages = unit_pages(_author, _plan, unit).to_pylist()
    streams = ["".join(pages[at : at + _STREAM]).encode() for at in range(0, len(pages), _STREAM)]
    return b"".join(_packed(stream, compressed) for stream in streams), sum(map(len, streams))


def _packed(xml: bytes, compressed: bool) -> bytes:
    return bz2.compress(xml) if compressed else xml


def unit_pages(author: Author, plan: Plan, unit: int) -> pa.Array:
    """The pages of a unit as XML: articles of all clusters, redirects to those of another unit, and the rest."""
    rng = np.random.default_rng([plan.seed, 1, unit])
    world, anywhere = author.world, Shuffle(plan.topics, plan.seed + 7)
    topics = anywhere(plan.share(plan.topics, unit))
    far = anywhere(plan.share(plan.topics, (unit + plan.units // 2) % plan.units))
    groups, lists = plan.share(plan.groups, unit), plan.share(plan.lists, unit)
    clusters = plan.share(world.clusters, unit)
    kinds = [
        (0, world.titles(topics), author.articles(topics, rng), None),
        (0, *_redirects(author, far)),
        (0, world.disambiguation_titles(groups), author.disambiguations(groups, rng), None),
        (0, _list_titles(author, lists), author.lists(lists % world.clusters, rng), None),
        (14, joined("Category:", author.category_names(clusters)), author.categories(clusters), None),
    ]
    if unit == 0:
        kinds.append((10, joined("Template:", pa.array(list(_TEMPLATES))), pa.array(list(_TEMPLATES.values())), None))
    titles = pa.concat_arrays([titles for _, titles, _, _ in kinds])
    texts = pa.concat_arrays([texts for _, _, texts, _ in kinds])
    redirects = pa.concat_arrays([pa.nulls(len(t), pa.string()) if r is None else r for _, t, _, r in kinds])
    namespaces = np.repeat([kind[0] for kind in kinds], [len(kind[1]) for kind in kinds])
    order = rng.permutation(len(titles))
    taken = [column.take(pa.array(order)) for column in (titles, texts, redirects)]
    return _xml(taken[0], namespaces[order], unit * 2 * _UNIT * 2 + np.arange(1, len(order) + 1), taken[1], taken[2])


def _redirects(author: Author, topics: Numbers) -> tuple[pa.Array, pa.Array, pa.Array]:
    """Titles, texts and targets; one in a hundred leads to another redirect."""
    counts = author.world.alias_counts(topics)
    owner = np.repeat(topics, counts)
    number = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    titles = author.world.alias(owner, number)
    twice = pa.array((number > 0) & (owner % 50 == 0))
    targets = pc.if_else(twice, author.world.alias(owner, np.zeros(len(owner), np.int64)), author.world.titles(owner))
    return titles, joined("#REDIRECT [[", targets, "]]\n\n{{R from alternative name}}"), targets


def _list_titles(author: Author, lists: Numbers) -> pa.Array:
    names = author.world.base(author.world.bounds[lists % author.world.clusters])
    return joined("List of ", names, " ", pc.cast(pa.array(lists), pa.string()))


def _xml(titles: pa.Array, namespaces: Numbers, ids: Numbers, texts: pa.Array, redirects: pa.Array) -> pa.Array:
    number = pc.cast(pa.array(ids), pa.string())
    target = pc.if_else(
        pc.is_null(redirects), "", joined('    <redirect title="', _escaped(pc.fill_null(redirects, "")), '" />\n')
    )
    size = pc.cast(pc.binary_length(texts), pa.string())
    space = pc.cast(pa.array(namespaces), pa.string())
    return joined(
        "  <page>\n    <title>", _escaped(titles), "</title>\n    <ns>", space, "</ns>\n    <id>", number, "</id>\n",
        target, "    <revision>\n      <id>10", number, "</id>\n      <parentid>9", number, "</parentid>\n",
        _REVISION, size,
        f'" sha1="{_SHA1}" xml:space="preserve">', _escaped(texts),
        f"</text>\n      <sha1>{_SHA1}</sha1>\n    </revision>\n  </page>\n",
    )  # fmt: skip


def _escaped(texts: pa.Array) -> pa.Array:
    for raw, escaped in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        texts = pc.replace_substring(texts, raw, escaped)
    return texts


def _header() -> bytes:
    spaces = "".join(
        f'      <namespace key="{key}" case="first-letter">{name}</namespace>\n' for key, name in _NAMESPACES.items()
    )
    return (
        '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">\n  <siteinfo>\n'
        "    <sitename>Generated</sitename>\n    <dbname>generatedwiki</dbname>\n    <base>https://example.org/wiki/Main_Page</base>\n"
        f"    <case>first-letter</case>\n    <namespaces>\n{spaces}    </namespaces>\n  </siteinfo>\n"
    ).encode()
