"""The command line as a person meets it."""

import bz2
import importlib
import json
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import click
import pytest

from tests.commands import run
from tests.processes import besides_compiling
from tests.wikis import FILLER, page, write_dump
from wikilda.cli import COMMANDS
from wikilda.documents.reading import ReadSettings
from wikilda.knowledge import BuildSettings
from wikilda.lda.settings import LdaSettings
from wikilda.server.settings import ServerSettings
from wikilda.training.settings import TrainingPlan
from wikilda.urn import UrnSettings


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("kb")
    pages = [
        page("Java", f"'''Java''' is an island of [[Indonesia]]. {FILLER}"),
        page(
            "Java (programming language)",
            f"[[Java]]? No. A language by [[Sun]] on the [[Java (programming language)|Java]]. {FILLER}",
        ),
        page("Indonesia", f"Home of [[Java]] and of [[Java (programming language)|Java]]. {FILLER}"),
    ]
    dump = write_dump(directory / "wiki.xml", pages)
    code, out, err = run(
        "build", dump, "-o", directory / "kb", "--workers", 1, "--set", "max_word_share=1", "--set", "min_word_topics=1"
    )
    assert (code, err) == (0, "")
    assert "topics" in out
    return directory / "kb"


def test_help_and_version_are_quick_and_import_nothing_heavy() -> None:
    code = "import sys; sys.argv = ['wikilda', '--help']\ntry:\n import wikilda.cli; wikilda.cli.main()\nexcept SystemExit: pass\n"
    check = "print([name for name in ('numba', 'numpy', 'duckdb', 'pyarrow') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code + check], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "build" in done.stdout


def test_importing_the_package_is_light() -> None:
    check = "import sys, wikilda; print([name for name in ('numba', 'numpy', 'rich', 'click') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_show_a_mention_and_a_title(kb: Path) -> None:
    code, out, _ = run("show", kb, "java")
    assert code == 0
    assert "“java”: 2 topics" in out
    assert "Java is an island of Indonesia." in out
    code, out, _ = run("show", kb, "Java (programming language)", "--json")
    found = json.loads(out)
    assert found["topic"]["title"] == "Java (programming language)"
    assert found["topic"]["in_links"] == 1
    code, out, _ = run("show", kb, "java", "--json")
    assert [each["title"] for each in json.loads(out)["mention"]["topics"]] == ["Java", "Java (programming language)"]
    assert json.loads(out)["mention"]["topics"][0]["probability"] == pytest.approx(0.6)


def test_foreign_data_cannot_command_the_terminal(tmp_path: Path) -> None:
    """Escape sequences of titles, texts and names of files are shown, not sent."""
    entities = tmp_path / "list.jsonl"
    title = "Evil \x1b]0;owned\x07 \x9b31m Corp"
    entities.write_text(json.dumps({"id": "1", "name": title, "description": f"{title} sells anvils."}) + "\n")
    code, _, said = run("build", "--entities", entities, "-o", tmp_path / "m")
    assert code == 0, said
    text = tmp_path / "text.txt"
    text.write_text(f"{title} is here.")
    for arguments in (
        ("show", tmp_path / "m", title),
        ("link", tmp_path / "m", text, "--table"),
        ("show", tmp_path / "\x1b[2J"),
    ):
        _, out, said = run(*arguments)
        assert not set("\x1b\x07\x9b\x9d") & set(out + said), arguments


def test_show_without_a_term_sums_up(kb: Path) -> None:
    code, out, _ = run("show", kb)
    assert code == 0
    assert "Test, from wiki.xml" in out


def test_unknown_terms_get_suggestions(kb: Path) -> None:
    code, _, err = run("show", kb, "Jav")
    assert code == 1
    assert "neither a title nor a mention" in err
    assert "Java (programming language)" in err


