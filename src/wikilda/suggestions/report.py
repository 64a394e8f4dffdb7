"""Suggestions as JSON lines, as a page of HTML in which a person chooses, and as a patch."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import unified_diff
from html import escape
from itertools import groupby
from pathlib import Path

from wikilda._core.atomic import new_file
from wikilda._core.compression import json_objects
from wikilda._core.errors import InputError
from wikilda._core.html_page import page
from wikilda.suggestions.missing_links import Suggestion, Suggestions, apply
from wikilda.suggestions.sources import Source

_SCRIPT = """
<p><button id="save">Save the chosen ones</button> <label><input type="checkbox" id="all"> all</label></p>
<script>
const rows = JSON.parse(document.getElementById("rows").textContent);
const boxes = [...document.querySelectorAll("td input")];
document.getElementById("all").onchange = event => boxes.forEach(box => { box.checked = event.target.checked; });
document.getElementById("save").onclick = () => {
  const lines = boxes.filter(box => box.checked).map(box => JSON.stringify(rows[+box.value]) + "\\n");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(lines, {type: "application/jsonl"}));
  link.download = "chosen.jsonl";
  link.click();
};
</script>
"""


def write_report(found: Suggestions, path: Path, title: str) -> None:
    """Write suggestions as JSON lines, or as HTML if the file ends so."""
    with new_file(path) as made, made.open("w", encoding="utf-8", newline="\n") as file:
        if path.suffix.lower() in (".html", ".htm"):
            file.write(_html(found, title))
        else:
            file.writelines(json.dumps(each.to_dict(), ensure_ascii=False) + "\n" for each in found.rows)


def read_suggestions(path: Path) -> list[Suggestion]:
    """Read suggestions from the JSON lines that `write_report` wrote, or those that were chosen of them."""
    if not path.is_file():
        raise InputError(f"{path}: no such file.")
    found = []
    with path.open("rb") as lines:
        for number, row in json_objects(lines, path):
            try:
                found.append(Suggestion(**row))
            except TypeError as error:
                raise InputError(f"{path}, line {number}: is no suggestion ({error}).") from None
    return found


def write_patch(source: Source, rows: Iterable[Suggestion], path: Path) -> int:
    """Write the links of suggestions as a unified diff (`patch -p1`, `git apply`); returns the number of pages."""
    by_place = {place: list(some) for place, some in groupby(sorted(rows, key=_place), key=_place)}
    pages = 0
    with new_file(path) as made, made.open("w", encoding="utf-8", newline="") as file:
        for each in source.pages():
            some = by_place.pop(each.place, [])
            if some:
                pages += 1
                file.writelines(_diff(each.place, each.source, apply(each.source, some)))
        if by_place:
            raise InputError(f"{next(iter(by_place))}: is no longer there. Run wikilda suggest again.")
    return pages


def _place(row: Suggestion) -> str:
    return row.place


def _diff(place: str, before: str, after: str) -> Iterator[str]:
    """A unified diff; lines end with \\n only, as `patch` counts them."""
    old, new = (re.findall(r"[^\n]*\n|[^\n]+\Z", text) for text in (before, after))
    yield f"--- a/{place}\n"
    yield f"+++ b/{place}\n"
    for line in list(unified_diff(old, new))[2:]:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _html(found: Suggestions, title: str) -> str:
    data = json.dumps([each.to_dict() for each in found.rows], ensure_ascii=False).replace("<", "\\u003c")
    about = f"{len(found.rows):,} suggestions for {found.report.counts.get('pages', 0):,} pages, most probable first."
    parts = [_table(found.rows), f'<script type="application/json" id="rows">{data}</script>', _SCRIPT]
    if found.report.examples:
        parts.append("<h2>Problems</h2>\n<ul>" + "".join(f"<li>{escape(each)}</li>" for each in found.report.examples))
        parts.append("</ul>")
    return page(f"Links that {title} lacks", about, parts)


def _table(rows: Sequence[Suggestion]) -> str:
    head = "".join(f"<th>{each}</th>" for each in ("", "page", "text", "link to", "probability", "reason"))
    body = "\n".join(
        f'<tr><td><input type="checkbox" value="{at}"></td><td>{escape(each.place)}, line {each.line}</td>'
        f"<td>{escape(each.before)}<mark>{escape(each.text)}</mark>{escape(each.after)}</td>"
        f'<td>{escape(each.target)}</td><td class="n">{each.probability:.2f}</td><td>{escape(each.reason)}</td></tr>'
        for at, each in enumerate(rows)
    )
    return f"<table><tr>{head}</tr>\n{body}\n</table>"
