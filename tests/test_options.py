"""Options and settings that have no effect are errors that say so."""

import bz2
import json
from dataclasses import fields
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.commands import run
from wikilda import InputError, SettingsError, UrnTraining, link_files, make_corpus
from wikilda.training.settings import LdaTraining, TrainingPlan, training_settings

# Command, its inputs, options without effect, and what the error ends in.
WITHOUT_EFFECT = [
    ("link", "MODEL TEXT --table -o OUT.jsonl", "--output has no effect with --table."),
    ("link", "MODEL TEXT --table --output-format tsv", "--output-format has no effect with --table."),
    ("link", "MODEL TEXT --table --with-text", "--with-text has no effect with --table."),
    ("link", "MODEL TEXT --table --set offsets=bytes", "--set offsets has no effect with --table."),
    ("link", "MODEL TEXT --overwrite", "--overwrite has no effect without -o or --unknown."),
    ("link", "MODEL TEXT --escalate 0.5", "--escalate writes beside the output: give -o FILE."),
    ("link", "MODEL TEXT --no-mentions --candidates 3", "--candidates has no effect with --no-mentions."),
    ("link", "MODEL TEXT --no-mentions --topics 0", "--no-mentions with --topics 0 leaves nothing to write."),
    ("link", "MODEL TEXT -o OUT.tsv --with-text", "--with-text has no effect on tsv."),
    ("link", "MODEL TEXT -o OUT.tsv --topics 3", "--topics has no effect on tsv with mentions."),
    ("link", "MODEL TEXT --output-format html --with-text", "--with-text has no effect on html."),
    ("link", "MODEL TEXT --output-format html --no-mentions", "--no-mentions has no effect on html."),
    ("link", "MODEL TEXT --output-format html --set offsets=bytes", "--set offsets has no effect on html."),
    ("link", "MODEL TEXT -o OUT.parquet --output-format mentions --topics 2", "has no effect on mentions with mentions."),
    ("link", "MODEL TEXT -o OUT.parquet --output-format mentions --no-mentions", "has no effect on mentions."),
    ("link", "MODEL TEXT --format marked --detector spacy", "--detector has no effect with --format marked"),
    ("link", "MODEL TEXT --format marked --nested", "--nested has no effect with --format marked"),
    ("link", "MODEL TEXT --format marked --set recall=1", "--set recall has no effect with --format marked"),
    ("link", "MODEL TEXT --format text --text-column body", "--text-column has no effect with --format text."),
    ("link", "MODEL TEXT --format dump --set id_column=x", "--set id_column has no effect with --format dump."),
    ("link", "MODEL TEXT --format jsonl --set encoding=latin-1", "--set encoding has no effect with --format jsonl."),
    ("link", "MODEL TEXT --set source_column=x", "--set source_column is for train and corpus."),
    ("link", "MODEL TEXT --conf a=b", "--conf is for --engine spark."),
    ("link", "MODEL TEXT -o OUT.parquet --engine spark -j 2", "--workers is for --engine local."),
    ("link", "MODEL TEXT -o OUT.parquet --engine spark --decided TEXT", "--decided is for --engine local."),
    ("link", "MODEL TEXT -o OUT.parquet --engine spark --set invalid=replace", "--set invalid is for --engine local."),
    ("link", "MODEL - --estimate-prior", "--estimate-prior reads the documents twice: give FILEs."),
    ("link", "MODEL TEXT --method lda --set tolerance=0.1", "tolerance is a setting of the method urn, not of lda."),
    ("match", "MODEL TABLE --column name --overwrite", "--overwrite has no effect without -o."),
    ("match", "MODEL TABLE --column name -o OUT.jsonl --escape-formulas", "--escape-formulas has no effect on .jsonl."),
    ("match", "MODEL TABLE --column name -o OUT.parquet --escape-formulas", "has no effect on .parquet."),
    ("suggest", "NOTES --overwrite", "--overwrite has no effect without -o or --patch."),
    ("suggest", "NOTES --chosen TEXT", "--chosen needs --patch FILE"),
    ("suggest", "NOTES --chosen TEXT --patch OUT --least 0.9", "--least has no effect with --chosen."),
    ("suggest", "NOTES --chosen TEXT --patch OUT --page a", "--page has no effect with --chosen."),
    ("suggest", "NOTES --chosen TEXT --patch OUT --model OUT2", "--model has no effect with --chosen."),
    ("suggest", "NOTES --chosen TEXT --patch OUT -o OUT.html", "--output has no effect with --chosen."),
    ("suggest", "NOTES --chosen TEXT --patch OUT -j 2", "--workers has no effect with --chosen."),
    ("show", "MODEL -n 3", "--most has no effect without a TERM."),
    ("compile", "--into OUT --list", "--list has no effect with --into."),
    ("train", "MODEL CORPUS -o OUT --detector spacy", "--detector has no effect on a corpus"),
    ("train", "MODEL CORPUS -o OUT --format text", "--format has no effect on a corpus"),
    ("train", "MODEL CORPUS -o OUT --set recall=1", "--set recall has no effect on a corpus"),
    ("train", "MODEL TEXT -o OUT --format text --set source_column=x", "--set source_column has no effect with"),
    ("train", "MODEL TEXT -o OUT --tables file:///x", "--tables is for --engine spark."),
    ("train", "MODEL TEXT -o OUT --conf a=b", "--conf is for --engine spark."),
    ("train", "MODEL TEXT -o OUT --engine spark -j 2", "--workers is for --engine local"),
    ("train", "MODEL TEXT -o OUT --preset paper", "preset 'paper' is for the method lda."),
    ("train", "MODEL TEXT -o OUT --set round=3", "round is a setting of training with Spark."),
    ("train", "MODEL TEXT -o OUT --set minibatch=3", "minibatch is a setting of the method lda, not of urn."),
    ("train", "MODEL TEXT -o OUT --set naming_shift=2", "naming_shift has no effect with prior_shift=true."),
    ("corpus", "MODEL TEXT -o OUT --set detect=false --detector spacy", "--detector has no effect with --set detect=false."),
    ("corpus", "MODEL TEXT -o OUT --set detect=false --set recall=1", "--set recall has no effect with --set detect=false."),
    ("corpus", "MODEL TEXT -o OUT --format marked --set recall=1", "--set recall has no effect with --format marked"),
    ("corpus", "MODEL TEXT -o OUT --conf a=b", "--conf is for --engine spark."),
    ("corpus", "MODEL TEXT -o OUT --engine spark -j 2", "--workers is for --engine local"),
    ("build", "--entities TABLE -o OUT --page-props TEXT", "--page-props has no effect on a list of entities."),
    ("build", "--entities TABLE -o OUT --instances TEXT", "--instances has no effect on a list of entities."),
    ("build", "--tables NOTES -o OUT --page-props TEXT", "--page-props has no effect on tables"),
    ("build", "DUMP --dry-run --instances TEXT", "--instances has no effect with --dry-run."),
    ("build", "DUMP --dry-run --page-props TEXT", "--page-props has no effect with --dry-run."),
    ("update", "MODEL TABLE -o OUT --whole", "--changes/--whole is for a dump."),
    ("update", "MODEL TABLE -o OUT --page-props TEXT", "--page-props is for a dump."),
    ("update", "MODEL TABLE -o OUT --instances TEXT", "--instances is for a dump."),
    ("update", "MODEL TABLE -o OUT --memory 2GB", "--memory is for a dump."),
    ("update", "MODEL TABLE -o OUT -j 2", "--workers is for a dump."),
    ("evaluate", "MODEL --own-links --split train", "--split has no effect with --own-links."),
    ("evaluate", "MODEL --own-links --also MODEL", "--also has no effect with --own-links."),
    ("evaluate", "MODEL --own-links --format aida", "--format has no effect with --own-links."),
    ("evaluate", "MODEL TEXT --own-links", "--own-links has no FILEs."),
    ("evaluate", "MODEL TEXT --method prior --set tolerance=0.1", "--set tolerance is for the methods urn and trained."),
    ("verify", "CORPUS --knowledge MODEL", "--knowledge is for a model."),
]  # fmt: skip

