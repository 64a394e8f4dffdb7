"""What an iteration of training costs: beside linking the same documents, in one run, in processor time.

    python -m benchmarks.training.cost MODEL texts.jsonl --work DIR

Both take texts with the spans of their mentions; linking begins with the text, training with the encoded corpus, whose
encoding is measured separately.
"""

import argparse
import time
from pathlib import Path

from benchmarks import record
from wikilda.documents.reading import read_documents
from wikilda.linking import Document, Linker
from wikilda.training.checkpoints import read_metrics
from wikilda.training.corpus import make_corpus
from wikilda.training.engines.local import LocalEngine
from wikilda.training.pipeline import train
from wikilda.training.settings import TrainingPlan, UrnTraining


def main() -> None:
    """Measure, and write docs/figures/cost.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("texts", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    given = parser.parse_args()
    documents = [each for each in read_documents([given.texts]) if isinstance(each, Document)]
    linker = Linker.open(given.model)
    for document in documents[:50]:
        linker.link(document, topics=0)  # kernels are compiled
    started = time.process_time()
    for document in documents:
        linker.link(document, topics=0)
    linking, started = time.process_time() - started, time.process_time()
    corpus = make_corpus([given.texts], linker.knowledge.path, given.work / "corpus", workers=1, overwrite=True)
    encoding = time.process_time() - started
    how = UrnTraining(held_out=0.0, evaluated=0)
    engine = LocalEngine(1)
    made = train(
        given.model, corpus.path, given.work / "model", how, TrainingPlan(2), engine=engine, overwrite=True,
        restart=True,
    )  # fmt: skip
    engine.close()
    rows = []
    for row in read_metrics(made.path)[-2:]:
        spent = row.sampling_seconds + row.joining_seconds + row.merging_seconds
        joins = row.joining_seconds + row.merging_seconds
        rows.append({
            "iteration": row.iteration, "documents": row.documents, "linking, s": round(linking, 2),
            "encoding once, s": round(encoding, 2), "iteration, s": round(spent, 2),
            "iteration / linking": round(spent / linking, 2), "joins and merging": round(joins / spent, 3),
        })  # fmt: skip
        print(rows[-1], flush=True)
    record.write("cost", {"iterations": rows})


if __name__ == "__main__":
    main()
