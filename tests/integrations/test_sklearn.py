"""The transformer with real scikit-learn: parameters, matrices, pipelines."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import check_estimator

from wikilda.integrations.sklearn import TopicVectorizer
from wikilda.linking import Linker
from wikilda.sample import texts

TEXTS = [each["text"] for each in texts()]
CRICKET = ["Croft took five wickets for England at Lord's.", "Pakistan batted; Wasim Akram bowled and took a wicket.",
           "The innings ended when the batsman was caught at The Oval.", "England need runs and wickets in the Test."]  # fmt: skip
POLITICS = ["Bush and Cheney met in the White House.", "The president won the election in Washington.",
            "Clinton was governor before the election.", "Kuwait was invaded and Bush sent troops."]  # fmt: skip


@pytest.mark.parametrize("by_words", [0, 20])
def test_rows_are_the_mixtures_of_the_linker(model: Path, linker: Linker, by_words: int) -> None:
    made = TopicVectorizer(str(model), by_words=by_words, workers=2)
    matrix = made.fit_transform(TEXTS[:6])
    assert issparse(matrix)
    assert matrix.shape == (6, len(made.get_feature_names_out()))
    sums = np.asarray(matrix.sum(axis=1)).ravel()
    if by_words:
        np.testing.assert_allclose(sums, 1.0)
    else:
        assert np.all((sums > 0.3) & (sums < 1)), "the rest is the background's"
    for row, text in enumerate(TEXTS[:6]):
        topics, shares = linker.topics(text, by_words=by_words)
        dense = matrix[row].toarray().ravel()
        assert {made.topics_[at]: dense[at] for at in np.flatnonzero(dense)} == pytest.approx(
            dict(zip(topics.tolist(), shares.tolist(), strict=True))
        )
    best = made.get_feature_names_out()[matrix[0].toarray().argmax()]
    assert by_words or best == linker.link(TEXTS[0]).topics[0].entity.title


def test_transform_keeps_the_columns_that_were_learned(model: Path) -> None:
    made = TopicVectorizer(str(model)).fit(TEXTS[:3])
    again = made.transform(TEXTS[2:5])
    assert again.shape == (3, len(made.topics_))
    assert (again[0] != made.transform([TEXTS[2]])).nnz == 0
    assert made.transform([]).shape == (0, len(made.topics_))
    fewer = TopicVectorizer(str(model), min_documents=2).fit(TEXTS[:3])
    assert set(fewer.topics_) < set(made.topics_)


def test_it_clones_and_pickles_without_its_model(model: Path) -> None:
    made = TopicVectorizer(str(model), min_documents=2).fit(TEXTS[:3])
    copy = clone(made)
    assert copy.get_params() == made.get_params()
    with pytest.raises(NotFittedError):
        copy.transform(TEXTS)
    data = pickle.dumps(made)
    assert len(data) < 20_000
    assert (pickle.loads(data).transform(TEXTS[:2]) != made.transform(TEXTS[:2])).nnz == 0
    assert made.set_params(workers=2).workers == 2


def test_data_frames(model: Path) -> None:
    made = TopicVectorizer(str(model), sparse_output=False).set_output(transform="pandas")
    frame = made.fit_transform(TEXTS[:3])
    assert list(frame.columns) == list(made.get_feature_names_out())
    np.testing.assert_array_equal(frame.to_numpy(), TopicVectorizer(str(model)).fit_transform(TEXTS[:3]).toarray())


@pytest.mark.filterwarnings("ignore")
def test_the_estimator_checks_of_scikit_learn(model: Path) -> None:
    """Most are for matrices, and leave estimators of strings out; those of parameters are called by name."""
    check_estimator(TopicVectorizer(str(model)))
    for name in ("check_get_params_invariance", "check_set_params", "check_no_attributes_set_in_init", "check_mixin_order",
                 "check_estimator_repr", "check_estimator_tags_renamed",
                 "check_valid_tag_types"):  # fmt: skip
        getattr(estimator_checks, name)("TopicVectorizer", TopicVectorizer(str(model)))


def test_in_a_pipeline_with_a_classifier(model: Path) -> None:
    pipe = make_pipeline(TopicVectorizer(str(model)), LogisticRegression(C=100))
    labels = ["cricket"] * 4 + ["politics"] * 4
    pipe.fit(CRICKET + POLITICS, labels)
    assert list(pipe.predict(["Croft bowled at Lord's for England.", "Cheney and Bush won the election."])) == [
        "cricket",
        "politics",
    ]
    scores = cross_val_score(pipe, CRICKET + POLITICS, labels, cv=2)
    assert scores.mean() > 0.7


def test_one_string_is_not_a_list_of_documents(model: Path) -> None:
    with pytest.raises(ValueError, match="list of strings"):
        TopicVectorizer(str(model)).fit("one text")
