"""An update with a newer dump gives what a build from that dump gives, and keeps what training has learned."""

import random
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from tests.knowledge.conftest import EASY, compiled
from tests.training.conftest import write_lines
from tests.wikis import FILLER, dump, page, write_dump
from wikilda._core.errors import ArtifactError, InputError
from wikilda.cli import cli
from wikilda.knowledge import Knowledge
from wikilda.knowledge.account import JSON_FILE
from wikilda.knowledge.base import PIECES
from wikilda.knowledge.diff import Comparison, Meaning, Renamed
from wikilda.knowledge.held_out import ARTICLES
from wikilda.model import Model
from wikilda.training.build import build
from wikilda.training.pipeline import train
from wikilda.training.settings import TrainingPlan, UrnTraining
from wikilda.training.update import update

WORDS = [
    "cricket",
    "bat",
    "ball",
    "Wales",
    "England",
    "Lord's",
    "heroine",
    "tomb",
    "game",
    "stone",
    "U.S.",
    "café",
    "東京",
    "band",
    "folk",
    "music",
    "song",
    "river",
]


def made(directory: Path, name: str, pages: list[str], **about: object) -> Path:
    """A model of a small wiki."""
    file = write_dump(directory / f"{name}.xml", pages, **about)
    return build(file, directory / name, settings=EASY, workers=1).path


def same(one: Path, other: Path) -> bool:
    """Whether two models have the same knowledge, parameters and report of the build."""
    reports = [(each / JSON_FILE).read_text("utf-8") for each in (one, other)]
    parts = [report[report.index('"parts"') :] for report in reports]
    knowledge = [Knowledge.open(each) for each in (one, other)]
    for each in knowledge:
        each.verify()
    files = [
        {name: known for name, known in Model.open(each).files.items() if not name.startswith("weights")}  # kept
        for each in (one, other)
    ]
    return (
        files[0] == files[1]
        and knowledge[0].identity == knowledge[1].identity
        and knowledge[0].summary == knowledge[1].summary
        and parts[0] == parts[1]
    )


class Wiki:
    """A random wiki that changes; pages keep their numbers."""

    def __init__(self, seed: int) -> None:
        self.random, self.pages, self.last = random.Random(seed), dict[int, tuple[str, str, int, str]](), 0
        for _ in range(12):
            self.add()

    def add(self) -> None:
        self.last += 1
        kind = self.random.choices(["article", "redirect", "template", "category", "talk"], [8, 3, 1, 1, 1])[0]
        names = {"template": (10, "Template:"), "category": (14, "Category:"), "talk": (1, "Talk:")}
        namespace, prefix = names.get(kind, (0, ""))
        title = f"{prefix}{self.random.choice(WORDS).title()} {self.last if self.random.random() < 0.8 else '(x)'}"
        redirect = self.title() if kind == "redirect" and self.pages else ""
        self.pages[self.last] = (title, "" if redirect else self.text(), namespace, redirect)

    def title(self) -> str:
        return self.random.choice([title for title, *_ in self.pages.values()])

    def text(self) -> str:
        words = self.random.choices(WORDS, k=self.random.randint(2, 25))
        links = [
            f"[[{self.title()}|{self.random.choice(WORDS)}]]" for _ in range(self.random.randint(0, 4)) if self.pages
        ]
        marks = self.random.choices(
            ["{{Disambig}}", "{{Cricket 3}}", "[[Category:Ball 4]]", "<ref>[[Bat 1]]</ref>", ""], k=2
        )
        parts = [*words, *links, *marks]
        self.random.shuffle(parts)
        return " ".join(parts) + "."

    def change(self) -> set[int]:
        """Edit, add, move (leaving a redirect), and make redirects; returns the numbers of the pages concerned."""
        concerned = set()
        for _ in range(6):
            number = self.random.choice(list(self.pages))
            title, text, namespace, redirect = self.pages[number]
            what = self.random.choice(["edit", "add", "move", "redirect"])
            if what == "edit":
                self.pages[number] = (title, self.text(), namespace, "")
            elif what == "add":
                self.add()
                number = self.last
            elif what == "redirect" and namespace == 0:
                self.pages[number] = (title, "", 0, self.title())
            elif what == "move" and namespace == 0:
                self.last += 1
                self.pages[self.last] = (title, "", 0, f"{title} moved")
                self.pages[number] = (f"{title} moved", text, namespace, redirect)
                concerned.add(self.last)
            concerned.add(number)
        return concerned

    def delete(self) -> None:
        for number in self.random.sample(list(self.pages), 3):
            del self.pages[number]

    def xml(self, numbers: set[int] | None = None) -> list[str]:
        return [
            page(title, text, number=number, namespace=namespace, redirect=redirect)
            for number, (title, text, namespace, redirect) in self.pages.items() if numbers is None or number in numbers
        ]  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_an_update_is_a_build(seed: int, tmp_path: Path) -> None:
    wiki = Wiki(seed)
    old = made(tmp_path, "old", wiki.xml())
    wiki.change()
    wiki.delete()
    new = made(tmp_path, "new", wiki.xml())
    updated = update(old, tmp_path / "new.xml", tmp_path / "updated", changes=False, workers=1)
    assert same(updated.model.path, new)
    changed = wiki.change()
    newest = made(tmp_path, "newest", wiki.xml())
    write_dump(tmp_path / "changed.xml", wiki.xml(changed))
    again = update(tmp_path / "updated", tmp_path / "changed.xml", tmp_path / "again", changes=True, workers=1)
    assert same(again.model.path, newest)


