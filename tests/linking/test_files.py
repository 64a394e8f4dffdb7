"""`link_files`: the command's work as a call, resumed after an interruption."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from wikilda import Bad, InputError, Linked, Linker, ReadSettings, Restriction, link_files, read_documents
from wikilda.cli import cli
from wikilda.linking.files import Job, Observer, run
from wikilda.sample import texts


def write(path: Path, count: int) -> Path:
    rows = [{"id": str(at), "text": texts()[at % 3]["text"][:120]} for at in range(count)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + "no\n", "utf-8")
    return path


class Interrupting(Observer):
    """Interrupts a run after some documents."""

    def __init__(self, after: int) -> None:
        self.left, self.seen, self.before = after, 0, (0, 0)

    def resume(self, documents: int, bad: int) -> None:
        self.before = (documents, bad)

    def note(self, linked: Linked | Bad) -> None:
        self.seen += 1
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


def test_results_are_those_of_the_linker_and_the_skipped_are_counted(
    model: Path, linker: Linker, tmp_path: Path
) -> None:
    source = write(tmp_path / "in.jsonl", 4)
    done = link_files(str(model), str(source), str(tmp_path / "out.jsonl"), workers=2, candidates=3)
    assert done == (tmp_path / "out.jsonl", 4, 1)
    rows = [json.loads(line) for line in done.output.read_text("utf-8").splitlines()]
    assert [row["id"] for row in rows] == ["0", "1", "2", "3"]
    assert {len(each["candidates"]) for row in rows for each in row["mentions"]} <= {0, 1, 2, 3}


def test_an_interrupted_run_resumes_and_gives_the_same_bytes(model: Path, tmp_path: Path) -> None:
    source, output = write(tmp_path / "in.jsonl", 9), tmp_path / "out.jsonl"
    with pytest.raises(KeyboardInterrupt):
        link_files(model, source, output, workers=1, topics=0, observer=Interrupting(4))
    assert not output.exists()
    with pytest.raises(InputError, match="belongs to a run with another method, settings"):
        link_files(model, source, output, workers=1, topics=0, method="lda")
    rest = Interrupting(100)
    done = link_files(model, source, output, workers=1, topics=0, observer=rest)
    assert (rest.before, rest.seen) == ((4, 0), 6)
    assert (done.documents, done.skipped) == (9, 1)
    whole = link_files(model, source, tmp_path / "whole.jsonl", workers=3, topics=0)
    assert whole.output.read_bytes() == output.read_bytes()


def test_a_row_that_is_repaired_before_a_resume_is_not_left_out(model: Path, tmp_path: Path) -> None:
    """The run has skipped it: the rest would not be the answers of the file."""
    source, output = write(tmp_path / "in.jsonl", 9), tmp_path / "out.jsonl"
    lines = source.read_text("utf-8").split("\n")
    source.write_text("\n".join([lines[0], "no", *lines[2:]]), "utf-8")
    with pytest.raises(KeyboardInterrupt):
        link_files(model, source, output, workers=1, topics=0, observer=Interrupting(4))
    source.write_text("\n".join(lines), "utf-8")
    with pytest.raises(InputError, match="are not those of the input"):
        link_files(model, source, output, workers=1, topics=0)


def test_what_cannot_be_done(model: Path, tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", 1)
    for output, words in (("out.txt", "ends in .jsonl"), ("no/out.jsonl", "there is no directory")):
        with pytest.raises(InputError, match=words):
            link_files(model, source, tmp_path / output)
    with pytest.raises(InputError, match="there are no files to link"):
        link_files(model, [], tmp_path / "out.jsonl")
    csv = tmp_path / "a.csv"
    csv.write_text("id,text\n1,x\n")
    with pytest.raises(InputError, match="has no column 'body'"):
        link_files(model, csv, tmp_path / "out.jsonl", reading=ReadSettings(text_column="body"))
    assert not list(tmp_path.glob("out*"))


UNKNOWN = "We met Zebulon Quux in England. Croft told Zebulon Quux of it. Mr Quibble left."


def test_side_outputs_of_a_resumed_run_are_those_of_a_whole_one(model: Path, tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps({"id": str(at), "text": f"{at}. {UNKNOWN}"}) + "\n" for at in range(9)))

    def files(name: str) -> list[Path]:
        return [tmp_path / name, tmp_path / f"{name}.doubtful.jsonl", tmp_path / f"{name}.unknown.jsonl"]

    def go(name: str, observer: Observer) -> None:
        job = Job(model, escalate=1.0)
        out, _, unknown = files(name)
        run(job, read_documents([source]), [source], out, None, 1, observer, overwrite=False, unknown=unknown)

    go("whole.jsonl", Observer())
    for after in (3, 2):
        with pytest.raises(KeyboardInterrupt):
            go("again.jsonl", Interrupting(after))
        assert [each.name for each in sorted(tmp_path.glob("again*"))] == ["again.jsonl.partial"]
    go("again.jsonl", Observer())
    for whole, again in zip(files("whole.jsonl"), files("again.jsonl"), strict=True):
        assert len(whole.read_bytes()) > 100
        assert whole.read_bytes() == again.read_bytes()
    assert json.loads(files("again.jsonl")[2].read_text().split("\n")[0])["count"] == 18
    assert sorted(tmp_path.iterdir()) == sorted([source, *files("whole.jsonl"), *files("again.jsonl")])


def test_a_run_killed_while_outputs_get_their_names_resumes(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, output = write(tmp_path / "in.jsonl", 3), tmp_path / "out.tsv"
    names = tmp_path / "names.jsonl"
    with monkeypatch.context() as patch:
        patch.setattr("wikilda.linking.files.write_file", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            link_files(model, source, output, workers=1, unknown=names)
    assert names.exists()
    assert not output.exists()
    assert link_files(model, source, output, workers=1, unknown=names).documents == 3
    with pytest.raises(InputError, match=r"names\.jsonl: exists already"):
        link_files(model, source, tmp_path / "other.jsonl", workers=1, unknown=names)


def test_outputs_that_cannot_be_written_are_refused_before_the_work(model: Path, tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", 1)
    (tmp_path / "directory.jsonl").mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("precious")
    (tmp_path / "planted.jsonl.partial").symlink_to(elsewhere)
    (tmp_path / "inside.jsonl.partial").mkdir()
    (tmp_path / "inside.jsonl.partial" / "results.jsonl").symlink_to(elsewhere)
    for name, words in (
        ("directory.jsonl", "is a directory"), ("in.jsonl", "is also an input"), ("planted.jsonl", "is in the way"),
        ("inside.jsonl", "is a symbolic link"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=words):
            link_files(model, source, tmp_path / name, overwrite=True)
    with pytest.raises(InputError, match="is also an input"):
        link_files(model, source, tmp_path / "out.jsonl", overwrite=True, unknown=source)
    assert elsewhere.read_text() == "precious"


@pytest.mark.parametrize("damaged", ["results.jsonl", "side-0.jsonl", "note.json"])
@pytest.mark.parametrize("way", ["changed", "shorter", "gone"])
def test_a_journal_that_is_damaged_is_made_again(model: Path, tmp_path: Path, damaged: str, way: str) -> None:
    source, output, names = write(tmp_path / "in.jsonl", 9), tmp_path / "out.jsonl", tmp_path / "names.jsonl"
    with pytest.raises(KeyboardInterrupt):
        link_files(model, source, output, workers=1, topics=0, unknown=names, observer=Interrupting(4))
    file = tmp_path / "out.jsonl.partial" / damaged
    data = file.read_bytes()
    if way == "gone":
        file.unlink()
    else:
        file.write_bytes(data[:-8] + b"\0" * (8 if way == "changed" else 0))
    link_files(model, source, output, workers=1, topics=0, unknown=names)
    whole = link_files(model, source, tmp_path / "whole.jsonl", workers=3, topics=0, unknown=tmp_path / "w.jsonl")
    assert output.read_bytes() == whole.output.read_bytes()
    assert names.read_bytes() == (tmp_path / "w.jsonl").read_bytes()


def test_the_function_can_do_what_the_command_can(model: Path, tmp_path: Path) -> None:
    """Restrictions, mentions for a person to decide, and decisions."""
    lines = tmp_path / "news.jsonl"
    lines.write_text("".join(json.dumps(each) + "\n" for each in texts()[:3]), "utf-8")
    by_hand, by_command = tmp_path / "function.jsonl", tmp_path / "command.jsonl"
    only_people = Restriction(types=("person",))
    link_files(model, lines, by_hand, restriction=only_people, escalate=0.99, nested=True)
    command = [
        "link",
        str(model),
        str(lines),
        "-o",
        str(by_command),
        "--type",
        "person",
        "--escalate",
        "0.99",
        "--nested",
    ]
    done = CliRunner().invoke(cli, command)
    assert done.exit_code == 0, done.output
    assert by_hand.read_bytes() == by_command.read_bytes()
    doubtful = sorted(each.name for each in tmp_path.iterdir() if each.name.startswith("function") and each != by_hand)
    assert doubtful, "mentions below the limit are written beside the output"
    decided = tmp_path / doubtful[0]
    assert decided.read_bytes() == (tmp_path / doubtful[0].replace("function", "command")).read_bytes()
    rows = [json.loads(line) for line in decided.read_text("utf-8").splitlines()]
    decided.write_text("".join(json.dumps(row | {"title": None}) + "\n" for row in rows), "utf-8")
    again = link_files(model, lines, tmp_path / "again.jsonl", restriction=only_people, decided=decided, nested=True)
    assert (tmp_path / "again.jsonl").read_bytes() != by_hand.read_bytes()
    assert again.skipped == 0
