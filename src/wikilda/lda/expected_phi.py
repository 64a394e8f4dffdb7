"""Weights for sampling: κ_kv/κ'_k of Eq. 5, computed once per model and memory-mapped.

The conditional of a token does not change when all weights of its symbol are multiplied by one number, so
every symbol has its own scale: the largest weight is 1, even where exp(Ψ(·)) underflows. For a symbol v

    weight_kv    = scale_v · κ_kv / κ'_k           0 where there is no λ̂
    smoothing_v  = scale_v · exp(Ψ(β)) / κ'_min    0 for nearly all symbols with parameters, 1 for those without
    factor_k     = κ'_min / κ'_k

so that Eq. 4 is (α_k + N_k) · (weight_kv + smoothing_v · factor_k). All are between 0 and 1. What is below
1e-30 is 0: it could never be drawn, and tiny numbers are slow.
"""

import errno
import hashlib
import shutil
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.array_checks import Array, Arrays
from wikilda._core.artifact import Artifact, Writer, format_of
from wikilda._core.atomic import lock
from wikilda._core.errors import ArtifactError, BusyError
from wikilda._core.jit import Real, bare, njit
from wikilda._core.platform import cache_directory
from wikilda._core.random import alias_table
from wikilda.model.model import MENTIONS, WORDS, Model, Parameters
from wikilda.model.writer import chunks


@bare
def digamma(x: Real) -> Real:
    """Ψ(x) for x > 0: the recurrence up to 6, then the asymptotic series; right to about 1e-13."""
    result = 0.0
    while x < 6.0:
        result -= 1.0 / x
        x += 1.0
    y = 1.0 / (x * x)
    series = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y * (1 / 132 - y * (691 / 32760 - y / 12))))))
    return result + np.log(x) - 0.5 / x - series


@njit
def digammas(values: NDArray[np.float64], add: Real) -> NDArray[np.float64]:
    """Ψ(add + value) of many values."""
    out = np.empty(len(values), np.float64)
    for at in range(len(values)):
        out[at] = digamma(add + values[at])
    return out


TINY = 1e-30
_KEPT = 8  # number of models whose weights are kept
_PARTS = ("weights", "priors", "smoothing", "factors", "alias_shares", "alias_others")


class Rows(NamedTuple):
    """The sparse weights of one kind of symbol; priors are weights times α_k/α (the same array if α is symmetric)."""

    offsets: NDArray[np.int64]
    topics: NDArray[np.uint32]
    weights: NDArray[np.float32]
    priors: NDArray[np.float32]
    smoothing: NDArray[np.float32]


class Dense(NamedTuple):
    """Smoothing over all topics: factors κ'_min/κ'_k; Σ and an alias table of α_k/α · factor_k; for either kind."""

    word_factors: NDArray[np.float32]
    word_shares: NDArray[np.float32]
    word_others: NDArray[np.uint32]
    word_total: float
    mention_factors: NDArray[np.float32]
    mention_shares: NDArray[np.float32]
    mention_others: NDArray[np.uint32]
    mention_total: float


class Smoothing(NamedTuple):
    """The same while it is made, for one kind, with all log κ'_k and the least of them."""

    norms: NDArray[np.float64]
    least: float
    factors: NDArray[np.float32]
    shares: NDArray[np.float32]
    others: NDArray[np.uint32]
    total: float


class Weights(NamedTuple):
    """All precomputed weights of a model."""

    words: Rows
    mentions: Rows
    dense: Dense


def _declared(kind: str) -> Arrays:
    parameters = f"entries of {kind}/"
    return {
        f"{kind}/weights": Array(np.float32, parameters),
        f"{kind}/priors": Array(np.float32, parameters, optional=True),
        f"{kind}/smoothing": Array(np.float32, kind),
        f"{kind}/factors": Array(np.float32, "topics"),
        f"{kind}/alias_shares": Array(np.float32, "topics"),
        f"{kind}/alias_others": Array(np.uint32, "topics", below="topics"),
    }


class Prepared(Artifact):
    """The weights of a model on disk."""

    kind = "weights"
    format = 3
    fields = {"model": str, "totals.words": float, "totals.mentions": float}
    arrays = {**_declared(WORDS), **_declared(MENTIONS)}


def prepare(model: Model) -> Weights:
    """Open the weights of a model and its priors in the user's cache; compute them if they are missing.

    Nothing is written into the model. Without a writable cache they exist while the model is open.
    """
    try:
        target = weights_directory() / f"{Prepared.kind}-{_digest(model)}"
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            _write(model, target)
    except (RuntimeError, OSError) as error:  # the first: there is no home directory
        if isinstance(error, OSError) and error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR):
            raise
        target = Path(tempfile.mkdtemp(prefix="wikilda-")) / Prepared.kind
        weakref.finalize(model, shutil.rmtree, target.parent, ignore_errors=True)
        _write(model, target)
    return _open(model, Prepared.open(target))


def weights_directory() -> Path:
    """Return the directory of the weights."""
    return cache_directory() / "weights"


def _digest(model: Model) -> str:
    s = model.settings
    parts = [model.identity, s.beta_words, s.beta_mentions, s.asymmetric, Prepared.format]
    return hashlib.blake2b(repr(parts).encode(), digest_size=16).hexdigest()


