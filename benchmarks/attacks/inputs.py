"""Hostile pages and texts: `python -m benchmarks.attacks.inputs [--pages 1000000] [--texts 100000]`.

Pages are pieces of markup thrown together; the scanner must read them all, and give text that is UTF-8 and links that
lie within it. Texts are odd characters around names; all offsets of mentions must be exact.
"""

import random
import resource
import time
from collections.abc import Callable

import click
import numpy as np
from tests.mediawiki.scanning import ENGLISH

from benchmarks.attacks.wikitext import _PIECES
from benchmarks.record import write
from wikilda.linking import Linker
from wikilda.mediawiki.wikitext import ANCHOR_END, ANCHOR_START, IN_ASIDE, TARGET_END, TARGET_START, scan
from wikilda.sample import texts

_ODD = (
    "\0", "\ufeff", "\u202e", "e\u0301", "😀", "\U0010ffff", "\u2028", "İ", "ǅ", "ß", "\ud7ff", "[[", "]]", "<",
    "&amp;", "\t", "\n\n", "'", "’", "-", "…", "日本語", "العربية", "\u200d", "𝕮",
)  # fmt: skip
_TOGETHER = 500


def pages(count: int, chance: random.Random) -> int:
    """Scan a number of pages; return how many came out wrong."""
    wrong = 0
    for _ in range(0, count, _TOGETHER):
        made = ["".join(chance.choices(_PIECES, k=chance.randrange(1, 40))).encode() for _ in range(_TOGETHER)]
        got = scan(b"".join(made), np.cumsum([0, *map(len, made)]), ENGLISH)
        got.text.tobytes().decode()
        got.aside.tobytes().decode()
        links = got.links
        inside = np.where(links[IN_ASIDE] == 1, len(got.aside), len(got.text))
        wrong += int(np.count_nonzero((links[ANCHOR_START] > links[ANCHOR_END]) | (links[ANCHOR_END] > inside)))
        wrong += int(
            np.count_nonzero((links[TARGET_START] > links[TARGET_END]) | (links[TARGET_END] > len(got.source)))
        )
        wrong += int(got.text_bounds[-1] != len(got.text))
    return wrong


def hostile(linker: Linker, count: int, chance: random.Random) -> int:
    """Link a number of texts; return how many mentions have wrong offsets."""
    words = " ".join(each["text"] for each in texts()).split()
    wrong = 0
    for _ in range(count):
        text = "".join(chance.choice(_ODD) if chance.random() < 0.3 else f" {chance.choice(words)}" for _ in range(20))
        found = linker.link(text, topics=0)
        wrong += sum(text[each.start : each.end] != each.text for each in found.mentions)
    return wrong


def megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@click.command()
@click.argument("model")
@click.option("--pages", "page_count", default=1_000_000, show_default=True)
@click.option("--texts", "text_count", default=100_000, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(model: str, page_count: int, text_count: int, seed: int) -> None:
    """Throw all of it at the scanner and the linker."""
    chance, rows = random.Random(seed), []
    linker = Linker.open(model)
    attacks: dict[str, tuple[int, Callable[[int], int]]] = {
        "pages": (page_count, lambda some: pages(some, chance)),
        "texts": (text_count, lambda some: hostile(linker, some, chance)),
    }
    for name, (count, attack) in attacks.items():
        wrong = attack(count // 10)
        before, started = megabytes(), time.process_time()
        wrong += attack(count - count // 10)
        rows.append({"what": name, "count": count, "wrong": wrong, "CPU s": round(time.process_time() - started, 1),
                     "MB grown after the first tenth": round(megabytes() - before, 1)})  # fmt: skip
        print(rows[-1], flush=True)
    write("attacks-inputs", {"inputs": rows})
    raise SystemExit(any(row["wrong"] for row in rows))


if __name__ == "__main__":
    main()
