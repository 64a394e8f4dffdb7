"""A scikit-learn transformer from documents to a sparse matrix of topic shares."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from wikilda.linking import Document, Linker
from wikilda.linking.batch import map_ordered


class TopicVectorizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turns documents (strings) into shares of topics, θ of the model; a column is an article of the wiki.

    Parameters
    ----------
    model, knowledge, method, detector
        As in `Linker.open`.
    by_words
        Topics of a document by its words, beside those that it is linked with (method `urn`). With 0 the columns are
        what `Linker.link` shows, mostly the entities that a text names: easy to read, and few texts share them.
    min_documents
        Fitting selects the columns: the topics of at least this many documents.
    workers
        Threads.
    sparse_output
        Whether the matrix is sparse; `set_output(transform="pandas")` needs a dense one.
    """

    def __init__(
        self, model: str, *, knowledge: str | None = None, method: str = "urn", detector: str = "dictionary",
        by_words: int = 200, min_documents: int = 1, workers: int = 1, sparse_output: bool = True,
    ) -> None:  # fmt: skip
        self.model = model
        self.knowledge = knowledge
        self.method = method
        self.detector = detector
        self.by_words = by_words
        self.min_documents = min_documents
        self.workers = workers
        self.sparse_output = sparse_output

    def fit(self, documents: Iterable[str | Document], y: Any = None) -> "TopicVectorizer":
        """Select the columns."""
        self.fit_transform(documents)
        return self

    def fit_transform(self, documents: Iterable[str | Document], y: Any = None) -> Any:
        """Select the columns and return the matrix, linking the documents once."""
        counts, topics, shares = self._mixtures(documents)
        seen, times = np.unique(topics, return_counts=True)
        self.topics_: NDArray[np.int64] = seen[times >= self.min_documents]
        return self._matrix(counts, topics, shares)

    def transform(self, documents: Iterable[str | Document]) -> Any:
        """Return the documents' shares of the selected topics."""
        check_is_fitted(self, "topics_")
        return self._matrix(*self._mixtures(documents))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The titles of the columns."""
        check_is_fitted(self, "topics_")
        titles = self._opened().knowledge.titles
        return np.array([titles[int(topic)] for topic in self.topics_], dtype=object)

    def _opened(self) -> Linker:
        """The linker, opened on first use and not part of copies and pickles."""
        made_of = (self.model, self.knowledge, self.method, self.detector)
        opened: tuple[Any, Linker] | None = self.__dict__.get("_linker")
        if opened is None or opened[0] != made_of:
            linker = Linker.open(self.model, method=self.method, detector=self.detector, knowledge=self.knowledge)
            opened = self._linker = (made_of, linker)
        return opened[1]

    def _mixtures(
        self, documents: Iterable[str | Document]
    ) -> tuple[list[int], NDArray[np.int64], NDArray[np.float64]]:
        if isinstance(documents, str | Document):
            raise ValueError("documents are a list of strings, not one string")
        mixture = partial(self._opened().topics, by_words=self.by_words)
        found = list(map_ordered(mixture, documents, self.workers))
        topics = [topics.astype(np.int64) for topics, _ in found]
        return [len(each) for each in topics], _joined(topics, np.int64), _joined([s for _, s in found], np.float64)

    def _matrix(self, counts: Sequence[int], topics: NDArray[np.int64], shares: NDArray[np.float64]) -> Any:
        columns = np.searchsorted(self.topics_, topics)
        known = np.flatnonzero(np.isin(topics, self.topics_))
        rows = np.repeat(np.arange(len(counts)), counts)
        shape = (len(counts), len(self.topics_))
        found = csr_matrix((shares[known], (rows[known], columns[known])), shape=shape)
        return found if self.sparse_output else found.toarray()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_linker"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        return tags


def _joined(parts: list[NDArray[Any]], kind: type) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, kind)
