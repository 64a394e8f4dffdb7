"""What gold names is found in the knowledge: by title, redirect, address or item."""

from pathlib import Path

import pytest

from tests.wikis import FILLER, page, write_dump
from wikilda.evaluation.gold import ABSENT, NIL, Resolver
from wikilda.knowledge import BuildSettings, Knowledge, Resources, build_from_dump, build_from_tables


@pytest.mark.parametrize(
    "name",
    [
        "Robert Croft",
        "Robert_Croft",
        "robert Croft",
        "http://en.wikipedia.org/wiki/Robert_Croft",
        "https://en.m.wikipedia.org/wiki/Robert%20Croft",
        "http://dbpedia.org/resource/Robert_Croft",
        "Robert\\u0020Croft",
        "label:Robert Croft",
    ],
)
def test_names(sample: Knowledge, name: str) -> None:
    assert Resolver(sample).topic((name,)) == sample.titles.find("Robert Croft") >= 0


def test_redirects_and_what_is_not_there(sample: Knowledge) -> None:
    resolver = Resolver(sample)
    redirect = sample._redirect_titles[0]
    assert sample.titles.find(redirect) < 0
    assert resolver.topic((redirect,)) == int(sample._redirect_topics[0])
    assert resolver.topic(()) == NIL
    assert resolver.topic(("No such title",)) == ABSENT
    assert resolver.topic(("No such title", "Robert Croft")) >= 0
    assert resolver.topic(("http://de.dbpedia.org/resource/Robert_Croft",)) == ABSENT
    assert resolver.topic(("http://example.org/Robert_Croft",)) == ABSENT


def test_items(tmp_path: Path) -> None:
    tables = tmp_path / "tables"
    tables.mkdir()
    (tables / "topics.tsv").write_text("title\twikidata\nSeal\tQ9481\nSeal (musician)\tQ218091\nNobody\t\n")
    known = build_from_tables(tables, tmp_path / "kb", BuildSettings(), resources=Resources(workers=1))
    resolver = Resolver(known)
    musician = known.titles.find("Seal (musician)")
    assert resolver.topic(("Q218091", "label:Seal")) == musician
    assert resolver.topic(("http://www.wikidata.org/entity/Q218091",)) == musician
    # A label is a title only where there are no items: `Seal` is another animal.
    assert resolver.topic(("Q5", "label:Seal")) == ABSENT
    # Tables that do not say their language are of any.
    assert known.site.language == ""
    for address in ("http://dbpedia.org/resource/Seal_%28musician%29", "https://de.wikipedia.org/wiki/Seal_(musician)"):
        assert resolver.topic((address,)) == musician


def test_ampersands(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "wiki.xml", [page("AT&T", f"A company. {FILLER}")])
    known = build_from_dump([dump], tmp_path / "kb", BuildSettings(), resources=Resources(workers=1))
    assert Resolver(known).topic(("AT&amp;T",)) == known.titles.find("AT&T") >= 0
