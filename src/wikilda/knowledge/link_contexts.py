"""Context counts of the wiki's own links: what is next to links to each type of topic.

Links count whose article is among the first ARTICLES by a hash of its title, and that are at the beginning of its text,
so that the cost is bounded. Expected counts are those that strings would give by P(k|v), the share of their links.
"""

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from wikilda._core.arrays import Run
from wikilda._core.artifact import Writer
from wikilda._core.jit import njit
from wikilda.knowledge.context_counts import CONTEXTS, UNIT, counted_contexts, empty_counts, topic_types
from wikilda.knowledge.held_out import MOST_BYTES, most_of_piece, rank
from wikilda.knowledge.knowledge import Knowledge
from wikilda.mediawiki.wikitext import ANCHOR_END, ANCHOR_START, IN_ASIDE, Scanned
from wikilda.text.characters import characters
from wikilda.text.contexts import MOST_CONTEXTS, contexts_of_pages

if TYPE_CHECKING:
    from wikilda.knowledge._database import Database
    from wikilda.knowledge._pieces import Folder

ARTICLES = 40_000
TABLE = "contexts"

Hashes = NDArray[np.uint64]


def write_piece(
    folder: "Folder", pages: Hashes, keys: Hashes, scanned: Scanned, mentions: Hashes, targets: Hashes
) -> None:  # fmt: skip
    """Write the contexts of the links of articles that may be among the first by rank."""
    ranks = rank(keys[: len(pages)])
    chosen = np.sort(np.argsort(ranks, kind="stable")[: most_of_piece(folder.number, ARTICLES)])
    begins, ends = scanned.text_bounds[chosen], scanned.text_bounds[chosen + 1]
    ends = np.minimum(ends, begins + MOST_BYTES)
    for _ in range(3):  # back to the beginning of a character
        inside = ends < scanned.text_bounds[chosen + 1]
        ends = np.where(
            inside & ((scanned.text[np.minimum(ends, len(scanned.text) - 1)] & 0xC0) == 0x80), ends - 1, ends
        )
    owners = np.repeat(np.arange(len(pages)), np.diff(scanned.link_bounds))
    place = np.full(len(pages), -1)
    place[chosen] = np.arange(len(chosen))
    starts, stops = scanned.links[ANCHOR_START].astype(np.int64), scanned.links[ANCHOR_END].astype(np.int64)
    its = place[owners]
    kept = (its >= 0) & (scanned.links[IN_ASIDE] == 0) & (stops > starts)
    kept[kept] = stops[kept] <= ends[its[kept]]
    links = np.flatnonzero(kept)
    links = links[np.lexsort((starts[links], its[links]))]
    bounds = np.searchsorted(its[links], np.arange(len(chosen) + 1))
    spans = np.stack([starts[links], stops[links]], axis=1)
    found = contexts_of_pages(scanned.text, np.stack([begins, ends]), bounds, spans, characters())
    folder.write(TABLE, {
        "page": pages[owners[links]], "rank": ranks[owners[links]], "mention": mentions[links],
        "target": targets[links],
        "symbols": pa.FixedSizeListArray.from_arrays(pa.array(found.ravel()), MOST_CONTEXTS),
    })  # fmt: skip


def write_counts(sql: "Database", out: Writer[Knowledge], found: pa.Table | None) -> None:
    """Write the context counts of links that were found in texts, or else of those that the pieces have, if any."""
    if found is not None:
        sql.register(TABLE, found)
    elif any(sql.chunks.glob(f"*/{TABLE}.parquet")):
        sql.view(TABLE)
    else:
        return
    sql.run(f"""
        CREATE TABLE first_articles AS SELECT page, topic AS source
        FROM topics JOIN (SELECT page, min(rank) AS rank FROM {TABLE} GROUP BY page) USING (page)
        ORDER BY rank, page LIMIT {ARTICLES}""")
    sql.run(f"""
        CREATE TABLE around AS
        WITH links AS MATERIALIZED (  -- else all articles are joined with all topics, by topic <> source
            SELECT symbols, mention, target, source FROM {TABLE} JOIN first_articles USING (page))
        SELECT (symbol >> 1)::BIGINT AS symbol, topic, mention FROM (
            SELECT unnest(symbols) AS symbol, topic, mention FROM links JOIN resolved ON target = key
            WHERE topic <> source) WHERE symbol <> 0""")
    counts = _run(sql, "SELECT symbol, topic AS number, count(*) AS n FROM around GROUP BY ALL ORDER BY ALL")
    strings = out.read("mentions/trie_keys"), out.read("mentions/trie_values")
    used = strings[1] >= 0
    sql.register("strings_by_hash", pa.table({"mention": strings[0][used], "id": strings[1][used]}))
    named = _run(sql, """
        SELECT symbol, id AS number, count(*) AS n FROM around JOIN strings_by_hash USING (mention)
        GROUP BY ALL ORDER BY ALL""")  # fmt: skip
    sql.drop("around", "first_articles")
    meanings = (np.asarray(out.read(f"mentions/{name}")) for name in ("offsets", "topics", "counts"))
    expected = expected_of(named, *meanings)
    types = topic_types(out.read_strings("topics/titles"), out.read_strings("topics/sentences"))
    made = counted_contexts(empty_counts(types), types, counts._replace(sweeps=counts.sweeps * UNIT), expected)
    for name, values in made.counts_of(types, np.empty(0, np.uint64)).parts().items():
        out.array(f"{CONTEXTS}/{name}", values)


def _run(sql: "Database", query: str) -> Run:
    found = sql.run(query).fetchnumpy()
    symbols, first = np.unique(found["symbol"].astype(np.int64), return_index=True)
    offsets = np.append(first, len(found["symbol"])).astype(np.int64)
    return Run(symbols, offsets, found["number"].astype(np.uint32), found["n"].astype(np.int64))


@njit
def expected_of(
    named: Run, offsets: NDArray[np.int64], topics: NDArray[np.uint32], counts: NDArray[np.uint32]
) -> Run:  # fmt: skip
    """Return the counts that strings have by P(k|v), in parts of UNIT; `named` counts strings in place of topics."""
    size = np.int64(0)
    for mention in named.topics:
        size += offsets[np.int64(mention) + 1] - offsets[np.int64(mention)]
    pairs, shares = np.empty(size, np.uint32), np.empty(size, np.int64)
    bounds, size = np.zeros(len(named.symbols) + 1, np.int64), np.int64(0)
    for symbol in range(len(named.symbols)):
        for at in range(named.offsets[symbol], named.offsets[symbol + 1]):
            mention = np.int64(named.topics[at])
            start, end = offsets[mention], offsets[mention + 1]
            total = np.int64(0)
            for place in range(start, end):
                total += np.int64(counts[place])
            for place in range(start, end):
                pairs[size] = topics[place]
                share = (2 * np.int64(counts[place]) * UNIT + total) // (2 * total)  # rounded
                shares[size] = named.sweeps[at] * share
                size += 1
        bounds[symbol + 1] = size
    return Run(named.symbols, bounds, pairs, shares)
