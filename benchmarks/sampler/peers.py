"""CPU nanoseconds a token and sweep, beside tomotopy and gensim, for the same topics on the same corpus in one run.

python -m benchmarks.sampler.peers [--topics 100 1000 10000] [--documents 200]

tomotopy trains K topics on a generated corpus; the counts it ends with are the λ̂ of all three. Then documents are
inferred: by tomotopy and by us with Gibbs sweeps, by gensim with variational iterations. One thread each.
"""

import argparse
import os
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy is imported: gensim's matrices count as one thread, too
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from benchmarks import record
from wikilda.documents.encoding import EncodedDocument
from wikilda.lda import LdaSettings, Sampler
from wikilda.model import Model, ModelSettings, ModelWriter

try:
    import gensim.models
    import tomotopy
except ImportError as error:
    raise SystemExit(f"{error}. Install the peers: pip install tomotopy gensim") from None

WORDS, LENGTH, TRAINING, SWEEPS, ALPHA, BETA = 5000, 200, 10, 50, 0.1, 0.01
LONGEST = 6e9  # nanoseconds that one measurement may take, about


def make_corpus(documents: int) -> list[list[int]]:
    """Documents of some of 200 topics, each with a few hundred words of its own, as frequent as Zipf has it."""
    rng = np.random.default_rng(1)
    topics = [rng.choice(WORDS, 300, replace=False) for _ in range(200)]
    chance = 1.0 / np.arange(1, 301)
    chance /= chance.sum()
    corpus = []
    for _ in range(documents):
        chosen = rng.choice(200, LENGTH, p=rng.dirichlet(np.full(200, 0.02)))
        corpus.append([int(topics[k][rng.choice(300, p=chance)]) for k in chosen])
    return corpus


def nanoseconds(run: Callable[[], object], samples: int) -> float:
    """The best of three, in CPU time of the whole process."""
    times = []
    for _ in range(3):
        started = time.process_time()
        run()
        times.append((time.process_time() - started) / samples * 1e9)
    return min(times)


def train(corpus: list[list[int]], topics: int) -> tuple["tomotopy.LDAModel", float]:
    """A model of tomotopy, and the nanoseconds that training took."""
    model = tomotopy.LDAModel(k=topics, alpha=ALPHA, eta=BETA, seed=1)
    model.optim_interval = 0
    for document in corpus:
        model.add_doc([str(word) for word in document])
    model.train(1, workers=1)
    started = time.process_time()
    model.train(TRAINING, workers=1)
    return model, (time.process_time() - started) / (TRAINING * len(corpus) * LENGTH) * 1e9


def counts_of(model: "tomotopy.LDAModel") -> Counter[tuple[int, int]]:
    """How many tokens of a word have a topic, by (word, topic)."""
    names = [int(name) for name in model.used_vocabs]
    documents = (zip(document.words, document.topics, strict=True) for document in model.docs)
    return Counter((names[word], topic) for document in documents for word, topic in document)


def our_model(path: Path, counts: Counter[tuple[int, int]], topics: int) -> Model:
    pairs = sorted(counts)
    offsets = np.searchsorted([word for word, _ in pairs], np.arange(WORDS + 1)).astype(np.int64)
    with ModelWriter(path, topics) as writer:
        words = writer.table("words", offsets)
        words.topics[:] = [topic for _, topic in pairs]
        words.values[:] = [counts[pair] for pair in pairs]
        writer.table("mentions", np.zeros(2, np.int64))
        settings = ModelSettings(beta_words=BETA, beta_mentions=BETA, alpha=ALPHA, asymmetric=False)
        return writer.finish(settings, np.ones(topics, np.float32))


def ours(path: Path, corpus: list[list[int]], counts: Counter[tuple[int, int]], topics: int) -> float:
    model = our_model(path, counts, topics)
    sampler = Sampler(model, LdaSettings(sweeps=SWEEPS, burn_in=10, coherence=False))
    documents = [EncodedDocument(words, [], number) for number, words in enumerate(corpus)]
    sampler.sample(documents[0])
    return nanoseconds(lambda: [sampler.sample(each) for each in documents], len(corpus) * LENGTH * SWEEPS)


def gensims(corpus: list[list[int]], counts: Counter[tuple[int, int]], topics: int) -> float:
    names = {word: str(word) for word in range(WORDS)}
    model = gensim.models.LdaModel(
        num_topics=topics, id2word=names, alpha=ALPHA, eta=BETA, iterations=SWEEPS, gamma_threshold=0.0, random_state=1
    )
    model.state.sstats[:] = 0.0
    for (word, topic), count in counts.items():
        model.state.sstats[topic, word] = count
    model.sync_state()
    bags = [sorted(Counter(words).items()) for words in corpus]
    few = bags[: max(int(LONGEST / 3 / (LENGTH * SWEEPS * max(topics * 0.3, 30))), 1)]
    return nanoseconds(lambda: model.inference(few), len(few) * LENGTH * SWEEPS)


def tomotopys(model: "tomotopy.LDAModel", corpus: list[list[int]], topics: int) -> float:
    few = corpus[: max(int(LONGEST / 3 / (LENGTH * SWEEPS * max(topics * 1.0, 100))), 1)]

    def run() -> None:
        model.infer([model.make_doc([str(word) for word in words]) for words in few], iterations=SWEEPS, workers=1)

    return nanoseconds(run, len(few) * LENGTH * SWEEPS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", type=int, nargs="+", default=[100, 1000, 10000])
    parser.add_argument("--documents", type=int, default=200)
    given = parser.parse_args()
    corpus = make_corpus(given.documents)
    rows: list[dict[str, record.Cell]] = []
    for topics in given.topics:
        model, training = train(corpus, topics)
        counts = counts_of(model)
        with TemporaryDirectory() as directory:
            own = ours(Path(directory) / "model", corpus, counts, topics)
        found = {"tomotopy, training": training, "tomotopy, inference": tomotopys(model, corpus, topics)}
        found["gensim, inference"] = gensims(corpus, counts, topics)
        row: dict[str, record.Cell] = {"topics": topics, "wikilda": round(own)}
        for name, value in found.items():
            row |= {name: round(value), f"{name} ×": round(value / own, 1)}
        rows.append(row)
    note = f"ns a token and sweep; {len(corpus)} documents of {LENGTH} tokens, {WORDS} words."
    record.write("sampler-peers", {"peers": rows}, note=note)
    print(record.table(rows))


if __name__ == "__main__":
    main()
