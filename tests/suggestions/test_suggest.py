"""Links that notes and dumps lack: found, reported, chosen, and applied by a patch."""

import json
import random
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.commands import run
from tests.surnames import SURNAMES
from wikilda import suggest
from wikilda._core.errors import InputError
from wikilda.sample import WIKI
from wikilda.suggestions._scores import _SPREAD, HABITS, fit, pooled, probabilities
from wikilda.suggestions.candidates import FEATURES
from wikilda.suggestions.report import read_suggestions
from wikilda.suggestions.sources import Notes

FIRST = [
    "Ada",
    "Bela",
    "Carl",
    "Dora",
    "Emil",
    "Fritz",
    "Gina",
    "Hugo",
    "Ines",
    "Jon",
    "Kira",
    "Leo",
    "Mona",
    "Nils",
    "Olga",
]
NAMES = [f"{first} {last}" for first, last in zip(FIRST, SURNAMES, strict=True)]
NOTES = [
    *NAMES,
    *(
        f"Project {each}"
        for each in ["Falcon", "Comet", "Raven", "Tiger", "Puma", "Zephyr", "Onyx", "Cobalt", "Delta", "Sigma"]
    ),
]
HIDDEN = """---
aliases: [Boss]
---
# Ada Abel
`Hugo Hopper` and [[Kira Kant|Gina Gauss]] are left alone; so is https://example.org/Hugo_Hopper
Today Hugo Hopper, Project Falcon and the Captain met.\r
"""


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some notes in which most names are links."""
    place, chance = tmp_path_factory.mktemp("vault"), random.Random(1)
    (place / ".obsidian").mkdir()
    (place / ".obsidian" / "skipped.md").write_text("[[Ada Abel]]")
    (place / "people").mkdir()
    for number, name in enumerate(NOTES):
        others = chance.sample([each for each in NOTES if each != name], 6)
        lines = [f"[[{each}]] and the others discussed item {at} of {number}." for at, each in enumerate(others[:5])]
        alias = "---\naliases:\n  - Captain\n---\n" if name == "Hugo Hopper" else ""
        folder = place / "people" if name in NAMES else place
        (folder / f"{name}.md").write_text(f"{alias}# {name}\n\nAbout {others[5]}.\n" + "\n".join(lines) + "\n")
    (place / "Today.md").write_bytes(HIDDEN.encode())
    return place


@pytest.fixture(scope="module")
def known(vault: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model of the notes."""
    model = tmp_path_factory.mktemp("model") / "notes"
    Notes(vault).build(model, 1)
    return model


def test_missing_links_are_found(vault: Path, known: Path) -> None:
    found = suggest(vault, model=known, pages=["Today"], least=0.3, workers=1)
    assert {(each.text, each.link) for each in found.rows} == {
        ("Hugo Hopper", "[[Hugo Hopper]]"), ("Project Falcon", "[[Project Falcon]]"),
    }  # fmt: skip
    [hugo] = [each for each in found.rows if each.text == "Hugo Hopper"]
    source = (vault / "Today.md").read_bytes().decode()
    assert source[hugo.start : hugo.end] == hugo.text
    assert (hugo.line, hugo.place, hugo.target) == (6, "Today.md", "Hugo Hopper")
    assert "linked on" in hugo.reason
    assert "the name of the page" in hugo.reason
    assert hugo.before.endswith("Today ")
    assert 0.3 <= hugo.probability <= 1


@pytest.mark.parametrize("at_random", [True, False])
def test_names_that_occur_a_few_times(tmp_path: Path, at_random: bool) -> None:
    """Three of four mentions are links: at random, or three on each page. The others are missing."""
    chance = random.Random(1)
    names = [f"{first}{middle} {last}" for first in FIRST for middle in "aeou" for last in SURNAMES[:5]]
    missing = set()
    for name in names:
        others = chance.sample([each for each in names if each != name], 4)
        gap = chance.randrange(4)
        linked = [chance.random() < 0.75 if at_random else at != gap for at in range(4)]
        missing |= {(name, other) for other, is_link in zip(others, linked, strict=True) if not is_link}
        lines = [
            f"On day {chance.randrange(99)} we met {f'[[{other}]]' if is_link else other} for lunch."
            for other, is_link in zip(others, linked, strict=True)
        ]
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\n" + "\n".join(lines) + "\n")
    found = {(each.page, each.target) for each in suggest(tmp_path, workers=1).rows}
    assert found <= missing
    assert len(found) > 0.8 * len(missing)