def test_demo_links_croft_to_the_cricketer(tmp_path: Path) -> None:
    code, out, err = run("demo", "--keep", tmp_path)
    assert (code, err) == (0, "")
    before, after = out.split("The entities in this text:")
    assert before.index("Lara Croft") < before.index("Robert Croft")  # the prior's order
    assert [line.split()[1:3] for line in after.splitlines() if line.startswith("Croft ")] == [["Robert", "Croft"]] * 2
    assert (tmp_path / "knowledge" / "manifest.json").exists()
    assert (tmp_path / "manifest.json").exists()
    assert f"wikilda link {tmp_path} --table" in out
    assert run("demo", "--keep", tmp_path)[0] == 0  # again, into the same directory
    code, _, err = run("demo", "--keep", Path(__file__).parent)
    assert code == 1
    assert "is not the sample model" in err
    code, out, err = run("show", tmp_path, "Croft")  # a model's knowledge is found without --knowledge
    assert (code, err) == (0, "")
    assert "Lara Croft" in out
    code, out, err = run("topics", tmp_path)
    assert (code, err) == (0, "")
    assert "No topic has moved" in out


def test_help_fits_on_a_screen_and_options_are_few() -> None:
    total = 0
    for name in COMMANDS:
        code, out, err = run(name, "--help")
        assert (code, err) == (0, "")
        assert len(out.splitlines()) <= 40, name
        command = importlib.import_module(f"wikilda.cli.{name}").command
        total += sum(isinstance(each, click.Option) for each in command.params)
    assert total <= 150


def test_settings_are_listed_with_defaults_and_help() -> None:
    code, out, err = run("settings")
    assert (code, err) == (0, "")
    kinds = [UrnSettings, LdaSettings, ReadSettings, ServerSettings, BuildSettings, TrainingPlan]
    for kind in kinds:
        for each in fields(kind):
            assert f"\n{each.name} " in out, each.name
    found = json.loads(run("settings", "train", "--json")[1])
    assert {"urn training", "lda training", "plan", "reading", "detection"} == set(found)
    plan = {each["name"]: each["default"] for each in found["plan"]}
    assert plan == TrainingPlan().to_mapping()
    code, _, err = run("settings", "nonsense")
    assert code == 2
    assert "no command that has settings" in err


def test_settings_are_set(kb: Path, tmp_path: Path) -> None:
    news, file = tmp_path / "news.jsonl", tmp_path / "settings.toml"
    news.write_text('{"body": "Java", "id": "1"}')
    file.write_text('text_column = "body"\nmax_candidates = 20\n')
    assert run("link", kb, news, "--settings", file)[0] == 0
    assert run("link", kb, news, "--settings", file, "--set", "max-neighbours=30", "--set", "recall=1")[0] == 0
    assert run("link", kb, news, "--set", "text_column=body", "--set", "max_candidates=20")[0] == 0
    for given, message in (
        (["--set", "tolerance"], "--set takes NAME=VALUE"),
        (["--set", "tolerence=3"], "unknown setting tolerence; did you mean tolerance?"),
        (["--set", "max_candidates=many"], "max_candidates must be a whole number"),
        (["--set", "max_candidates=-1"], "max_candidates must be at least 1"),
        (["--set", "tau=0.1"], "tau is a setting of the method lda, not of urn"),
        (["--set", "port=80"], "unknown setting port"),
        (["--set", "tolerance=perhaps"], "tolerance must be a number"),
    ):
        code, out, err = run("link", kb, news, "--settings", file, *given)
        assert (code, out) == (1, "")
        assert message in err
    file.write_text("tolerence = 20")
    assert f"{file}: unknown setting tolerence" in run("link", kb, news, "--settings", file)[2]
    file.write_text("tolerance = ")
    assert "is not valid TOML" in run("link", kb, news, "--settings", file)[2]
    assert run("train", kb, news, "-o", tmp_path / "t", "--set", "round=3")[2].endswith(
        "training with Spark. Remove it.\n"
    )


