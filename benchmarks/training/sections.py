"""Topics of documents as features: a linear classifier of the sections of BBC news, beside TF-IDF and topic models.

    python -m benchmarks.training.sections MODEL bbc.jsonl.xz

The stories bbc-1 … bbc-2225 are of five sections, in order. How topics become features was chosen on those with odd
numbers (`--half 0`); figures are of the others. Every fifth of a half is tested on. All features are made from the
texts only: LDA and TF-IDF are fitted on the stories trained on. The classifier is a linear support vector machine
whose C is chosen by cross-validation on these.
"""

import argparse
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from gensim.corpora import Dictionary
from gensim.models import LdaModel
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from benchmarks import record
from wikilda.integrations.sklearn import TopicVectorizer

_ENDS = (510, 896, 1313, 1824, 2225)  # business, entertainment, politics, sport, tech
_TOPICS = 100
Features = tuple[Any, Any]  # of the stories trained on, and of those tested on


def main() -> None:
    """Measure, and write docs/figures/sections.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("stories", type=Path, help="bbc.jsonl.xz")
    parser.add_argument("--half", type=int, choices=(0, 1), default=1, help="0: the half that settings were chosen on")
    given = parser.parse_args()
    texts, sections = read(given.stories, given.half)
    tested = np.arange(len(texts)) % 5 == 0
    train, test = ([texts[at] for at in np.flatnonzero(which)] for which in (~tested, tested))
    makers: dict[str, Callable[[list[str], list[str]], Features]] = {
        "words, TF-IDF": words,
        "wikilda topics, shares": lambda one, other: topics(given.model, one, other),
        "wikilda topics, square roots of shares": lambda one, other: rooted(topics(given.model, one, other)),
        "wikilda topics, TF-IDF": lambda one, other: weighted(topics(given.model, one, other)),
        "wikilda topics as `link` shows them, TF-IDF": lambda one, other: weighted(topics(given.model, one, other, 0)),
        "gensim LDA, K = 100": gensim,
        "tomotopy LDA, K = 100": tomotopy,
    }
    rows = []
    for name, make in makers.items():
        try:
            ours, theirs = make(train, test)
        except ImportError:
            print(f"{name}: is not installed")
            continue
        model = GridSearchCV(LinearSVC(), {"C": np.logspace(-1, 4, 6)}, cv=3)
        model.fit(ours, sections[~tested])
        rows.append({"features": name, "accuracy": round(float(model.score(theirs, sections[tested])), 4)})
        print(rows[-1], flush=True)
    record.write("sections", {"accuracy": [row | {"stories": len(texts)} for row in rows]})


def read(path: Path, half: int) -> tuple[list[str], np.ndarray]:
    """A half of the stories that have a section, and which."""
    with lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    found = [row for row in rows if row["id"].startswith("bbc-")][half::2]
    return [row["text"] for row in found], np.searchsorted(_ENDS, [int(row["id"][4:]) for row in found])


def words(train: list[str], test: list[str]) -> Features:
    """Words, weighted by TF-IDF."""
    vectorizer = TfidfVectorizer(sublinear_tf=True, stop_words="english", min_df=2)
    return vectorizer.fit_transform(train), vectorizer.transform(test)


def topics(model: Path, train: list[str], test: list[str], by_words: int = 200) -> Features:
    """The shares of wiki topics."""
    vectorizer = TopicVectorizer(str(model), by_words=by_words, min_documents=2)
    return vectorizer.fit_transform(train), vectorizer.transform(test)


def rooted(given: Features) -> Features:
    """Square roots of shares: vectors of unit length."""
    return tuple(each.sqrt() for each in given)  # type: ignore[return-value]


def weighted(given: Features) -> Features:
    """Features weighted by how rare they are."""
    transformer = TfidfTransformer(sublinear_tf=False).fit(given[0])
    return tuple(normalize(transformer.transform(each).sqrt()) for each in given)  # type: ignore[return-value]


def gensim(train: list[str], test: list[str]) -> Features:
    """The topics of gensim's LDA."""
    tokens = TfidfVectorizer(stop_words="english").build_analyzer()
    split = [[tokens(text) for text in texts] for texts in (train, test)]
    dictionary = Dictionary(split[0])
    dictionary.filter_extremes(no_below=5, no_above=0.5)
    bags = [[dictionary.doc2bow(each) for each in texts] for texts in split]
    model = LdaModel(bags[0], _TOPICS, dictionary, passes=10, random_state=1)
    return tuple(np.array([_dense(model.get_document_topics(bag, 0.0)) for bag in texts]) for texts in bags)  # type: ignore[return-value]


def _dense(pairs: list[tuple[int, float]]) -> np.ndarray:
    found = np.zeros(_TOPICS)
    for topic, share in pairs:
        found[topic] = share
    return found


def tomotopy(train: list[str], test: list[str]) -> Features:
    """The topics of tomotopy's LDA, by collapsed Gibbs sampling."""
    import tomotopy as tp

    tokens = TfidfVectorizer(stop_words="english").build_analyzer()
    model = tp.LDAModel(k=_TOPICS, min_df=5, seed=1)
    for text in train:
        model.add_doc(tokens(text))
    model.train(500)
    ours = np.array([each.get_topic_dist() for each in model.docs])
    theirs, _ = model.infer([model.make_doc(tokens(text)) for text in test])
    return ours, np.array(theirs)


if __name__ == "__main__":
    main()
