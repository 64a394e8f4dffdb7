"""Coarse types of topics, from first sentences, titles and categories."""

import json
import lzma
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from tests.knowledge.conftest import compiled
from wikilda._core.arrays import StringTable
from wikilda._core.errors import InputError
from wikilda.knowledge import BuildSettings, Knowledge, build_from_tables
from wikilda.knowledge._type_words import LANGUAGES
from wikilda.knowledge.categories import Lists
from wikilda.knowledge.first_sentence import first_sentence
from wikilda.knowledge.types import TYPES, Types, find_types

_DATA = Path(__file__).parents[1] / "data"
_SENTENCES = {
    "Perth, Scotland": ("Perth (Scottish Gaelic: Peairt) is a city in central Scotland.", "place"),
    "Charles C. Gossett": ("Charles Clinton Gossett (1888 - 1974) was an American politician from Idaho.", "person"),
    "A.S. Roma": ("Associazione Sportiva Roma is an Italian professional football club based in Rome.", "organisation"),
    "Babb, Montana": ("Babb is a small unincorporated farming and ranching community in Montana.", "place"),
    "King Edward VII Land": ("King Edward VII Land is a large, ice-covered peninsula which forms a coast.", "place"),
    "Beni Suef": ("Beni Suef is one of the governorates of Egypt.", "place"),
    "KFXS": ("KFXS (100.3 FM) is a radio station licensed to serve Rapid City.", "organisation"),
    "Balto II": ("Balto II is a 2002 American direct-to-video sequel to the film Balto.", "work"),
    "1990 Asian Games": ("The 1990 Asian Games were an event held in Beijing.", "event"),
    "Screamer": ("Screamer is a genus of South American birds.", "species"),
    "Geography of Honduras": ("Honduras is a country in Central America.", "concept"),
    "Kashmir (band)": ("", "organisation"),
    "USS Nelson": ("USS Nelson was a destroyer of the United States Navy.", "product"),
}


def _types(titles: list[str], sentences: list[str], categories: list[list[str]] | None = None) -> Types:
    filed = categories or [[] for _ in titles]
    names = sorted({name for each in filed for name in each})
    pairs = [(row, names.index(name)) for row, each in enumerate(filed) for name in each]
    rows, numbers = np.array(pairs, np.int64).reshape(-1, 2).T
    lists = Lists.of(rows, numbers, len(titles))
    tables = (StringTable.of(each) for each in (titles, sentences, names))
    return Types(find_types(*tables, lists, LANGUAGES["en"]))


@pytest.mark.parametrize("title", _SENTENCES)
def test_the_noun_of_the_first_sentence(title: str) -> None:
    sentence, expected = _SENTENCES[title]
    found = _types([title], [sentence]).of(0)
    assert next(iter(found)) == expected
    assert found[expected] > 0.8


def test_topics_without_a_noun_learn_from_the_others() -> None:
    towns = [f"Newton {number}" for number in range(30)]
    people = [f"Jane Doe {number}" for number in range(30)]
    sentences = ["Newton is a town in Kent." for _ in towns] + ["Jane Doe was a writer." for _ in people]
    found = _types([*towns, *people, "Newton 99", "Jane Doe 99"], [*sentences, "", ""])
    assert (found.best(60), found.best(61)) == ("place", "person")
    assert list(found.topics(["person"])) == [each == "person" for each in map(found.best, range(62))]


def test_categories_count() -> None:
    titles = [f"A{number}" for number in range(40)]
    sentences = [f"{each} is a river." for each in titles[:20]] + [f"{each} was a poet." for each in titles[20:]]
    filed = [["Rivers of Kent"]] * 20 + [["Living poets"]] * 20
    found = _types([*titles, "Xy", "Zz"], [*sentences, "", ""], [*filed, ["Rivers of Kent"], ["Living poets"]])
    assert (found.best(40), found.best(41)) == ("place", "person")


def test_probabilities_add_up_and_unknown_types_are_refused(sample: Knowledge) -> None:
    sums = np.sum([each.astype(np.int64) for each in sample.types.shares], axis=0)
    assert np.all(abs(sums - 255) <= len(TYPES))
    assert sample.types.best(sample.find_topic("Robert Croft")) == "person"
    with pytest.raises(InputError, match=r"no type 'persona'.*person"):
        sample.types.topics(["persona"])


def test_knowledge_in_a_language_without_nouns_has_no_types(tmp_path: Path) -> None:
    (tmp_path / "topics.tsv").write_text("title\nBerlin\n")
    (tmp_path / "mentions.tsv").write_text("mention\ttitle\tcount\nBerlin\tBerlin\t3\n")
    (tmp_path / "site.json").write_text(json.dumps({"language": "xx"}))
    made = build_from_tables(tmp_path, tmp_path / "kb", BuildSettings())
    assert (made.types.of(0), made.types.best(0)) == ({}, None)
    with pytest.raises(InputError, match="has no types"):
        made.types.topics(["place"])


@pytest.mark.skipif(not compiled(), reason="too slow without the compiler")
def test_the_hand_labelled_sample(data: Path) -> None:
    """Titles of aida-kb, labelled by hand: first sentences from its articles, without a build."""
    gold = dict(line.split("\t") for line in (_DATA / "types-aida-kb.tsv").read_text("utf-8").splitlines())
    titles, sentences = _articles(data / "aida-kb", set(gold))
    found = _types(titles, sentences)
    right = sum(found.best(number) == gold[title] for number, title in enumerate(titles) if title in gold)
    seen = sum(title in gold for title in titles)
    assert seen > 80
    assert right >= 0.9 * seen


def _articles(directory: Path, wanted: set[str], every: int = 10) -> tuple[list[str], list[str]]:
    """The titles and first sentences of wanted articles, and of every n-th other article to learn from: the first third."""
    heads = tuple(json.dumps({"title": each}, ensure_ascii=False)[:-1].encode() + b"," for each in wanted)
    found = {}
    with lzma.open(directory / "articles.jsonl.xz") as lines:
        for number, line in enumerate(islice(lines, 100_000)):
            if number % every == 0 or line.startswith(heads):
                row = json.loads(line)
                found[row["title"]] = first_sentence(row["text"])
    return list(found), list(found.values())
