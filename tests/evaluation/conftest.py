"""The sample wiki's model, its texts as gold, and runs that are made by hand."""

import json
from pathlib import Path

import numpy as np
import pytest

from wikilda.evaluation.datasets import Dataset, read_dataset
from wikilda.evaluation.gold import GoldDocument, Resolver
from wikilda.evaluation.run import Gold, Run, Verdict
from wikilda.knowledge import Knowledge
from wikilda.model import Model
from wikilda.sample import texts


@pytest.fixture(scope="session", name="model")
def opened_model(model: Path) -> Model:
    return Model.open(model)


@pytest.fixture(scope="session")
def gold_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("gold") / "gold.jsonl"
    file.write_text("\n".join(json.dumps({**each, "split": "dev"}) for each in texts()), "utf-8")
    return file


@pytest.fixture(scope="session")
def gold(gold_file: Path, sample: Knowledge) -> Gold:
    return Gold(read_dataset(gold_file)[0], Resolver(sample))


def made_run(sample: Knowledge, documents: list[list[tuple[str | None, Verdict]]], name: str = "made") -> Run:
    """A run over documents of `Croft`s, each with a title that is gold and a verdict."""
    dataset = Dataset("made", [_document(number, rows) for number, rows in enumerate(documents)], [])
    verdicts = [verdict for rows in documents for _, verdict in rows]
    return Run(name, True, Gold(dataset, Resolver(sample)), verdicts, 1.0)


def _document(number: int, rows: list[tuple[str | None, Verdict]]) -> GoldDocument:
    spans = [(6 * at, 6 * at + 5) for at in range(len(rows))]
    names = [(title,) if title else () for title, _ in rows]
    return GoldDocument("Croft " * max(len(rows), 1), spans, str(number), names)


def said(sample: Knowledge, *titles: str, gold: str | None = None, nil: float = 0.0, score: float = 0.8) -> Verdict:
    """A verdict with candidates by title, best first."""
    topics = [sample.find_topic(title) for title in titles]
    assert all(topic >= 0 for topic in topics)
    scores = (score * 0.5 ** np.arange(len(topics))).tolist()
    wanted = sample.find_topic(gold) if gold else -1
    return Verdict(topics, scores, nil, topics.index(wanted) if wanted in topics else -1)
