"""Documents to train on, encoded once with the symbols of some knowledge."""

from wikilda.training.corpus._build import key_of, make_corpus
from wikilda.training.corpus.corpus import Corpus, CorpusSettings, Documents

__all__ = ["Corpus", "CorpusSettings", "Documents", "key_of", "make_corpus"]
