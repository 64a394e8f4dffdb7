"""The cost of an iteration by joins at other sizes, from docs/figures/spark.json: `docs/figures/spark-plan.json`.

python -m benchmarks.training.plan [--documents 5e6] [--topics 4e6] [--cores 16] [--network 1000]

Rows of the default method at several sizes give, by least squares without negative parts, what a document and a topic
cost in processor time and in bytes that are shuffled. Nodes have `--cores` cores and send `--network` MB a second.
"""

import argparse

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from benchmarks import record

Floats = NDArray[np.float64]
_SHARD = 2000  # documents
_NODES = 10, 100, 1000


def fitted(columns: list[Floats], values: Floats) -> Floats:
    """Return costs by column, so that relative errors are small."""
    costs, _ = nnls(np.column_stack(columns) / values[:, None], np.ones(len(values)))
    found: Floats = costs
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=float, default=5e6)
    parser.add_argument("--topics", type=float, default=4e6)
    parser.add_argument("--cores", type=int, default=16)
    parser.add_argument("--network", type=float, default=1000.0)
    given = parser.parse_args()
    rows = [row for row in record.read("spark")["tables"]["training"] if row["method"] == "urn"]
    cpu, sampling, shuffled, documents, topics = (
        np.array([float(row[name]) for row in rows])
        for name in ("CPU, s", "… of sampling, s", "shuffled, MB", "documents", "topics")
    )
    per_document = float((sampling / documents).mean())
    fixed, joined, by_topic = fitted([np.ones(len(rows)), documents, topics], cpu - sampling)
    sent, sent_by_topic = fitted([documents, topics], shuffled)
    costs: list[dict[str, record.Cell]] = [
        {"cost": "sampling a document, ms", "measured": round(1e3 * per_document, 2)},
        {"cost": "joins of a document, ms", "measured": round(1e3 * joined, 2)},
        {"cost": "joins of a topic, µs", "measured": round(1e6 * by_topic, 1)},
        {"cost": "joins of an iteration, s", "measured": round(fixed, 1)},
        {"cost": "shuffled for a document, kB", "measured": round(1e3 * sent, 1)},
        {"cost": "shuffled for a topic, kB", "measured": round(1e3 * sent_by_topic, 2)},
    ]
    work = (per_document + joined) * given.documents + by_topic * given.topics
    megabytes = sent * given.documents + sent_by_topic * given.topics
    plan: list[dict[str, record.Cell]] = []
    for nodes in _NODES:
        cores = min(nodes * given.cores, given.documents / _SHARD)  # a shard is one task
        plan.append(
            {
                "nodes": nodes,
                "core hours": round(work / 3600, 1),
                "shuffled, GB": round(megabytes / 1e3),
                "cores that have work": round(cores),
                "processor, s": round(work / cores),
                "network, s": round(megabytes / (nodes * given.network), 1),
                "fixed, s": round(fixed),
                "an iteration, s": round(work / cores + megabytes / (nodes * given.network) + fixed),
            }
        )
    print(record.table(costs), record.table(plan), sep="\n\n")
    print(record.write("spark-plan", {"costs": costs, "plan": plan}))


if __name__ == "__main__":
    main()
