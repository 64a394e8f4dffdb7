"""Wikis that say little about links: pooled weights, and answers no worse than the most common meaning."""

from pathlib import Path

import pytest

import wikilda
from tests.wikis import FILLER, page, write_dump
from wikilda.linking import Linker

TITLES = [f"Zelkova {each}" for each in ("Abbey", "Bridge", "Castle", "Dam", "Estate", "Forest", "Garden", "Hall")]


def about(title: str, more: str = "") -> str:
    return page(title, f"{title} is a place. {FILLER * 20} {more}")


def pages(kind: str) -> list[str]:
    if kind == "without links":
        return [about(title) for title in TITLES]
    if kind == "one link repeated":
        return [*(about(title, "See [[Zelkova Bridge|Alpha]].") for title in TITLES),
                page("Count", "[[Zelkova Bridge|Alpha]] and " * 100_000)]  # fmt: skip
    listed = "\n".join(f"* [[{title}]]" for title in TITLES)
    return [about(title, f"\n{listed}") for title in TITLES]


@pytest.mark.parametrize("kind", ["without links", "one link repeated", "links in lists only"])
def test_titles_are_found_and_linked(kind: str, tmp_path: Path) -> None:
    model = wikilda.build(write_dump(tmp_path / "wiki.xml", pages(kind)), tmp_path / "model", workers=1)
    assert model.weights is None, "too few links to learn from"
    found = Linker.open(model.path).link("On Monday Zelkova Abbey was sold, and Zelkova Dam was not.", topics=0)
    assert [(each.text, each.entity.title) for each in found.mentions if each.entity] == [
        ("Zelkova Abbey", "Zelkova Abbey"), ("Zelkova Dam", "Zelkova Dam"),
    ]  # fmt: skip


def test_a_wiki_of_tables_without_articles(tmp_path: Path) -> None:
    tables = tmp_path / "tables"
    tables.mkdir()
    (tables / "topics.tsv").write_text("".join(f"{title}\n" for title in ["title", *TITLES]), "utf-8")
    rows = [f"Alpha\t{TITLES[0]}\t9", f"Alpha\t{TITLES[1]}\t1", *(f"{each}\t{each}\t5" for each in TITLES)]
    (tables / "mentions.tsv").write_text("\n".join(["mention\ttitle\tcount", *rows]) + "\n", "utf-8")
    model = wikilda.build(tables, tmp_path / "model", workers=1)
    assert model.contexts is None
    found = Linker.open(model.path).link("They said Alpha is near Zelkova Dam. Alpha is old.", topics=0).mentions
    assert [(each.text, each.entity.title) for each in found if each.entity] == [
        ("Alpha", TITLES[0]), ("Zelkova Dam", "Zelkova Dam"), ("Alpha", TITLES[0]),
    ]  # fmt: skip
