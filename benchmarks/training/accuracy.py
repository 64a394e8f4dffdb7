"""Accuracy on AIDA before and after training, mentions given.

python -m benchmarks.training.accuracy MODEL... --data aida-testa.tsv
"""

import argparse
from pathlib import Path

from benchmarks.linking.aida import accuracy, read_aida
from wikilda.linking import Linker


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", type=Path, nargs="+")
    parser.add_argument("--data", type=Path, required=True)
    options = parser.parse_args()
    gold = list(read_aida(options.data))
    for model in options.models:
        linker = Linker.open(model)
        answers = [linker.link(document, candidates=1000) for document, _ in gold]
        found = accuracy(linker, gold, answers)
        print(f"{model}  iteration {linker.model.iteration}  " + "  ".join(
            f"{name} {100 * found[name]:.2f}" for name in ("micro", "macro", "prior")), flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