@pytest.mark.skipif(not compiled(), reason="15 MB of XML would take minutes without the compiler")
def test_eight_years_of_a_wiki(data: Path, tmp_path: Path) -> None:
    dumps = [data / "wikis-full" / f"nds-nl-{year}.xml.xz" for year in (2014, 2022)]
    old, new = (build(file, tmp_path / file.name[:11]).path for file in dumps)
    updated = update(old, dumps[1], tmp_path / "updated")
    known = [Knowledge.open(each) for each in (updated.model.path, new)]
    for each in known:
        each.verify()
    models = [
        {name: file for name, file in Model.open(each).files.items() if not name.startswith("weights")}
        for each in (updated.model.path, new)
    ]
    assert models[0] == models[1]
    files = [{name: file for name, file in each.files.items() if not name.startswith("sample")} for each in known]
    assert files[0] == files[1]
    assert known[0].summary == known[1].summary
    # Pieces keep a limited number of articles for the sample, so an update may miss some that a build finds.
    samples = [set(each.array("sample/topics").tolist()) for each in known]
    assert len(samples[0]) == len(samples[1]) == ARTICLES
    assert len(samples[0] & samples[1]) > 0.95 * ARTICLES
    assert updated.report.counts["pages that have not changed"] == 5_068  # as counted by comparing titles and texts


BASE = [
    page("Croft", f"'''Croft''' is a [[Wales|Welsh]] cricketer. {FILLER}", number=1),
    page("Wales", f"A land of [[Croft]]. {FILLER}", number=2),
    page("Cymru", redirect="Wales", number=3),
    page("Lara", f"A heroine, [[Croft|Lara]] not. {FILLER}", number=4),
    page("Welsh", f"A language, [[Welsh]]. {FILLER}", number=5),
]


def test_a_few_pages_leave_the_rest(tmp_path: Path) -> None:
    old = made(tmp_path, "old", BASE)
    moved = page("Robert Croft", f"A bowler of [[Lara]]. {FILLER}", number=1)
    write_dump(tmp_path / "few.xml", [moved, page("Croft", redirect="Robert Croft", number=9)])
    updated = update(old, tmp_path / "few.xml", tmp_path / "new", workers=1)
    assert list(updated.knowledge.titles) == ["Lara", "Robert Croft", "Wales", "Welsh"]
    assert updated.report.counts == {"pages that have not changed": 0, "pages that are new or have changed": 2}
    assert updated.diff.renamed == [Renamed("Croft", "Robert Croft")]
    assert (updated.diff.added, updated.diff.gone) == ([], [])
    assert same(updated.model.path, made(tmp_path, "whole", [*BASE[1:], moved, page("Croft", redirect="Robert Croft")]))
    mapped = pq.read_table(tmp_path / "new" / "topic-map.parquet").to_pydict()
    assert dict(zip(mapped["title_before"], mapped["title_after"], strict=True)) == {
        "Croft": "Robert Croft", "Lara": "Lara", "Wales": "Wales", "Welsh": "Welsh"}  # fmt: skip


