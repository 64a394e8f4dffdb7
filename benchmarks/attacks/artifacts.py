"""Damaged models and knowledge: `python -m benchmarks.attacks.artifacts [--count 2000]`.

Each damage is done to a copy of the sample's model and knowledge; four commands then meet it, each in a process of its
own (forked from one that has the kernels loaded). Counted is how they end: refused with a message, answered as before,
answered otherwise, a traceback, a signal, a hang. Half of the damages are forged: sizes, digests and identities are
made to fit, as somebody would who means harm.
"""

import collections
import json
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np

from benchmarks.attacks import forks
from benchmarks.record import write
from wikilda._core._manifest import identity_of
from wikilda._core.artifact import _digest
from wikilda.knowledge import build_from_dump
from wikilda.knowledge.describe import describe_topic
from wikilda.linking import Document, Linker
from wikilda.model import create_model
from wikilda.sample import SETTINGS, WIKI

_SECONDS = 20
_TEXT = "Croft took three wickets for England at The Oval. Pakistan lost; Kate Bush sang."
_EXTREMES = (0, 1, 2**31 - 1, 2**32 - 1, 2**62, -1, -(2**62))
_HEADERS = ((b"<", b">"), (b"u4", b"f4"), (b"i8", b"O8"), (b"(", b"(9"), (b",)", b",2)"), (b"False", b"True "))
_FIELDS = (None, -1, 2**70, 1e308, "", "\ud800", "x" * 10_000, [], {}, [[[]]], True, "../../etc", {"a": [1]})
Damage = Callable[[Path, random.Random], None]


def flip(file: Path, chance: random.Random) -> None:
    """One bit."""
    data = bytearray(file.read_bytes())
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    file.write_bytes(data)


def overwrite(file: Path, chance: random.Random) -> None:
    """A stretch of one byte."""
    data = bytearray(file.read_bytes())
    start = chance.randrange(len(data))
    data[start : start + chance.choice((1, 8, 64, 4096))] = bytes([chance.choice((0, 255, 128))]) * 8
    file.write_bytes(data)


def shorten(file: Path, chance: random.Random) -> None:
    """The end is missing."""
    file.write_bytes(file.read_bytes()[: chance.randrange(file.stat().st_size)])


def lengthen(file: Path, chance: random.Random) -> None:
    """Something follows."""
    file.write_bytes(file.read_bytes() + bytes(chance.randrange(256) for _ in range(chance.choice((1, 8, 800)))))


def header(file: Path, chance: random.Random) -> None:
    """Another type, another shape."""
    data = file.read_bytes()
    old, new = chance.choice(_HEADERS)
    file.write_bytes(data[:128].replace(old, new) + data[128:])


def other(file: Path, chance: random.Random) -> None:
    """Another array of the artifact."""
    file.write_bytes(
        chance.choice([each for each in sorted(file.parent.parent.rglob("*.npy")) if each != file]).read_bytes()
    )


def values(file: Path, chance: random.Random) -> None:
    """Some values are extreme, the array is sorted, shuffled, cut or doubled; it is an array like any other."""
    array = np.load(file)
    way = chance.randrange(5)
    if way == 0 and len(array):
        with np.errstate(all="ignore"):
            for _ in range(chance.choice((1, 3))):
                array[chance.randrange(len(array))] = np.array(chance.choice((*_EXTREMES, len(array)))).astype(
                    array.dtype
                )
    elif way == 1:
        np.random.default_rng(chance.randrange(1000)).shuffle(array)
    elif way == 2:
        array = array[: chance.randrange(len(array) + 1)]
    elif way == 3:
        array = np.concatenate([array, array])
    elif array.dtype.kind == "f" and len(array):
        array[chance.randrange(len(array))] = chance.choice((np.nan, np.inf, -1.0, 1e38))
    else:
        array = np.sort(array)[::-1]
    np.save(file, array)


def manifest(file: Path, chance: random.Random) -> None:
    """A field of the manifest is gone or something else."""
    known = json.loads(file.read_text())
    place: Any = known
    while True:
        key = chance.choice(sorted(place)) if isinstance(place, dict) and place else None
        if key is None or not isinstance(place[key], dict) or not place[key] or chance.random() < 0.3:
            break
        place = place[key]
    if key is not None and chance.random() < 0.25:
        del place[key]
    elif key is not None:
        place[key] = chance.choice(_FIELDS)
    file.write_text(json.dumps(known))


ARRAYS: tuple[Damage, ...] = (flip, overwrite, shorten, lengthen, header, other, values, values, values, values)


