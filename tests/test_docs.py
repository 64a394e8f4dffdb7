"""Documentation tells what is measured: its tables are those of the JSON that benchmarks wrote."""

import ast
import html
import importlib
import io
import re
import runpy
import sys
import tokenize
from pathlib import Path

import pytest
from benchmarks import record
from scripts import messages, reference

TEXTS = [record.ROOT / "README.md", record.ROOT / "CHANGELOG.md", *sorted((record.ROOT / "docs").rglob("*.md"))]
PICTURES = record.ROOT / "docs" / "pictures"


def test_tables_are_those_of_the_figures() -> None:
    assert [page.name for page in record.outdated()] == [], "run: python -m benchmarks.record"


def test_the_reference_is_generated_from_the_code() -> None:
    assert [page.name for page in reference.outdated()] == [], "run: python -m scripts.reference"


def test_messages_are_plain_and_errors_say_how_to_fix_them() -> None:
    """Every error that a user can see has a remedy: a request, a list of what is possible, an example, a suggestion."""
    wrong = [f"{each.file}:{each.line}: {each.text} {each.faults()}" for each in messages.messages() if each.faults()]
    assert wrong == [], "see: python -m scripts.messages --check"


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("{…}: line {…}: unclosed quote. Close it.", []),
        ("{…}: is damaged.", ["say how to fix it"]),
        ("{…}: is damaged. Make it anew.", ["avoid “anew”"]),
        ("there is no method {…}{…}", []),
    ],
)
def test_a_message_without_a_remedy_is_found(text: str, faults: list[str]) -> None:
    assert messages.Message("x.py", 1, "error", text, "InputError").faults() == faults


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_pages_are_plain(page: Path) -> None:
    """No words of the list in scripts/messages.py outside of code and generated tables."""
    text = re.sub(
        r"```.*?```|`[^`]*`|<!-- figures.*?<!-- end of figures -->", "", page.read_text("utf-8"), flags=re.DOTALL
    )
    assert messages.AVOIDED.findall(text) == []


SOURCES = [
    file for folder in ("src", "tests", "benchmarks", "scripts") for file in (record.ROOT / folder).rglob("*.py")
]


def test_comments_and_docstrings_are_plain() -> None:
    found = []
    for file in sorted(SOURCES):
        source = file.read_text("utf-8")
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        texts = [token.string for token in tokens if token.type == tokenize.COMMENT]
        nodes = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        texts += [ast.get_docstring(node) or "" for node in ast.walk(ast.parse(source)) if isinstance(node, nodes)]
        found += [f"{file}: {each}" for text in texts for each in messages.AVOIDED.findall(text)]
    assert found == []


def test_a_table_is_markdown() -> None:
    rows = [{"method": "urn", "micro": 89.3, "documents": 216}, {"method": "prior", "micro": None, "documents": 12345}]
    assert record.table(rows).splitlines() == [
        "| method | micro | documents |",
        "| --- | ---: | ---: |",
        "| urn | 89.3 | 216 |",
        "| prior | – | 12,345 |",
    ]


def test_some_columns_and_rows_of_a_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(record, "FIGURES", tmp_path)
    record.write("speed", {"rates": [{"what": "a", "s": 1, "MB": 2}, {"what": "b", "s": 3, "MB": 4}]})
    page = record.fill("<!-- figures: speed rates | what; MB | what=b -->\n<!-- end of figures -->")
    assert "| what | MB |\n| --- | ---: |\n| b | 4 |\n\n*" in page


@pytest.mark.parametrize(("seconds", "shown"), [(71.6, "72 s"), (1200, "20 min"), (4845, "1.3 h")])
def test_times_are_rounded_for_people(seconds: float, shown: str) -> None:
    assert record.duration(seconds) == shown


def test_pictures_are_drawn_from_their_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(PICTURES), *sys.path])
    drawing = runpy.run_path(str(PICTURES / "draw.py"))
    for name, draw in drawing["PICTURES"].items():
        assert (PICTURES / f"{name}.svg").read_text("utf-8") == draw().svg(), "run: python docs/pictures/draw.py"


def test_the_terminal_shows_what_the_readme_shows() -> None:
    recorded = re.sub(r"<[^>]*>", "\n", (record.ROOT / "docs" / "images" / "demo.svg").read_text("utf-8"))
    shown = html.unescape(recorded).replace("\xa0", " ")
    block = re.search(r"^mention .*?^…", (record.ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert block is not None
    for row in block.group().splitlines()[1:-1]:
        assert re.sub(r" +", " ", row) in re.sub(r"[ \n]+", " ", shown), "run: python docs/pictures/terminal.py"


def test_what_pages_name_is_there() -> None:
    """Files of the package, of tests and benchmarks, and the modules of commands."""
    root, missing = record.ROOT, []
    for page in (root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))):
        text = page.read_text("utf-8")
        files = [root / name for name in re.findall(r"\b((?:src|tests|benchmarks|scripts)/[\w/]+\.\w+)", text)]
        files += [root / "src" / name for name in re.findall(r"(?<![\w/])(wikilda/[\w/]+\.py)", text)]
        modules = [root.joinpath(*name.split(".")) for name in re.findall(r"python -m (benchmarks[\w.]*\w)", text)]
        missing += [f"{page.name}: {each}" for each in files if not each.is_file()]
        places = [
            each for each in modules if not (each.with_suffix(".py").is_file() or (each / "__main__.py").is_file())
        ]
        missing += [f"{page.name}: {each}" for each in places]
    assert missing == []


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as forges and the site make them."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = (re.sub(r"\[(.*?)\]\(.*?\)|[`*]", r"\1", each) for each in re.findall(r"^#+ (.*)$", text, re.MULTILINE))
    return {re.sub(r"[^\w\- ]", "", each.strip().lower()).replace(" ", "-") for each in titles}


def test_links_lead_to_pages_and_headings() -> None:
    missing = []
    for page in (*TEXTS, record.ROOT / "CONTRIBUTING.md"):
        text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
        for place, anchor in re.findall(r"\]\(([^()#\s:]*)(#[^()\s]+)?\)", text):
            target = page.parent / place if place else page
            if not target.exists() or (anchor and anchor[1:] not in anchors(target)):
                missing.append(f"{page.name}: {place}{anchor}")
    assert missing == []


BENCHMARKS = [
    ".".join(each.relative_to(record.ROOT).with_suffix("").parts)
    for each in sorted((record.ROOT / "benchmarks").rglob("*.py"))
    if each.name not in ("__init__.py", "__main__.py")
]


@pytest.mark.parametrize("name", BENCHMARKS)
def test_benchmarks_fit_the_package(name: str) -> None:
    try:
        importlib.import_module(name)
    except SystemExit as missing:
        pytest.skip(str(missing))
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.split(".")[0] in ("wikilda", "benchmarks"):
            raise
        pytest.skip(str(error))
