"""Several writers of one target at once: `python -m benchmarks.attacks.writers [--rounds 200]`.

Three `wikilda init` write to one directory, with and without `--overwrite`; one must succeed, the others succeed or are
refused with a message, what is there then is whole, and nothing is left beside it.
"""

import collections
import os
import random
import tempfile
import time
from pathlib import Path

import click

from benchmarks.attacks import forks
from benchmarks.attacks.kills import digest, remove
from benchmarks.record import write
from wikilda.sample import MODEL

_SECONDS = 60.0
_WRITERS = 3


def together(target: Path, chance: random.Random) -> list[forks.End]:
    """Let all writers begin within a moment of each other; how they ended."""
    running = []
    for _ in range(_WRITERS):
        more = ["--overwrite"] if chance.random() < 0.5 else []
        running.append(forks.start(["init", MODEL, "-o", target, *more], errors=True))
        time.sleep(chance.choice((0.0, 0.0, 0.01, 0.05)))
    return [forks.end(each, _SECONDS) for each in running]


@click.command()
@click.option("--rounds", default=200, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(rounds: int, seed: int) -> None:
    """Write, compare, count."""
    chance, ends = random.Random(seed), collections.Counter[str]()
    lost = different = left = 0
    with tempfile.TemporaryDirectory(prefix="wikilda-") as scratch:
        os.environ["XDG_CACHE_HOME"] = str(Path(scratch) / "cache")
        target = Path(scratch) / "place" / "model"
        target.parent.mkdir()
        forks.call(["init", MODEL, "-o", target])
        wanted = digest(target)
        for _ in range(rounds):
            if chance.random() < 0.7:
                remove(target)
            codes = [each.code for each in together(target, chance)]
            ends.update(
                {0: "written", 1: "refused"}.get(-1 if code is None else code, f"code {code}") for code in codes
            )
            lost += not target.is_dir()
            different += target.is_dir() and (digest(target) != wanted or forks.run(["verify", target], 60).code != 0)
            left += sum(each != target for each in target.parent.iterdir())
    bad = sum(number for end, number in ends.items() if end.startswith("code"))
    row = {"rounds": rounds, "writers": _WRITERS * rounds, "written": ends["written"], "refused": ends["refused"],
           "other ends": bad, "lost": lost, "different": different, "left behind": left}  # fmt: skip
    print(row)
    write("attacks-writers", {"writers": [row]}, ends=dict(ends))
    raise SystemExit(bool(bad or lost or different or left))


if __name__ == "__main__":
    main()
