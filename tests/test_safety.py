"""docs/safety.md lists promises; each names the tests that hold it."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "safety.md"


def tables() -> list[list[str]]:
    """The rows of the tables whose last column is `test`, without their heads."""
    rows: list[list[str]] = []
    inside = False
    for line in PAGE.read_text("utf-8").split("\n"):
        cells = [each.strip() for each in line.strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            inside = False
        elif cells[-1] == "test":
            inside = True
        elif inside and set(line) - set("|- :"):
            rows.append(cells)
    return rows


def names_in(file: Path) -> set[str]:
    found = ast.walk(ast.parse(file.read_text("utf-8")))
    return {each.name for each in found if isinstance(each, ast.FunctionDef) and each.name.startswith("test_")}


@pytest.mark.parametrize("row", tables(), ids=lambda row: row[0][:60])
def test_every_promise_names_tests_that_are_there(row: list[str]) -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", row[-1])
    assert named, f"no test: {row[0]}"
    assert row[-1].count("`") == 2 * len(named), f"not the name of a test: {row[-1]}"
    for file, name in named:
        there = names_in(ROOT / file)
        assert there, file
        assert not name or name in there, f"{file} has no {name}"


def test_there_are_promises() -> None:
    assert len(tables()) > 30


_OFFLINE = """
import socket, sys
class NoNetwork(socket.socket):
    def connect(self, *_): raise AssertionError("a connection was opened")
    connect_ex = sendto = bind = connect
socket.socket = NoNetwork
socket.getaddrinfo = socket.create_connection = NoNetwork.connect
import wikilda
from wikilda.sample import WIKI
linked = wikilda.Linker.open(sys.argv[1]).link("Croft took five wickets for England.")
print(linked.mentions[0].entity.title)
"""


def test_importing_and_linking_need_no_network(model: Path) -> None:
    done = subprocess.run([sys.executable, "-c", _OFFLINE, str(model)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "Robert Croft\n"), done.stderr