def test_a_misspelt_command_or_option_gets_a_suggestion() -> None:
    assert "did you mean link?" in run("lnk")[2]
    assert "'--output-format'?" in run("link", "m", "--outputformat", "tsv")[2]


ENTITY_BOMB = """<!DOCTYPE lolz [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<mediawiki><siteinfo><sitename>&b;</sitename></siteinfo></mediawiki>"""


def bad_dumps() -> dict[str, tuple[bytes, str]]:
    whole = b"<mediawiki>" + page("A", FILLER).encode() * 50
    streams = bz2.compress(b"<mediawiki>") + bz2.compress(whole[11:]) + bz2.compress(b"</mediawiki>")
    return {
        "missing.xml": (b"", "no such file"),
        "empty.xml": (b"", "is empty"),
        "truncated.xml": (whole, "is cut short"),
        "truncated.xml.bz2": (bz2.compress(whole + b"</mediawiki>")[:-20], "is cut short"),
        "truncated-multi.xml.bz2": (streams[:-20], "cut short"),
        "damaged-multi.xml.bz2": (streams[:90] + b"\0\0\0\0\0\0" + streams[96:], "damaged"),
        "garbage.xml.bz2": (b"not bzip2 at all", "cannot be decompressed"),
        "bomb.xml": (ENTITY_BOMB.encode(), "DOCTYPE"),
        "html.xml": (b"<html><body>404</body></html>", "not <mediawiki>"),
        "broken.xml": (b"<mediawiki><siteinfo><sitename>a & b</sitename>", "broken.xml: line 1"),
        "garbage.xml": (b"\xff\xfd\x00nothing", "not a MediaWiki XML export"),
        "cut.xml.gz": (b"\x1f\x8b\x08\x00", "cut.xml.gz"),
    }


@pytest.mark.parametrize("name", list(bad_dumps()))
def test_a_bad_dump_gets_one_clear_message(tmp_path: Path, name: str) -> None:
    data, words = bad_dumps()[name]
    dump = tmp_path / name
    if not name.startswith("missing"):
        dump.write_bytes(data)
    code, _, err = run("build", dump, "-o", tmp_path / "kb", "--workers", 1)
    assert code == 1
    assert err.startswith("wikilda: ")
    assert name in err
    assert words in err
    assert err.count("\n") == 1
    assert not (tmp_path / "kb").exists()


def test_wrong_arguments_are_explained(tmp_path: Path, kb: Path) -> None:
    news = tmp_path / "news.jsonl"
    news.write_text('{"text": "Java"}')
    for arguments, words in [
        (("build", "-o", tmp_path / "x"), "give a DUMP, --tables DIR or --entities FILE"),
        (("build", "d.xml", "--tables", "t", "-o", tmp_path / "x"), "one of the three"),
        (("build", "d.xml"), "Missing option '-o'"),
        (("build", "d.xml", "-o", tmp_path / "x", "--memory", "lots"), "give it like"),
        (("build", "d.xml", "-o", tmp_path / "x", "--set", "max_word_share=7"), "max_word_share"),
        (("nonsense",), "No such command"),
        (("show", tmp_path, "Java"), "is not wikilda knowledge"),
        (("show", tmp_path / "gone", "Java"), "no such directory"),
        (("link", __file__), "is a file, and a model is a directory. Give the model first."),
        (("build", news, "-o", tmp_path / "x"), "is not a dump. For a list of entities, run: wikilda build --entities"),
        (("link", kb, kb), "is an artifact of wikilda, not a directory of documents"),
        (("link", kb, "Croft bowled."), "no such file or directory. To link a text, pipe it"),
        (("link", kb, news, "-o", tmp_path / "out.txt"), "the output is a file that ends in .jsonl"),
        (("link", kb, news, "--method", "lda", "--set", "tolerance=0.1"), "tolerance is a setting of the method urn"),
    ]:
        code, _, err = run(*arguments)
        assert code != 0
        assert words in err