def test_a_page_moved_over_a_redirect(tmp_path: Path) -> None:
    old = made(tmp_path, "old", BASE)
    moved = [page("Cymru", f"A land of [[Croft]]. {FILLER}", number=2), page("Wales", redirect="Cymru", number=7)]
    write_dump(tmp_path / "few.xml", moved)
    updated = update(old, tmp_path / "few.xml", tmp_path / "new", changes=True, workers=1)
    assert updated.knowledge.find_topic("Wales") == updated.knowledge.find_topic("Cymru") >= 0
    assert same(updated.model.path, made(tmp_path, "whole", [BASE[0], BASE[3], BASE[4], *moved]))
    assert updated.diff.renamed == [Renamed("Wales", "Cymru")]


def test_names_that_mean_something_else(tmp_path: Path) -> None:
    old = made(tmp_path, "old", BASE)
    links = " ".join(["[[Lara|Welsh]]"] * 3)
    newer = made(tmp_path, "newer", [*BASE[:4], page("Tomb", f"{links} {FILLER}", number=6)])
    found = Comparison(Knowledge.open(old), Knowledge.open(newer)).diff()
    assert found.gone == ["Welsh"]
    assert found.added == ["Tomb"]
    assert found.meanings == [] or all(isinstance(each, Meaning) for each in found.meanings)
    assert [each.name for each in found.meanings] == []  # "welsh" had two meanings of the same weight
    more = [*BASE[:4], page("Welsh", f"See [[Welsh]]. {FILLER}", number=5), page("Tomb", f"{links} {FILLER}", number=6),
            page("Prior", f"[[Wales|cymric]] [[Wales|cymric]] {FILLER}", number=8)]  # fmt: skip
    first = made(tmp_path, "first", more)
    second = made(tmp_path, "second", [*more[:-1], page("Prior", f"[[Lara|cymric]] {FILLER}", number=8)])
    [meaning] = Comparison(Knowledge.open(first), Knowledge.open(second)).diff().meanings
    assert meaning == Meaning("cymric", "Wales", 1.0, "Lara", 1.0, 1)


def test_diff_on_the_command_line(tmp_path: Path) -> None:
    old, new = made(tmp_path, "old", BASE), made(tmp_path, "new", [*BASE[1:], page("Bat <b>", FILLER, number=8)])
    html, topics = tmp_path / "diff.html", tmp_path / "map.parquet"
    ran = CliRunner().invoke(cli, ["diff", str(old), str(new), "--html", str(html), "--map", str(topics)])
    assert ran.exit_code == 0, ran.output
    assert "new topics" in ran.output
    assert "Bat &lt;b&gt;" in html.read_text("utf-8")
    assert pq.read_table(topics)["after"].null_count == 1
    as_json = CliRunner().invoke(cli, ["diff", str(old), str(new), "--json"])
    assert '"gone": [\n  "Croft"\n ]' in as_json.output


def stamped(pages: list[str], year: int) -> list[str]:
    return [each.replace("<model>", f"<timestamp>{year}-01-01T00:00:00Z</timestamp><model>") for each in pages]


def test_what_is_not_newer_is_refused(tmp_path: Path) -> None:
    old = made(tmp_path, "old", stamped(BASE, 2022))
    before = {file: file.stat().st_mtime_ns for file in old.rglob("*") if file.is_file()}
    older = write_dump(tmp_path / "older.xml", stamped(BASE, 2014))
    with pytest.raises(InputError, match=r"older than the model \(newest page: 2014-01-01; in the model: 2022-01-01\)"):
        update(old, older, tmp_path / "new", workers=1)
    other = tmp_path / "other.xml"
    other.write_text(dump(BASE).replace("testwiki", "otherwiki"), "utf-8")
    with pytest.raises(InputError, match="a dump of another wiki"):
        update(old, other, tmp_path / "new", workers=1)
    with pytest.raises(InputError, match="of another wiki"):
        Comparison(Knowledge.open(old), Knowledge.open(build(other, tmp_path / "o", settings=EASY, workers=1).path))
    cut = tmp_path / "cut.xml"
    cut.write_text(dump(BASE)[:1500], "utf-8")
    with pytest.raises(InputError, match="is cut short"):
        update(old, cut, tmp_path / "new", workers=1)
    with pytest.raises(ArtifactError, match="exists already"):
        update(old, older, old, workers=1)
    newer = write_dump(tmp_path / "newer.xml", stamped(BASE, 2023))
    with pytest.raises(InputError, match="is the model that is updated"):
        update(old, newer, old, workers=1, overwrite=True)
    assert {file: file.stat().st_mtime_ns for file in old.rglob("*") if file.is_file()} == before
    assert not (tmp_path / "new").exists()


