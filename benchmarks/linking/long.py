"""Drawing AIDA test-a from the urn as its documents and as one long document: CPU time, parts, memory.

python -m benchmarks.linking.long MODEL [--data ../shared/data/aida/aida-testa.tsv]
"""

import argparse
import resource
import time
from pathlib import Path

from benchmarks.linking.aida import read_aida
from benchmarks.linking.speed import DATA
from wikilda.linking import Document, Linker


def joined(documents: list[Document]) -> Document:
    """All documents as one, with their mentions."""
    text, spans = "", list[tuple[int, int]]()
    for document in documents:
        spans += [(start + len(text), end + len(text)) for start, end in document.spans]
        text += document.text + "\n\n"
    return Document(text, spans, "joined")


def peak() -> float:
    """The most memory that was ever resident, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args()
    linker = Linker.open(options.model)
    documents = [gold.document for gold in read_aida(options.data)]
    whole = joined(documents)
    linker.draw(documents[0])
    for _ in range(3):
        began = time.process_time()
        for document in documents:
            linker.draw(document)
        middle, before = time.process_time(), peak()
        drawn = linker.draw(whole)
        end = time.process_time()
        print(f"{len(documents)} documents {middle - began:.2f} s, as one {end - middle:.2f} s")
        print(
            f"{len(whole.spans)} mentions, {len(drawn.parts)} parts; peak of memory {before:.0f}, then {peak():.0f} MB"
        )


if __name__ == "__main__":
    main()
