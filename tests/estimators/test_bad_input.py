"""Every mistake raises an error that names it and a remedy, and changes nothing."""

from __future__ import annotations

import datetime
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import OneHotEncoder

from maptree import MAPTreeClassifier

X = np.array([[0.0, 1.5], [1.0, 2.5], [0.0, 3.5], [1.0, 4.5]])
Y = np.array([0, 1, 0, 1])


def with_value(row, column, value):
    changed = X.copy()
    changed[row, column] = value
    return changed


def frame(**columns):
    return pd.DataFrame({"age": [30.0, 40.0, 50.0, 60.0]} | columns)


def refused(error, *words, X=X, y=Y, sample_weight=None, **params):
    """Fit twice: on a fresh estimator and on a fitted one; neither may change."""
    for model in (MAPTreeClassifier(**params), MAPTreeClassifier().fit(X_GOOD, Y)):
        model.set_params(**params)
        before = dict(model.__dict__)
        with pytest.raises(error) as caught:
            model.fit(X, y, sample_weight=sample_weight)
        for word in words:
            assert word in str(caught.value)
        assert model.__dict__.keys() == before.keys()
        assert all(model.__dict__[name] is before[name] for name in before)


X_GOOD = X.copy()


# The table


@pytest.mark.parametrize(
    ("shape", "remedy"),
    [
        ((0, 3), "at least one row"),
        ((4, 0), "at least one column"),
        ((4, 2, 2), "rows and columns"),
    ],
)
def test_shapes_that_are_no_table(shape, remedy):
    refused(ValueError, remedy, X=np.zeros(shape), y=np.zeros(shape[0], dtype=int))


def test_a_single_label():
    refused(ValueError, "single value 3", "one label per row", y=3)
    refused(ValueError, "single value 'buys'", "such as X['buys'] if that is a column", y="buys")


@pytest.mark.parametrize("value", [math.nan, None])
def test_missing_values_without_an_encoder(value):
    binary = np.array([[0, 1.0], [1, 1], [0, 0], [1, 0]])
    for table in (binary, pd.DataFrame({"x": binary[:, 0], "age": binary[:, 1]})):
        changed = table.astype(object)
        if isinstance(changed, pd.DataFrame):
            changed.iloc[2, 1] = value
        else:
            changed[2, 1] = value
        refused(ValueError, "row 2", 'encoder="auto"', X=changed, encoder=None)
    masked = np.ma.masked_array(binary, mask=False)
    masked[2, 1] = np.ma.masked
    refused(ValueError, "missing", "row 2", "column 1", X=masked, encoder=None)


@pytest.mark.parametrize("value", [2, -1, 0.5])
def test_values_other_than_0_and_1_without_an_encoder(value):
    binary = np.array([[0, 1.0], [1, 1], [0, 0], [1, 0]])
    binary[3, 1] = value
    refused(ValueError, str(value), "row 3", "column 1", 'encoder="auto"', X=binary, encoder=None)


def test_values_other_than_0_and_1_in_predict():
    binary = np.array([[0, 1], [1, 1], [0, 0], [1, 0]])
    for encoder in (None, "auto"):
        model = MAPTreeClassifier(encoder=encoder).fit(binary, Y)
        for method in (model.predict, model.predict_proba, model.apply, model.decision_path):
            with pytest.raises(ValueError, match="X has 7 at row 1, column 0"):
                method([[0, 1], [7, 1]])


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (X[:, 0], ["1D array", "Reshape"]),
        (X[np.newaxis], ["dim 3"]),
        (np.float64(3), ["scalar"]),
        (np.empty((0, 2)), ["0 sample(s)"]),
        (np.empty((4, 0)), ["0 feature(s)"]),
        ([[1, 2], [3], [4, 5], [6, 7]], ["rows of X differ in length"]),
        (X + 1j, ["Complex data not supported"]),
    ],
)
def test_shapes_and_kinds(table, words):
    refused(ValueError, *words, X=table)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (frame(mixed=[1, 2, "three", 4]), ["'mixed'", "row 2", "'three'", "mixed types"]),
        (frame(mixed=[1, 2, datetime.date(2020, 1, 1), 4]), ["'mixed'", "row 2", "mixed types"]),
        (
            np.array([["1", 2], [1, 2], [1, 2], [1, 2]], dtype=object),
            ["'1' at row 0", "1 at row 1"],
        ),
        (np.array([[1, {"a": 1}]] * 4, dtype=object), ["row 0", "column 1", "{'a': 1}"]),
        (np.array([[b"red"]] * 4), ["S3", "decode"]),
        ({"a": [1, 2, 3, 4]}, ["a dict", "data frame"]),
        ([{"a": 1}] * 4, ["a list of dicts", "data frame"]),
        (frame(a=[1, 2, 3, 4]).to_records(index=False), ["structured array", "data frame"]),
        (frame(colour=[b"red"] * 4), ["'colour'", "b'red'", "row 0"]),
        (frame(p=pd.period_range("2020", periods=4)), ["'p'", "Period"]),
        (pl.DataFrame({"a": [[1], [2], [3], [4]]}), ["'a'", "List"]),
        (pl.DataFrame({"a": [1, 2, 3, 4]}).lazy(), ["LazyFrame", "collect()"]),
        (frame(z=[datetime.time(1, tzinfo=datetime.UTC)] * 4), ["'z'", "time zone"]),
        (np.full((4, 1), np.datetime64("2020-01-01", "ps")), ["column 0", "ps", "nanoseconds"]),
    ],
)
def test_columns_that_no_test_can_be_made_of(table, words):
    refused(TypeError, *words, X=table)


