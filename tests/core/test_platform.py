"""Without what only Linux has, everything works."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from wikilda._core import platform
from wikilda._core.npy import create_array, map_array

# A system without what only Linux, or only Unix, has. Whoever imports it gets an ImportError.
BARE = """
import os, sys
for name in ("fcntl", "resource", "uvloop", "grp", "pwd"):
    sys.modules[name] = None
for name in ("fork", "sched_getaffinity", "sched_setaffinity", "posix_fallocate", "register_at_fork", "memfd_create"):
    if hasattr(os, name):
        delattr(os, name)
import ctypes
def no_library(name, *_, **__):
    if name is None:
        raise TypeError("bad argument type for built-in operation")
    return library(name, *_, **__)
library, ctypes.CDLL = ctypes.CDLL, no_library
import builtins, io
def no_proc(file, *more, **named):
    if str(file).startswith("/proc"):
        raise FileNotFoundError(file)
    return opened(file, *more, **named)
opened, builtins.open = builtins.open, no_proc
"""


def run_bare(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", BARE + code], capture_output=True, text=True, check=False, timeout=100)


def test_import_and_help_need_nothing_of_linux() -> None:
    ended = run_bare("import wikilda; print(wikilda.__version__)")
    assert ended.returncode == 0, ended.stderr
    commands = "from wikilda.cli import cli\nimport click\nprint(*cli.list_commands(click.Context(cli)))"
    names = run_bare(commands).stdout.split()
    assert "link" in names
    helps = "\n".join(f"CliRunner().invoke(cli, ['{name}', '--help'], catch_exceptions=False)" for name in names)
    ended = run_bare(f"from click.testing import CliRunner\nfrom wikilda.cli import cli\n{helps}")
    assert ended.returncode == 0, ended.stderr


def test_cores_without_affinity(monkeypatch: pytest.MonkeyPatch) -> None:
    assert platform.available_cores() == len(os.sched_getaffinity(0))
    monkeypatch.delattr(os, "sched_getaffinity")
    assert platform.available_cores() == os.cpu_count()
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert platform.available_cores() == 1


@pytest.mark.parametrize("native", [True, False])
def test_disk_is_reserved_without_fallocate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, native: bool) -> None:
    if not native:
        monkeypatch.delattr(os, "posix_fallocate")
    values = create_array(tmp_path / "a.npy", "u4", 700_000)
    values[:] = 7
    del values
    assert (map_array(tmp_path / "a.npy") == 7).all()
    assert (tmp_path / "a.npy").stat().st_blocks * 512 >= 2_800_000
    with (tmp_path / "b").open("w+b") as file:
        file.write(b"kept")
        platform.reserve(file, 3_000_000)
        file.seek(0)
        assert file.read() == b"kept" + bytes(2_999_996)


def test_names_are_exchanged_or_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").write_text("b")
    assert platform.exchange(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "a").read_text() == "b"
    assert not platform.exchange(tmp_path / "a", tmp_path / "none")
    monkeypatch.setattr(platform, "_libc", lambda name: None)
    assert not platform.exchange(tmp_path / "a", tmp_path / "b")
    platform.end_with_parent()


def test_the_users_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert platform.cache_directory() == tmp_path / "wikilda"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for system, place in (("linux", ".cache"), ("darwin", "Library/Caches"), ("win32", "AppData/Local")):
        monkeypatch.setattr(sys, "platform", system)
        assert platform.cache_directory() == tmp_path / place / "wikilda"
