"""Methods on held-out links of the model's own wiki, for several wikis: what `wikilda evaluate --own-links` shows.

    python -m benchmarks.weights.own_links MODEL… [--record NAME]

`urn, estimated prior` has the prior shift that is estimated from the same texts without labels. *With a candidate* is
the accuracy over the mentions whose topic is among the method's candidates.
"""

import argparse
from pathlib import Path

import numpy as np

from benchmarks import record
from wikilda import Linker
from wikilda.evaluation import metrics
from wikilda.evaluation.evaluate import OWN_METHODS
from wikilda.evaluation.gold import Resolver
from wikilda.evaluation.methods import make_method
from wikilda.evaluation.own_links import own_links
from wikilda.evaluation.run import Gold, Run, run
from wikilda.model import Model
from wikilda.urn.learning import roc_area
from wikilda.urn.settings import UrnSettings


def rows(path: Path) -> list[dict[str, str | float | int | None]]:
    """One row per method."""
    model = Model.open(path)
    given, dataset = own_links(model, model.knowledge())
    gold = Gold(dataset, Resolver(given.knowledge))
    made = [make_method(name, given) for name in OWN_METHODS]
    shift = Linker(given.model, given.knowledge).estimate_prior(dataset.documents)
    made.append(make_method("urn", given, {"urn": UrnSettings.from_mapping(shift.settings())}))
    made[-1].name = "urn, estimated prior"
    return [_row(path.name, run(method, gold, 1)) for method in made]


def _row(name: str, found: Run) -> dict[str, str | float | int | None]:
    measured = metrics.accuracy(found)
    nil = np.array([each.nil for each in found.verdicts])
    known = found.gold.known
    ranks = np.array([each.rank for each in found.verdicts])[known]
    return {
        "wiki": name, "method": found.method, "mentions": measured.mentions,
        "micro": f"{measured.micro:.1f} ± {1.96 * measured.micro_deviation:.1f}",
        "macro": f"{measured.macro:.1f} ± {1.96 * measured.macro_deviation:.1f}",
        "with a candidate": round(100 * float((ranks == 0).sum() / max((ranks >= 0).sum(), 1)), 1),
        "known kept, %": round(100 * float((nil[known] <= 0.5).mean()), 1),
        "NIL area": round(roc_area(nil, ~known), 3),
        "ECE": round(metrics.answer_calibration(found).error, 3) if found.probabilistic else None,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--record", help="The name of a file in docs/figures.")
    args = parser.parse_args()
    found = []
    for path in args.models:
        found += rows(path)
        print(record.table(found[-len(OWN_METHODS) - 1 :]), flush=True)
    if args.record:
        record.write(args.record, {"accuracy": found})


if __name__ == "__main__":
    main()