def test_numbers_that_would_be_rounded():
    if np.finfo(np.longdouble).nmant <= 52:
        pytest.skip("long double is float64 here")
    exact = np.array([[1.0], [2.0], [3.0], [4.0]], dtype=np.longdouble)
    assert MAPTreeClassifier().fit(exact, Y).n_features_in_ == 1
    refused(ValueError, "float64", X=np.nextafter(exact, np.longdouble(9)))
    refused(ValueError, "Fraction(1, 3)", "'third'", X=frame(third=[Fraction(1, 3)] * 4))


def test_two_columns_of_one_name():
    twice = pd.DataFrame(np.arange(8.0).reshape(4, 2), columns=["age", "age"])
    refused(ValueError, "age", X=twice)


def test_other_columns_in_predict():
    model = MAPTreeClassifier().fit(frame(size=[1, 2, 3, 4]), Y)
    with pytest.raises(ValueError, match="more"):
        model.predict(frame(size=[1, 2, 3, 4], more=[1, 2, 3, 4]))
    with pytest.raises(ValueError, match="colour"):
        model.predict(frame(colour=[1, 2, 3, 4]))
    with pytest.raises(ValueError, match="same order"):
        model.predict(frame(size=[1, 2, 3, 4])[["size", "age"]])
    for other in (pl.from_pandas, pa.Table.from_pandas):
        with pytest.raises(ValueError, match="colour"):
            model.predict(other(frame(colour=[1, 2, 3, 4])))


# Labels


def test_lengths():
    refused(ValueError, "4 rows", "3 labels", y=Y[:3])
    refused(ValueError, "4 rows", "0 labels", y=[])


@pytest.mark.parametrize(
    ("labels", "examples"),
    [
        ([1, "a", 1, "a"], ["1 at row 0", "'a' at row 1"]),
        (np.array([1, "a", 2.0, True], dtype=object), ["'a' at row 1", "True at row 3"]),
        (["a", datetime.date(2020, 1, 1), "b", "c"], ["row 0", "row 1"]),
        ([True, 2, 3, 4], ["True at row 0", "2 at row 1"]),
        (pd.Series(["a", 3, "b", "c"]), ["3 at row 1"]),
    ],
)
def test_mixed_labels(labels, examples):
    refused(TypeError, "mixed types", *examples, "one type", y=labels)


def test_labels_beyond_64_bits_stay_apart():
    model = MAPTreeClassifier().fit([[0], [1], [0]], [2**63, 2**63 + 1, -1])
    assert model.classes_.tolist() == [-1, 2**63, 2**63 + 1]


@pytest.mark.parametrize("label", [None, math.nan, pd.NA, pd.NaT])
def test_missing_labels(label):
    for kind in (list, lambda values: pd.Series(values, dtype=object)):
        refused(ValueError, "row 2", "drop the row", y=kind(["a", "b", label, "a"]))
    refused(ValueError, "row 2", "drop the row", y=[1, "a", label, 3])


@pytest.mark.parametrize("label", [math.nan, math.inf])
def test_number_labels_that_are_not_finite(label):
    for dtype in (np.float32, np.float64):
        refused(ValueError, str(label), "row 3", y=np.array([0, 1, 0, label], dtype=dtype))


def test_continuous_labels():
    refused(
        ValueError, "Unknown label type", "continuous", "0.25 at row 1", y=[0.0, 0.25, 1.0, 1.0]
    )


@pytest.mark.parametrize(
    ("error", "labels", "words"),
    [
        (ValueError, None, ["requires y"]),
        (ValueError, np.zeros((4, 2)), ["(4, 2)", "one label per row"]),
        (ValueError, [[0, 1], [1], [1], [0]], ["one label per row"]),
        (ValueError, Y + 1j, ["Complex"]),
        (TypeError, [b"a", b"b", b"a", b"b"], ["bytes", "str"]),
        (TypeError, sparse.csr_array(Y.reshape(-1, 1)), ["sparse"]),
        (TypeError, [{"a": 1}, {"a": 1}, {"b": 1}, {"b": 1}], ["dict", "str or int"]),
    ],
)
def test_labels_that_cannot_be_classes(error, labels, words):
    refused(error, *words, y=labels)


