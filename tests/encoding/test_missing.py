"""Missing, infinite and never seen values: in fit, in transform, in words, in all classifiers."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.utils import get_tags

from maptree import BinaryEncoder, MAPTreeClassifier, MCMCTreeClassifier, SMCTreeClassifier
from maptree.encoding.answering import read_answers
from maptree.words.tree_text import rules_by_leaf
from rule_reader import NUMBER, holds, ordered
from samples import classifier, noisy, sampler

NAN = math.nan


def names(X, y=None):
    return BinaryEncoder().fit(X, y).get_feature_names_out().tolist()


# Missing


@pytest.mark.parametrize(
    "column",
    [
        [1.0, NAN, 3.0],
        [1.0, None, 3.0],
        np.ma.masked_array([1.0, 7.0, 3.0], mask=[False, True, False]),
        np.array([1.0, NAN, 3.0], dtype=np.float32),
        pd.array([1, None, 3], "Int64"),
        pd.array([1, None, 3], "Float32"),
        pd.Series([1, pd.NA, 3], dtype=object),
        pl.Series([1, None, 3]),
        pl.Series([1.0, NAN, 3.0]),
        pl.Series([1.0, None, 3.0]),
        pa.array([1, None, 3]),
        pa.array([1.0, NAN, 3.0]),
    ],
    ids=lambda column: f"{type(column).__module__}.{type(column).__name__}",
)
def test_missing_numbers(column):
    if isinstance(column, (list, np.ndarray)):
        X = np.ma.array(column)[:, np.newaxis] if np.ma.isMA(column) else [[v] for v in column]
    elif isinstance(column, pl.Series):
        X = pl.DataFrame({"x0": column})
    elif isinstance(column, pa.Array):
        X = pa.table({"x0": column})
    else:
        X = pd.DataFrame({"x0": column})
    assert names(X) == ["x0 <= 2", "x0 is missing"]
    assert BinaryEncoder().fit_transform(X).tolist() == [[1, 0], [0, 1], [0, 0]]


def test_kinds_of_missing():
    objects = np.array(
        [[None], [NAN], [pd.NA], [pd.NaT], [np.datetime64("NaT")], ["a"], ["b"]], dtype=object
    )
    encoder = BinaryEncoder().fit(objects)
    assert encoder.get_feature_names_out().tolist() == ["x0 = b", "x0 is missing"]
    assert encoder.transform(objects)[:, 1].tolist() == [1, 1, 1, 1, 1, 0, 0]
    # Text that means missing is text: nothing is guessed.
    assert names([["nan"], ["NA"], ["x"]]) == ["x0 = NA", "x0 = nan", "x0 = x"]


def test_where_nothing_was_missing_in_fit_it_answers_no():
    frame = pd.DataFrame({"age": [20.0, 40.0, 60.0], "colour": ["red", "blue", "green"]})
    encoder = BinaryEncoder().fit(frame)
    holes = pd.DataFrame({"age": [NAN], "colour": [None]})
    assert encoder.transform(holes).tolist() == [[0, 0, 0, 0, 0]]
    assert encoder.words().condition([(0, False)]) == "age > 30"
    assert encoder.words().condition([(0, False)], unseen=True) == "age > 30 or missing"
    binary = BinaryEncoder().fit([[0.0, 1.0], [1.0, 0.0]])
    assert binary.passthrough_
    assert binary.transform([[NAN, 1.0]]).tolist() == [[0, 1]]
    assert np.unpackbits(binary.transform_packed([[NAN, 1.0]]), 1, 1, "little").tolist() == [
        [0],
        [1],
    ]
    for model in (classifier(), sampler(MCMCTreeClassifier), sampler(SMCTreeClassifier)):
        model.fit([[0.0], [1.0]] * 9, [0, 1] * 9)
        np.testing.assert_array_equal(model.predict([[NAN]]), model.predict([[0.0]]))


def test_missing_0_1_columns():
    X = [[0.0], [1.0], [NAN]]
    assert names(X) == ["x0 = 1", "x0 is missing"]
    assert BinaryEncoder().fit_transform(X).tolist() == [[0, 0], [1, 0], [0, 1]]


def test_missing_in_rows_without_weight_is_not_seen():
    X = [[1.0, "a"], [2.0, "b"], [NAN, "c"], [3.0, "b"]]
    encoder = BinaryEncoder().fit(X, sample_weight=[1, 1, 0, 2])
    assert encoder.get_feature_names_out().tolist() == ["x0 <= 1.5", "x0 <= 2.5", "x1 = b"]
    assert "x0 is missing" in names(X)


def test_everything_missing():
    for column in ([None, None], [NAN, NAN]):
        X = np.array([column, [1, 2]], dtype=object).T
        encoder = BinaryEncoder().fit(X)
        assert encoder.schema_[0].kind == "constant"
        assert encoder.transform([[3, 1]]).tolist() == [[1]]
        assert encoder.transform([["any", 1]]).tolist() == [[1]]
    later = BinaryEncoder().fit(pl.DataFrame({"a": ["x", "y", "z"]}))
    for nothing in (pl.DataFrame({"a": [None]}), pa.table({"a": pa.nulls(1)})):
        assert later.transform(nothing).tolist() == [[0, 0, 0]]


def test_a_split_on_missing_is_found_and_worded():
    rng = np.random.default_rng(0)
    age = rng.integers(20, 80, 300).astype(float)
    age[rng.random(300) < 0.3] = NAN
    y = np.where(np.isnan(age), "unknown", np.where(age > 50, "old", "young"))
    model = classifier().fit(age[:, np.newaxis], y)
    conditions = {rule.split("  ->  ")[0] for rule in model.rules(["age"])}
    assert conditions == {"age is missing", "age <= 50.5", "age > 50.5"}
    text = model.export_text(["age"])
    assert "| age is not missing: " in text or "age is missing: " in text
    assert model.score(age[:, np.newaxis], y) == 1


def test_words_of_missing_values():
    encoder = BinaryEncoder().fit([[20.0, "a"], [40.0, "b"], [60.0, "c"], [NAN, None]])
    words = encoder.words(["age", "kind"])
    names = [words.test(test) for test in range(len(words.schema.tests))]
    low, high, hole = (names.index(name) for name in ("age <= 30", "age <= 50", "age is missing"))
    a, b, no_kind = (names.index(name) for name in ("kind = a", "kind = b", "kind is missing"))
    for answers, text in [
        ([(low, False)], "age > 30 or missing"),
        ([(low, False), (high, True)], "30 < age <= 50"),
        ([(low, False), (hole, False)], "age > 30"),
        ([(low, False), (hole, True)], "age is missing"),
        ([(hole, False)], "age is not missing"),
        ([(hole, False), (a, False)], "age is not missing and (kind != a or missing)"),
        ([(a, False), (b, False)], "kind = c or missing"),
        ([(b, False), (a, False), (no_kind, False)], "kind = c"),
        ([(a, False), (b, True)], "kind = b"),
        ([(low, False), (a, True)], "(age > 30 or missing) and kind = a"),
        ([(no_kind, True), (low, True)], "kind is missing and age <= 30"),
    ]:
        assert words.condition(answers) == text
    assert words.condition([(low, False)], given=[(high, True)]) == "age > 30"
    assert words.condition([(low, False)], given=[(a, True)]) == "age > 30 or missing"


# Infinite


def test_infinite_values():
    X = np.array([[-math.inf], [1.0], [2.0], [math.inf]])
    encoder = BinaryEncoder().fit(X)
    assert encoder.get_feature_names_out().tolist() == ["x0 = -inf", "x0 <= 1.5", "x0 < inf"]
    assert encoder.transform(X).tolist() == [[1, 1, 1], [0, 1, 1], [0, 0, 1], [0, 0, 0]]
    words = encoder.words()
    assert words.condition([(2, False)]) == "x0 = inf"
    assert words.condition([(0, False)]) == "x0 > -inf"
    assert words.condition([(0, False), (2, True)]) == "-inf < x0 < inf"
    assert words.condition([(1, False), (2, True)]) == "1.5 < x0 < inf"
    largest = np.finfo(float).max
    assert encoder.transform([[largest], [-largest]]).tolist() == [[0, 0, 1], [0, 1, 1]]
    for dtype in (np.float32, np.int64, np.uint8):
        assert encoder.transform(np.array([[1], [2]], dtype=dtype)).tolist() == [
            [0, 1, 1],
            [0, 0, 1],
        ]
    assert encoder.transform([[10**400], [-(10**400)]]).tolist() == [[0, 0, 1], [0, 1, 1]]
    again = BinaryEncoder.from_dict(encoder.to_dict())
    assert again.transform(X).tolist() == encoder.transform(X).tolist()


def test_only_infinities():
    X = np.array([[-math.inf], [math.inf]])
    assert names(X) == ["x0 <= 0"]
    assert names([[math.inf], [5.0]]) == ["x0 < inf"]
    assert names([[math.inf], [math.inf]]) == []


def test_infinities_where_none_was_seen():
    encoder = BinaryEncoder().fit([[1.0], [2.0]])
    assert encoder.transform([[math.inf], [-math.inf]]).tolist() == [[0], [1]]


# Never seen


def test_categories_that_were_not_seen():
    frame = pd.DataFrame({"colour": ["red", "blue", "green"]})
    encoder = BinaryEncoder().fit(frame)
    for X in (
        pd.DataFrame({"colour": ["pink"]}),
        pl.DataFrame({"colour": ["pink"]}),
        pa.table({"colour": pa.array(["pink"]).dictionary_encode()}),
        pd.DataFrame({"colour": pd.Categorical(["pink"], ["pink", "red"])}),
    ):
        assert encoder.transform(X).tolist() == [[0, 0, 0]]
    two = BinaryEncoder().fit([["no"], ["yes"]])
    assert two.transform([["maybe"], ["yes"], ["no"]]).tolist() == [[0], [1], [0]]


@pytest.mark.parametrize(
    ("fitted", "given", "message"),
    [
        ([1.5, 2.5], ["1.5", "n/a"], r"X holds text.*column 'x', '1.5' at row 0.*held numbers"),
        (["a", "b"], [1, 2], r"X holds numbers \(int64\) in column 'x'.*held text"),
        ([1.5, 2.5], [dt.date(2020, 1, 1)] * 2, "holds dates.*'x'.*held numbers"),
        ([dt.date(2020, 1, 1), dt.date(2021, 1, 1)], [1, 2], "holds numbers.*'x'.*held dates"),
        ([dt.time(1), dt.time(2)], [dt.timedelta(1)] * 2, "holds durations.*'x'.*held times"),
        ([True, False], ["yes", "no"], "holds text.*'x', 'yes' at row 0.*held booleans"),
    ],
)
def test_other_types_in_transform(fitted, given, message):
    keep = {"also": [1.0, 3.0]}
    for frame in (pd.DataFrame, pl.DataFrame, pa.table):
        encoder = BinaryEncoder().fit(frame({"x": fitted} | keep))
        with pytest.raises(TypeError, match=message.replace("int64", "(int64|Int64)")):
            encoder.transform(frame({"x": given} | keep))
        model = MAPTreeClassifier().fit(frame({"x": fitted} | keep), [0, 1])
        with pytest.raises(TypeError, match="'x'"):
            model.predict(frame({"x": given} | keep))


def test_types_that_mean_the_same():
    encoder = BinaryEncoder().fit(pd.DataFrame({"x": [1.5, 2.5, 3.5]}))
    for other in (np.int8([1, 2, 3]), np.array([1, 2, 3], object), np.float32([1, 2, 3])):
        assert encoder.transform(pd.DataFrame({"x": other})).tolist() == [[1, 1], [1, 1], [0, 1]]
    assert encoder.transform(pd.DataFrame({"x": [True, False]})).tolist() == [[1, 1], [1, 1]]


# Estimators


def test_tags_say_that_nan_is_taken():
    assert get_tags(MAPTreeClassifier()).input_tags.allow_nan
    assert get_tags(BinaryEncoder()).input_tags.allow_nan
    assert not get_tags(MAPTreeClassifier(encoder=None)).input_tags.allow_nan
    assert get_tags(MCMCTreeClassifier()).input_tags.allow_nan


def test_cross_validation_with_holes():
    X, y = noisy(n_rows=200)
    X = X.astype(float)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = NAN
    assert cross_val_score(classifier(), X, y, cv=3).mean() > 0.6
    assert clone(classifier().fit(X, y)).get_params()["encoder"] == "auto"


def test_rows_unlike_any_in_fit_have_rules_of_their_own():
    """Where nothing was missing, the rules leave it unsaid; ``unseen`` has them say it."""
    sizes = ["s", "m", "l"]
    frame = pd.DataFrame(
        {
            "size": pd.Categorical(["s", "m", "l"] * 20, sizes, ordered=True),
            "age": np.tile([20.0, 30.0, 40.0, 50.0], 15),
        }
    )
    y = (frame["size"] > "s") & (frame["age"] > 25)
    model = classifier().fit(frame, y)
    others = [*sizes, "xl", None]
    new = pd.DataFrame(
        [(size, age) for size in others for age in (20.0, 50.0, NAN)], columns=["size", "age"]
    )
    new["size"] = pd.Categorical(new["size"], [*sizes, "xl"], ordered=True)
    answers = read_answers(model.fitted_.schema, new)
    leaves, unforeseen = answers.leaves(model.tree_), answers.unforeseen(model.tree_)
    assert unforeseen.tolist() == (new["age"].isna() | ~new["size"].isin(sizes)).tolist()
    kinds = {"size": ordered(*sizes), "age": NUMBER}
    rows = [
        {name: None if pd.isna(value) else value for name, value in row.items()}
        for row in new.to_dict("records")
    ]
    for unseen in (False, True):
        rules = rules_by_leaf(model.fitted_, unseen)
        for row, leaf, odd in zip(rows, leaves, unforeseen, strict=True):
            if unseen or not odd:
                held = [node for node, rule in rules.items() if holds(rule, row, kinds)]
                assert held == [leaf], (row, rules)
    assert any("size > s or unknown or missing" in rule for rule in rules.values())