def test_what_is_linked_is_not_suggested(vault: Path, known: Path) -> None:
    found = suggest(vault, model=known, least=0.0, workers=1)
    for each in found.rows:
        assert f"[[{each.target}]]" not in (vault / each.place).read_text("utf-8")
        assert each.target != each.page
    assert [each.probability for each in found.rows] == sorted((each.probability for each in found.rows), reverse=True)


def test_the_result_does_not_depend_on_workers(vault: Path, known: Path) -> None:
    one, two = (suggest(vault, model=known, least=0.1, workers=workers).rows for workers in (1, 2))
    assert one == two


def test_a_patch_applies(vault: Path, known: Path, tmp_path: Path) -> None:
    code, _, err = run("suggest", vault, "--model", known, "--least", 0.3, "--page", "Today", "-j", 1,
                       "-o", tmp_path / "all.jsonl", "--patch", tmp_path / "all.patch")  # fmt: skip
    assert code == 0, err
    copy = tmp_path / "copy"
    shutil.copytree(vault, copy)
    subprocess.run(
        ["patch", "-p1", "--binary", "-i", tmp_path / "all.patch"], cwd=copy, check=True, capture_output=True
    )
    wanted = HIDDEN.replace("Today Hugo Hopper, Project Falcon", "Today [[Hugo Hopper]], [[Project Falcon]]")
    assert (copy / "Today.md").read_bytes().decode() == wanted
    assert (copy / "Project Comet.md").read_bytes() == (vault / "Project Comet.md").read_bytes()


def test_only_chosen_ones(vault: Path, known: Path, tmp_path: Path) -> None:
    run("suggest", vault, "--model", known, "--least", 0.3, "--page", "Today", "-j", 1, "-o", tmp_path / "all.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    (tmp_path / "chosen.jsonl").write_text(
        json.dumps(next(row for row in rows if row["text"] == "Project Falcon")) + "\n"
    )
    code, _, err = run("suggest", vault, "--chosen", tmp_path / "chosen.jsonl", "--patch", tmp_path / "some.patch")
    assert code == 0, err
    patch = (tmp_path / "some.patch").read_bytes().decode()
    assert "[[Project Falcon]]" in patch
    assert "[[Hugo Hopper]]," not in patch


def test_a_note_that_changed_is_not_patched(vault: Path, known: Path, tmp_path: Path) -> None:
    run("suggest", vault, "--model", known, "--least", 0.3, "--page", "Today", "-j", 1, "-o", tmp_path / "all.jsonl")
    shutil.copytree(vault, tmp_path / "copy")
    (tmp_path / "copy" / "Today.md").write_text("Now it is another text about Hugo Hopper.")
    code, _, err = run(
        "suggest", tmp_path / "copy", "--chosen", tmp_path / "all.jsonl", "--patch", tmp_path / "a.patch"
    )
    assert code == 1
    assert "is not where it was. Run wikilda suggest again" in err
    assert not (tmp_path / "a.patch").exists()


