"""The record of a training: one line of JSON an iteration."""

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from wikilda._core.atomic import write_text
from wikilda._core.errors import InputError

FILE = "metrics.jsonl"


@dataclass(frozen=True)
class Metrics:
    """What an iteration has done. Likelihoods are logarithms a token; there are none where nothing was evaluated."""

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
    seconds: float = 0.0  # as a clock has it, without the estimates of likelihoods
    sampling_seconds: float = 0.0  # processor time, added up over workers
    joining_seconds: float = 0.0  # processor time of workers to form shards
    merging_seconds: float = 0.0  # processor time to add up and interpolate


def per_token(log_likelihood: float, tokens: int) -> float | None:
    """The mean over tokens, if there are any."""
    return log_likelihood / tokens if tokens and math.isfinite(log_likelihood) else None


def write_metrics(path: Path, rows: list[Metrics]) -> None:
    """Write all rows; the file is always whole."""
    write_text(path, "".join(json.dumps(asdict(row)) + "\n" for row in rows))


def read_metrics(path: Path) -> list[Metrics]:
    """Rows of a file, or of the file in a model's directory; none if there is no such file."""
    file = path / FILE if path.is_dir() else path
    if not file.is_file():
        return []
    rows = []
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        try:
            row: dict[str, Any] = json.loads(line)
            rows.append(Metrics(**row))
        except (ValueError, TypeError) as error:
            raise InputError(f"{file}: line {number} is not a row of metrics ({error}).") from None
    return rows
