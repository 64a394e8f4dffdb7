"""Places where a page may link an article, with features that exclude the page's own links.

A page and an article that it mentions are an example: linked, or not. An example that is linked has to look as it would
if its link were missing: counts leave out its own page, and nothing is taken from the model that was learned from all
links. Together with the counts of other pages, its probabilities would tell which example is linked, the more so the
fewer occurrences a name has.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import njit, tier
from wikilda.documents.document import Document
from wikilda.knowledge import Knowledge
from wikilda.knowledge.graph import Graph, count_common, similarity_from
from wikilda.linking import Linker
from wikilda.suggestions.pages import Page, Span, merged, overlaps
from wikilda.suggestions.sources import Source

Numbers = NDArray[np.int64]
Vector = NDArray[np.float64]
FEATURES = (
    "string", "target", "meaning", "reciprocal", "linkers", "linked", "similarity", "popularity",
    "occurrences", "position", "title", "tokens", "number", "page habit", "neighbours",
)  # fmt: skip
_CHUNK = 256  # pages that are read at a time
_CERTAIN = 1e-4  # no closer to 0 or 1
_BESIDE = 2  # mentions on either side
_NEAREST = 5  # links of a page to which an article may be near


class Place(NamedTuple):
    """The first mention of an article on a page."""

    page: int
    start: int
    end: int
    topic: int
    string: int
    posterior: float
    occurrences: int
    linked: bool


@dataclass
class Candidates:
    """The places of all pages, with their features."""

    titles: list[str]  # of pages
    topics: list[int]  # of pages, −1 where a page is none
    links: set[tuple[int, int]]  # pages and the articles that they link
    strings: list[str]
    places: list[Place]
    features: Vector  # a row for each place
    facts: Numbers  # other pages where the string is a link, those that have it; links in common with the article

    def reason(self, at: int) -> str:
        """Return the reason for a link at a place."""
        linked, having, common, back = self.facts[at].tolist()
        parts = [f"linked on {linked} of {having} other pages that have it"] if linked else []
        parts += ["the name of the page"] if self.features[at, FEATURES.index("title")] else []
        parts += ["links back"] if back else []
        parts += [f"{common} links in common" if common > 1 else "a link in common"] if common else []
        return "; ".join(parts) or "another name of the page"

    @property
    def linked(self) -> NDArray[np.bool_]:
        """Which places are links."""
        return np.array([each.linked for each in self.places], np.bool_)


class Seen:
    """The mentions and links of the pages."""

    def __init__(self) -> None:
        self.titles: list[str] = []
        self.topics: list[int] = []
        self.targets: list[Numbers] = []  # of the links of a page, each once
        self.places: list[Place] = []
        self.strings: dict[str, int] = {}
        self.meant: Counter[tuple[int, int]] = Counter()  # pages on which a string links an article
        self.linked: Counter[int] = Counter()  # pages on which a string is a link
        self.found: Counter[int] = Counter()  # pages on which it is, as a link or not
        self.mentioned: Counter[int] = Counter()  # pages that mention an article
        self.starts: list[Numbers] = []  # of the mentions and links of a page, and whether they are links
        self.own: list[tuple[set[tuple[int, int]], set[int], set[int]]] = []  # of each page: meant, linked, found

    def number(self, string: str) -> int:
        """Return the number of a string, ignoring case and spacing."""
        return self.strings.setdefault(" ".join(string.casefold().split()), len(self.strings))


def read_pages(linker: Linker, source: Source, workers: int, advance: Callable[[int], None]) -> Seen:
    """Read all pages with their mentions and links."""
    seen = Seen()
    for pages in _chunks(source.pages()):
        documents = [Document(page.prose.text, id=page.place) for page in pages]
        for page, linked in zip(
            pages, linker.link_many(documents, workers=workers, candidates=1, topics=0), strict=True
        ):
            targets = [source.topic(linker.knowledge, link.target) for link in page.prose.links]
            found = [
                (each.start, each.end, each.candidates[0].entity.topic, each.candidates[0].probability)
                for each in linked.mentions if each.candidates
            ]  # fmt: skip
            _add(seen, page, source.topic(linker.knowledge, page.title), targets, found)
        advance(len(pages))
    return seen


def _chunks(pages: Iterator[Page]) -> Iterator[list[Page]]:
    waiting: list[Page] = []
    for page in pages:
        waiting.append(page)
        if len(waiting) == _CHUNK:
            yield waiting
            waiting = []
    if waiting:
        yield waiting


def _add(
    seen: Seen, page: Page, topic: int, targets: list[int], found: list[tuple[int, int, int, float]]
) -> None:  # fmt: skip
    number, text = len(seen.titles), page.prose.text
    seen.titles.append(page.title)
    seen.topics.append(topic)
    links = {each for each in targets if each >= 0 and each != topic}
    seen.targets.append(np.array(sorted(links), np.int64))
    meant, linked, strings = set[tuple[int, int]](), set[int](), set[int]()
    for link, target in zip(page.prose.links, targets, strict=True):
        if target >= 0:
            string = seen.number(text[link.start : link.end])
            meant.add((string, target))
            linked.add(string)
    closed = merged(page.prose.closed)
    anchors = {(link.start, link.end): target for link, target in zip(page.prose.links, targets, strict=True)}
    spans = sorted(anchors)
    own_names = {seen.number(each) for each in (page.name, page.title, page.name.partition(" (")[0], *page.aliases)}
    first: dict[int, Place] = {}
    for start, end, meaning, posterior in found:
        string = seen.number(text[start:end])
        strings.add(string)
        if meaning == topic or string in own_names:
            continue
        if overlaps((start, end), closed) and not _is_link((start, end), spans, anchors, meaning):
            continue
        if meaning in first:
            first[meaning] = first[meaning]._replace(occurrences=first[meaning].occurrences + 1)
        else:
            first[meaning] = Place(
                page=number,
                start=start,
                end=end,
                topic=meaning,
                string=string,
                posterior=posterior,
                occurrences=1,
                linked=meaning in links,
            )
    seen.places += first.values()
    strings |= linked
    around = {start: False for start, *_ in found} | dict.fromkeys((link.start for link in page.prose.links), True)
    seen.starts.append(np.array(sorted(around.items()), np.int64).reshape(-1, 2))
    seen.own.append((meant, linked, strings))
    seen.meant.update(meant)
    seen.linked.update(linked)
    seen.found.update(strings)
    seen.mentioned.update(links | first.keys())


def _is_link(span: Span, spans: Sequence[Span], anchors: dict[Span, int], topic: int) -> bool:
    """Whether a mention is a link to its topic."""
    return any(anchors[each] == topic for each in spans if each[0] < span[1] and span[0] < each[1])


def find_candidates(linker: Linker, source: Source, workers: int, advance: Callable[[int], None]) -> Candidates:
    """Read all pages, and find the places that each may link."""
    seen = read_pages(linker, source, workers, advance)
    with tier.now():  # interpreted, it would take minutes
        return candidates_of(seen, linker.knowledge)


def candidates_of(seen: Seen, known: Knowledge) -> Candidates:
    """Return the places of pages with their features, computed from other pages."""
    graph, links = known.graph, Counter(int(each) for row in seen.targets for each in row)
    overall = (sum(seen.linked.values()) + 1) / (sum(seen.found.values()) + 2)
    usual = (sum(links.values()) + 1) / (sum(seen.mentioned.values()) + 2)
    titles = {topic: number for number, topic in enumerate(seen.topics) if topic >= 0}
    names = [seen.strings.get(" ".join(title.casefold().split()), -1) for title in seen.titles]
    spelled = list(seen.strings)
    rows, facts = np.zeros((len(seen.places), len(FEATURES))), np.zeros((len(seen.places), 4), np.int64)
    habits = _habits(seen)
    for at, place in enumerate(seen.places):
        meant, own_linked, own_found = seen.own[place.page]
        is_own = place.linked
        mine = place.string in own_linked
        n_linked = seen.linked[place.string] - mine
        n_found = seen.found[place.string] - (place.string in own_found)
        n_meant = seen.meant[place.string, place.topic] - ((place.string, place.topic) in meant)
        n_links, n_mentioned = links[place.topic] - is_own, seen.mentioned[place.topic] - 1
        text = spelled[place.string]
        page_links, topic = seen.targets[place.page], seen.topics[place.page]
        near = near_links(graph, place.topic, page_links, topic, is_own)
        facts[at] = n_linked, n_found, near[1] + near[2], near[0]
        rows[at] = (
            _odds((n_linked + overall) / (n_found + 1)),
            _odds((n_links + usual) / (n_mentioned + 1)),
            np.log((n_meant + 0.5) / (n_linked + 1)),
            near[0], np.log1p(near[1]), np.log1p(near[2]), near[3],
            np.log1p(n_links), np.log1p(place.occurrences - 1),
            np.log1p(place.start), float(names[titles[place.topic]] == place.string) if place.topic in titles else 0.0,
            float(len(text.split())), float(text.isdigit()), *habits[at],
        )  # fmt: skip
    pairs = {(page, int(topic)) for page, targets in enumerate(seen.targets) for topic in targets}
    return Candidates(seen.titles, seen.topics, pairs, spelled, seen.places, rows, facts)


def _habits(seen: Seen) -> list[tuple[float, float]]:
    """Return for each place the shares of links among the other mentions of its page, and among the nearest ones."""
    found = []
    for place in seen.places:
        starts = seen.starts[place.page]
        at = int(np.searchsorted(starts[:, 0], place.start))
        linked, count = int(starts[:, 1].sum()) - int(starts[at, 1]), len(starts) - 1
        beside = np.concatenate([starts[max(at - _BESIDE, 0) : at, 1], starts[at + 1 : at + 1 + _BESIDE, 1]])
        found.append((_odds((linked + 1) / (count + 2)), _odds((beside.sum() + 0.5) / (len(beside) + 1))))
    return found


def _odds(probability: float) -> float:
    chance = min(max(probability, _CERTAIN), 1 - _CERTAIN)
    return float(np.log(chance / (1 - chance)))


@njit
def near_links(
    graph: Graph, topic: int, links: Numbers, page: int, linked: bool
) -> tuple[float, float, float, float]:  # fmt: skip
    """Return the nearness of an article to a page, without a link of the page to it.

    Whether it links the page, how many of the page's links link it and are linked by it, and the mean similarity to the
    nearest of these links.
    """
    own = graph.out_topics[graph.out_offsets[topic] : graph.out_offsets[topic + 1]]
    reciprocal, into, out = 0.0, 0.0, 0.0
    for each in own:
        if each == page:
            reciprocal = 1.0
    mine = graph.in_topics[graph.in_offsets[topic] : graph.in_offsets[topic + 1]]
    count = len(graph.in_offsets) - 1
    best = np.zeros(_NEAREST)
    for link in links:
        if link == topic:
            continue
        at = np.searchsorted(own, np.uint32(link))
        if at < len(own) and own[at] == link:
            out += 1.0
        at = np.searchsorted(mine, np.uint32(link))
        if at < len(mine) and mine[at] == link:
            into += 1.0
        others = graph.in_topics[graph.in_offsets[link] : graph.in_offsets[link + 1]]
        less = 1 if linked and page >= 0 else 0
        common = count_common(mine, others) - less
        if common > 0:
            score = similarity_from(len(mine) - less, len(others), common, count)
            place = np.argmin(best)
            if score > best[place]:
                best[place] = score
    size = min(len(links) - (1 if linked else 0), _NEAREST)
    return reciprocal, into, out, best.sum() / max(size, 1)
