"""Wikitext of a world's pages: articles, disambiguation pages, lists. Many pages in one call, all in Arrow."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchmarks.generate.chance import Numbers
from benchmarks.generate.spelling import joined
from benchmarks.generate.world import ALIAS, CONCEPT, FULL, SHORT, Topics, World

_LINK_SHARE = 0.055  # of tokens
_FORMS = np.cumsum([0.45, 0.40])  # links that show the full name, the short one; the rest go through a redirect
_TOKEN_BYTES, _FRAME_BYTES = 9.6, 217  # measured: a token with its share of markup; what frames a text
_SPREAD = 0.95  # σ of the log-normal length
_LONGEST_LIST = 60
# Separators: what follows a token.
_SPACE, _COMMA, _STOP, _PARAGRAPH = range(4)
_HEADINGS = ("History", "Early life", "Career", "Geography", "Economy", "Reception", "Legacy", "Design", "Demographics")
_BOXES = ("Infobox person", "Infobox settlement", "Infobox work", "Infobox term")


@dataclass(frozen=True)
class Style:
    """How long articles are, and how much markup they have."""

    article_bytes: int = 2500  # of wikitext, on average
    boxes: float = 0.45  # share of articles with an infobox


class Author:
    """Writes pages of one world."""

    def __init__(self, world: World, style: Style | None = None) -> None:
        self.world, self.style = world, style or Style()
        rng = np.random.default_rng([world.seed, 3])
        self._refs, self._tables = _refs(world, rng, 600), _tables(world, rng, 200)
        headings = pa.array([f".\n\n== {heading} ==\n" for heading in _HEADINGS])
        self._separators = pa.concat_arrays([pa.array([" ", ", ", ". ", ".\n\n"]), headings, self._refs, self._tables])
        self._pieces = pa.concat_arrays([world.words, pc.utf8_capitalize(world.words), self._separators])

    def articles(self, topics: Topics, rng: np.random.Generator) -> pa.Array:
        """The articles of some topics."""
        lengths = self._lengths(len(topics), rng)
        body = self._bodies(topics, lengths, rng)
        lead = joined("'''", self.world.base(topics), "''' is a ")
        return joined(self._boxes(topics, rng), lead, body, self._ends(topics))

    def disambiguations(self, groups: Numbers, rng: np.random.Generator) -> pa.Array:
        """Disambiguation pages, with a line for each namesake."""
        namesakes = [each[:_LONGEST_LIST] for each in self.world.namesakes(groups)]
        names = self.world.base(np.array([each[0] for each in namesakes], np.int64))
        lines = self._lines(namesakes, rng)
        return joined("'''", names, "''' may refer to:\n", lines, "\n\n{{Disambiguation}}")

    def lists(self, clusters: Numbers, rng: np.random.Generator) -> pa.Array:
        """List pages of clusters."""
        firsts, ends = self.world.bounds[clusters], self.world.bounds[np.asarray(clusters) + 1]
        members = [
            rng.integers(first, end, rng.integers(10, _LONGEST_LIST)) for first, end in zip(firsts, ends, strict=True)
        ]
        return joined("This is a list.\n\n", self._lines(members, rng), "\n\n{{Reflist}}\n", self.categories(clusters))

    def categories(self, clusters: Numbers) -> pa.Array:
        """The category links of clusters."""
        return joined("[[Category:", self.category_names(clusters), "]]")

    def category_names(self, clusters: Numbers) -> pa.Array:
        """What the categories of clusters are called: after their most popular topic."""
        return joined(self.world.titles(self.world.bounds[clusters]), " topics")

    def links(self, targets: Topics, rng: np.random.Generator) -> pa.Array:
        """Links as editors write them: plain, piped, through redirects, with trailing letters."""
        drawn, trail = rng.random((2, len(targets)), np.float32)
        forms = np.select([drawn < _FORMS[0], drawn < _FORMS[1]], [FULL, SHORT], ALIAS)
        titles, names = self.world.titles(targets), self.world.named(targets, forms)
        alias = (forms == ALIAS) & (self.world.alias_counts(targets) > 0)
        plain = (self.world.kind(targets) == CONCEPT) & (forms == SHORT)
        same = pc.equal(pc.if_else(pa.array(plain), pc.utf8_lower(titles), titles), names)
        before = pc.if_else(pc.or_(pa.array(alias), same), "", joined(titles, "|"))
        end = pa.array(["]]", "]]s"]).take(pa.array((plain & (trail < 0.3)).astype(np.int8)))
        return joined("[[", before, names, end)

    def _lengths(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        mean = max(12.0, (self.style.article_bytes - _FRAME_BYTES) / _TOKEN_BYTES)
        drawn = rng.lognormal(np.log(mean) - _SPREAD**2 / 2, _SPREAD, count)
        return np.clip(drawn, 8, 40 * mean).astype(np.int64)

    def _bodies(self, topics: Topics, lengths: NDArray[np.int64], rng: np.random.Generator) -> pa.Array:
        """Words and links, each followed by a separator."""
        ends = np.cumsum(lengths)
        owner = np.repeat(topics, lengths)
        separator = self._drawn_separators(len(owner), rng)
        separator[ends - 1] = _STOP
        token = self.world.used_words(owner, rng)
        token[1:][separator[:-1] >= _STOP] += self.world.word_count  # the capitalised ones
        at_link = np.flatnonzero(rng.random(len(owner), np.float32) < _LINK_SHARE)
        links = self.links(self.world.linked(owner[at_link], rng), rng)
        token[at_link] = len(self._pieces) + np.arange(len(at_link))
        taken = np.empty((len(owner), 2), np.int64)
        taken[:, 0], taken[:, 1] = token, 2 * self.world.word_count + separator
        bounds = pa.array(np.append(0, 2 * ends).astype(np.int32))
        pieces = pa.concat_arrays([self._pieces, links]).take(pa.array(taken.ravel()))
        return pc.binary_join(pa.ListArray.from_arrays(bounds, pieces), "")

    def _drawn_separators(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        drawn, which = rng.random((2, count), np.float32)
        headings, refs = len(_HEADINGS), len(self._refs)
        kind = np.searchsorted(np.array([0.88, 0.935, 0.973, 0.979, 0.9825, 0.9997], np.float32), drawn, side="right")
        heading, ref, table = ((which * count).astype(np.int64) for count in (headings, refs, len(self._tables)))
        ref, table = ref + headings, table + headings + refs
        return np.choose(kind, [_SPACE, _COMMA, _STOP, _PARAGRAPH, 4 + heading, 4 + ref, 4 + table])

    def _boxes(self, topics: Topics, rng: np.random.Generator) -> pa.Array:
        place, work = (self.links(self.world.linked(topics, rng), rng) for _ in range(2))
        kind = pa.array(_BOXES).take(pa.array(self.world.kind(topics)))
        names = self.world.base(topics)
        image = joined("\n| image = ", names, ".jpg\n| caption = View of ")
        box = joined(
            "{{",
            kind,
            "\n| name = ",
            names,
            image,
            place,
            "\n| known_for = ",
            work,
            "\n| url = {{URL|example.org}}\n}}\n",
        )
        return pc.if_else(pa.array(rng.random(len(topics)) < self.style.boxes), box, "")

    def _ends(self, topics: Topics) -> pa.Array:
        cluster = self.world.cluster(topics)
        navigation = joined(
            "\n\n== References ==\n{{Reflist}}\n\n{{Navbox ", pc.cast(pa.array(cluster), pa.string()), "}}\n"
        )
        return joined(
            navigation, self.categories(cluster), "\n", self.categories((cluster * 7 + 3) % self.world.clusters)
        )

    def _lines(self, members: list[Topics], rng: np.random.Generator) -> pa.Array:
        topics = np.concatenate([np.empty(0, np.int64), *members])
        words = self.world.words.take(pa.array(self.world.used_words(topics, rng)))
        lines = joined("* [[", self.world.titles(topics), "]], ", words)
        bounds = np.cumsum([0, *map(len, members)]).astype(np.int32)
        return pc.binary_join(pa.ListArray.from_arrays(pa.array(bounds), lines), "\n")


def _phrases(world: World, rng: np.random.Generator, count: int, words: int) -> list[str]:
    drawn = world.words.take(pa.array(rng.integers(0, min(world.word_count, 20_000), count * words))).to_pylist()
    return [" ".join(drawn[at : at + words]) for at in range(0, len(drawn), words)]


def _refs(world: World, rng: np.random.Generator, count: int) -> pa.Array:
    phrases, years = _phrases(world, rng, count, 5), rng.integers(1950, 2026, count)
    forms = (
        ".<ref>{{{{cite web |title={0} |url=https://example.org/{2}?a=1&b=2 |date={1} |access-date={1}}}}}</ref> ",
        '.<ref name="n{2}">{{{{cite book |last=Berg |title={0} |year={1} |publisher=[[Press]] |isbn=978-{2}}}}}</ref> ',
        ".<ref>''{0}'', {1}, p.&nbsp;{2}.</ref><!-- check --> ",
        '.<ref name="n{2}" /> ',
    )
    return pa.array(
        [forms[i % 4].format(phrase, year, i) for i, (phrase, year) in enumerate(zip(phrases, years, strict=True))]
    )


def _tables(world: World, rng: np.random.Generator, count: int) -> pa.Array:
    drawn = world.linked(rng.integers(0, world.size, count * 8), rng)
    links = world.titles(drawn).to_pylist()
    made = []
    for number, caption in enumerate(_phrases(world, rng, count, 4)):
        own = links[number * 8 : number * 8 + 8]
        rows = "".join(
            f'|-\n| style="width:5em" | {row} || [[{link}]] || {number + row}&nbsp;km\n' for row, link in enumerate(own)
        )
        made.append(f'.\n\n{{| class="wikitable"\n|+ {caption}\n! No. !! Name !! Length\n{rows}|}}\n\n')
    return pa.array(made)
