"""Results of several sizes as a table, with the power at which each grows."""

import math
from itertools import pairwise

from benchmarks.scale.steps import Row


def exponents(rows: list[Row], name: str) -> list[float]:
    """From size to size, the power of the number of topics with which `name` grows: 1 is in proportion."""
    return [
        math.log(after[name] / before[name]) / math.log(after["topics"] / before["topics"])
        for before, after in pairwise(rows)
        if before.get(name, 0) > 0 and after.get(name, 0) > 0
    ]


def table(rows: list[Row]) -> str:
    """Markdown: a column a size, and how it grows from one to the next."""
    lines = [
        "| | " + " | ".join(f"{row['topics']:,.0f} topics" for row in rows) + " | grows as topics to the power of |",
        "|---|" + "---:|" * (len(rows) + 1),
    ]
    names = dict.fromkeys(name for row in rows for name in row if name != "topics")
    for name in names:
        cells = " | ".join(_cell(row[name]) if name in row else "" for row in rows)
        lines.append(f"| {name} | {cells} | {', '.join(f'{power:.2f}' for power in exponents(rows, name))} |")
    return "\n".join(lines)


def _cell(value: float) -> str:
    return (
        f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:,.2f}" if value < 10 else f"{value:,.1f}"
    )