def test_html_to_choose_from(vault: Path, known: Path, tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    run("suggest", vault, "--model", known, "--least", 0.3, "--page", "Today", "-j", 1, "-o", tmp_path / "all.html")
    page = (tmp_path / "all.html").read_text("utf-8")
    assert "<mark>Hugo Hopper</mark>" in page
    assert page.count('type="checkbox" value=') == 2


def test_notes_that_are_broken_are_reported(vault: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(vault, copy)
    (copy / "Broken.md").write_text("---\naliases: [One\nAda Abel met Kira Kant.\n")
    (copy / "Latin.md").write_bytes(b"caf\xe9")
    (copy / "Empty.md").write_bytes(b"")
    code, out, err = run("suggest", copy, "--page", "Broken", "--least", 0.05, "-j", 1)
    assert code == 3
    assert "Broken.md: its front matter is not closed" in err
    assert "Latin.md: is not UTF-8; it is left out" in err
    assert "Ada Abel" in out


def test_the_terminal_shows_the_best(vault: Path, known: Path) -> None:
    code, out, err = run("suggest", vault, "--model", known, "--page", "Today", "--least", 0.3, "-j", 1)
    assert code == 0
    assert "Today.md:6" in out
    assert "26 pages" in err


def test_names_of_notes(tmp_path: Path) -> None:
    for place in ("a/Same.md", "b/Same.md", "my_note.md", "Star: x.md", "c/Only.md"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text("See [[my_note]], [[Only]], [[a/Same]], [[ONLY|it]] and [[Nowhere]].")
    notes = Notes(tmp_path)
    assert notes._titles == ["Star x", "Same (a)", "Same (b)", "Only", "my note"]
    assert [page.title for page in notes.pages()] == ["Star: x", "a/Same", "b/Same", "Only", "my_note"]
    export = "".join(notes._export())
    assert (
        export.count("[[my note|my_note]]") == export.count("[[Same (a)|a/Same]]") == export.count("[[Only|it]]") == 5
    )
    assert "and Nowhere" in export
    assert "[[Nowhere" not in export


def test_logseq(tmp_path: Path) -> None:
    (tmp_path / "logseq" / "bak").mkdir(parents=True)
    (tmp_path / "logseq" / "config.edn").write_text("{}")
    (tmp_path / "logseq" / "bak" / "old.md").write_text("old")
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a___b%3F.md").write_text("alias:: Ab\n\n- text")
    (tmp_path / "pages" / "c.md").write_text("title:: Called so\n\n- text about [[Ab]]")
    assert [(page.title, page.aliases) for page in Notes(tmp_path).pages()] == [("a/b?", ("Ab",)), ("Called so", ())]


def test_a_dump(model: Path, tmp_path: Path) -> None:
    found = suggest(WIKI, model=model, least=0.5, workers=1)
    assert found.report.counts["pages"] >= 249
    assert all(each.text and each.link.startswith("[[") for each in found.rows)


@pytest.mark.parametrize(("arguments", "message"), [
    (["nowhere"], "no such file or directory"), ([".", "--page", "x"], "no notes that can be read"),
    ([".", "--chosen", "x"], "--chosen needs --patch"), ([".", "-o", "x.txt"], "is not a report by its name"),
])  # fmt: skip
def test_bad_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = run("suggest", *arguments)
    assert code != 0
    assert message in err


def test_an_unknown_page(vault: Path, known: Path) -> None:
    with pytest.raises(InputError, match="there is no page 'Todya'"):
        suggest(vault, model=known, pages=["Todya"], workers=1)


def test_suggestions_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"page": "x"}\n')
    with pytest.raises(InputError, match="line 1: is not a suggestion"):
        read_suggestions(tmp_path / "a.jsonl")


def test_the_fit_has_no_gradient() -> None:
    generator = np.random.default_rng(1)
    features = generator.normal(size=(500, len(FEATURES)))
    linked = generator.random(500) < 1 / (1 + np.exp(-features[:, 0] * 2 + 1))
    weights = fit(features, linked, pooled())
    chances = probabilities(features, weights)
    nudged = [weights + step for at in range(len(weights)) for step in (np.eye(len(weights))[at] * 1e-3,)]
    assert abs(chances.mean() - linked.mean()) < 0.05
    assert weights[1] > 0.5

    def loss(given: np.ndarray) -> float:
        shares = probabilities(features, given)
        likelihood = np.log(np.where(linked, shares, 1 - shares)).sum()
        return float(-likelihood + ((given - pooled()) ** 2).sum() / (2 * _SPREAD**2))

    assert all(loss(each) >= loss(weights) for each in nudged)


def test_habits_never_count_against_a_link() -> None:
    generator = np.random.default_rng(1)
    features = generator.normal(size=(500, len(FEATURES)))
    habit, other = FEATURES.index("page habit"), FEATURES.index("position")
    linked = features[:, habit] + features[:, other] < 0
    weights = fit(features, linked, pooled())
    assert weights[1 + habit] == 0
    assert weights[1 + other] < -1
    assert all(weights[1 + FEATURES.index(name)] >= 0 for name in HABITS)
