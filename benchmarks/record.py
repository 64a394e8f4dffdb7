"""What a benchmark measured, as JSON that the tables in docs/ are made from.

A benchmark calls `write(NAME, tables)`. The file `docs/figures/NAME.json` then holds its tables, the command that
repeats it, date, machine and commit. (WIKILDA_FIGURES names another directory.) A page of docs/ shows a table between
two comments::

    <!-- figures: NAME TABLE -->
    <!-- end of figures -->

`<!-- figures: NAME TABLE | column; column | column=value; value -->` shows some columns, and the rows with these
values.

`python -m benchmarks.record` fills all of them in; `--check` says which are out of date and exits with 1.
"""

import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FIGURES = Path(os.environ.get("WIKILDA_FIGURES", ROOT / "docs" / "figures"))
Cell = str | float | int | None
Rows = Sequence[Mapping[str, Cell]]
_BLOCK = re.compile(r"(<!-- figures: (\S+) (.+?) -->\n).*?(<!-- end of figures -->)", re.DOTALL)


def write(name: str, tables: Mapping[str, Rows], *, note: str = "", **more: Any) -> Path:
    """Write the tables of a benchmark: each is a list of rows, a row maps columns to cells.

    `note` says under what circumstances; anything else that is worth keeping goes along as `more`.
    """
    record = {
        "command": command(),
        "date": datetime.now(UTC).date().isoformat(),
        "commit": _git("rev-parse", "--short", "HEAD") + ("+" if _git("status", "--porcelain", "src") else ""),
        "machine": machine(),
        "load": round(os.getloadavg()[0], 1),
        **({"note": note} if note else {}),
        **more,
        "tables": {title: [dict(row) for row in rows] for title, rows in tables.items()},
    }
    FIGURES.mkdir(parents=True, exist_ok=True)
    path = FIGURES / f"{name}.json"
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return path


def read(name: str) -> dict[str, Any]:
    """What was recorded last under a name; empty if nothing was."""
    path = FIGURES / f"{name}.json"
    return json.loads(path.read_text("utf-8")) if path.is_file() else {}


def command() -> str:
    """The command that runs this process, without the places of one machine."""
    module = getattr(sys.modules["__main__"], "__spec__", None)
    name = module.name.removesuffix(".__main__") if module else Path(sys.argv[0]).name
    arguments = [Path(each).name if each.startswith("/") else each for each in sys.argv[1:]]
    return " ".join(["python -m", name, *arguments])


def machine() -> str:
    """The processor, its cores and the Python of this machine."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file() and (found := re.search(r"model name\s*:\s*(.+)", info.read_text())):
        cpu = found.group(1)
    return f"{cpu}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def table(rows: Rows) -> str:
    """Rows as a Markdown table; numbers are right-aligned."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    numeric = {c for c in columns if all(isinstance(row.get(c), int | float | None) for row in rows)}
    lines = [columns, ["---:" if column in numeric else "---" for column in columns]]
    lines += [[_cell(row.get(column)) for column in columns] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cell(value: Cell) -> str:
    if value is None or isinstance(value, str):
        return value or "–"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def duration(seconds: float) -> str:
    """Return a time for people: 72 s, 12 min, 1.3 h."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"


def _chosen(rows: Rows, columns: str, filters: str) -> Rows:
    """Some columns of a table, and the rows that have certain values."""
    if filters:
        column, values = filters.split("=")
        wanted = [each.strip() for each in values.split(";")]
        rows = [row for row in rows if str(row[column.strip()]) in wanted]
    names = [each.strip() for each in columns.split(";")] if columns else []
    return [{name: row.get(name) for name in names} if names else row for row in rows]


def fill(text: str) -> str:
    """Return a page with the current figures in all its tables."""

    def block(found: re.Match[str]) -> str:
        record = json.loads((FIGURES / f"{found.group(2)}.json").read_text("utf-8"))
        title, columns, filters = (*(each.strip() for each in found.group(3).split("|")), "", "")[:3]
        load = f", load {record['load']}" if record["load"] > 1 else ""
        about = f"`{record['command']}`, {record['date']}, commit {record['commit']}; {record['machine']}{load}."
        note = f" {record['note']}" if record.get("note") else ""
        note += f" Recorded {record['stale']}." if record.get("stale") else ""
        shown = table(_chosen(record["tables"][title], columns, filters))
        return f"{found.group(1)}\n{shown}\n\n*{about}{note}*\n\n{found.group(4)}"

    return _BLOCK.sub(block, text)


def outdated() -> dict[Path, str]:
    """The pages whose tables differ from the JSON, with what they should be."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    texts = {page: page.read_text("utf-8") for page in pages}
    return {page: filled for page, text in texts.items() if (filled := fill(text)) != text}


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def main() -> None:
    """Fill the tables in, or check them."""
    found = outdated()
    for page, text in found.items():
        print(page.relative_to(ROOT))
        if "--check" not in sys.argv:
            page.write_text(text, "utf-8")
    sys.exit(bool(found) and "--check" in sys.argv)


if __name__ == "__main__":
    main()
