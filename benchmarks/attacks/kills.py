"""Kills (SIGKILL) at random moments: `python -m benchmarks.attacks.kills [--kills 100]`.

`build`, `train`, `update` and `link` on the sample wiki are killed again and again and run again, until so many kills
have met them; each result must be, byte by byte, that of a run which nobody killed.
"""

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click

from benchmarks.record import write
from wikilda.sample import WIKI, texts

_BUILD = ["--max-word-share", "1", "--min-word-topics", "1"]


def run(arguments: list[str], kill_after: float | None = None) -> int:
    """Run a command in a group of its own, and kill all of it after some time; −9 if that was done."""
    command = [sys.executable, "-m", "wikilda", *arguments]
    started = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        _, said = started.communicate(timeout=kill_after)
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, signal.SIGKILL)
        started.communicate()
        return -9
    if started.returncode:
        print(f"exit code {started.returncode}: {said[-300:]}", file=sys.stderr)
    return started.returncode


def digest(target: Path) -> str:
    """What a result is: all its arrays, or the bytes of a file."""
    made = hashlib.blake2b(digest_size=16)
    files = sorted(target.rglob("*.npy")) if target.is_dir() else [target]
    for each in files:
        made.update(each.name.encode() + each.read_bytes())
    return made.hexdigest()


def remove(target: Path) -> None:
    """Remove a result."""
    if target.is_dir():
        shutil.rmtree(target)
    else:
        target.unlink(missing_ok=True)


def attack(name: str, arguments: list[str], target: Path, kills: int, chance: random.Random) -> dict[str, object]:
    """Kill a command so often; count results that differ, and other ends than being killed or done."""
    started = time.monotonic()
    if run(arguments):
        raise SystemExit(f"{name} does not run: {' '.join(arguments)}")
    length, wanted = time.monotonic() - started, digest(target)
    remove(target)
    killed = finished = different = failed = 0
    while killed < kills:
        code = run(arguments, chance.uniform(0.0, 1.1 * length))
        killed += code == -9
        failed += code not in (-9, 0)
        if target.exists():  # done, or killed when it was
            finished += 1
            different += digest(target) != wanted
            remove(target)
    failed += run(arguments) != 0  # the last is not killed
    different += digest(target) != wanted
    left = [each.name for each in target.parent.iterdir() if each.name.startswith(target.name) and each != target]
    row = {"command": name, "kills": killed, "finished": finished + 1, "different": different, "failed": failed,
           "left behind": len(left)}  # fmt: skip
    print(row, flush=True)
    return row


@click.command()
@click.option("--kills", default=100, show_default=True, help="Of each command.")
@click.option("--seed", default=1, show_default=True)
def main(kills: int, seed: int) -> None:
    """Kill, run again, compare."""
    chance, rows = random.Random(seed), []
    with tempfile.TemporaryDirectory(prefix="wikilda-") as scratch:
        place = Path(scratch)
        stories = place / "stories.jsonl"
        stories.write_text("".join(json.dumps({"text": f"{number}. {each['text']}"}) + "\n"
                                   for number in range(40) for each in texts()))  # fmt: skip
        entity = place / "new.jsonl"
        entity.write_text(json.dumps({"title": "Acme", "aliases": ["ACME Corp"], "text": "Acme makes anvils."}) + "\n")
        build = ["build", str(WIKI), "-o", str(place / "model"), *_BUILD]
        rows.append(attack("build", build, place / "model", kills, chance))
        model = str(place / "model")
        for name, arguments, target in (
            ("train", ["train", model, str(stories)], "trained"),
            ("update", ["update", model, str(entity)], "updated"),
            ("link", ["link", model, str(stories)], "linked.jsonl"),
        ):
            rows.append(attack(name, [*arguments, "-o", str(place / target)], place / target, kills, chance))
    write("attacks-kills", {"kills": rows})
    raise SystemExit(any(row["different"] or row["failed"] or row["left behind"] for row in rows))


if __name__ == "__main__":
    main()
