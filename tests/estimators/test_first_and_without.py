"""Columns that come first, and columns that are not tested: through the classifier."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

from checks import tree_of
from maptree import BinaryEncoder, MAPTreeClassifier, MCMCTreeClassifier, load_model, log_posterior
from maptree.words.certificate import certificate_sentences, headline, size_sentence
from oracle import all_trees, optimum
from samples import branching


def raw(seed=0, n=14):
    """A few rows of two columns of numbers and one of text."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 24, n),
            "income": rng.integers(0, 3, n) / 2,
            "colour": rng.choice(["red", "blue"], n),
        }
    )
    y = (frame["age"] > 21).astype(int) ^ (rng.random(n) < 0.2)
    return frame, y.to_numpy()


def columns_of(model):
    """The column of each inner node, the root first."""
    tests = model.tree_.feature[model.tree_.feature >= 0]
    return [model.fitted_.schema.column_of_test[test] for test in tests.tolist()]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("max_thresholds", [2, None])
@pytest.mark.parametrize(
    "wishes",
    [
        {"first_columns": "income"},
        {"first_columns": ["colour", 1]},
        {"without_columns": "age"},
        {"without_columns": [0], "first_columns": "colour"},
        {"first_columns": 0, "column_weights": {"age": 3, "colour": 0}},
        {"without_columns": ["age", "colour"], "split_prior": "tests"},
    ],
    ids=str,
)
def test_against_brute_force(seed, max_thresholds, wishes):
    frame, y = raw(seed)
    model = MAPTreeClassifier(
        encoder=BinaryEncoder(max_thresholds), rho=0.5, time_limit=None, **wishes
    ).fit(frame, y)
    X, column_of = model.encoder_.transform(frame), model.encoder_.test_columns_
    names = list(frame.columns)

    def tests_of(parameter):
        given = wishes.get(parameter)
        if given is None:
            return None
        given = given if isinstance(given, list) else [given]
        places = {names.index(key) if isinstance(key, str) else key for key in given}
        return [test for test, j in enumerate(column_of) if j in places]

    least, _ = optimum(
        X.tolist(),
        y.tolist(),
        n_classes=2,
        rho=0.5,
        test_weights=model.test_weights_.tolist(),
        first=tests_of("first_columns"),
        without=tests_of("without_columns") or (),
    )
    assert model.certificate_.optimal
    assert model.certificate_.log_posterior == pytest.approx(-least, abs=1e-6)
    tested = columns_of(model)
    if tested and (first := model.fitted_.constraints.first_columns):
        assert tested[0] in first
    assert not set(tested) & set(model.fitted_.constraints.without_columns)


def test_a_matrix_without_an_encoder():
    X, y = branching()
    best = MAPTreeClassifier(encoder=None).fit(X, y)
    root = columns_of(best)[0]
    for wishes in ({"first_columns": (root + 1) % X.shape[1]}, {"without_columns": [root]}):
        model = MAPTreeClassifier(encoder=None, **wishes).fit(X, y)
        assert model.certificate_.log_posterior <= best.certificate_.log_posterior
        score = log_posterior(model.tree_, X, y)
        assert score == pytest.approx(model.certificate_.log_posterior, abs=1e-6)


def test_frames_arrays_and_weights_of_rows_give_the_same():
    frame, y = raw(3, 60)
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    of = {"first_columns": "income", "without_columns": "colour", "time_limit": None}
    model = MAPTreeClassifier(**of).fit(frame, y, weights)
    assert MAPTreeClassifier(**of).fit(pl.from_pandas(frame), y, weights).tree_ == model.tree_
    by_number = MAPTreeClassifier(first_columns=np.int64(1), without_columns=(2,), time_limit=None)
    assert by_number.fit(frame.to_numpy(), y, weights).tree_ == model.tree_
    repeated = frame.loc[np.repeat(frame.index, weights)]
    assert MAPTreeClassifier(**of).fit(repeated, np.repeat(y, weights)).tree_ == model.tree_


def test_several_threads_prove_the_same():
    X, y = branching()
    found = [
        MAPTreeClassifier(first_columns=[2, 3], without_columns=0, n_jobs=n).fit(X, y).certificate_
        for n in (1, 2)
    ]
    assert found[0].log_posterior == found[1].log_posterior
    assert all(certificate.optimal for certificate in found)


