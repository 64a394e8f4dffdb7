"""Where the time of linking goes: CPU milliseconds by stage, of typical documents and of the slowest.

python -m benchmarks.scale.profile MODEL DOCUMENTS.jsonl
"""

import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import wikilda.lda.sampler as paper
import wikilda.linking.linker as linking
import wikilda.urn.urn as urn
from benchmarks.scale.linking import read

_ROUNDS, _SLOWEST = 3, 0.02
_STAGES: dict[str, list[tuple[Any, str]]] = {
    "packet: candidates and their similarities": [(paper, "form_packet")],
    "TagMe* and the paper's sampler": [(paper, "tagme"), (paper, "gibbs")],
    "urn: names and candidates": [(urn, "resolve"), (urn, "read_names"), (urn, "back_off")],
    "urn: the evidence of words": [(urn, "find")],
    "urn: titles, relatedness and sweeps": [(urn, "draw")],
    "reading the text": [(linking, "encode")],
    "topics of the document": [(linking, "document_topics")],
}


def _clocked(stage: str, function: Callable[..., Any], spent: Counter[str]) -> Callable[..., Any]:
    def run(*arguments: Any, **options: Any) -> Any:
        start = time.thread_time()
        try:
            return function(*arguments, **options)
        finally:
            spent[stage] += time.thread_time() - start  # type: ignore[assignment]

    return run


def main() -> None:
    """Link every document a few times, keep its quickest run, and add up."""
    spent: Counter[str] = Counter()
    for stage, places in _STAGES.items():
        for module, name in places:
            setattr(module, name, _clocked(stage, getattr(module, name), spent))
    linker, documents = linking.Linker.open(sys.argv[1]), [text for text, _ in read(Path(sys.argv[2]))]
    linker.link(documents[0])
    runs: list[dict[str, float]] = [{"all": float("inf")} for _ in documents]
    for _ in range(_ROUNDS):
        for at, document in enumerate(documents):
            spent.clear()
            start = time.thread_time()
            linker.link(document)
            runs[at] = min(runs[at], {**spent, "all": time.thread_time() - start}, key=lambda run: run["all"])
    order = np.argsort([run["all"] for run in runs])
    middle, slowest = order[int(0.45 * len(order)) : int(0.55 * len(order))], order[int(-_SLOWEST * len(order)) :]
    print("| CPU ms a document | around the median | mean | slowest 2 % |\n|---|---:|---:|---:|")
    for stage in [*_STAGES, "all"]:
        cells = [1000 * np.mean([runs[at].get(stage, 0.0) for at in some]) for some in (middle, order, slowest)]
        print(f"| {stage} | {' | '.join(f'{cell:.2f}' for cell in cells)} |")


if __name__ == "__main__":
    main()
