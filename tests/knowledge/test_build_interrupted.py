"""A build that is stopped, however, goes on or starts clean, and never looks finished when it is not."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.knowledge.conftest import EASY, ONE, compiled
from tests.processes import elsewhere, is_gone, run_while_filling, small_disk
from tests.wikis import FILLER, page, write_dump
from wikilda._core.errors import WikildaError
from wikilda.knowledge import BuildSettings, Knowledge, build_from_dump
from wikilda.knowledge.from_dump import Extractor

PIECE = 2000


@pytest.fixture
def dump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("wikilda.knowledge.build.PIECE_SIZE", PIECE)
    pages = [page(f"Topic {at}", f"word{at % 7} [[Topic {at * 3 % 60}|name {at % 5}]] {FILLER}") for at in range(60)]
    return write_dump(tmp_path / "wiki.xml", pages)


class Stopping:
    """Lets a number of pieces pass, then raises; counts what passed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, after: int, error: type[BaseException]) -> None:
        self.count, self.after, self.error = 0, after, error
        self.real = Extractor.extract
        monkeypatch.setattr(Extractor, "extract", lambda extractor, *piece: self.extract(extractor, *piece))

    def extract(self, extractor: Extractor, *piece: Any) -> None:
        if self.count == self.after:
            raise self.error
        self.count += 1
        self.real(extractor, *piece)


def test_a_build_goes_on_with_the_pieces_that_are_missing(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = build_from_dump([dump], tmp_path / "whole", EASY, resources=ONE)
    stopped = Stopping(monkeypatch, 3, KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        build_from_dump([dump], tmp_path / "kb", EASY, resources=ONE)
    assert not (tmp_path / "kb").exists()
    assert len(list((tmp_path / "kb.building" / "chunks").iterdir())) == 3
    stopped.after = -1
    made = build_from_dump([dump], tmp_path / "kb", EASY, resources=ONE)
    pieces = -(-dump.stat().st_size // PIECE)
    assert stopped.count == pieces
    assert made.identity == whole.identity
    assert sorted(each.name for each in tmp_path.iterdir()) == ["kb", "whole", "wiki.xml"]


def test_other_inputs_or_settings_start_clean(dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = Stopping(monkeypatch, 3, KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        build_from_dump([dump], tmp_path / "kb", EASY, resources=ONE)
    stopped.count, stopped.after = 0, -1
    build_from_dump([dump], tmp_path / "kb", BuildSettings(min_text=51), resources=ONE)
    assert stopped.count == -(-dump.stat().st_size // PIECE)


SCRIPT = """
import sys
from pathlib import Path
import wikilda.knowledge.build as build
from wikilda.knowledge import BuildSettings, Resources
build.PIECE_SIZE = {piece}
if __name__ == "__main__":
    settings = BuildSettings(max_word_share=1.0, min_word_topics=1)
    build.build_from_dump([Path(sys.argv[1])], Path(sys.argv[2]), settings, resources=Resources({workers}, "300MB"))
"""


def start(tmp_path: Path, dump: Path, workers: int) -> "subprocess.Popen[bytes]":
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(piece=PIECE, workers=workers))
    return subprocess.Popen([sys.executable, str(script), str(dump), str(tmp_path / "kb")], start_new_session=True)


def moments(tmp_path: Path) -> Iterator[bool]:
    """When to kill: once some pieces are there, then once the second half has begun."""
    yield len(list(tmp_path.glob("kb.building/chunks/??????"))) >= 4
    yield (tmp_path / "kb.writing").exists()


@pytest.mark.skipif(not compiled(), reason="uncompiled processes are too slow to be caught in the act")
def test_killed_at_any_moment_the_result_is_the_same(dump: Path, tmp_path: Path) -> None:
    whole = build_from_dump([dump], tmp_path / "whole", EASY, resources=ONE)
    for which, workers in enumerate((2, 1)):
        running = start(tmp_path, dump, workers)
        until = time.monotonic() + 60
        while running.poll() is None and time.monotonic() < until and not list(moments(tmp_path))[which]:
            time.sleep(0.002)
        if running.poll() is None:
            os.kill(running.pid, signal.SIGKILL)  # only the parent: its workers must notice
        running.wait()
        assert is_gone(running.pid)
        assert not (tmp_path / "kb").exists() or (tmp_path / "kb" / "manifest.json").exists()
    running = start(tmp_path, dump, 2)
    assert running.wait(120) in (0, 1)  # 1: a kill came too late, the knowledge was there
    assert Knowledge.open(tmp_path / "kb").identity == whole.identity


def test_two_builds_into_one_directory_do_not_mix(dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def second(*_: Any) -> None:
        with pytest.raises(WikildaError, match="another process"):
            elsewhere(lambda: build_from_dump([dump], tmp_path / "kb", EASY, resources=ONE))
        raise KeyboardInterrupt

    monkeypatch.setattr(Extractor, "extract", second)
    with pytest.raises(KeyboardInterrupt):
        build_from_dump([dump], tmp_path / "kb", EASY, resources=ONE)


@pytest.mark.skipif(not compiled(), reason="starts a process")
def test_a_full_disk_is_one_message(dump: Path, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 2000) as disk:
        steps = [4, 30, 60, 100, 200, 400, 1500]  # it fills up in ever later steps
        tries = run_while_filling(disk, 2_000_000, steps, ["build", dump, "-o", disk / "kb", "--workers", 1])
    for code, complaint, there in tries[:-1]:
        assert code == 1
        assert "disk" in complaint
        assert "kb" not in there
        assert "kb.writing" not in there
    assert len(tries) > 3
    assert tries[-1][0] == 0, "with room enough the same command goes on and ends well"
    assert tries[-1][2] == ["kb"]
