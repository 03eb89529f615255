"""Columns as numbers for logistic regression, compared with scikit-learn's own preparation."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from maptree import MAPTreeClassifier
from maptree.encoding.answering import read_answers
from maptree.encoding.linear_columns import LinearColumns, Scale
from maptree.estimators.baselines import logistic_regression
from maptree.tables.labels import numbers_among


def table(n=300):
    rng = np.random.default_rng(5)
    age = rng.normal(40, 12, n).round(1)
    colour = rng.choice(["red", "green", "blue"], n)
    member = rng.random(n) < 0.5
    score = age / 20 + (colour == "red") + member + rng.normal(0, 1, n)
    frame = pd.DataFrame({"age": age, "colour": colour, "member": member})
    return frame, np.where(score > 3.2, "yes", "no")


def regress(X, y, others):
    fitted = MAPTreeClassifier(max_expansions=5, time_limit=None).fit(X, y).fitted_
    training, held_out = (read_answers(fitted.schema, rows, strict=False) for rows in (X, others))
    labels = numbers_among(fitted.classes, y, len(y))
    return logistic_regression(fitted, training, labels, held_out)


def test_it_is_the_regression_on_one_hot_and_standardised_columns():
    X, y = table()
    peer = make_pipeline(
        make_column_transformer(
            (StandardScaler(), ["age"]), (OneHotEncoder(), ["colour"]), ("passthrough", ["member"])
        ),
        LogisticRegression(max_iter=200),
    ).fit(X[:200], y[:200])
    found = regress(X[:200], y[:200], X[200:])
    np.testing.assert_allclose(found, peer.predict_proba(X[200:]), atol=0.01)


def test_missing_values_are_the_mean_and_have_an_indicator():
    X, y = table()
    X.loc[::7, "age"] = np.nan
    fitted = MAPTreeClassifier(max_expansions=5, time_limit=None).fit(X, y).fitted_
    columns = LinearColumns(fitted.schema, read_answers(fitted.schema, X))
    dense = columns.training.toarray()
    missing = X["age"].isna().to_numpy()
    assert np.array_equal(dense[:, 1], missing)
    assert (dense[missing, 0] == 0).all()
    assert dense[~missing, 0].mean() == pytest.approx(0, abs=1e-12)
    assert dense[~missing, 0].std() == pytest.approx(1)
    # Rows that were not fitted on are standardised by those that were.
    other = columns.of(read_answers(fitted.schema, X[:5])).toarray()
    assert np.array_equal(other, dense[:5])


@pytest.mark.parametrize(
    "values",
    [
        pd.to_datetime("2020-01-01") + pd.to_timedelta(np.arange(40) % 9, "D"),
        pd.to_timedelta(np.arange(40) % 9, "h"),
        pd.Categorical(np.arange(40) % 3, ordered=True),
        np.where(np.arange(40) % 5 == 0, np.inf, np.arange(40)),
        np.where(np.arange(40) % 5 == 0, -1e308, 1e308 * (np.arange(40) / 40)),
        [Decimal(k % 7) / 3 for k in range(40)],
        [2**70 + k % 7 for k in range(40)],
        [None if k % 4 == 0 else f"{k % 9},5" for k in range(40)],
        np.zeros(40),
        [f"id {k}" for k in range(40)],
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_kind_of_column_gives_probabilities(values):
    X = pd.DataFrame({"x": values})
    y = np.arange(40) % 2
    found = regress(X, y, X[::3].reset_index(drop=True))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_a_class_that_no_training_row_has_gets_no_probability():
    X, y = table()
    fitted = MAPTreeClassifier(max_expansions=5, time_limit=None).fit(X, y).fitted_
    answers = read_answers(fitted.schema, X)
    found = logistic_regression(fitted, answers, np.ones(len(y), int), answers)
    assert (found == [0, 1]).all()


def test_columns_that_the_tree_may_not_test_are_left_out():
    X, y = table()
    model = MAPTreeClassifier(max_expansions=5, time_limit=None, without_columns=["colour"])
    fitted = model.fit(X, y).fitted_
    answers = read_answers(fitted.schema, X)
    codes = numbers_among(fitted.classes, y, len(y))
    found = logistic_regression(fitted, answers, codes, answers)
    np.testing.assert_allclose(found, regress(X.drop(columns="colour"), y, X[["age", "member"]]))


def test_scales():
    assert Scale.of(np.array([np.nan, np.inf])).apply(np.array([1.0, np.nan])).tolist() == [0, 0]
    constant = Scale.of(np.array([3.0, 3.0]))
    assert constant.apply(np.array([3.0, 9.0])).tolist() == [0, 0]  # never seen: as the nearest
