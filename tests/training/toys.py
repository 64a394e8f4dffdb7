"""Toy corpora and models without knowledge, and the batch update by enumeration."""

import itertools
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln

from tests.lda.conftest import write_model
from wikilda._core.arrays import StringTable
from wikilda.model import Model, ModelSettings
from wikilda.text.contexts import MOST_CONTEXTS
from wikilda.training.corpus._build import Encoded, arrays_of, key_of
from wikilda.training.corpus.corpus import Corpus

KINDS = ("words", "mentions")


def write_corpus(path: Path, documents: list[tuple[list[int], list[int]]]) -> Corpus:
    """A corpus of symbols, made with no knowledge."""
    made = [
        Encoded(
            f"document {number}",
            np.array(words, np.uint32),
            np.array(mentions, np.uint32),
            number,
            np.zeros(len(mentions), np.uint32),
            np.zeros((len(mentions), MOST_CONTEXTS), np.uint64),
        )
        for number, (words, mentions) in enumerate(documents)
    ]
    made.sort(key=lambda each: key_of(each.id))
    with Corpus.writer(path) as writer:
        for name, values in arrays_of(made).items():
            if f"*/{name}" in Corpus.arrays:  # the others choose documents
                writer.array(f"00000/{name}", values)
        writer.array("00000/counted", np.ones(sum(len(each.mentions) for each in made), np.bool_))
        writer.strings("sample", StringTable.of([]))
        summary = {"documents": len(made), "tokens": sum(len(each.words) + len(each.mentions) for each in made)}
        symbols = {name: 1 + int(values.max(initial=0)) for name, values in arrays_of(made).items() if name in KINDS}
        return writer.finish({"knowledge": "", "firsts": [0], "summary": summary, "symbols": symbols})


def write_toy(path: Path, words: NDArray[np.float64], settings: ModelSettings, mentions: int = 1) -> Model:
    """A model of words; of mentions there are some without parameters."""
    return write_model(
        path,
        {"words": words, "mentions": np.zeros((mentions, words.shape[1]))},
        np.ones(words.shape[1], np.float32),
        settings,
    )


def dense(model: Model) -> NDArray[np.float64]:
    """λ̂ of words as symbols × topics."""
    table = np.zeros((model.words.symbols, model.topics))
    rows = np.repeat(np.arange(model.words.symbols), np.diff(model.words.offsets))
    table[rows, model.words.topics] = model.words.values
    return table


def batch_update(
    lambdas: NDArray[np.float64], documents: list[list[int]], alpha: float, beta: float
) -> NDArray[np.float64]:
    """Eq. 2 without β: Σ_d E_q(z_d)[counts], by all assignments of topics to words."""
    symbols, topics = lambdas.shape
    logs = digamma(beta + lambdas) - digamma(symbols * beta + lambdas.sum(0))
    found = np.zeros_like(lambdas)
    for words in documents:
        every = list(itertools.product(range(topics), repeat=len(words)))
        scores = np.array([
            sum(gammaln(alpha + assigned.count(k)) for k in range(topics))
            + sum(logs[v, k] for v, k in zip(words, assigned, strict=True))
            for assigned in every
        ])  # fmt: skip
        shares = np.exp(scores - scores.max())
        for share, assigned in zip(shares / shares.sum(), every, strict=True):
            for v, k in zip(words, assigned, strict=True):
                found[v, k] += share
    return found