# A setting of training that has no effect, and the others that it has none with.
SETTINGS = [
    (UrnTraining, {"naming_shift": 2.0}, {}),
    (UrnTraining, {"popularity_shift": 2.0}, {}),
    (UrnTraining, {"particles": 3}, {"evaluated": 0}),
    (UrnTraining, {"tau0": 2.0}, {}),
    (UrnTraining, {"tau0": 2.0}, {"adaptive": True}),
    (UrnTraining, {"rho_global": 0.5}, {"adaptive": True}),
    (UrnTraining, {"kappa_global": 0.7}, {"adaptive": True}),
    (LdaTraining, {"tau0": 2.0}, {}),
    (LdaTraining, {"minibatch": 3}, {"rho_local": 0.0}),
    (LdaTraining, {"kappa_local": 0.7}, {"rho_local": 0.0}),
    (LdaTraining, {"shrink_sums": False}, {"rho_local": 0.0}),
    (LdaTraining, {"kappa_global": 0.7}, {"rho_global": 0.0}),
    (LdaTraining, {"particles": 3}, {"evaluated": 0}),
]  # fmt: skip


@pytest.fixture(scope="module")
def places(model: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Paths by the words of the table."""
    here = tmp_path_factory.mktemp("options")
    (here / "text.txt").write_text("Croft bowled for England.")
    (here / "table.csv").write_text("id,name\n1,Croft\n")
    (here / "notes").mkdir()
    (here / "notes" / "a.md").write_text("Croft")
    (here / "dump.xml.bz2").write_bytes(bz2.compress(b"<mediawiki></mediawiki>"))
    make_corpus([here / "text.txt"], model, here / "corpus", workers=1)
    names = {"TEXT": "text.txt", "TABLE": "table.csv", "NOTES": "notes", "DUMP": "dump.xml.bz2", "CORPUS": "corpus"}
    return {"MODEL": str(model), **{name: str(here / file) for name, file in names.items()}}


@pytest.mark.parametrize(("command", "options", "message"), WITHOUT_EFFECT)
def test_options_without_effect_are_refused(
    places: dict[str, str], tmp_path: Path, command: str, options: str, message: str
) -> None:
    given = [str(tmp_path / each) if each.startswith("OUT") else places.get(each, each) for each in options.split()]
    code, out, err = run(command, *given)
    assert code in (1, 2), out
    assert message in err
    assert not any(tmp_path.iterdir()), "nothing is written"


@pytest.mark.parametrize(("kind", "idle", "others"), SETTINGS)
def test_settings_without_effect_are_refused(
    kind: type[UrnTraining | LdaTraining], idle: dict[str, float], others: dict[str, float]
) -> None:
    (name,) = idle
    training_settings(kind.method, None, others)
    message = rf"^{name} has no effect with \w+=\S+( and \w+=\S+)*\. Remove it, or change \w+( or \w+)*\.$"
    with pytest.raises(SettingsError, match=message):
        training_settings(kind.method, None, idle | others)


def test_settings_of_a_preset_are_not_those_of_the_user() -> None:
    assert training_settings("lda", "paper", {"rho_local": 0.0}).evaluated


def test_each_setting_of_training_is_read() -> None:
    """A field that no code reads has no effect."""
    code = "\n".join(path.read_text("utf-8") for path in Path("src/wikilda").rglob("*.py"))
    for kind in (UrnTraining, LdaTraining, TrainingPlan):
        for each in fields(kind):
            assert any(f"{owner}.{each.name}" in code for owner in ("settings", "self", "plan")), each.name


def test_parts_of_results_that_a_format_lacks(model: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps({"text": "Croft bowled."}) + "\n")
    for output, options in (
        ("b.tsv", {"with_text": True}),
        ("b.html", {"with_text": True}),
        ("b.html", {"with_mentions": False}),
    ):
        with pytest.raises(InputError, match="has no effect on"):
            link_files(model, file, tmp_path / output, **options)  # type: ignore[arg-type]
    done = link_files(model, file, tmp_path / "b.parquet", output_format="mentions")
    assert pq.read_table(done.output).column("mention").to_pylist() == ["Croft"]
    assert pq.read_schema(done.output).field("confidence").type == pa.float64()


def test_knowledge_that_has_moved_is_recorded_once(model: Path, tmp_path: Path) -> None:
    code, _, err = run("init", model, "-o", tmp_path / "other")
    assert code == 0, err
    (tmp_path / "other").rename(tmp_path / "a")
    (tmp_path / "far").mkdir()
    (tmp_path / "a").rename(tmp_path / "far" / "a")
    code, _, err = run("show", tmp_path / "far" / "a", "Croft")
    assert code == 1
    assert f"Give its place: wikilda verify {tmp_path / 'far' / 'a'} --knowledge DIR." in err
    code, out, err = run("verify", tmp_path / "far" / "a", "--knowledge", model)
    assert (code, err) == (0, "")
    assert out.count("all as it was written") == 2
    code, out, err = run("show", tmp_path / "far" / "a", "Croft")
    assert (code, "Lara Croft" in out) == (0, True), err
