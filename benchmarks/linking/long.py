"""Drawing AIDA test-a from the urn as its documents and as one long document: CPU time, parts, memory.

python -m benchmarks.linking.long MODEL [--data aida-testa.tsv]
"""

import argparse
import resource
import time
from pathlib import Path

from benchmarks import record
from benchmarks.linking.aida import documents
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
    parser.add_argument("--data", type=Path, help="gold of AIDA; without it, the sample's texts")
    options = parser.parse_args()
    linker = Linker.open(options.model)
    given = documents(options.data)
    whole = joined(given)
    linker.infer(given[0])
    apart, together = [], []
    for _ in range(3):
        began = time.process_time()
        for document in given:
            linker.infer(document)
        middle, before = time.process_time(), peak()
        drawn = linker.infer(whole).inferred
        apart.append(middle - began)
        together.append(time.process_time() - middle)
    common = {"mentions": len(whole.spans)}
    rows: list[dict[str, record.Cell]] = [
        {"documents": len(given), **common, "CPU s": round(min(apart), 3), "parts": None, "peak MB": round(before)},
        {
            "documents": 1, **common, "CPU s": round(min(together), 3), "parts": len(drawn.parts),
            "peak MB": round(peak()),
        },
    ]  # fmt: skip
    record.write("linking-long", {"long": rows})
    print(record.table(rows))


if __name__ == "__main__":
    main()
