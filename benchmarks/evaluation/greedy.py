"""Choose the settings of the paper's sampler by its own procedure: a greedy search on labels of train and test-a.

    python -m benchmarks.evaluation.greedy MODEL aida-train.tsv aida-testa.tsv -o TUNED [--every N]

One setting after the other takes the value with the most right answers. Rows with these settings are marked as tuned.
"""

import argparse
import json
import tempfile
from dataclasses import replace
from pathlib import Path

from benchmarks import record
from benchmarks.evaluation.__main__ import SHORT
from wikilda.evaluation import metrics
from wikilda.evaluation.datasets import read_dataset
from wikilda.evaluation.gold import Resolver
from wikilda.evaluation.methods import Given, make_method
from wikilda.evaluation.run import Gold, run
from wikilda.model import PRESETS, Model, create_model
from wikilda.model.settings import ModelSettings

GRID = {
    "alpha": (1e-5, 1e-4, 1e-3, 1e-2, 1e-1),
    "mass_mentions": (1.0, 10.0, 100.0),
    "beta_mentions": (1e-7, 1e-4, 1e-3),
    "mass_words": (1.0, 10.0, 100.0),
    "beta_words": (1e-7, 1e-4, 1e-3),
}  # of the ranges that the paper gives


class Search:
    """Tries settings on sets of gold."""

    def __init__(self, path: Path, files: list[Path], every: int, scratch: Path) -> None:
        model = Model.open(path)
        self.knowledge, self.scratch = model.knowledge(), scratch
        resolver = Resolver(self.knowledge)
        sets = [dataset for file in files for dataset in read_dataset(file)]
        self.golds = [Gold(replace(each, documents=list(each.documents)[::every]), resolver) for each in sets]
        self.tried: dict[ModelSettings, float] = {}

    def right(self, settings: ModelSettings) -> float:
        """The share of right answers over all mentions, in percent."""
        if settings not in self.tried:
            model = create_model(self.knowledge, self.scratch / "model", settings, overwrite=True)
            method = make_method("lda", Given(model, self.knowledge), {"lda": SHORT})
            runs = [metrics.accuracy(run(method, gold, 1)) for gold in self.golds]
            known = sum(each.mentions for each in runs)
            self.tried[settings] = sum(each.micro * each.mentions for each in runs) / max(known, 1)
            print(json.dumps(settings.to_mapping()), round(self.tried[settings], 2), flush=True)
        return self.tried[settings]

    def best(self) -> ModelSettings:
        """Choose each setting in its turn, given those before."""
        found = PRESETS["paper"]
        for name, values in GRID.items():
            found = max((replace(found, **{name: value}) for value in values), key=self.right)
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--every", type=int, default=1, help="Every n-th document.")
    parser.add_argument("--record", help="The name of a file in docs/figures.")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.output.parent) as scratch:
        search = Search(args.model, args.files, args.every, Path(scratch))
        chosen = search.best()
    create_model(search.knowledge, args.output, chosen, overwrite=True)
    rows = [{**settings.to_mapping(), "micro": round(value, 2)} for settings, value in search.tried.items()]
    if args.record:
        record.write(args.record, {"tried": rows})


if __name__ == "__main__":
    main()
