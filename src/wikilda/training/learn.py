"""The M-step of the urn: the next model from the counts of all documents.

    S = (1 − ρ) S + ρ N        what is learned, in whole parts of UNIT
    λ̂_vk = w λ̂⁰_vk + 5 S_vk   with λ̂⁰ the model that training began with: it is the prior; w is `prior_weight`
    n_cd = n⁰_cd + Σ_k min(S_ck, 10) [d ∈ D_k] / |D_k|, and e_cd likewise; S_ck is 0 where n⁰ counts the wiki's links
    N_v = N⁰_v + S_v           number of texts with string v as NIL; n_v: as a mention

λ̂ is counted by the posterior, the prior's parameters w λ̂⁰_vk + min(S_vk, w λ̂⁰_vk) by the prior's share of it, with the
counts of a string scaled down to those of the wiki. The limits bound what texts that are made to move the meaning of a
name can do: its odds change by at most a factor of two, and what is next to one topic only is no evidence for its type.

So corpora add up: the counts of one are the prior for the next.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import EMPTY_RUN, Run, find, offsets_of
from wikilda._core.atomic import is_whole, seal, sync_tree, write_text
from wikilda._core.errors import ArtifactError
from wikilda._core.jit import Real, njit
from wikilda.knowledge import Knowledge
from wikilda.knowledge.context_counts import (
    CONTEXTS,
    UNIT,
    ContextCounts,
    counted_contexts,
    empty_counts,
    topic_types,
)
from wikilda.model import Model, Parameters
from wikilda.model.model import BASE, EXPECTED, MENTIONS, NIL, URN, NilCounts
from wikilda.model.weights import pooled
from wikilda.training.interpolate import Blend, Joined, add_up, blend_rows, join, open_run, save_run
from wikilda.urn.prior_shift import NO_SHIFT, PriorShift

_SEEN = 5.0  # weight of counts in λ̂: methods without other evidence need a larger weight of texts
_MOST_IN_CONTEXT = 10 * UNIT  # counts of one topic next to a context symbol
Counts = dict[str, Run]


_GRADIENT, _RATE = "gradient", "rate.json"
_WINDOW = 2.0  # iterations that the adaptive rate looks back on at first


def learned(place: Path, previous: Path | None, counts: dict[str, list[Run]], rho: float | None) -> Counts:
    """S after an iteration, kept at `place`; `previous` has that of the iteration before. Without ρ it is adaptive."""
    if previous is not None and not is_whole(previous):
        raise ArtifactError(f"{previous}: is damaged. Run the same command with --restart.")
    place.mkdir(parents=True, exist_ok=True)
    now = {kind: add_up(runs) for kind, runs in counts.items()}
    before = {
        kind: open_run(previous, kind) if previous and (previous / f"{kind}.topics.npy").is_file() else None
        for kind in counts
    }
    step = rho if rho is not None else adaptive_rate(place, previous, before[MENTIONS], now[MENTIONS])
    made = {}
    for kind, old in before.items():
        made[kind] = now[kind] if old is None else add_up([scaled(old, 1.0 - step), scaled(now[kind], step)])
        save_run(place, kind, made[kind])
    seal(place)
    sync_tree(place)
    return made


def adaptive_rate(place: Path, previous: Path | None, before: Run | None, now: Run) -> float:
    """ρ = |ḡ|² / mean of |g|², with g = N − S and means over a window that grows where ρ is small.

    The rate of Ranganath et al. (2013): 1 while steps agree, small where they are noise. It is judged by the counts of
    mentions; means begin with the first step, which is from nothing.
    """
    step = add_up([scaled(before, -1.0), now]) if before is not None else now
    if previous is None:
        mean, square, window, rate = step, _square(step), _WINDOW, 1.0
    else:
        state = json.loads((previous / _RATE).read_text("utf-8"))
        window = state["window"]
        mean = add_up([scaled(open_run(previous, _GRADIENT), 1.0 - 1.0 / window), scaled(step, 1.0 / window)])
        square = (1.0 - 1.0 / window) * state["square"] + _square(step) / window
        rate = min(_square(mean) / max(square, 1e-300), 1.0)
        window = window * (1.0 - rate) + 1.0
    save_run(place, _GRADIENT, mean)
    write_text(place / _RATE, json.dumps({"rate": rate, "square": square, "window": window}))
    return rate


def rate_of(place: Path) -> float | None:
    """The adaptive rate of an iteration, if it had one."""
    file = place / _RATE
    return float(json.loads(file.read_text("utf-8"))["rate"]) if file.is_file() else None


def _square(run: Run) -> float:
    return float(np.square(run.sweeps / UNIT).sum())


def scaled(run: Run, by: float) -> Run:
    """Counts times a factor, in whole numbers."""
    return run if by == 1.0 else run._replace(sweeps=np.rint(run.sweeps * by).astype(np.int64)) if by else EMPTY_RUN


def next_model(
    first: Model, knowledge: Knowledge, counts: Counts, texts: NDArray[np.uint64], target: Path, *, iteration: int,
    prior_weight: float = 1.0, shift: PriorShift = NO_SHIFT,
) -> Model:  # fmt: skip
    """Write the model that follows `first`, given all that was learned; `texts` are digests of the documents.

    Strings keep the topics that they have in `first`. `prior_weight` is that of the P(k|v) of `first`; `shift` is how
    the prior of the texts differs.
    """
    scratch = target.with_name("scratch")
    scratch.mkdir(parents=True, exist_ok=True)
    seen, own = _of_known(counts[MENTIONS], first.mentions), _of_base(counts[BASE], first.base, prior_weight)
    mentions = join(first.mentions, [seen], Blend(prior_weight, _SEEN / UNIT, 0.0), scratch / MENTIONS)
    base = join(first.base, [own], Blend(prior_weight, 1.0 / UNIT, 0.0), scratch / BASE)
    contexts = context_counts(first.contexts, knowledge, counts[CONTEXTS], counts[EXPECTED], texts)
    parts = NextParts(mentions, base, contexts, nil_table(first.nil, counts[NIL]))
    return write_next(first, knowledge, parts, target, iteration, shift)


class NextParts(NamedTuple):
    """What training changes of a model."""

    mentions: Joined
    base: Joined
    contexts: ContextCounts
    nil: NilCounts


def write_next(
    first: Model, knowledge: Knowledge, parts: NextParts, target: Path, iteration: int, shift: PriorShift = NO_SHIFT
) -> Model:
    """Put the model together that follows `first`."""
    with first.derive(target, overwrite=True) as writer:
        for kind, each in ((MENTIONS, parts.mentions), (BASE, parts.base)):
            writer.adopt(kind, each.offsets, each.topics, each.values)
        writer.contexts(parts.contexts)
        writer.nil(parts.nil)
        change = parts.mentions.change
        change = change._replace(parameters=len(first.words.topics) + change.parameters)
        writer.weights((first.weights or pooled()).replaced(shift.settings().items()))
        about = {"identity": knowledge.identity, "path": str(knowledge.path.resolve())}
        return writer.derived(iteration=iteration, method=URN, change=change._asdict(), knowledge=about,
                              prior_shift=asdict(shift))  # fmt: skip


class Blended(NamedTuple):
    """Rows of parameters, and how many parameters are new or gone."""

    lengths: NDArray[np.int64]
    topics: NDArray[np.uint32]
    values: NDArray[np.float32]
    gained: int
    dropped: int


def next_mentions(first: Parameters, base: Parameters, counts: Counts, prior_weight: float) -> tuple[Blended, Blended]:
    """Return the next rows of λ̂ and of the base measure of some strings."""
    seen, own = _of_known(counts[MENTIONS], first), _of_base(counts[BASE], base, prior_weight)
    mentions = Blended(*blend_rows(first, seen, 0, Blend(prior_weight, _SEEN / UNIT, 0.0)))
    return mentions, Blended(*blend_rows(base, own, 0, Blend(prior_weight, 1.0 / UNIT, 0.0)))


def _of_known(run: Run, table: Parameters) -> Run:
    """The counts of pairs of string and topic that the table has."""
    return _chosen(run, _places(run, table) >= 0)


def _of_base(run: Run, table: Parameters, weight: float) -> Run:
    """The counts of pairs that the table has: of a string, and of each pair, at most the values there times a weight.

    The counts of a string are scaled, so that its texts have the same shares however many they are.
    """
    places = _places(run, table)
    known = _chosen(run, places >= 0)
    return known._replace(sweeps=_bounded(known, places[places >= 0], table, weight * UNIT))


@njit
def _bounded(run: Run, places: NDArray[np.int64], table: Parameters, weight: Real) -> NDArray[np.int64]:
    bounded = np.empty(len(run.sweeps), np.int64)
    for row in range(len(run.symbols)):
        most, total = 0.0, 0.0
        for at in range(table.offsets[run.symbols[row]], table.offsets[run.symbols[row] + 1]):
            most += weight * np.float64(table.values[at])
        for at in range(run.offsets[row], run.offsets[row + 1]):
            total += np.float64(run.sweeps[at])
        scale = min(1.0, most / total) if total > 0.0 else 1.0
        for at in range(run.offsets[row], run.offsets[row + 1]):
            own = weight * np.float64(table.values[places[at]])
            bounded[at] = np.int64(min(scale * np.float64(run.sweeps[at]), own))
    return bounded


def _chosen(run: Run, kept: NDArray[np.bool_]) -> Run:
    before = offsets_of(kept.astype(np.int64))
    return Run(run.symbols, before[run.offsets], run.topics[kept], run.sweeps[kept])


@njit
def _places(run: Run, table: Parameters) -> NDArray[np.int64]:
    """Where the pairs of a run are in a table, or −1."""
    places = np.empty(len(run.topics), np.int64)
    for row in range(len(run.symbols)):
        start, end = table.offsets[run.symbols[row]], table.offsets[run.symbols[row] + 1]
        for at in range(run.offsets[row], run.offsets[row + 1]):
            places[at] = find(table.topics, start, end, run.topics[at])
    return places


def nil_table(first: NilCounts | None, counts: Run) -> NilCounts:
    """N_v and n_v of an earlier model and of counts: NIL has the place of topic 0, and all texts that of topic 1."""
    symbols = counts.symbols if first is None else np.union1d(first.symbols, counts.symbols)
    sums = np.zeros((2, len(symbols)), np.float64)
    rows = np.repeat(np.searchsorted(symbols, counts.symbols), np.diff(counts.offsets))
    sums[counts.topics, rows] = counts.sweeps / UNIT
    if first is not None:
        sums += first.of(symbols)
    return NilCounts(symbols, *sums.astype(np.float32))


def context_counts(
    first: ContextCounts | None, knowledge: Knowledge, counts: Run, expected: Run, texts: NDArray[np.uint64]
) -> ContextCounts:
    """n_cd and e_cd of an earlier model and of counts by context symbol and topic, without what is hardly ever met."""
    types = first.types if first else topic_types(knowledge.titles, knowledge.sentences)
    old = first or empty_counts(types)
    made = counted_contexts(old, types, in_contexts(counts), in_contexts(expected))
    return made.counts_of(types, np.union1d(old.texts, texts))


def in_contexts(run: Run) -> Run:
    """Counts of topics next to context symbols, within the limit: of a type are words that several topics have."""
    return run._replace(sweeps=np.minimum(run.sweeps, _MOST_IN_CONTEXT))
