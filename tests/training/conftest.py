"""Small corpora of the sample wiki's texts, and models to train on them."""

import json
from pathlib import Path

import pytest

from wikilda.knowledge import Knowledge
from wikilda.sample import WIKI
from wikilda.training.corpus import Corpus, make_corpus
from wikilda.training.settings import LdaTraining

QUICK = LdaTraining(sweeps=8, burn_in=2, held_out=0.1, evaluated=4, particles=2, rho_local=1e-3, minibatch=4)


@pytest.fixture(scope="session")
def corpus(sample: Knowledge) -> Path:
    """The sample wiki's own articles as a corpus."""
    target = sample.path.with_name("corpus")
    make_corpus([WIKI], sample.path, target, workers=1)
    return target


def write_lines(path: Path, rows: list[object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def opened(path: Path) -> Corpus:
    return Corpus.open(path)
