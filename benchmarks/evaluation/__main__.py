"""The paper's table, and the systems of its related work beside it: figures for docs/experiments/paper-table.md.

python -m benchmarks.evaluation --set test-a aida.model aida-testa.tsv --long --trained paper-1.model --skip kataria

paper-1.model is the preset `paper` after one iteration on news:
wikilda init aida.model --preset paper -o paper.model
wikilda train paper.model bbc.jsonl.xz --method lda --preset paper -o paper-1.model
Each set has figures of its own. Models of later iterations are given in the same way, those of the default method as
--urn; --tuned is a model with settings chosen by benchmarks.evaluation.greedy, for both numbers of sweeps; --coherent
are models trained with --set coherent_prior=true, where coherence multiplies α + N_k.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.record import write
from benchmarks.rivals import everything, make
from benchmarks.rivals.entity_topic import EntityTopic
from wikilda.evaluation import metrics
from wikilda.evaluation.datasets import read_dataset
from wikilda.evaluation.gold import Resolver
from wikilda.evaluation.methods import Given, Method, make_method
from wikilda.evaluation.run import Gold, Run, run
from wikilda.lda.settings import LdaSettings
from wikilda.model import Model

LONG = LdaSettings(sweeps=800, burn_in=160)
SHORT = LdaSettings(sweeps=50, burn_in=10)
_BEST = "paper, t = 1, 800 sweeps"
PUBLISHED = {  # Table 1 of the paper, and the figures of train in its text
    "test-a": {"prior": (70.76, 69.58), "tagme": (76.89, 74.57), "aida": (79.29, 77.00), _BEST: (80.97, 78.61)},
    "train": {_BEST: (83.04, 82.84)},
}  # fmt: skip


class Further(NamedTuple):
    """Models that the table has besides: of the paper's sampler and of ours after iterations, and a tuned one."""

    trained: list[Model]
    ours: list[Model]
    tuned: Model | None
    coherent: list[Model]


def methods(given: Given, further: Further, *, long: bool, wanted: list[str]) -> Iterator[Method]:
    """The methods wanted, each made when its turn comes: the paper's sampler after iterations, 50 and 800 sweeps."""
    for name in wanted:
        if name != "paper":
            yield make(name, given)
            continue
        for settings in (SHORT, LONG) if long else (SHORT,):
            coherent = replace(settings, coherent_prior=True)
            yield _named(make_method("paper", given, {"paper": settings}), 0, settings)
            for model in further.trained:
                yield _named(_sampler(model, given, settings), model.iteration, settings)
            yield _named(make_method("paper", given, {"paper": coherent}), 0, settings, "paper, (α + N) · coh")
            for model in further.coherent:
                yield _named(_sampler(model, given, coherent), model.iteration, settings, "paper, (α + N) · coh")
            if further.tuned:
                yield _named(_sampler(further.tuned, given, settings), 0, settings, "paper, tuned")
    for model in further.ours:
        method = make_method("urn", Given(model, given.knowledge))
        method.name = f"urn, t = {model.iteration}"
        yield method


def _sampler(model: Model, given: Given, settings: LdaSettings) -> Method:
    return make_method("lda", Given(model, given.knowledge), {"lda": settings})


def _named(method: Method, iteration: int, settings: LdaSettings, name: str = "paper") -> Method:
    method.name = f"{name}, t = {iteration}, {settings.sweeps} sweeps"
    return method


def row(found: Run, method: Method, published: dict[str, tuple[float, float]]) -> dict[str, Any]:
    """A row of the table."""
    measured = metrics.accuracy(found)
    share = measured.micro / 100
    micro, macro = published.get(found.method, (None, None))
    memory = None
    if isinstance(method, EntityTopic):
        arrays = [part for each in method.trained for part in (each if isinstance(each, tuple) else (each,))]
        memory = round(sum(each.nbytes for each in arrays) / 1e9, 2)
    return {
        "method": found.method,
        "micro": f"{measured.micro:.2f} ± {measured.micro_deviation:.2f}",
        "± by mentions": round(100 * (share * (1 - share) / max(measured.mentions, 1)) ** 0.5, 2),
        "macro": f"{measured.macro:.2f} ± {measured.macro_deviation:.2f}",
        "paper's micro": micro,
        "paper's macro": macro,
        "seconds": round(found.seconds, 1),
        "to prepare, s": round(found.preparation, 1),
        "GB of counts": memory,
    }


def differences(runs: list[Run]) -> list[dict[str, Any]]:
    """The last method against each other one."""
    rows = []
    for other in runs[:-1]:
        micro, macro = metrics.compare(runs[-1], other).values()
        rows.append({
            "difference": f"{runs[-1].method} − {other.method}",
            "micro": f"{micro.value:+.2f} [{micro.low:+.2f}, {micro.high:+.2f}]", "p": round(micro.p, 3),
            "macro": f"{macro.value:+.2f} [{macro.low:+.2f}, {macro.high:+.2f}]", "p of macro": round(macro.p, 3),
        })  # fmt: skip
    return rows


def measure(name: str, options: argparse.Namespace) -> Iterator[dict[str, list[dict[str, Any]]]]:
    """The tables of a set, after each method; differences come last."""
    model = Model.open(options.set[1])
    knowledge = model.knowledge()
    gold = Gold(read_dataset(Path(options.set[2]))[0], Resolver(knowledge))
    given = Given(model, knowledge, gold.documents)
    tuned = Model.open(options.tuned) if options.tuned else None
    trained, ours, coherent = (
        list(map(Model.open, paths)) for paths in (options.trained, options.urn, options.coherent)
    )
    further = Further(trained, ours, tuned, coherent)
    runs, rows = [], []
    wanted = options.only or [each for each in everything() if each.partition(":")[0] not in options.skip]
    for method in methods(given, further, long=options.long, wanted=wanted):
        runs.append(run(method, gold, options.threads))
        rows.append(row(runs[-1], method, PUBLISHED.get(name, {})))
        print(json.dumps(rows[-1], ensure_ascii=False), flush=True)
        yield {"accuracy": rows}
    if len(runs) > 1:
        yield {"accuracy": rows, "paired": differences(runs)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", nargs=3, required=True, metavar=("NAME", "MODEL", "GOLD"))
    parser.add_argument("--trained", type=Path, action="append", default=[], help="preset `paper` after iterations")
    parser.add_argument("--urn", type=Path, action="append", default=[], help="the default method after iterations")
    parser.add_argument("--coherent", type=Path, action="append", default=[], help="trained with coherent_prior")
    parser.add_argument("--tuned", type=Path, help="the paper's sampler with settings chosen on labels")
    parser.add_argument("--long", action="store_true", help="800 sweeps, too")
    parser.add_argument("--only", action="append", help="just this method, and others so named")
    parser.add_argument("--skip", action="append", default=[], help="a method to leave out, tuned or not")
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    for tables in measure(options.set[0], options):
        write(f"paper-table-{options.set[0].replace(' ', '-')}", tables)


if __name__ == "__main__":
    main()
