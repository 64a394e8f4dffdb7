"""All that reads JSON lines takes the same records, and ignores the same fields."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.server.serving import serving
from wikilda import Document, Linker, evaluate, make_corpus, read_documents
from wikilda.cli import cli

TEXT = "Croft took five wickets for England."
LINES = {
    "text": {"text": TEXT},
    "an id that is a number": {"id": 7, "text": TEXT},
    "no id": {"id": None, "text": TEXT},
    "objects": {"id": "a", "text": TEXT, "mentions": [{"start": 0, "end": 5}, {"start": 28, "end": 35}]},
    "pairs": {"id": "a", "text": TEXT, "mentions": [[0, 5], [28, 35]]},
    "gold": {"id": "a", "text": TEXT, "mentions": [{"start": 0, "end": 5, "title": "Robert Croft", "certain": True}]},
    "marked": {"id": "a", "marked": "[[Croft]] took five wickets for [[England]]."},
    "unknown fields": {"id": "a", "text": TEXT, "source": {"url": "x"}, "split": "test", "labels": [1]},
}  # fmt: skip


def _found(rows: list[dict[str, object]]) -> list[tuple[object, ...]]:
    return [(each["start"], each["end"], each["title"]) for row in rows for each in row["mentions"]]  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", LINES)
def test_a_record_is_the_same_document_everywhere(model: Path, tmp_path: Path, name: str) -> None:
    line = json.dumps(LINES[name])
    file = tmp_path / "one.jsonl"
    file.write_text(line + "\n", "utf-8")
    linker = Linker.open(model)
    [document] = read_documents([file])
    assert isinstance(document, Document)
    answered = [linker.link(document).to_dict()]
    linked = CliRunner().invoke(cli, ["link", str(model), str(file)])
    assert linked.exit_code == 0, linked.output
    assert _found([json.loads(linked.stdout)]) == _found(answered)
    with serving(model) as served, served.client() as client:
        row = client.post("/v1/batch", content=line).json()
    assert "error" not in row
    assert _found([row]) == _found(answered)
    corpus = make_corpus([file], linker.knowledge.path, tmp_path / "corpus", workers=1)
    assert corpus.summary["documents"] == 1
    if "mentions" in LINES[name] or "marked" in LINES[name]:  # gold has mentions
        assert len(evaluate(model, file).runs[0][0].verdicts) == len(document.mentions or ())
