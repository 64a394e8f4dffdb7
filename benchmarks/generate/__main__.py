"""`python -m benchmarks.generate dump|tables|documents`."""

import time
from pathlib import Path

import click

from benchmarks.generate import paper as papers
from benchmarks.generate.articles import Style
from benchmarks.generate.documents import write_documents
from benchmarks.generate.dump import Order, write_dump
from benchmarks.generate.tables import Sizes, write_tables
from benchmarks.generate.world import World
from wikilda._core.platform import available_cores

_seed = click.option("--seed", default=1, show_default=True)
_paper = click.option("--paper", is_flag=True, help="as many names, words and links a topic as in the paper")


def _world(topics: int, seed: int, *, paper: bool) -> World:
    return World(topics, seed, papers.SHAPE if paper else None)


@click.group()
def main() -> None:
    """Make a wiki of any size: the same seed and size give the same wiki."""


@main.command()
@click.option("--pages", required=True, type=click.IntRange(100), help="pages of all kinds, at least")
@click.option("--article-bytes", default=2500, show_default=True, help="mean wikitext of an article")
@click.option("--workers", default=available_cores(), show_default=True)
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="FILE.xml.bz2 or FILE.xml")
@_seed
def dump(pages: int, article_bytes: int, workers: int, output: Path, seed: int) -> None:
    """A MediaWiki dump."""
    start = time.perf_counter()
    plan, size = write_dump(Order(pages, seed, Style(article_bytes=article_bytes)), output, workers)
    spent = time.perf_counter() - start
    click.echo(
        f"{output}: {plan.pages:,} pages, {plan.topics:,} articles, {size / 1e6:,.1f} MB of XML, "
        f"{output.stat().st_size / 1e6:,.1f} MB, {spent:,.1f} s"
    )


@main.command()
@click.option("--topics", default=papers.TOPICS, show_default=True, type=click.IntRange(100))
@click.option("--links", default=25.0, show_default=True, help="links a topic")
@click.option("--words", default=30.0, show_default=True, help="content words a topic")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="DIR")
@_paper
@_seed
def tables(topics: int, links: float, words: float, output: Path, paper: bool, seed: int) -> None:
    """Tables for `wikilda build --tables`."""
    start = time.perf_counter()
    rows = write_tables(_world(topics, seed, paper=paper), output, papers.SIZES if paper else Sizes(links, words))
    size = sum(file.stat().st_size for file in output.iterdir())
    counted = ", ".join(f"{count:,} {name}" for name, count in rows.items())
    click.echo(f"{output}: {counted}, {size / 1e6:,.1f} MB, {time.perf_counter() - start:,.1f} s")


@main.command()
@click.option(
    "--topics", default=papers.TOPICS, show_default=True, type=click.IntRange(100), help="as many as the wiki has"
)
@click.option("--count", default=1000, show_default=True)
@click.option("--first", default=0, show_default=True, help="number of the first; other numbers, other documents")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="FILE.jsonl")
@_paper
@_seed
def documents(topics: int, count: int, first: int, output: Path, paper: bool, seed: int) -> None:
    """News-like documents whose entities are known."""
    mentions = write_documents(_world(topics, seed, paper=paper), count, output, first)
    click.echo(f"{output}: {count:,} documents, {mentions:,} mentions, {output.stat().st_size / 1e6:,.1f} MB")


if __name__ == "__main__":
    main()
