"""Kinds of tables and labels that the classifier takes."""

from __future__ import annotations

import copy
import datetime

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import DataConversionWarning

from maptree import MAPTreeClassifier, log_posterior
from oracle import optimum
from samples import classifier, noisy


@pytest.mark.parametrize("n_rows", [1, 2, 7, 8, 9, 63, 64, 65, 127, 128, 129])
def test_numbers_of_rows(n_rows):
    X, y = noisy(n_rows=n_rows, n_columns=3)
    model = classifier().fit(X, y)
    score = log_posterior(model.tree_, X, np.searchsorted(model.classes_, y))
    assert model.certificate_.log_posterior == pytest.approx(score, abs=1e-6)


def test_one_row():
    for X in ([[0.3, 7.0]], [[0, 1]]):
        model = MAPTreeClassifier().fit(X, ["only"])
        assert model.tree_.node_count == 1
        assert model.certificate_.optimal
        assert model.predict([[5, 5]] if X[0][0] else [[1, 1]]).tolist() == ["only"]


def test_one_class():
    X, _ = noisy()
    model = MAPTreeClassifier(max_expansions=100).fit(X, ["a"] * len(X))
    assert model.predict_proba(X[:2]).tolist() == [[1.0], [1.0]]
    assert model.predict_interval(X[:1]).tolist() == [[[1.0, 1.0]]]


def test_one_class_is_no_exception_to_the_posterior():
    """Nothing is to be told apart, but to split may be likelier a priori than to stop."""
    X = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5
    model = MAPTreeClassifier().fit(X, ["a"] * 20)
    cost, _ = optimum(X, [0] * 20, n_classes=1, alpha=0.95, beta=0.5, rho=5.0)
    assert model.certificate_.optimal
    assert model.certificate_.log_posterior == pytest.approx(-cost, abs=1e-6)
    assert model.tree_.node_count > 1


def test_constant_columns_only():
    model = MAPTreeClassifier().fit([[3.5, 2], [3.5, 2], [3.5, 2]], [0, 1, 1])
    assert model.tree_.node_count == 1
    assert model.certificate_.optimal
    assert model.predict([[1.0, 1.0]]).tolist() == [1]
    assert model.predict_proba([[1.0, 1.0]])[0] == pytest.approx([3.5 / 8, 4.5 / 8])


@pytest.mark.parametrize(
    "labels",
    [
        ["no", "yes"],
        [False, True],
        [-1, 1],
        [3.0, 7.0],
        ["1", "a"],
        np.array(["no", "yes"]),
        np.array([1, 2], dtype=object),
        np.array([1, 2], dtype=np.uint8),
        np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"),
        [datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)],
        [(0, 1), (1, 0)],
    ],
    ids=repr,
)
def test_labels_of_any_type(labels):
    X = np.array([[0], [1]] * 20)
    y = np.empty(40, dtype=object)
    y[:] = list(labels) * 20
    if isinstance(labels, np.ndarray):
        y = y.astype(labels.dtype)
    model = classifier().fit(X, y)
    assert list(model.classes_) == list(labels)
    assert list(model.predict([[1], [0]])) == [labels[1], labels[0]]


@pytest.mark.parametrize(
    "convert",
    [
        list,
        pd.Series,
        lambda y: pd.Series(y, dtype="category"),
        lambda y: pd.Series(y, dtype="string"),
        lambda y: np.array(y, dtype=object),
        tuple,
    ],
)
def test_containers_of_labels(convert):
    words = ["n", "y"] * 20
    model = classifier().fit([[0], [1]] * 20, convert(words))
    assert model.classes_.tolist() == ["n", "y"]
    assert model.predict([[1]]).tolist() == ["y"]
    assert model.score([[0], [1]] * 20, words) == 1


def test_a_column_of_labels_warns():
    X, y = noisy()
    with pytest.warns(DataConversionWarning, match="column-vector"):
        model = classifier().fit(X, y.reshape(-1, 1))
    assert model.tree_ == classifier().fit(X, y).tree_


@pytest.mark.parametrize(
    "convert",
    [
        lambda X: X.tolist(),
        lambda X: X.astype(bool),
        lambda X: X.astype(np.uint8),
        lambda X: X.astype(np.float32),
        lambda X: X.astype(np.float16),
        lambda X: X.astype(">f8"),
        lambda X: X.astype(object),
        np.asfortranarray,
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        lambda X: pd.DataFrame(X).astype({0: bool, 1: float, 2: "Int64"}),
    ],
)
@pytest.mark.parametrize("encoder", ["auto", None])
def test_containers_of_0_1_tables(convert, encoder):
    X, y = noisy()
    reference = classifier(encoder=None).fit(X, y)
    converted = convert(X)
    before = copy.deepcopy(converted)
    model = classifier(encoder=encoder).fit(converted, y)
    assert model.tree_ == reference.tree_
    np.testing.assert_array_equal(model.predict_proba(converted), reference.predict_proba(X))
    np.testing.assert_array_equal(np.asarray(converted), np.asarray(before))


def test_a_read_only_table_is_read_in_place():
    X, y = noisy()
    X.setflags(write=False)
    y.setflags(write=False)
    assert classifier().fit(X, y).tree_.n_leaves > 1


def test_names_follow_the_last_fit():
    X, y = noisy(n_columns=3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = classifier().fit(frame, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.n_features_in_ == 3
    model.fit(X[:, :2], y)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 2
    assert len(model.feature_importances_) == 2


def test_rho_for_each_class():
    X, y = noisy()
    same = classifier(rho=2.5).fit(X, y)
    for rho in (None, [2.5, 2.5], (2.5, 2.5), np.array([2.5, 2.5]), np.float32(2.5)):
        assert classifier(rho=rho).fit(X, y).tree_ == same.tree_
    lopsided = classifier(rho=[1.0, 50.0]).fit(X, y)
    assert lopsided.predict_proba(X)[:, 1].min() > same.predict_proba(X)[:, 1].min()
