"""`wikilda link` as a person and a script meet it: formats, bad input, pipes, interruptions and kills."""

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.commands import run
from tests.processes import besides_compiling, elsewhere
from wikilda._core.errors import InputError
from wikilda.documents.writing import json_line
from wikilda.linking import Document
from wikilda.linking.files import Journal
from wikilda.sample import texts

COMMAND = [sys.executable, "-m", "wikilda", "link"]
CROFT = texts()[0]["text"]


def corpus(path: Path, documents: int) -> Path:
    path.write_text("".join(json.dumps({"text": f"{at} {CROFT[:200]}"}) + "\n" for at in range(documents)), "utf-8")
    return path


def rows_of(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_raw_text_in_json_lines_out(model: Path) -> None:
    done = subprocess.run([*COMMAND, model, "-"], input=CROFT.encode(), capture_output=True, check=True)
    assert besides_compiling(done.stderr.decode()) == ""
    [row] = [json.loads(line) for line in done.stdout.splitlines()]
    assert {each["text"]: each["title"] for each in row["mentions"]}["Croft"] == "Robert Croft"
    for each in row["mentions"]:
        assert CROFT[each["start"] : each["end"]] == each["text"]


def test_units_of_offsets(model: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("😀 " + CROFT, "utf-8")
    for unit, start in (("code-points", 2), ("utf-16", 3), ("bytes", 5)):
        code, out, _ = run("link", model, file, "--set", f"offsets={unit}")
        assert code == 0
        assert json.loads(out)["mentions"][0]["start"] == start


def test_formats_by_name_and_topics(model: Path, tmp_path: Path) -> None:
    source = corpus(tmp_path / "in.jsonl", 3)
    for name in ("a.jsonl", "a.tsv", "a.parquet", "a.html"):
        code, out, err = run("link", model, source, "-o", tmp_path / name)
        assert (code, out) == (0, "")
        assert f"3 documents ({err.split('(')[1]}" == err
    assert pq.read_table(tmp_path / "a.parquet").to_pylist() == rows_of(tmp_path / "a.jsonl")
    assert (tmp_path / "a.html").read_bytes().startswith(b"<!doctype html>")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.html", "a.jsonl", "a.parquet", "a.tsv", "in.jsonl"]
    code, out, _ = run("link", model, source, "--no-mentions", "--topics", 3)
    assert code == 0
    first = json.loads(out.splitlines()[0])
    assert "mentions" not in first
    assert len(first["topics"]) == 3
    code, out, _ = run("link", model, source, "--no-mentions", "--table")
    assert (code, "share" in out) == (0, True)


def test_workers_change_nothing(model: Path, tmp_path: Path) -> None:
    source = corpus(tmp_path / "in.jsonl", 40)
    assert run("link", model, source, "-j", 1) == run("link", model, source, "-j", 3)


def test_html_is_reported_and_linked_as_it_is_seen(model: Path, tmp_path: Path) -> None:
    text = "<p><b>Robert</b> <i>Croft</i> took five wickets for Gla-\nmorgan.</p>"
    (tmp_path / "in.jsonl").write_text(json.dumps({"id": "a", "text": text}) + "\n", "utf-8")
    code, out, err = run("link", model, tmp_path / "in.jsonl")
    assert code == 0
    mentions = json.loads(out)["mentions"]
    assert [(each["text"], each["title"]) for each in mentions] == [
        ("Robert</b> <i>Croft", "Robert Croft"), ("Gla-\nmorgan", "Glamorgan County Cricket Club"),
    ]  # fmt: skip
    assert "document 'a' is HTML" in err


def test_bad_documents_are_reported_and_skipped(model: Path, tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(
        '{"id": "a", "text": "Croft"}\nno\n{"id": "b", "text": "x", "mentions": [[3, 1]]}\n{"id": "c", "text": "y"}\n'
    )
    code, out, err = run("link", model, source)
    assert code == 3
    assert [json.loads(line)["id"] for line in out.splitlines()] == ["a", "c"]
    first, second = err.splitlines()
    assert first.startswith(f"wikilda: {source}: line 2: is not JSON")
    assert "line 3: document 'b': the mention [3, 1)" in second
    code, _, err = run("link", model, source, "-o", tmp_path / "out.jsonl")
    assert code == 3
    assert "2 documents, 2 skipped" in err
    source.write_text("no\n" * 50)
    code, out, err = run("link", model, source)
    assert (code, out, len(err.splitlines())) == (3, "", 21)
    assert err.endswith("50 documents were skipped in all.\n")


@pytest.mark.parametrize(
    ("name", "data", "code", "words"),
    [
        ("a.bin", b"\x7fELF\0\0\0", 3, "zero byte at 4: it is a binary file"),
        ("a.txt", b"caf\xe9", 3, "is not UTF-8 (unexpected end of data at byte 3)"),
        ("a.txt", b"", 3, "a.txt: is empty"),
        ("a.jsonl", b"", 1, "there are no documents"),
        ("a.csv", b"body\nx\n", 1, "has no column 'text'; it has: body. Name one with --text-column"),
        ("a.parquet", b"x", 1, "is not a Parquet file"),
    ],
)
def test_bad_input_gets_one_message(model: Path, tmp_path: Path, name: str, data: bytes, code: int, words: str) -> None:
    (tmp_path / name).write_bytes(data)
    for output in ([], ["-o", tmp_path / "out.jsonl"]):
        found, out, err = run("link", model, tmp_path / name, *output)
        assert (found, out) == (code, "")
        assert err.splitlines()[0].startswith("wikilda: ")
        assert words in err.splitlines()[0]
    assert (tmp_path / "out.jsonl").exists() == (code == 3)
    assert not list(tmp_path.glob("*.partial*"))


def test_a_line_of_100_megabytes_is_refused_without_being_held(model: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    with file.open("wb") as out:
        out.write(b'{"text": "')
        for _ in range(100):
            out.write(b"word " * 200_000)
        out.write(b'"}\n{"text": "Croft"}\n')
    measured = "import resource, sys; from wikilda.cli import main\ntry: main()\nfinally: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
    small = tmp_path / "b.jsonl"
    small.write_text('{"text": "Croft"}\n')
    peaks = []
    for source in (small, file):
        command = [sys.executable, "-c", measured, "link", str(model), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        *messages, peak = done.stderr.splitlines()
        peaks.append(int(peak))
    assert done.returncode == 3
    assert "line 1: is larger than 10,000,000 bytes" in messages[0]
    assert json.loads(done.stdout)["mentions"][0]["text"] == "Croft"
    assert peaks[1] - peaks[0] < 60_000  # KB


def test_wrong_options(model: Path, tmp_path: Path) -> None:
    file = corpus(tmp_path / "in.jsonl", 1)
    for options, words in (
        (["--detector", "regex"], "there is no detector 'regex'"),
        (["--set", "recall"], "takes NAME=VALUE"),
        (["--set", "upper=1"], "unknown setting upper"),
        (["--output-format", "parquet"], "Name a file with -o"),
        (["-o", file], "is also an input"),
    ):
        code, out, err = run("link", model, file, *options)
        assert (code, out) == (1, "")
        assert words in err
    assert run("link", model, tmp_path / "nowhere")[0] == 1
    assert run("link", model, file, "--set", "recall=1", "-o", file.with_name("o.jsonl"))[0] == 0


def test_a_closed_pipe_is_no_error_message(model: Path, tmp_path: Path) -> None:
    source = corpus(tmp_path / "in.jsonl", 400)
    with subprocess.Popen([*COMMAND, model, source], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 141


@contextmanager
def _started(command: list[object], source: Path, note: Path) -> "Iterator[subprocess.Popen[bytes]]":
    """A run that has counted some documents, and cannot end: its source is a pipe, and all of a file afterwards."""
    data = source.read_bytes()
    source.unlink()
    os.mkfifo(source)
    pipe = os.open(source, os.O_RDWR | os.O_NONBLOCK)
    words = [str(each) for each in command]
    with subprocess.Popen(words, stderr=subprocess.PIPE, preexec_fn=_hear_interrupts) as process:
        feeder = threading.Thread(target=_feed, args=(pipe, data.splitlines(keepends=True), process))
        feeder.start()
        try:
            for _ in range(1200):
                if note.exists() and json.loads(note.read_text().partition(" ")[2])["read"] > 0:
                    break
                assert process.poll() is None
                time.sleep(0.05)
            yield process
        finally:
            process.kill()
            feeder.join()
            os.close(pipe)
            source.unlink()
            source.write_bytes(data)


def _hear_interrupts() -> None:
    """What is started in the background of a shell does not; then neither would what it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _feed(pipe: int, lines: list[bytes], process: "subprocess.Popen[bytes]") -> None:
    """Write lines one by one, without an end; a signal is noticed between two of them."""
    for line in lines:
        while process.poll() is None:
            with suppress(BlockingIOError):
                os.write(pipe, line)
                break
            time.sleep(0.005)
        if process.poll() is not None:
            return
        time.sleep(0.005)


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGINT])
def test_a_stopped_run_goes_on_where_it_was(model: Path, tmp_path: Path, stop: signal.Signals) -> None:
    source = corpus(tmp_path / "in.jsonl", 500)
    with source.open("a") as file:
        file.write("not a document\n" + '{"text": "Croft"}\n')
    output, note = tmp_path / "out.jsonl", tmp_path / "out.jsonl.partial" / "note.json"
    command = [*COMMAND, model, source, "-o", output, "-j", 2, "--set", "tolerance=0.1"]
    with _started(command, source, note) as process:
        os.kill(process.pid, stop)
        process.wait(60)
        assert process.stderr is not None
        words = process.stderr.read().decode()
    assert not output.exists()
    if stop == signal.SIGINT:
        assert process.returncode == 130
        assert "rerun the same command to resume" in words
    with (note.parent / "results.jsonl").open("ab") as torn:
        torn.write(b'{"id": "half a l')
    code, _, err = run(*command[3:])
    assert code == 3
    done = json.loads(err.split("after ")[1].split(" ")[0].replace(",", ""))
    assert 0 < done < 500
    whole = tmp_path / "whole.jsonl"
    assert run("link", model, source, "-o", whole, "--set", "tolerance=0.1")[0] == 3
    assert output.read_bytes() == whole.read_bytes()
    assert len(rows_of(output)) == 501
    assert not list(tmp_path.glob("*.partial*"))


class _Interrupting(deque[bytes]):
    """Digests; whoever takes one is interrupted, after the answer was written and before it is counted."""

    def popleft(self) -> bytes:
        raise KeyboardInterrupt


@pytest.mark.parametrize("counted", [0, 3])
def test_an_interruption_in_the_middle_of_a_document_doubles_nothing(tmp_path: Path, counted: int) -> None:
    documents = [Document(f"text {at}", None, str(at)) for at in range(6)]
    journal = Journal(tmp_path / "out.jsonl", "jsonl", {"a": 1})
    for at, document in enumerate(journal.remaining(documents)):
        assert isinstance(document, Document)
        if at == counted:
            journal._digests = _Interrupting(journal._digests)
            with pytest.raises(KeyboardInterrupt):
                journal.add(json_line({"id": document.id}))
            break
        journal.add(json_line({"id": document.id}))
    journal.save()
    journal._files[0].close()
    again = Journal(tmp_path / "out.jsonl", "jsonl", {"a": 1})
    assert again.resumed == counted
    if counted:
        for others in (documents[:2], documents[1:]):
            with pytest.raises(InputError, match="its first 3 documents are not those"):
                list(again.remaining(others))
    for document in again.remaining(documents):
        again.add(json_line({"id": document.id}) if isinstance(document, Document) else b"")
    again.finish()
    assert [row["id"] for row in rows_of(tmp_path / "out.jsonl")] == [each.id for each in documents]


def test_a_journal_refuses_other_documents_and_other_settings(model: Path, tmp_path: Path) -> None:
    source, output = corpus(tmp_path / "in.jsonl", 500), tmp_path / "out.tsv"
    note = tmp_path / "out.tsv.partial" / "note.json"
    command = [*COMMAND, model, source, "-o", output, "-j", 2]
    with _started(command, source, note) as process:
        process.kill()
    code, _, err = run(*command[3:], "-n", 2)
    assert (code, "belongs to a run with another candidates" in err) == (1, True)
    first, *rest = source.read_text().splitlines(keepends=True)
    source.write_text(first.replace("England", "Ireland") + "".join(rest[:20]))
    code, _, err = run(*command[3:])
    assert code == 1
    assert "are not those of the input" in err
    code, _, err = run(*command[3:], "-n", 2, "--overwrite")
    assert (code, "21 documents" in err) == (0, True)


def test_two_runs_cannot_write_one_file(model: Path, tmp_path: Path) -> None:
    source = corpus(tmp_path / "in.jsonl", 2)
    journal = Journal(tmp_path / "out.jsonl", "jsonl", {})
    code, _, err = elsewhere(lambda: run("link", model, source, "-o", tmp_path / "out.jsonl"))
    assert (code, "another process is writing" in err) == (1, True)
    journal.close()
    assert run("link", model, source, "-o", tmp_path / "out.jsonl")[0] == 0


def test_on_a_terminal_answers_and_bar_do_not_run_together(model: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("Croft bowled for England.")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "wikilda", "link", str(model), str(file), "--table"]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs) as started:
        os.close(theirs)
        seen = b""
        with contextlib.suppress(OSError):  # how a terminal ends
            while piece := os.read(ours, 4096):
                seen += piece
    os.close(ours)
    assert started.returncode == 0
    assert b"Robert Croft" in seen
    assert b"linking" not in seen


def test_an_output_without_its_directory(model: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("Croft bowled for England.")
    code, _, err = run("link", model, file, "-o", tmp_path / "no" / "x.jsonl")
    assert code == 1
    assert f"there is no directory {tmp_path / 'no'}" in err
