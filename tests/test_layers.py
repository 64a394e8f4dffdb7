"""The rooms of docs/architecture.md: all are there, imports run downward only, private modules stay in their room."""

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import wikilda

SOURCE = Path(wikilda.__file__).parent
TABLE = Path(__file__).parents[1] / "docs" / "architecture.md"


def name_of(file: Path) -> str:
    return ".".join(file.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")


MODULES = {name_of(file): file for file in sorted(SOURCE.rglob("*.py"))}


def imported(module: str, *, top_level: bool) -> Iterator[str]:
    """The modules of the package that a module imports, anywhere or when it is imported itself."""
    tree = ast.parse(MODULES[module].read_text("utf-8"))
    for node in tree.body if top_level else ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "wikilda":
            for alias in node.names:
                inside = f"{node.module}.{alias.name}"
                yield inside if inside in MODULES else node.module


def rooms() -> dict[str, int]:
    """By folder the row of the table in which it is."""
    rows = [line.split("|")[1] for line in TABLE.read_text("utf-8").splitlines() if line.startswith("| `")]
    found = {name.rstrip("/"): at for at, row in enumerate(rows) for name in re.findall(r"`([^`]+)`", row)}
    return {name.removesuffix(".py"): at for name, at in found.items()}


def test_every_room_is_described() -> None:
    there = {each.stem for each in SOURCE.iterdir() if each.name != "py.typed" and not each.stem.startswith("__")}
    assert there == set(rooms())


@pytest.mark.parametrize("module", MODULES)
def test_imports_run_downward(module: str) -> None:
    rows, own = rooms(), module.split(".")[1] if "." in module else ""
    for other in imported(module, top_level=False):
        if other != "wikilda":
            room = other.split(".")[1]
            assert rows[room] <= rows.get(own, len(rows)), f"{module} imports {other}"


@pytest.mark.parametrize("module", MODULES)
def test_private_modules_stay_in_their_room(module: str) -> None:
    """`a/b/_c.py` is for modules in `a/b` only."""
    for other in imported(module, top_level=False):
        parts = other.split(".")
        for at, part in enumerate(parts):
            if part.startswith("_") and not part.startswith("__"):
                assert module.split(".")[:at] == parts[:at], f"{module} imports {other}"


def test_no_imports_in_a_circle() -> None:
    graph = {module: set(imported(module, top_level=True)) - {module, "wikilda"} for module in MODULES}
    for module in MODULES:  # a package's own exports are its modules', and these may import their package's constants
        if MODULES[module].name == "__init__.py":
            graph[module] = {other for other in graph[module] if not other.startswith(f"{module}.")}
    assert list(TopologicalSorter(graph).static_order())


def test_tests_import_helpers_instead_of_tests() -> None:
    root = Path(__file__).parents[1]
    for file in [*root.glob("tests/**/*.py"), *root.glob("benchmarks/**/*.py")]:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            name = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            assert not name.rpartition(".")[2].startswith("test_"), f"{file.relative_to(root)} imports {name}"