def forge(file: Path) -> None:
    """Make the manifest fit a file that has been changed."""
    place = next(each for each in file.parents if (each / "manifest.json").is_file())
    known = json.loads((place / "manifest.json").read_text())
    known["files"][file.relative_to(place).as_posix()] = {"bytes": file.stat().st_size, "blake2b": _digest(file)}
    known["identity"] = identity_of(known["kind"], known["format"], known["files"])
    (place / "manifest.json").write_text(json.dumps(known))
    inside = place.parent / "model" / "manifest.json"
    if place.name == "kb":  # the model says that it is its own
        model = json.loads(inside.read_text())
        model["knowledge"]["identity"] = known["identity"]
        inside.write_text(json.dumps(model))


def damage(place: Path, chance: random.Random) -> str:
    """Damage a model or its knowledge."""
    if chance.random() < 0.15:
        manifest(chance.choice(sorted(place.rglob("manifest.json"))), chance)
        return "manifest"
    file = chance.choice(sorted(place.rglob("*.npy")))
    way = chance.choice(ARRAYS)
    way(file, chance)
    forged = chance.random() < 0.5
    if forged:
        forge(file)
    return f"{way.__name__}{', forged' if forged else ''}"


def commands(place: Path) -> dict[str, list[str]]:
    model = str(place / "model")
    return {
        "show": ["show", str(place / "kb"), "croft", "--json"],
        "link": ["link", model, str(place / "text.txt")],
        "explain": ["explain", model, _TEXT, "--json"],
        "verify": ["verify", model],
    }


def met(arguments: list[str]) -> tuple[str, str]:
    """Run a command in a process of its own: how it ended, and what it answered."""
    code, said = forks.run(arguments, _SECONDS)
    if code is None or code < 0:
        return ("hang" if code is None else f"signal {-code}"), ""
    return {0: "answered", 1: "refused", 2: "refused"}.get(code, "traceback"), said.decode("utf-8", "replace")


@click.command()
@click.option("--count", default=2000, show_default=True, help="How many damages.")
@click.option("--seed", default=1, show_default=True)
@click.option("--examples", default=5, show_default=True, help="How many tracebacks, signals and hangs to print.")
def main(count: int, seed: int, examples: int) -> None:
    """Damage, ask, count; exit with 1 if anything ended without a message or an answer."""
    with tempfile.TemporaryDirectory(prefix="wikilda-") as scratch:
        os.environ["XDG_CACHE_HOME"] = str(Path(scratch) / "cache")
        ends, bad, unseen = attack(Path(scratch), count, seed)
    for said in bad[:examples]:
        print(said, file=sys.stderr)
    rows = [{"command": name, **dict(sorted(found.items()))} for name, found in ends.items()]
    for row in rows:
        print(row)
    print(f"{count:,} damages; {len(bad)} signals, hangs and tracebacks")
    print(f"{unseen} damages that a digest would show were passed by verify")
    write("attacks-artifacts", {"ends": rows}, damages=count, bad=len(bad), unseen=unseen)
    raise SystemExit(bool(bad or unseen))


def attack(scratch: Path, count: int, seed: int) -> tuple[dict[str, collections.Counter[str]], list[str], int]:
    """All damages: how commands ended, what ended badly, and how many damages verify has not seen."""
    whole, place, chance = scratch / "whole", scratch / "copy", random.Random(seed)
    whole.mkdir()
    known = build_from_dump([WIKI], whole / "kb", SETTINGS)
    create_model(known, whole / "model")
    (whole / "text.txt").write_text(_TEXT)
    shutil.copytree(whole, place)
    linker = Linker.open(place / "model")  # loads the kernels here, so that all processes have them
    linker.link(_TEXT)
    linker.explain(Document(_TEXT))
    describe_topic(linker.knowledge, 0, 1)
    before = {name: met(each)[1] for name, each in commands(place).items()}
    ends: dict[str, collections.Counter[str]] = {name: collections.Counter() for name in before}
    bad: list[str] = []
    unseen = 0
    for number in range(count):
        shutil.rmtree(place)
        shutil.copytree(whole, place)
        kind = damage(place, chance)
        for name, arguments in commands(place).items():
            end, said = met(arguments)
            if end == "answered":
                end = "answered as before" if said == before[name] else "answered otherwise"
            ends[name][end] += 1
            if end.startswith(("signal", "hang", "traceback")):
                bad.append(f"damage {number} ({kind}), {name}: {end} {said}")
            if name == "verify" and end.startswith("answered") and kind in {each.__name__ for each in ARRAYS}:
                unseen += not same(whole, place)
    return ends, bad, unseen


def same(one: Path, two: Path) -> bool:
    return all(each.read_bytes() == (two / each.relative_to(one)).read_bytes() for each in one.rglob("*.npy"))


if __name__ == "__main__":
    main()
