"""docs/architecture.md has all folders, in an order in which imports run upward only."""

import ast
import re
from pathlib import Path

import wikilda

SOURCE = Path(wikilda.__file__).parent
TABLE = Path(__file__).parents[1] / "docs" / "architecture.md"


def layers() -> dict[str, int]:
    """By folder or module the row of the table in which it is."""
    rows = [line.split("|")[1] for line in TABLE.read_text("utf-8").splitlines() if line.startswith("| `")]
    found = {name.rstrip("/"): at for at, row in enumerate(rows) for name in re.findall(r"`([^`]+)`", row)}
    return {name.removesuffix(".py"): at for name, at in found.items()}


def test_every_folder_is_described() -> None:
    there = {each.stem for each in SOURCE.iterdir() if each.name != "py.typed" and not each.stem.startswith("__")}
    assert there == set(layers())


def test_imports_run_upward() -> None:
    rows = layers()
    for file in SOURCE.rglob("*.py"):
        own = file.relative_to(SOURCE).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("wikilda."):
                other = str(node.module).split(".")[1]
                assert rows[other] <= rows.get(own, len(rows)), f"{file} imports {node.module}"