def test_older_pages_among_changes_are_left(tmp_path: Path) -> None:
    old = made(tmp_path, "old", stamped(BASE, 2022))
    stale = stamped([page("Lara", f"Stale words. {FILLER}", number=4)], 2014)
    fresh = stamped([page("Wales", f"Fresh words. {FILLER}", number=2)], 2023)
    few = write_dump(tmp_path / "few.xml", stale + fresh)
    known = update(old, few, tmp_path / "new", changes=True, workers=1).knowledge
    assert known.word_strings.find("stale") == -1
    assert known.word_strings.find("fresh") >= 0


def test_without_the_old_pages_a_whole_dump_is_needed(tmp_path: Path) -> None:
    import shutil

    old = made(tmp_path, "old", BASE)
    shutil.rmtree(old / "knowledge" / PIECES)
    few = write_dump(tmp_path / "few.xml", [page("Wales", f"Fresh. {FILLER}", number=2)])
    with pytest.raises(InputError, match="does not have the pages that it was built from"):
        update(old, few, tmp_path / "new", workers=1)
    pages = [*BASE[1:], page("Bat", FILLER, number=8)]
    whole = made(tmp_path, "whole", pages)
    assert same(update(old, tmp_path / "whole.xml", tmp_path / "new", workers=1).model.path, whole)


def test_lists_of_entities_are_added_again(tmp_path: Path) -> None:
    old = made(tmp_path, "old", BASE)
    rows = write_lines(tmp_path / "own.jsonl", [{"id": "A", "name": "Acme", "aliases": ["The Acme Company"]}])
    listed = update(old, rows, tmp_path / "listed", workers=1)
    newer = write_dump(tmp_path / "newer.xml", [*BASE, page("Bat", f"A [[Croft]] thing. {FILLER}", number=8)])
    known = update(listed.model.path, newer, tmp_path / "new", workers=1).knowledge
    assert {"Acme", "Bat", "Croft"} <= set(known.titles)
    assert known.find_mention("the acme company") >= 0
    both = update(old, [newer, rows], tmp_path / "both", workers=1).knowledge
    assert both.identity == known.identity


def test_what_training_has_learned_is_kept(tmp_path: Path) -> None:
    old = made(tmp_path, "old", BASE)
    how = UrnTraining(held_out=0.0, evaluated=0)
    rows: list[object] = [{"id": str(at), "text": f"Croft of Wales met Lara {at}."} for at in range(8)]
    trained = train(old, write_lines(tmp_path / "texts.jsonl", rows), tmp_path / "trained", how, TrainingPlan(1, 1))
    again = update(trained.path, tmp_path / "old.xml", tmp_path / "again", workers=1).model
    assert (again.iteration, again.method) == (trained.iteration, trained.method)
    assert trained.learned.contexts is not None
    for one, other in ((trained.mentions, again.mentions), (trained.base, again.base), (trained.words, again.words)):
        np.testing.assert_array_equal(one.offsets, other.offsets)
        np.testing.assert_array_equal(one.topics, other.topics)
        np.testing.assert_allclose(one.values, other.values, rtol=1e-5)
    newer = write_dump(tmp_path / "newer.xml", [*BASE[:4], page("Aab", f"Not [[Lara]]. {FILLER}", number=8)])
    updated = update(trained.path, newer, tmp_path / "new", workers=1)
    was, now = trained.knowledge(), updated.knowledge
    string, fresh = was.find_mention("lara"), now.find_mention("lara")
    before = {was.titles[at]: float(value) for at, value in zip(*trained.mentions.row(string), strict=True)}
    after = {now.titles[at]: float(value) for at, value in zip(*updated.model.mentions.row(fresh), strict=True)}
    assert before.keys() == after.keys()
    assert updated.model.nil is not None
    assert updated.model.contexts is not None
    assert len(updated.model.contexts.types.offsets) == len(now.titles) + 1
