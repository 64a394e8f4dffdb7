"""Schedules of ρ on real texts: held-out likelihood and accuracy after each iteration.

    python -m benchmarks.training.schedules MODEL --aida DATA/aida --work DIR

Trained on the texts of AIDA train, of which a tenth is held out; accuracy is that on the same texts, each without what
it has taught itself.
"""

import argparse
from pathlib import Path

from benchmarks import record
from benchmarks.training.learning import write_texts
from wikilda.evaluation.evaluate import evaluate
from wikilda.evaluation.metrics import accuracy
from wikilda.training.checkpoints import read_metrics
from wikilda.training.pipeline import train
from wikilda.training.settings import TrainingPlan, UrnTraining

_SCHEDULES = {
    "constant, ρ = 1": {},
    "constant, ρ = 0.5": {"rho_global": 0.5},
    "Robbins–Monro, κ = 0.7": {"kappa_global": 0.7},
    "adaptive": {"adaptive": True},
}


def main() -> None:
    """Train with each, and write docs/figures/schedules.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--aida", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--iterations", type=int, default=4)
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    texts, rows = given.work / "train.jsonl", []
    write_texts(given.aida / "aida-train.tsv", texts)
    for number, (name, settings) in enumerate(_SCHEDULES.items()):
        target = given.work / f"model{number}"
        if not target.exists():
            train(given.model, [texts], target, UrnTraining(held_out=0.1, **settings), TrainingPlan(given.iterations))  # type: ignore[arg-type]
        told = read_metrics(target)[1:]
        found = accuracy(
            evaluate(given.model, given.aida / "aida-train.tsv", methods=["urn"], also=[target]).runs[0][-1]
        )
        rows.append({
            "schedule": name, "ρ": ", ".join(f"{row.rho:.2f}" for row in told),
            "held out, nats": ", ".join(f"{row.held_out:.4f}" for row in told),
            "train micro": round(found.micro, 2), "train macro": round(found.macro, 2),
        })  # fmt: skip
        print(rows[-1], flush=True)
    record.write("schedules", {"schedules": rows})


if __name__ == "__main__":
    main()
