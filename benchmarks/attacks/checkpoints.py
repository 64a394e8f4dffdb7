"""Damaged checkpoints: `python -m benchmarks.attacks.checkpoints [--count 2000]`.

A training of the sample is killed half way. Each damage is done to one file of a copy of what it has left; the same
command must then end with the model that an undisturbed training gives, or refuse with a message.
"""

import collections
import random
import shutil
import tempfile
import time
from pathlib import Path

import click

from benchmarks.attacks import artifacts, forks
from benchmarks.attacks.kills import Command, commands, digest, remove, whole
from benchmarks.record import write

_SECONDS = 120.0
DAMAGES = (artifacts.flip, artifacts.overwrite, artifacts.shorten, artifacts.lengthen)


def zeros(file: Path, _chance: random.Random) -> None:
    """The last eight bytes are zeros, as after a power cut."""
    data = file.read_bytes()
    file.write_bytes(data[:-8] + bytes(min(8, len(data))))


def gone(file: Path, _chance: random.Random) -> None:
    """The file is missing."""
    file.unlink()


def left_half_way(command: Command, place: Path) -> Path:
    """What a training leaves that is killed when shards of its second iteration are done."""
    work = command.target.with_name(f"{command.target.name}.training")
    running = forks.start([*command.arguments, "--workers", 1], errors=True)
    until = time.monotonic() + _SECONDS
    while time.monotonic() < until and not list(work.glob("iteration-0002/shards/00*")):
        time.sleep(0.001)
    forks.end(running, 0.0)
    shutil.copytree(work, place)
    return work


def attack(command: Command, count: int, chance: random.Random) -> collections.Counter[str]:
    """Damage what a training has left, and resume it."""
    wanted, ends = whole(command), collections.Counter[str]()
    remove(command.target)
    kept = command.target.with_name("kept")
    work = left_half_way(command, kept)
    for _ in range(count):
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(kept, work)
        files = sorted(each for each in work.rglob("*") if each.is_file() and each.name != "inputs.json")
        chance.choice((*DAMAGES, zeros, gone))(chance.choice([each for each in files if each.stat().st_size]), chance)
        code, said = forks.run([*command.arguments, "--workers", 1], _SECONDS, errors=True)
        if code == 0:
            ends["as undisturbed" if digest(command.target) == wanted else "another model"] += 1
            remove(command.target)
        else:
            ends["refused" if code == 1 else f"ended with {code}"] += 1
            if code != 1:
                click.echo(said.decode("utf-8", "replace")[-500:], err=True)
    return ends


@click.command()
@click.option("--count", default=2000, show_default=True, help="Damages of each method.")
@click.option("--seed", default=1, show_default=True)
def main(count: int, seed: int) -> None:
    """Damage, resume, compare."""
    rows, bad = [], 0
    with tempfile.TemporaryDirectory(prefix="wikilda-") as scratch:
        every = {each.name: each for each in commands(Path(scratch), copies=4)}
        forks.call([*every["build"].arguments, "--workers", 1])
        for name in ("train", "train --method lda"):
            ends = attack(every[name], count, random.Random(seed))
            good = ends["as undisturbed"] + ends["refused"]
            rows.append({"command": name, "damages": count, "as undisturbed": ends["as undisturbed"],
                         "refused": ends["refused"], "another end": count - good})  # fmt: skip
            bad += count - good
            print(rows[-1], dict(ends), flush=True)
            shutil.rmtree(Path(scratch) / "kept")
    write("attacks-checkpoints", {"ends": rows})
    raise SystemExit(bool(bad))


if __name__ == "__main__":
    main()