# Weights


@pytest.mark.parametrize(
    ("error", "weights", "words"),
    [
        (
            ValueError,
            [1, 2, 0.5, 1],
            [
                "sample_weight[2] is 0.5",
                "whole",
                "w copies of the row",
                "count rows exactly",
                "pass sample_weight * 2, which are whole",
                "every row then counts for more",
                "costs",
            ],
        ),
        (ValueError, [1, 0.3, 0.25, 1], ["sample_weight[1] is 0.3", "sample_weight * 20"]),
        (ValueError, [1, 2, math.pi, 1], ["multiply them by one number and round them"]),
        (ValueError, [1, -1, 1, 1], ["sample_weight[1] is -1"]),
        (ValueError, [1, 1, 1, math.nan], ["sample_weight[3] is nan"]),
        (ValueError, [math.inf, 1, 1, 1], ["sample_weight[0] is inf"]),
        (ValueError, [0, 0, 0, 0], ["zero"]),
        (ValueError, [1, 1, 1], ["(3,)", "4 rows"]),
        (ValueError, np.ones((4, 1)), ["(4, 1)", "4 rows"]),
        (TypeError, 2.0, ["one weight per row"]),
        (TypeError, ["a", "b", "c", "d"], ["sample_weight", "whole"]),
        (TypeError, [1, 1j, 1, 1], ["sample_weight", "whole"]),
        (ValueError, [2**25, 0, 0, 1], ["33,554,433", "overflow"]),
        (ValueError, [2**63, 1, 1, 1], ["overflow"]),
        (ValueError, [1e300, 1, 1, 1], ["overflow"]),
    ],
)
def test_weights(error, weights, words):
    refused(error, *words, sample_weight=weights)


# Parameters


@pytest.mark.parametrize(
    ("error", "params"),
    [
        *[(ValueError, {"alpha": v}) for v in (0, 1, -0.5, 1.5, math.nan, math.inf)],
        *[(TypeError, {"alpha": v}) for v in ("0.5", None, True, [0.5])],
        *[(ValueError, {"beta": v}) for v in (-0.1, math.nan, math.inf)],
        *[(TypeError, {"beta": v}) for v in ("1", None)],
        *[(ValueError, {"rho": v}) for v in (0, -1, math.nan, math.inf)],
        *[(ValueError, {"rho": v}) for v in ([1, 2, 3], [1.0], [], [1.0, 0.0], [1, math.nan])],
        *[(TypeError, {"rho": v}) for v in ("2.5", True, object(), ["a", "b"], [[1, 2], [3, 4]])],
        *[(ValueError, {"time_limit": v}) for v in (0, -1, math.nan, math.inf)],
        *[(TypeError, {"time_limit": v}) for v in ("10", True)],
        *[(ValueError, {"max_expansions": v}) for v in (0, -5)],
        *[(TypeError, {"max_expansions": v}) for v in (1.5, "10", True)],
        *[(ValueError, {"memory_limit": v}) for v in (0, -1, "4 gigs", "-1MB")],
        *[(TypeError, {"memory_limit": v}) for v in (1e9, True, [1])],
        *[(ValueError, {"max_depth": v}) for v in (-1,)],
        *[(TypeError, {"max_depth": v}) for v in (2.0, "3", True)],
        *[(ValueError, {"min_samples_leaf": v}) for v in (0, -3)],
        *[(TypeError, {"min_samples_leaf": v}) for v in (0.1, None, True)],
        (ValueError, {"n_jobs": 0}),
        *[(TypeError, {"n_jobs": v}) for v in (1.5, "all", True)],
        (ValueError, {"verbose": -1}),
        (TypeError, {"verbose": "yes"}),
        (TypeError, {"callback": 3}),
        (ValueError, {"encoder": "none"}),
        *[(TypeError, {"encoder": v}) for v in (3, OneHotEncoder())],
    ],
)
def test_parameters(error, params):
    name, value = next(iter(params.items()))
    shown = "nan" if isinstance(value, list) and math.nan in value else ""
    refused(error, name, shown, **params)


def test_random_state():
    refused(ValueError, "seed", random_state="today")


# Queries


def test_before_fit():
    model = MAPTreeClassifier()
    for method in (
        model.predict,
        model.predict_proba,
        model.predict_log_proba,
        model.predict_interval,
        model.apply,
        model.decision_path,
    ):
        with pytest.raises(NotFittedError):
            method(X)
    for method in (model.rules, model.export_text):
        with pytest.raises(NotFittedError):
            method()


@pytest.mark.parametrize("level", [0, 1, -0.5, 95, math.nan])
def test_level(level):
    model = MAPTreeClassifier().fit(X, Y)
    with pytest.raises(ValueError, match=r"level=.*0\.95"):
        model.predict_interval(X, level=level)
