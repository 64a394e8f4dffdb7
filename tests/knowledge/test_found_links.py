"""Links that are found in the texts of tables, against finding them in Python."""

import json
import random
import re
from dataclasses import asdict
from pathlib import Path

import pytest

import wikilda
from tests.wikis import FILLER
from wikilda.knowledge import BuildSettings, Knowledge, build_from_tables
from wikilda.knowledge.held_out import articles
from wikilda.model.weights import NIL, RANKING, pooled

KINDS = ("Abbey", "Bridge", "Castle", "Dam", "Estate", "Forest")
PLACES = [f"{place} {kind}" for kind in KINDS for place in ("Zelkova", "Murnau", "Ostrava", "Tarnow", "Viborg")]
PEOPLE = [f"{first} {last}" for first in ("Anna", "Bea", "Carl", "Dora", "Emil") for last in ("Quillon", "Sarkany")]
COMMON = "Preposition (grammar)"
TITLES = [*PLACES, *PEOPLE, COMMON]
SHORT = {"of": [COMMON], "Abbey Dam": [PLACES[0]]}
for title in PLACES + PEOPLE:
    for word in title.split():
        SHORT.setdefault(word, []).append(title)


def tables(folder: Path) -> tuple[dict[str, str], dict[str, set[str]]]:
    """Write tables; returns the texts and links of articles."""
    chance, texts, links = random.Random(3), dict[str, str](), dict[str, set[str]]()
    for title in TITLES:
        names = [*PLACES, *PEOPLE, *SHORT, "Unknown Name", "the abbey", "Zelkova Abbey Dam"]
        said = [f"In {chance.choice(names)} there is a {chance.choice(names)} of it, naïvely." for _ in range(40)]
        texts[title] = " ".join(said) + "\n\n" + FILLER * 20
        links[title] = set(chance.sample(TITLES, 12)) | {COMMON}
    folder.mkdir()
    names_of = [
        (name, title) for name, titles in {**{each: [each] for each in TITLES}, **SHORT}.items() for title in titles
    ]
    written = {
        "topics": [("title",), *((title,) for title in TITLES)],
        "mentions": [("mention", "title", "count"), *((*pair, "40" if pair[0] != "of" else "1") for pair in names_of)],
        "links": [("source", "target"), *((a, b) for a in TITLES for b in sorted(links[a]))],
    }
    for name, rows in written.items():
        (folder / f"{name}.tsv").write_text("".join("\t".join(row) + "\n" for row in rows), "utf-8")
    lines = [json.dumps({"title": title, "text": text}) for title, text in texts.items()]
    (folder / "articles.jsonl").write_text("\n".join(lines), "utf-8")
    return texts, links


def naive(title: str, text: str, links: set[str]) -> list[tuple[int, int, str]]:
    """The links of an article: known strings, the longest first, of which exactly one meaning is linked."""
    meanings = {**{each: [each] for each in TITLES}, **SHORT}
    longest = sorted(meanings, key=len, reverse=True)
    found, seen = list[tuple[int, int, str]](), set[str]()
    for match in re.finditer(r"\b(" + "|".join(map(re.escape, longest)) + r")\b", text, re.IGNORECASE):
        string = next(each for each in longest if each.lower() == match[0].lower())
        linked = [each for each in meanings[string] if each in links]
        if string == "of" or title in meanings[string] or len(linked) != 1 or linked[0] in seen:
            continue
        seen.add(linked[0])
        found.append((*match.span(), linked[0]))
    return found


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Knowledge, dict[str, str], dict[str, set[str]]]:
    place = tmp_path_factory.mktemp("found")
    texts, links = tables(place / "tables")
    return build_from_tables(place / "tables", place / "knowledge", BuildSettings()), texts, links


def test_links_are_those_of_the_reference(
    built: tuple[Knowledge, dict[str, str], dict[str, set[str]]],
) -> None:
    known, texts, links = built
    found = {known.titles[each.topic]: each for each in articles(known)}
    expected = {title: naive(title, text, links[title]) for title, text in texts.items()}
    assert set(found) == {title for title, each in expected.items() if len(each) >= 3}
    assert len(found) > 5
    for title, each in found.items():
        spans = [(*span, known.titles[target]) for span, target in zip(each.spans, each.targets.tolist(), strict=True)]
        assert spans == expected[title]


def test_a_word_that_is_common_in_texts_is_no_link(
    built: tuple[Knowledge, dict[str, str], dict[str, set[str]]],
) -> None:
    known, texts, links = built
    assert all(" of " in texts[title] and COMMON in links[title] for title in TITLES)
    assert known.find_topic(COMMON) not in {target for each in articles(known) for target in each.targets.tolist()}


def test_weights_and_contexts_are_learned_from_them_but_not_those_of_nil(tmp_path: Path) -> None:
    tables(tmp_path / "tables")
    model = wikilda.build(tmp_path / "tables", tmp_path / "model", workers=1)
    assert model.weights is not None, "learned"
    assert model.contexts is not None
    learned, shipped = asdict(model.weights), asdict(pooled())
    assert {name for name in RANKING if learned[name] != shipped[name]} >= {"naming", "popularity", "graph"}
    assert all(learned[name] == shipped[name] for name in NIL), "texts do not tell what has no meaning"
