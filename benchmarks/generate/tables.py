"""A world directly as tables for `wikilda build --tables`: a block of topics at a time, so memory stays flat."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from benchmarks.generate.chance import uniform
from benchmarks.generate.spelling import COMMON
from benchmarks.generate.world import FULL, SHORT, TYPES, Topics, World

_BLOCK = 20_000
_FORM_SHARES = (0.45, 0.40, 0.15)
_SPREAD = 0.9


@dataclass(frozen=True)
class Sizes:
    """Means a topic."""

    links: float = 25.0
    words: float = 30.0
    stubs: float = 0.0  # share of topics with a tenth of the links and words
    types: bool = False  # whether descriptions name the type of a topic


def write_tables(world: World, directory: Path, sizes: Sizes) -> dict[str, int]:
    """Write topics, redirects, mentions, links and words as Parquet; returns how many rows each has."""
    directory.mkdir(parents=True, exist_ok=True)
    # In-links come from `popularity`, so that mentions can be written without having seen all links.
    popularity, titles = world.popularity(), world.titles(np.arange(world.size))
    writers: dict[str, pq.ParquetWriter] = {}
    rows: dict[str, int] = {}
    try:
        for first in range(0, world.size, _BLOCK):
            topics = np.arange(first, min(first + _BLOCK, world.size))
            rng = np.random.default_rng([world.seed, 2, first])
            inlinks = rng.poisson(popularity[topics] * sizes.links * world.size)
            for name, table in _block(world, titles, topics, inlinks, sizes, rng):
                if name not in writers:
                    writers[name] = pq.ParquetWriter(directory / f"{name}.parquet", table.schema, compression="zstd")
                writers[name].write_table(table)
                rows[name] = rows.get(name, 0) + len(table)
    finally:
        for writer in writers.values():
            writer.close()
    return rows


def _block(
    world: World, titles: pa.Array, topics: Topics, inlinks: NDArray[np.int64], sizes: Sizes, rng: np.random.Generator
) -> Iterator[tuple[str, pa.Table]]:
    own = titles.take(pa.array(topics))
    cluster = world.titles(world.bounds[world.cluster(topics)])
    about = pc.binary_join_element_wise(world.base(topics), " is one of the topics around ", cluster, ".", "")
    if sizes.types:
        about = pc.binary_join_element_wise(
            world.base(topics), " is a ", TYPES.take(pa.array(world.types(topics))), ".", ""
        )
    yield "topics", pa.table({"title": own, "id": topics + 1, "description": about})
    owner, number = _repeated(topics, world.alias_counts(topics))
    aliases, targets = world.alias(owner, number), titles.take(pa.array(owner))
    yield "redirects", pa.table({"title": aliases, "target": targets})
    yield "mentions", _mentions(world, own, topics, inlinks, aliases, targets, rng)
    yield "links", _links(world, titles, topics, sizes, rng)
    yield "words", _words(world, titles, topics, sizes, rng)


def _mentions(
    world: World, own: pa.Array, topics: Topics, inlinks: NDArray[np.int64], aliases: pa.Array, targets: pa.Array,
    rng: np.random.Generator,
) -> pa.Table:  # fmt: skip
    counts = rng.multinomial(inlinks, _FORM_SHARES).T
    alias_counts = 1 + rng.poisson(0.5, len(aliases))
    parts = [
        (own, own, np.ones(len(topics), np.int64)),
        (world.named(topics, np.full(len(topics), FULL)), own, 1 + counts[0]),
        (world.named(topics, np.full(len(topics), SHORT)), own, counts[1] + counts[2]),
        (aliases, targets, alias_counts),
    ]
    mention, title, count = (list(column) for column in zip(*parts, strict=True))
    table = pa.table(
        {"mention": pa.concat_arrays(mention), "title": pa.concat_arrays(title), "count": np.concatenate(count)}
    )
    return table.filter(pc.greater(table["count"], 0))


def _links(world: World, titles: pa.Array, topics: Topics, sizes: Sizes, rng: np.random.Generator) -> pa.Table:
    source, target, _ = _pairs(
        topics, _sizes(world, topics, sizes.links, sizes.stubs, rng), lambda owner: world.linked(owner, rng), world.size
    )
    return pa.table({"source": titles.take(pa.array(source)), "target": titles.take(pa.array(target))})


def _words(world: World, titles: pa.Array, topics: Topics, sizes: Sizes, rng: np.random.Generator) -> pa.Table:
    # A third of the tokens are repetitions, or words too common to be kept.
    lengths = _sizes(world, topics, 1.35 * sizes.words, sizes.stubs, rng)
    owner, word, count = _pairs(topics, lengths, lambda owner: world.used_words(owner, rng), world.word_count)
    kept = word >= len(COMMON)
    columns = {"word": world.words.take(pa.array(word[kept])), "title": titles.take(pa.array(owner[kept]))}
    return pa.table(columns | {"count": count[kept]})


def _sizes(world: World, topics: Topics, mean: float, stubs: float, rng: np.random.Generator) -> NDArray[np.int64]:
    drawn = rng.lognormal(np.log(mean) - _SPREAD**2 / 2, _SPREAD, len(topics))
    return np.maximum(1, np.where(is_stub(world, topics, stubs), drawn / 10, drawn)).astype(np.int64)


def is_stub(world: World, topics: Topics, share: float) -> NDArray[np.bool_]:
    """Which topics have hardly any article."""
    return uniform(topics, world.seed * 16 + 7) < share


def _pairs(
    topics: Topics, lengths: NDArray[np.int64], draw: Callable[[Topics], Topics], size: int
) -> tuple[Topics, Topics, NDArray[np.int64]]:
    """Distinct (topic, drawn number) pairs, and how often each was drawn."""
    owner = np.repeat(topics, lengths)
    pairs, counts = np.unique(owner * size + draw(owner), return_counts=True)
    return pairs // size, pairs % size, counts


def _repeated(topics: Topics, counts: NDArray[np.int64]) -> tuple[Topics, Topics]:
    return np.repeat(topics, counts), np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
