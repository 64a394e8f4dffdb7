"""A name has one writer at a time, which writes all of it."""

import multiprocessing
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from wikilda._core import atomic
from wikilda._core.atomic import lock, new_directory, new_file, open_private, place_directory, write_text
from wikilda._core.errors import BusyError, InputError


def names(path: Path) -> list[str]:
    return sorted(each.name for each in path.iterdir())


def test_a_file_has_its_name_when_it_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    write_text(target, "one\n")
    with new_file(target) as beside:
        beside.write_text("two")
        assert target.read_text() == "one\n"
        assert names(tmp_path) == ["a.txt", "a.txt.lock", "a.txt.writing"]
    assert (target.read_text(), names(tmp_path)) == ("two", ["a.txt"])


def fail_to_write(tmp_path: Path) -> None:
    with new_file(tmp_path / "file") as file:
        file.write_text("half")
        (tmp_path / "none").read_text()


def fail_to_fill(target: Path) -> None:
    with new_directory(target) as made:
        (made / "a").write_text("half")
        (made / "none").read_text()


def test_an_error_leaves_what_was_there(tmp_path: Path) -> None:
    write_text(tmp_path / "file", "old")
    with pytest.raises(FileNotFoundError):
        fail_to_write(tmp_path)
    with pytest.raises(FileNotFoundError):
        fail_to_fill(tmp_path / "directory")
    assert names(tmp_path) == ["file"]
    assert (tmp_path / "file").read_text() == "old"


def test_what_is_no_file_is_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()))
    read: list[str] = []
    reader.start()
    write_text(tmp_path / "pipe", "through")
    reader.join()
    assert read == ["through"]


@pytest.mark.parametrize("can_exchange", [True, False])
def test_a_directory_takes_the_place_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, can_exchange: bool
) -> None:
    if not can_exchange:
        monkeypatch.setattr(atomic, "exchange", lambda one, other: False)
    for text in ("one", "two"):
        with new_directory(tmp_path / "x") as made:
            (made / text).write_text(text)
    assert (names(tmp_path), names(tmp_path / "x")) == (["x"], ["two"])


def test_links_at_temporary_names_are_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("old")
    (tmp_path / "a.writing").symlink_to(precious)
    (tmp_path / "d.writing").symlink_to(tmp_path)
    write_text(tmp_path / "a", "new")
    with new_directory(tmp_path / "d") as made:
        (made / "precious").write_text("new")
    (tmp_path / "l").symlink_to(precious)
    with pytest.raises(InputError, match="is a symbolic link"):
        open_private(tmp_path / "l")
    assert precious.read_text() == "old"
    assert (tmp_path / "a").read_text() == "new"


def test_outputs_have_the_mode_that_the_user_gives_to_files(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "file", "")
        with new_directory(tmp_path / "directory"):
            pass
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "directory").stat().st_mode) == 0o750


def test_what_gets_a_name_is_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rename may reach the disk before the data, unless files and directories are synced: in this order."""
    done: list[str] = []
    before = atomic.sync
    monkeypatch.setattr(atomic, "sync", lambda path: (done.append(path.name), before(path))[1])
    write_text(tmp_path / "file", "")
    assert done == ["file.writing", tmp_path.name]
    done.clear()
    with new_directory(tmp_path / "x") as made:
        (made / "a").write_text("")
    assert done == ["a", "x.writing", tmp_path.name]


def test_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "x").symlink_to("real")
    with new_directory(tmp_path / "x") as made:
        (made / "a").write_text("")
    assert names(tmp_path) == ["real", "x"]
    assert not (tmp_path / "x").is_symlink()
    assert names(tmp_path / "real") == []


def test_killed_between_two_renames_nothing_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where names cannot be exchanged, the old one has no name for a moment: the next who writes gives it back."""
    monkeypatch.setattr(atomic, "exchange", lambda one, other: False)
    (tmp_path / "x.replaced").mkdir()
    (tmp_path / "x.replaced" / "old").write_text("")
    with pytest.raises(FileNotFoundError):
        fail_to_fill(tmp_path / "x")
    assert (names(tmp_path), names(tmp_path / "x")) == (["x"], ["old"])


def test_the_thread_that_has_a_lock_may_take_it_again(tmp_path: Path) -> None:
    with lock(tmp_path / "x"):
        with lock(tmp_path / "x"):
            pass
        assert names(tmp_path) == ["x.lock"]
        refused: list[BaseException] = []

        def other() -> None:
            try:
                write_text(tmp_path / "x", "")
            except BusyError as error:
                refused.append(error)

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert "x: another process is writing it" in str(refused[0])
    assert names(tmp_path) == []
    place_directory(tmp_path, tmp_path.with_name("moved"))


_HOLD = """
import sys, time
from pathlib import Path
from wikilda._core.atomic import new_directory
with new_directory(Path(sys.argv[1])) as made:
    (made / "half").write_text("")
    print("holding", flush=True)
    sys.stdin.read()
"""


def test_a_killed_writer_lets_go(tmp_path: Path) -> None:
    target = tmp_path / "x"
    command = [sys.executable, "-c", _HOLD, str(target)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline()
        with pytest.raises(BusyError), new_directory(target):
            pass
        assert (target.with_name("x.writing") / "half").exists()
        holder.kill()
    with new_directory(target):
        pass
    assert (names(tmp_path), names(target)) == (["x"], [])


def _write(target: Path, rounds: int, found: "multiprocessing.Queue[str]") -> None:
    for number in range(rounds):
        try:
            with new_directory(target) as made:
                for name in "abcdefgh":
                    (made / name).write_text(f"{os.getpid()} {number}")
            found.put("written")
        except BusyError:
            found.put("refused")


def test_many_who_write_one_name(tmp_path: Path) -> None:
    """Each succeeds or is refused, and what is there at any time is of one writer."""
    context = multiprocessing.get_context("spawn")
    found = context.Queue()
    target = tmp_path / "x"
    writers = [context.Process(target=_write, args=(target, 50, found)) for _ in range(3)]
    for each in writers:
        each.start()
    seen = [found.get(timeout=60) for _ in range(150)]
    for each in writers:
        each.join()
        assert each.exitcode == 0
    assert set(seen) <= {"written", "refused"}
    assert len({(target / name).read_text() for name in "abcdefgh"}) == 1
    assert names(tmp_path) == ["x"]
