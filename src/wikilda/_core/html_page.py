"""Reports as one page of HTML: tables with bars, readable without scripts, in light and dark."""

from collections.abc import Iterable, Sequence
from html import escape

_STYLE = """
:root { color-scheme: light dark; --bar: #4a7ebb; --line: #8884; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .6rem .3rem 0; text-align: left; vertical-align: top; }
td.n { font-variant-numeric: tabular-nums; text-align: right; white-space: nowrap; }
td.b { min-width: 7rem; } td.b div { background: var(--bar); height: .8rem; margin-top: .3rem; }
tr.none { opacity: .5; } td.s { font-size: .9em; overflow-wrap: anywhere; }
"""


def bars(name: str, total: int, columns: Sequence[str], rows: Iterable[tuple[str, int, *tuple[str, ...]]]) -> str:
    """A table whose second column is a share of a total, with a bar."""
    first, count, *others = columns
    head = "".join(f"<th>{escape(each)}</th>" for each in (first, count, "share", "", *others))
    body = []
    for label, number, *cells in rows:
        share = number / total if total > 0 else 0.0
        shown = "".join(f'<td class="s">{escape(each)}</td>' for each in cells)
        row = "<tr>" if number else '<tr class="none">'
        body.append(
            f'{row}<td>{escape(label)}</td><td class="n">{number:,}</td>'
            f'<td class="n">{share:.1%}</td><td class="b"><div style="width:{max(share, 0) * 100:.2f}%"></div></td>'
            f"{shown}</tr>"
        )
    return f"<h2>{escape(name)}: {total:,}</h2>\n<table><tr>{head}</tr>\n" + "\n".join(body) + "\n</table>"


def table(name: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A plain table."""
    head = "".join(f"<th>{escape(each)}</th>" for each in columns)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{escape(_cell(each))}</td>" for each in row) + "</tr>" for row in rows
    )  # fmt: skip
    return f"<h2>{escape(name)}</h2>\n<table><tr>{head}</tr>\n{body}\n</table>"


def items(name: str, entries: Iterable[str]) -> str:
    """A list."""
    return f"<h2>{escape(name)}</h2>\n<ul>" + "".join(f"<li>{escape(each)}</li>" for each in entries) + "</ul>"


def page(title: str, about: str, parts: Iterable[str]) -> str:
    """Return a complete page."""
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head>\n'
        f"<body><h1>{escape(title)}</h1>\n<p>{escape(about)}</p>\n{body}\n</body></html>\n"
    )


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
