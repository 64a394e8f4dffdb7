"""The coefficients that `wikilda suggest` begins with, from the links of a wiki: prints those of `_scores.POOLED`.

python -m benchmarks.entities.pooled_links DUMP MODEL
"""

import argparse
from pathlib import Path

import numpy as np

from wikilda.documents.detection import EveryName
from wikilda.linking import Linker
from wikilda.model import Model
from wikilda.suggestions._scores import fit
from wikilda.suggestions.candidates import FEATURES, find_candidates
from wikilda.suggestions.sources import Dump


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dump", type=Path)
    parser.add_argument("model", type=Path)
    given = parser.parse_args()
    model = Model.open(given.model)
    linker = Linker(model, detector=EveryName(model.knowledge()))
    found = find_candidates(linker, Dump(given.dump), 1, lambda _: None)
    centres, spreads = found.features.mean(axis=0), np.maximum(found.features.std(axis=0), 0.01)
    weights = fit((found.features - centres) / spreads, found.linked, np.zeros(len(FEATURES) + 1))
    print(f"INTERCEPT = {weights[0]:.3f}\nPOOLED = {{")
    for name, *values in zip(FEATURES, centres, spreads, weights[1:], strict=True):
        print(f'    "{name}": Pooled({", ".join(f"{each:.3f}" for each in values)}),')
    print("}")


if __name__ == "__main__":
    main()
