"""The finished parts of an iteration: one directory per shard, written atomically.

ITERATION/shared/            what all shards share
ITERATION/notes/000012/      a shard's figures and notes for the next iteration
ITERATION/shards/000012/     its counts, written when the shard is done
ITERATION/sums/0003/         the sum of a group of shards, which replaces them
ITERATION/model/             the next model
"""

import json
import math
import shutil
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import Run
from wikilda._core.atomic import is_whole, sealed_directory, write_text
from wikilda._core.errors import ArtifactError, InputError
from wikilda._core.npy import GrowingArray, save_array
from wikilda.training.interpolate import add_up, open_run, save_run, stretches
from wikilda.training.shard import Found

_LEAST_GROUP = 16


class Checkpoint:
    """The directory of one iteration."""

    def __init__(self, path: Path, shards: int) -> None:
        self.path, self.count = path, shards
        self.group_size = max(_LEAST_GROUP, math.isqrt(max(shards - 1, 0)) + 1)

    def missing(self) -> list[int]:
        """Return the shards that are not done. Damaged parts of an earlier run are removed and done again."""
        for kind in ("shards", "sums", "notes"):
            for place in sorted(path for path in (self.path / kind).glob("*") if path.name.isdigit()):
                if not is_whole(place):
                    shutil.rmtree(place)
        return [shard for shard in range(self.count) if not self._done(shard)]

    def save(self, shard: int, found: Found) -> None:
        """Save the results of a shard."""
        self.save_notes(shard, found.notes, json.dumps(found.report))
        with sealed_directory(self.path / "shards" / f"{shard:06d}") as place:
            for kind, run in found.runs.items():
                save_run(place, kind, run)

    def save_notes(self, shard: int, notes: NDArray[np.uint32], report: str) -> None:
        """Keep the notes of a shard for the next iteration, and its figures."""
        with sealed_directory(self.path / "notes" / f"{shard:06d}") as place:
            save_array(place / "notes.npy", notes)
            (place / "report.json").write_text(report, "utf-8")

    def notes(self, shard: int) -> NDArray[np.uint32] | None:
        """The notes of a shard, if there are any."""
        if not (self.path / "notes" / f"{shard:06d}").is_dir():
            return None
        found: NDArray[np.uint32] = np.load(self._whole_notes(shard) / "notes.npy", allow_pickle=False)
        return found

    def _whole_notes(self, shard: int) -> Path:
        place = self.path / "notes" / f"{shard:06d}"
        if not is_whole(place):
            raise ArtifactError(f"{place}: is damaged. Run the same command with --restart.")
        return place

    def report(self) -> dict[str, float]:
        """The figures of all shards, added up."""
        whole: dict[str, float] = {}
        for shard in range(self.count):
            place = self._whole_notes(shard)
            report: dict[str, Any] = json.loads((place / "report.json").read_text("utf-8"))
            for name, value in report.items():
                whole[name] = whole.get(name, 0) + value
        return whole

    def add_up_group(self, shard: int, symbols: dict[str, int]) -> None:
        """Replace the shards of a group by their sum when all are done."""
        group = shard // self.group_size
        members = range(group * self.group_size, min((group + 1) * self.group_size, self.count))
        if len(members) < 2 or self._sum(group).is_dir() or not all(self._done(each) for each in members):
            return
        places = [self.path / "shards" / f"{each:06d}" for each in members]
        with sealed_directory(self._sum(group)) as place:
            for kind, most in symbols.items():
                write_sum([open_run(each, kind) for each in places], most, place, kind)
        for each in places:
            shutil.rmtree(each)

    def runs(self, kinds: Iterable[str]) -> dict[str, list[Run]]:
        """All counts."""
        places = []
        for group in range(-(-self.count // self.group_size)):
            if self._sum(group).is_dir():
                places.append(self._sum(group))
            else:
                members = range(group * self.group_size, min((group + 1) * self.group_size, self.count))
                places += [self.path / "shards" / f"{each:06d}" for each in members]
        return {kind: [open_run(place, kind) for place in places] for kind in kinds}

    def forget_counts(self) -> None:
        """Remove everything that the finished model does not need."""
        for name in ("shared", "shards", "sums", "scratch"):
            shutil.rmtree(self.path / name, ignore_errors=True)

    def _done(self, shard: int) -> bool:
        counted = (self.path / "shards" / f"{shard:06d}").is_dir() or self._sum(shard // self.group_size).is_dir()
        return counted and (self.path / "notes" / f"{shard:06d}").is_dir()

    def _sum(self, group: int) -> Path:
        return self.path / "sums" / f"{group:04d}"


def write_sum(runs: list[Run], symbols: int, place: Path, kind: str) -> None:
    """Write the sum of runs, a stretch of symbols at a time."""
    parts = {part: GrowingArray(place / f"{kind}.{part}.npy", dtype) for part, dtype in zip(
        Run._fields, (np.int64, np.int64, np.uint32, np.int64), strict=True)}  # fmt: skip
    parts["offsets"].append(np.zeros(1, np.int64))
    for first, last in stretches(runs, symbols, 1 << 21):
        run = add_up([each.between(first, last) for each in runs])
        parts["offsets"].append(run.offsets[1:] + parts["topics"].length)
        for part in ("symbols", "topics", "sweeps"):
            parts[part].append(getattr(run, part))
    for each in parts.values():
        each.finish()


FILE = "metrics.jsonl"


@dataclass(frozen=True)
class Metrics:
    """Metrics of an iteration. Likelihoods are logarithms per token; None where nothing was evaluated."""

    iteration: int
    train: float | None
    held_out: float | None
    parameters: int
    gained: int = 0
    dropped: int = 0
    changed: float | None = None  # share of the mentions whose topic is another than in the iteration before
    rho: float | None = None
    documents: int = 0
    tokens: int = 0
    seconds: float = 0.0  # wall time, without the estimates of likelihoods
    sampling_seconds: float = 0.0  # processor time, added up over workers
    joining_seconds: float = 0.0  # processor time of workers to form shards
    merging_seconds: float = 0.0  # processor time to add up and interpolate


def per_token(log_likelihood: float, tokens: int) -> float | None:
    """The mean over tokens, if there are any."""
    return log_likelihood / tokens if tokens and math.isfinite(log_likelihood) else None


LITTLE = 0.02  # nats per context symbol below which texts hardly help
FEW = 5  # documents, or words and mentions of one that the wiki has


def advice(rows: list[Metrics], *, is_judged: bool = True) -> list[str]:
    """Return warnings about a training; `is_judged`: whether likelihood depends on what was learned."""
    told = [row.held_out for row in rows if row.held_out is not None]
    last = rows[-1] if rows else None
    if last is not None and 0 < last.documents < FEW:
        return [f"learned from {last.documents} documents: that is too few to tell whether they help. Use more texts."]
    if last is not None and last.documents and last.tokens < FEW * last.documents:
        return ["the wiki has hardly any word or name of these texts, so they hardly help. Are they in its language?"]
    if not is_judged:
        return []
    if last is not None and last.train is None and told[-1:] and told[-1] < 0:
        return ["the contexts of these texts predict worse than frequency alone: they are not used."]
    if len(told) > 1 and told[-1] < told[-2]:
        return [
            f"held-out likelihood has fallen from {told[-2]:.4f} to {told[-1]:.4f} in the last iteration: "
            "these texts teach nothing more. Use fewer iterations, or more texts like those that you will link."
        ]
    if last is not None and last.train is None and len(told) > 1 and told[-1] - told[0] < LITTLE:
        return [
            f"held-out likelihood has risen by {told[-1] - told[0]:.4f} nats per context symbol: these texts hardly "
            "help. Are they in the language of the wiki? Use more texts like those that you will link."
        ]
    return []


def write_metrics(path: Path, rows: list[Metrics]) -> None:
    """Write all rows atomically."""
    write_text(path, "".join(json.dumps(asdict(row)) + "\n" for row in rows))


def read_metrics(path: Path) -> list[Metrics]:
    """Rows of a file, or of the file in a model's directory; none if there is no such file."""
    file = path / FILE if path.is_dir() else path
    if not file.is_file():
        return []
    rows = []
    for number, line in enumerate(file.read_bytes().split(b"\n"), 1):
        if not line:
            continue
        try:
            row: dict[str, Any] = json.loads(line)
            rows.append(Metrics(**row))
        except (ValueError, TypeError) as error:
            raise InputError(f"{file}: line {number} is not a row of metrics ({error}). Remove the line.") from None
    return rows
