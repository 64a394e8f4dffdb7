"""Tables for people: on a terminal with lines and colours, elsewhere plain."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # Rich is imported where tables are really printed
    from rich.console import Console
    from rich.table import Table

_WIDTH = 120  # where there is no terminal to ask


def console() -> "Console":
    """Standard output; as wide as the terminal, or as a page."""
    from rich.console import Console

    plain = Console()
    return plain if plain.is_terminal else Console(width=_WIDTH, no_color=True)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> "Table":
    """A table whose numbers stand right."""
    from rich.markup import escape
    from rich.table import Table

    made = Table(
        title=escape(title),
        title_justify="left",
        title_style="bold",
        header_style="bold",
        box=None,
        padding=(0, 2, 0, 0),
    )
    filled = [[_cell(value) for value in row] for row in rows]
    for place, column in enumerate(columns):
        numeric = bool(filled) and all(_is_number(row[place]) for row in filled)
        made.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in filled:
        made.add_row(*map(escape, row))
    return made


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _is_number(cell: str) -> bool:
    return cell.replace(",", "").replace(".", "").replace("%", "").strip().isdigit()
