"""The texts of gold sets as JSON lines with the spans of their mentions, but without labels: something to train on.

python -m benchmarks.training.gold_texts aida-train.tsv -o train.jsonl
"""

import argparse
import json
from pathlib import Path

from wikilda.evaluation.datasets import read_dataset


def main() -> None:
    """Write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    with given.output.open("w", encoding="utf-8") as out:
        for file in given.files:
            for dataset in read_dataset(file, None, ()):
                for document in dataset.documents:
                    spans = [list(span) for span in document.spans]
                    row = {"id": document.id, "text": document.text, "mentions": spans}
                    out.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