def test_settings_come_from_a_file_and_misspelt_ones_are_refused(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "w.xml", [page("A topic", "Short, but long enough.")])
    settings = tmp_path / "s.toml"
    settings.write_text("min_text = 5\n")
    code, _, _ = run("build", dump, "-o", tmp_path / "kb", "--settings", settings, "--workers", 1)
    assert code == 0
    for wrong, words in [
        ("min_txt = 5", "unknown setting min_txt"),
        ("min_text = 'x'", "not of type int"),
        ("= 5", "not valid TOML"),
    ]:
        settings.write_text(wrong)
        code, _, err = run("build", dump, "-o", tmp_path / "kb2", "--settings", settings)
        assert code == 1
        assert words in err


def test_a_reader_that_goes_away_is_no_error_message(kb: Path) -> None:
    command = f"{sys.executable} -m wikilda show {kb} java --json -n 1000 | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert besides_compiling(done.stderr) == ""


def test_a_large_build_states_its_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dump = write_dump(tmp_path / "wiki.xml", [page("Java", f"Java is an island. {FILLER}")])
    monkeypatch.setattr("wikilda.knowledge.build.DISK_A_BYTE", 2e9 / dump.stat().st_size)
    code, _, err = run("build", dump, "-o", tmp_path / "kb", "--workers", 1)
    assert code == 0
    assert err.startswith("The build needs about 2 GB of disk")


def test_a_build_ends_in_silence(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "wiki.xml", [page("Java", f"'''Java''' is an island. {FILLER}")])
    command = [sys.executable, "-m", "wikilda", "build", str(dump), "-o", str(tmp_path / "kb"), "--workers", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert besides_compiling(done.stderr) == ""


def test_workers_of_a_build_do_not_import_duckdb() -> None:
    """It reports leaks to standard error when a worker process ends."""
    code = "import sys, wikilda.knowledge.build; sys.exit('duckdb' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_no_command_replaces_an_input_or_decisions_of_a_person(model: Path, tmp_path: Path) -> None:
    """`evaluate -o` replaced the gold that it had read, `--unknown` and others a file of decisions."""
    gold, table, decided = tmp_path / "gold.jsonl", tmp_path / "table.csv", tmp_path / "decided.jsonl"
    gold.write_text('{"text": "Croft bowled.", "mentions": [{"start": 0, "end": 5, "title": "Robert Croft"}]}\n')
    table.write_text("name\nCroft\n")
    decision = {"document": "1", "start": 0, "end": 5, "mention": "Croft", "candidates": []}
    rows = [{**decision, "start": 1}, {**decision, "title": None}]
    decided.write_text("".join(json.dumps(row) + "\n" for row in rows))
    shutil.copytree(model, tmp_path / "model")
    writing: dict[tuple[object, ...], Path] = {
        ("evaluate", model, gold, "-o"): gold, ("evaluate", model, gold, "--report"): gold,
        ("link", model, gold, "--overwrite", "-o"): gold, ("link", model, gold, "--overwrite", "--unknown"): gold,
        ("link", model, gold, "-o", tmp_path / "new.jsonl", "--overwrite", "--unknown"): gold,
        ("match", model, table, "--column", "name", "--overwrite", "-o"): table,
        ("pack", tmp_path / "model", "-o"): tmp_path / "model" / "manifest.json",
        ("diff", model, tmp_path / "model", "--html"): tmp_path / "model" / "manifest.json",
        ("diff", model, tmp_path / "model", "--map"): tmp_path / "model" / "manifest.json",
    }  # fmt: skip
    for command, given in writing.items():
        output = tmp_path / "decided.csv" if command[0] == "match" else decided
        output.write_bytes(decided.read_bytes())
        for target, words in ((given, "is also an input"), (output, "line 2: has a decision of a person")):
            before = target.read_bytes()
            code, _, said = run(*command, target)
            assert (code, target.read_bytes()) == (1, before), command
            assert words in said, command
    assert not (tmp_path / "new.jsonl").exists()
