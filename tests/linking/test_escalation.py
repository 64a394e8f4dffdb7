"""Doubtful mentions go out, decisions come back, and the rest is drawn given them."""

import json
from pathlib import Path

import pytest

from tests.commands import run
from wikilda._core.errors import InputError
from wikilda.linking import Document, Linker
from wikilda.linking.escalation import doubtful, read_decisions
from wikilda.sample import texts

TEXT = "Croft took five wickets for England."


def test_what_is_doubtful(linker: Linker) -> None:
    linked = linker.link(Document(TEXT, id="a"))
    rows = list(doubtful(linker, linked, 1.01))
    assert [(row["mention"], row["document"]) for row in rows] == [("Croft", "a"), ("England", "a")]
    assert rows[0]["before"] + rows[0]["mention"] + rows[0]["after"] == TEXT
    assert rows[0]["candidates"][0]["sentence"].startswith("Robert")
    assert "words" in rows[0]["candidates"][0]["log_odds"]
    assert list(doubtful(linker, linked, 0.0)) == []
    least = min(max(each.confidence, each.nil) for each in linked.mentions)
    assert len(list(doubtful(linker, linked, least + 1e-9))) == 1


def test_decisions_are_answers_and_move_the_others(linker: Linker) -> None:
    before = linker.link(TEXT)
    other = next(each.entity for each in before.mentions[0].candidates if each.entity.title == "Croft (land)")
    after = linker.link(TEXT, decided={(0, 5): other.title})
    assert after.mentions[0].entity == other
    assert after.mentions[0].confidence == 1
    same = linker.link(TEXT, decided={(0, 5): "Robert Croft"}).mentions[1]
    assert same.entity == before.mentions[1].entity
    assert same.candidates[0].probability >= after.mentions[1].candidates[0].probability
    nil = linker.link(TEXT, decided={(0, 5): None})
    assert nil.mentions[0].entity is None
    assert nil.mentions[0].nil == 1


def test_wrong_decisions(linker: Linker, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no mention"):
        linker.link(TEXT, decided={(1, 5): "Robert Croft"})
    with pytest.raises(InputError, match="no title 'Robert Crof'"):
        linker.link(TEXT, decided={(0, 5): "Robert Crof"})
    file = tmp_path / "decided.jsonl"
    file.write_text('{"document": "a", "start": 0, "end": 5}\n\n{"document": "a", "start": 0, "title": "b"}\n')
    with pytest.raises(InputError, match=r"decided.jsonl:3: is not a decision"):
        read_decisions(file)
    with pytest.raises(InputError, match="cannot be read"):
        read_decisions(tmp_path / "none")


def test_the_command_there_and_back(model: Path, tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text("".join(json.dumps({"id": row["id"], "text": row["text"]}) + "\n" for row in texts()[:4]))
    assert run("link", model, source, "--escalate", 0.99, "-o", out)[0] == 0
    lines = (tmp_path / "out.jsonl.doubtful.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert rows
    assert "title" not in rows[0]
    chosen = rows[0]["candidates"][-1]["title"]
    decided = tmp_path / "decided.jsonl"
    decided.write_text("\n".join(json.dumps(row | ({"title": chosen} if row is rows[0] else {})) for row in rows))
    assert run("link", model, source, "--decided", decided, "-o", out, "--overwrite")[0] == 0
    [document] = [
        each for each in map(json.loads, out.read_text("utf-8").splitlines()) if each["id"] == rows[0]["document"]
    ]
    [mention] = [each for each in document["mentions"] if each["start"] == rows[0]["start"]]
    assert (mention["title"], mention["confidence"]) == (chosen, 1)
    assert run("link", model, source, "--escalate", 0.9)[0] == 2


def escalated(model: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A run whose doubtful mentions have been written; a person has decided the first of them."""
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(json.dumps({"id": "a", "text": f"{TEXT} \u2028 The Oval."}, ensure_ascii=False) + "\n")
    assert run("link", model, source, "--escalate", 1, "-o", out)[0] == 0
    file = tmp_path / "out.jsonl.doubtful.jsonl"
    first, *rest = file.read_bytes().split(b"\n")
    file.write_bytes(b"\n".join([json.dumps(json.loads(first) | {"title": "Croft (land)"}).encode(), *rest]))
    return source, file


@pytest.mark.parametrize("more", [[], ["--overwrite"], ["--overwrite", "--decided", "DECIDED"]])
def test_decisions_are_never_replaced(model: Path, tmp_path: Path, more: list[str]) -> None:
    source, file = escalated(model, tmp_path)
    before = file.read_bytes()
    given = [file if each == "DECIDED" else each for each in more]
    code, _, said = run("link", model, source, "--escalate", 1, "-o", tmp_path / "out.jsonl", *given)
    assert (code, file.read_bytes()) == (1, before)
    assert "doubtful.jsonl" in said or "out.jsonl: exists already" in said
    code, *_ = run("link", model, source, "--escalate", 1, "-o", tmp_path / "second.jsonl", "--decided", file)
    assert code == 0
    assert file.read_bytes() == before


def test_a_run_that_fails_leaves_the_doubtful_mentions_of_the_last(model: Path, tmp_path: Path) -> None:
    _, file = escalated(model, tmp_path)
    _, *undecided = file.read_bytes().split(b"\n")
    file.write_bytes(b"\n".join(undecided))
    before, empty = file.read_bytes(), tmp_path / "empty.jsonl"
    empty.write_text("\n")
    assert run("link", model, empty, "--escalate", 1, "-o", tmp_path / "out.jsonl", "--overwrite")[0] == 1
    assert file.read_bytes() == before


def test_decisions_are_read_with_any_line_separators(model: Path, tmp_path: Path) -> None:
    """U+2028 and others end a line for `str.splitlines`, but not in JSON lines."""
    _, file = escalated(model, tmp_path)
    assert "\u2028".encode() in file.read_bytes()
    assert read_decisions(file) == {"a": {(0, 5): "Croft (land)"}}
