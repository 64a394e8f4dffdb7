"""Skew: a corpus with one word planted in every document, and a model in which that word may mean very many topics."""

from pathlib import Path

import numpy as np

from wikilda.model import Model, ModelWriter
from wikilda.model.model import MENTIONS, WORDS
from wikilda.training.corpus.corpus import Corpus, Documents


def spare_word(model: Model, corpus: Corpus) -> int:
    """A word that no document has."""
    used = np.zeros(model.words.symbols, bool)
    used[corpus.shard(0, 1).words] = True
    return int(np.flatnonzero(~used)[0])


def plant_in_corpus(corpus: Corpus, word: int, target: Path) -> Path:
    """The same documents, each with the word as its first."""
    with Corpus.writer(target, overwrite=True) as writer:
        for number in range(len(corpus.firsts)):
            arrays = {
                name: corpus.array(f"{number:05d}/{name}") for name in (*Documents._fields, "ids.bytes", "ids.offsets")
            }
            offsets = arrays["word_offsets"]
            arrays["words"] = np.insert(arrays["words"], offsets[:-1], np.uint32(word))
            arrays["word_offsets"] = offsets + np.arange(len(offsets))
            for name, values in arrays.items():
                writer.array(f"{number:05d}/{name}", values)
        manifest = corpus.manifest
        summary = {**manifest["summary"], "tokens": corpus.tokens + corpus.documents}
        same = {name: manifest[name] for name in ("knowledge", "firsts", "symbols")}
        writer.finish({**same, "summary": summary})
    return target


def plant_in_model(model: Model, word: int, topics: int, target: Path) -> Path:
    """The same model, but the word's λ̂ is spread over so many topics."""
    table, about = model.words, model.manifest["knowledge"]
    start, end = int(table.offsets[word]), int(table.offsets[word + 1])
    row = np.unique(np.linspace(0, model.topics - 1, topics).astype(np.uint32))
    spread = np.full(len(row), table.values[start:end].sum() / len(row), np.float32)
    offsets = np.array(table.offsets)
    offsets[word + 1 :] += len(row) - (end - start)
    with ModelWriter(target, model.topics, overwrite=True) as writer:
        made = writer.table(WORDS, offsets)
        for array, old, new in ((made.topics, table.topics, row), (made.values, table.values, spread)):
            array[:] = np.concatenate((old[:start], new, old[end:]))
        kept = writer.table(MENTIONS, np.array(model.mentions.offsets))
        kept.topics[:], kept.values[:] = model.mentions.topics, model.mentions.values
        identity, path = str(about["identity"]), str(model.knowledge().path.resolve())
        writer.finish(model.settings, model.popularity, knowledge=identity, knowledge_path=path)
    return target