@pytest.mark.parametrize(
    ("wishes", "error", "message"),
    [
        ({"first_columns": "agee"}, ValueError, "first_columns='agee' is not .*: pass 'age' if"),
        (
            {"without_columns": 3},
            ValueError,
            "without_columns=3 is not about a column of X: pass a",
        ),
        ({"without_columns": -1}, ValueError, "number from 0 to 2"),
        (
            {"first_columns": []},
            ValueError,
            r"first_columns=\[\] names no column: pass one or more",
        ),
        (
            {"first_columns": 1.5},
            TypeError,
            "first_columns=1.5 does not name columns: pass the name",
        ),
        ({"first_columns": {"age": 1}}, TypeError, "does not name columns"),
        ({"without_columns": b"city"}, TypeError, "without_columns=b'city' does not name columns"),
        ({"first_columns": [None]}, TypeError, "has None, which is not a column"),
        ({"first_columns": True}, TypeError, "has True, which is not a column"),
        (
            {"without_columns": ["age", "income", "colour"]},
            ValueError,
            r"without_columns=\['age', 'income', 'colour'\] leaves out every column: leave one",
        ),
        (
            {"without_columns": ["age", 1], "column_weights": {"colour": 0}},
            ValueError,
            "leaves out every column",
        ),
        (
            {"first_columns": ["age"], "without_columns": 0},
            ValueError,
            "first_columns='age' has 'age', which without_columns leaves out: name it in one",
        ),
        (
            {"first_columns": ["age"], "column_weights": {"age": 0}},
            ValueError,
            "has 'age', which has weight 0 in column_weights: pass a weight above 0",
        ),
    ],
)
def test_wrong_wishes(wishes, error, message):
    frame, y = raw()
    with pytest.raises(error, match=message):
        MAPTreeClassifier(**wishes).fit(frame, y)


def test_samplers_do_not_have_them():
    with pytest.raises(TypeError, match="first_columns"):
        MCMCTreeClassifier(first_columns="age")


def test_a_column_that_cannot_be_tested_leaves_a_single_leaf():
    frame, y = raw()
    model = MAPTreeClassifier(first_columns="same").fit(frame.assign(same=1), y)
    assert tree_of(model.tree_) == ()
    assert model.certificate_.optimal
    sentence = "A single leaf: no tree whose first test is of same is more probable."
    assert size_sentence(model.fitted_) == sentence


def test_the_certificate_says_which_trees_it_is_about():
    X, y = branching()
    wishes = {"first_columns": [0, 1], "without_columns": [2]}
    model = MAPTreeClassifier(**wishes, max_depth=3).fit(X, y)
    trees = "of depth 3 or less, whose first test is of x0 or x1 and without a test of x2"
    assert headline(model.fitted_) == f"Proved: no tree {trees} is more probable"
    assert f", {trees}, is more probable" in certificate_sentences(model.fitted_)[0]
    stopped = MAPTreeClassifier(**wishes, max_expansions=2, time_limit=None).fit(X, y)
    trees = "whose first test is of x0 or x1 and without a test of x2"
    assert headline(stopped.fitted_).startswith(f"Best found of the trees {trees}; ")
    told = " ".join(certificate_sentences(stopped.fitted_))
    assert f"Not proved to be the best tree over these 8 tests, {trees}: the" in told
    assert f"no tree of depth 2 or less, {trees}, is more probable than this one" in told


@pytest.mark.parametrize(
    ("wishes", "phrase"),
    [
        ({"first_columns": [1, 2]}, "whose first test is of x1 or x2"),
        ({"without_columns": 0}, "without a test of x0"),
    ],
)
def test_alternatives_are_trees_that_do_as_wished(wishes, phrase):
    """Of every way to part the rows that a tree has that does, the cheapest, in order."""
    X, y = branching(60, 3)
    model = MAPTreeClassifier(**wishes, time_limit=None).fit(X, y)
    found = model.alternatives(6)
    assert found.constraints == phrase
    assert phrase in " ".join(str(found).split())
    given = {"first": wishes.get("first_columns"), "without": [0] * ("without_columns" in wishes)}
    least = {}
    for tree, cost in all_trees(X.tolist(), y.tolist(), n_classes=2, **given):
        parts = frozenset(leaves_of(tree, X, frozenset(range(len(X)))))
        least[parts] = min(cost, least.get(parts, np.inf))
    expected = sorted(-cost for cost in least.values())[::-1][:6]
    assert [one.log_posterior for one in found] == pytest.approx(expected, abs=1e-6)


def leaves_of(tree, X, rows):
    """The sets of rows that a tree of the oracle makes."""
    if not tree:
        return [rows]
    ones = frozenset(row for row in rows if X[row, tree[0]])
    return [*leaves_of(tree[1], X, rows - ones), *leaves_of(tree[2], X, ones)]


def test_copies_and_files_keep_them(tmp_path):
    frame, y = raw(1, 40)
    model = MAPTreeClassifier(first_columns="income", without_columns=[0]).fit(frame, y)
    assert clone(model).get_params()["without_columns"] == [0]
    path = tmp_path / "model.json"
    model.save(path)
    for again in (load_model(path), pickle.loads(pickle.dumps(model))):
        assert again.fitted_.constraints == model.fitted_.constraints
        assert (again.first_columns, again.without_columns) == ("income", [0])
        assert again.certificate_ == model.certificate_
    assert load_model(path).fit(frame, y).tree_ == model.tree_


def test_a_file_whose_tree_does_not_do_as_wished_is_refused(tmp_path):
    import json

    X, y = branching()
    model = MAPTreeClassifier().fit(X, y)
    path = tmp_path / "model.json"
    model.save(path)
    values = json.loads(path.read_text(encoding="utf-8"))
    root = columns_of(model)[0]
    for parameter, given in (("first_columns", (root + 1) % 8), ("without_columns", [root])):
        changed = values | {"parameters": values["parameters"] | {parameter: given}}
        path.write_text(json.dumps(changed), encoding="utf-8")
        with pytest.raises(ValueError, match=f"parameters.{parameter} does not allow there"):
            load_model(path)
