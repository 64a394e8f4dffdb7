"""Kills (SIGKILL) at random moments: `python -m benchmarks.attacks.kills [--kills 100]`.

`build`, `train`, `update` and `link` on the sample wiki are killed and run again, until each was killed as often as
requested; a result must be, byte by byte, that of a run which nobody killed, and nothing may be left beside it.
"""

import hashlib
import json
import random
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click

from benchmarks.attacks import forks
from benchmarks.record import Cell, write
from wikilda.sample import WIKI, texts

_SIDES = (".doubtful.jsonl", ".names.jsonl")  # of `link`
_LONGEST = 300.0  # seconds of a run that is not killed
_BUILD = ("--set", "max_word_share=1", "--set", "min_word_topics=1")
_LDA = ("--method", "lda", *(
    part for each in ("shards=3", "sweeps=6", "burn_in=2", "evaluated=4", "particles=2") for part in ("--set", each)
))  # fmt: skip


class Command(NamedTuple):
    """A command that can be killed, and what it makes."""

    name: str
    arguments: Sequence[object]
    target: Path

    def with_workers(self, workers: int) -> list[object]:
        """The arguments for a number of workers. An update with a list has none."""
        return [*self.arguments, *([] if self.name == "update" else ["--workers", workers])]


def commands(place: Path, copies: int = 20) -> list[Command]:
    """Commands on the sample wiki; the first makes what the others need."""
    stories, entities, model = place / "stories.jsonl", place / "entities.jsonl", place / "model"
    told = [json.dumps({"text": f"{number}. {each['text']}"}) for number in range(copies) for each in texts()]
    stories.write_text("\n".join(told) + "\n")
    acme = {"id": "A", "name": "Acme", "aliases": ["ACME Corp"], "text": "Acme makes anvils."}
    entities.write_text(json.dumps(acme) + "\n")
    made = {
        "build": ("model", ["build", WIKI, *_BUILD]),
        "train": ("trained", ["train", model, stories, "--iterations", 2, "--set", "shards=4"]),
        "train --method lda": ("lda", ["train", model, stories, "--iterations", 2, *_LDA]),
        "update": ("updated", ["update", model, entities]),
        "link": (
            "linked.jsonl",
            ["link", model, stories, "--escalate", 0.9, "--unknown", place / f"linked.jsonl{_SIDES[1]}"],
        ),
    }
    return [Command(name, [*each, "-o", place / target], place / target) for name, (target, each) in made.items()]


def outputs(target: Path) -> list[Path]:
    """A result and its side outputs."""
    return [target, *(each for end in _SIDES if (each := target.with_name(target.name + end)).exists())]


def digest(target: Path) -> str:
    """What a result is: all its arrays, or the bytes of a file and of its side outputs."""
    made = hashlib.blake2b(digest_size=16)
    for each in sorted(target.rglob("*.npy")) if target.is_dir() else outputs(target):
        made.update(each.name.encode() + each.read_bytes())
    return made.hexdigest()


def remove(target: Path) -> None:
    """Remove a result."""
    for each in outputs(target):
        shutil.rmtree(each) if each.is_dir() else each.unlink(missing_ok=True)


def whole(command: Command, workers: int = 1) -> str:
    """The digest of the result of a run that nobody kills."""
    code, said = forks.run(command.with_workers(workers), _LONGEST, errors=True)
    if code != 0:
        raise SystemExit(f"{command.name} ended with {code}: {said.decode()[-2000:]}")
    return digest(command.target)


def attack(command: Command, kills: int, chance: random.Random, wanted: str) -> dict[str, Cell]:
    """Kill a command so often, at any time of its run; count results that differ, and other ends."""
    started = time.monotonic()
    whole(command)
    length = time.monotonic() - started
    remove(command.target)
    killed = finished = different = 0
    failed: list[str] = []
    while killed < kills:
        workers = 2 if chance.random() < 0.1 else 1  # those of two begin with new interpreters, which takes longer
        moment = chance.uniform(0.0, length + 2.0 * (workers - 1))
        code, said = forks.run(command.with_workers(workers), moment, errors=True)
        killed += code is None
        if code not in (None, 0):
            failed.append(f"{command.name}: exit code {code} {said.decode()[-500:]}")
        if command.target.exists():  # done, or killed when it was
            finished += 1
            different += digest(command.target) != wanted
            remove(command.target)
    different += whole(command) != wanted
    for said in failed[:3]:
        click.echo(said, err=True)
    known = {command.target.name, *(command.target.name + end for end in _SIDES)}
    beside = [
        each for each in command.target.parent.iterdir()
        if each.name.startswith(f"{command.target.name}.") and each.name not in known
    ]  # fmt: skip
    return {"command": command.name, "kills": killed, "finished": finished + 1, "different": different,
            "failed": len(failed), "left behind": len(beside)}  # fmt: skip


@click.command()
@click.option("--kills", default=100, show_default=True, help="Of each command.")
@click.option("--seed", default=1, show_default=True)
def main(kills: int, seed: int) -> None:
    """Kill, run again, compare."""
    chance, rows = random.Random(seed), list[dict[str, Cell]]()
    with tempfile.TemporaryDirectory(prefix="wikilda-") as scratch:
        every = commands(Path(scratch))
        for each in every:  # here, so that all forks have the kernels
            forks.call(each.with_workers(1))
        wanted = {each.name: digest(each.target) for each in every}
        for each in every[1:]:
            remove(each.target)
            rows.append(attack(each, kills, chance, wanted[each.name]))
            print(rows[-1], flush=True)
        remove(every[0].target)
        rows.insert(0, attack(every[0], kills, chance, wanted["build"]))
        print(rows[0], flush=True)
    write("attacks-kills", {"kills": rows})
    raise SystemExit(any(row["different"] or row["failed"] or row["left behind"] for row in rows))


if __name__ == "__main__":
    main()