def _write(model: Model, target: Path) -> None:
    with lock(target, wait=True):  # other processes may compute the same weights
        if target.exists():
            return
        with Prepared.writer(target) as writer:
            totals = {kind: _write_kind(writer, model, kind) for kind in (WORDS, MENTIONS)}
            writer.finish({"model": model.identity, "totals": totals})
    _clean(target.parent)


def _clean(place: Path) -> None:
    """Remove leftovers of killed processes, weights in an old format, and the oldest weights."""
    there = sorted(place.glob(f"{Prepared.kind}-*"), key=lambda each: each.stat().st_mtime_ns)
    whole = [each for each in there if not each.suffix and format_of(each) == Prepared.format]
    for old in there:
        if old not in whole[-_KEPT:] and old.suffix in ("", ".writing"):
            with suppress(BusyError), lock(old.with_suffix("")):
                shutil.rmtree(old, ignore_errors=True)


def smoothing_of(model: Model, kind: str) -> Smoothing:
    """Compute the smoothing over all topics of a model."""
    norms = digammas(model.sums(kind), model.beta_sum(kind))
    least = float(norms.min(initial=np.inf))
    factors = np.exp(least - norms)
    dense = factors * model.popularity.astype(np.float64) if model.settings.asymmetric else factors
    return Smoothing(norms, least, factors.astype(np.float32), *alias_table(dense), float(dense.sum()))


def _write_kind(writer: Writer[Prepared], model: Model, kind: str) -> float:
    smooth = smoothing_of(model, kind)
    writer.array(f"{kind}/factors", smooth.factors)
    writer.array(f"{kind}/alias_shares", smooth.shares)
    writer.array(f"{kind}/alias_others", smooth.others)
    popularity = model.popularity if model.settings.asymmetric else None
    _write_rows(writer, kind, model.table(kind), smooth, model.beta(kind), popularity)
    return smooth.total


def _write_rows(
    writer: Writer[Prepared],
    kind: str,
    table: Parameters,
    smooth: Smoothing,
    beta: float,
    popularity: NDArray[np.float32] | None,
) -> None:
    weights = writer.create(f"{kind}/weights", np.float32, len(table.topics))
    smoothing = writer.create(f"{kind}/smoothing", np.float32, table.symbols)
    priors = None if popularity is None else writer.create(f"{kind}/priors", np.float32, len(table.topics))
    for first, last in chunks(table.offsets):
        span = slice(int(table.offsets[first]), int(table.offsets[last]))
        rows = table.between(first, last)
        made, smoothing[first:last] = row_weights(rows, smooth.norms, smooth.least, beta)
        weights[span] = made
        if priors is not None and popularity is not None:
            priors[span] = made * popularity[rows.topics]


@njit
def row_weights(
    rows: Parameters, norms: NDArray[np.float64], least: Real, beta: Real
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Weights and smoothing of some symbols, each with its own scale; `norms` are log κ'_k, `least` their minimum."""
    weights = np.empty(len(rows.topics), np.float32)
    smoothing = np.empty(len(rows.offsets) - 1, np.float32)
    logs = np.empty(len(rows.topics), np.float64)
    bare = digamma(beta)  # Ψ(β) is about −1/β: exp of it may be 0, but it is only used in differences
    for symbol in range(len(smoothing)):
        start, end = rows.offsets[symbol], rows.offsets[symbol + 1]
        top = bare - least
        for at in range(start, end):
            value = np.float64(rows.values[at])
            logs[at] = digamma(beta + value) - norms[rows.topics[at]] if value > 0.0 else -np.inf
            top = max(top, logs[at])
        for at in range(start, end):
            weights[at] = _weight(logs[at] - top, bare - norms[rows.topics[at]] - top)
        smooth = np.exp(bare - least - top)
        smoothing[symbol] = smooth if smooth >= TINY else 0.0
    return weights, smoothing


@bare
def _weight(whole: Real, bare: Real) -> Real:
    """The difference exp(whole) − exp(bare): κ_kv is what λ̂ adds to the smoothing of Ψ(β)."""
    if whole <= bare:
        return 0.0
    base = np.exp(bare)
    weight = base * np.expm1(whole - bare) if base > TINY else np.exp(whole)
    return weight if weight >= TINY else 0.0


def _open(model: Model, artifact: Prepared) -> Weights:
    if artifact.field("model", str) != model.identity:
        raise ArtifactError(f"{artifact.path}: belongs to another model. Delete it; it will be computed again.")
    artifact.check_fits(model, *artifact.sizes)
    rows: list[Rows] = []
    dense: list[Any] = []
    for kind, table in ((WORDS, model.words), (MENTIONS, model.mentions)):
        there = [part for part in _PARTS if artifact.has(f"{kind}/{part}")]
        arrays = {part: artifact.array(f"{kind}/{part}") for part in there}
        weights = arrays["weights"]
        rows.append(
            Rows(
                offsets=table.offsets,
                topics=table.topics,
                weights=weights,
                priors=arrays.get("priors", weights),
                smoothing=arrays["smoothing"],
            )
        )
        dense += [arrays[part] for part in ("factors", "alias_shares", "alias_others")]
        dense.append(artifact.field(f"totals.{kind}", float))
    return Weights(rows[0], rows[1], Dense(*dense))
