"""Wikitext made to hurt: `python -m benchmarks.attacks.wikitext [--seconds 120]`.

Time against size for patterns that are repeated, and for combinations that a search finds: it keeps what is slowest a
byte, and changes it. Each of the slowest must take no more than 2.5 times as long when it is twice as long.
"""

import random
import time

import click
import numpy as np
from tests.mediawiki.scanning import ENGLISH, UNITS

from benchmarks.record import write
from wikilda.mediawiki.wikitext import scan

_PIECES = [*UNITS, "\n", " ", "a", "|", "]]", "}}", "|}", "</ref>", "<ref>", "</table>", "</nowiki>", "-->", "é", "=="]
_SMALL = 1 << 16
_MOST = 2.5
_LEAST_SECONDS = 0.01  # what is faster is measured at a larger size


def seconds(pattern: tuple[str, str, str], size: int) -> float:
    """The least time of three to read a page of a size: a beginning, something again and again, an end."""
    before, unit, after = pattern
    page = before + unit * (size // max(1, len(unit.encode()))) + after * (size // 8 // max(1, len(after)))
    data, best = page.encode(), float("inf")
    for _ in range(3):
        started = time.process_time()
        scan(data, np.array([0, len(data)]), ENGLISH)
        best = min(best, time.process_time() - started)
    return best


def growth(pattern: tuple[str, str, str]) -> float:
    """By how much time grows when the page is twice as long: the mean of two doublings."""
    size = _SMALL
    while (before := seconds(pattern, size)) < _LEAST_SECONDS and size < 1 << 21:
        size *= 2
    return float((seconds(pattern, 4 * size) / before) ** 0.5)


def changed(pattern: tuple[str, str, str], chance: random.Random) -> tuple[str, str, str]:
    """Another pattern, near this one."""
    parts = list(pattern)
    which = chance.choices(range(3), (1, 6, 1))[0]
    piece = chance.choice(_PIECES)
    part = parts[which]
    parts[which] = chance.choice([part + piece, piece + part, piece, part[: len(part) // 2]])
    return (parts[0][:40], parts[1][:60] or piece, parts[2][:10])


def search(until: float, chance: random.Random, kept: int = 40) -> tuple[list[tuple[str, str, str]], int]:
    """The slowest patterns, and how many were tried."""
    found = {("", unit, ""): seconds(("", unit, ""), _SMALL) for unit in UNITS}
    tried = len(found)
    while time.monotonic() < until:
        best = sorted(found, key=lambda each: -found[each])[:kept]
        found = {each: found[each] for each in best}
        for each in best:
            other = changed(each if chance.random() < 0.8 else ("", chance.choice(_PIECES), ""), chance)
            found.setdefault(other, seconds(other, _SMALL))
            tried += 1
    return sorted(found, key=lambda each: -found[each]), tried


@click.command()
@click.option("--seconds", "length", default=120.0, show_default=True, help="How long to search.")
@click.option("--seed", default=1, show_default=True)
def main(length: float, seed: int) -> None:
    """Search, measure, and fail if anything grows faster than it should."""
    found, tried = search(time.monotonic() + length, random.Random(seed))
    patterns = [*(("", unit, "") for unit in UNITS), *found[:60]]
    rows = [{"pattern": pattern, "growth": round(growth(pattern), 2)} for pattern in patterns]
    for row in rows:
        if row["growth"] > _MOST:  # noise does not repeat itself
            row["growth"] = round(min(growth(row["pattern"]) for _ in range(3)), 2)
    rows.sort(key=lambda row: -row["growth"])
    slowest = max(seconds(pattern, 1 << 20) for pattern in found[:5])
    wrong = [row for row in rows if row["growth"] > _MOST]
    print(f"{tried:,} patterns tried, {len(rows)} measured; slowest {slowest:.2f} s a megabyte")
    print(f"grows most: {rows[0]['growth']} a doubling ({rows[0]['pattern']!r}); {len(wrong)} grow more than {_MOST}")
    row = {"patterns tried": tried, "measured": len(rows), "most growth a doubling": rows[0]["growth"],
           "slowest s/MB": round(slowest, 3), "over 2.5": len(wrong)}  # fmt: skip
    write("attacks-wikitext", {"growth": [row]}, patterns=rows)
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
