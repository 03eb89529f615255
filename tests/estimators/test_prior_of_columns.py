"""The classifiers with weights of tests: what they report is what the scorer says."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from maptree import (
    BinaryEncoder,
    MAPTreeClassifier,
    MCMCTreeClassifier,
    SMCTreeClassifier,
    load_model,
    log_posterior,
)
from samples import classifier, noisy, sampler

PRIORS = [
    {"split_prior": "columns"},
    {"column_weights": {"age": 5, "colour": 0.5}},
    {"split_prior": "columns", "column_weights": {"age": 1 / 3, 1: 2, "wait": 0}},
]


def table(n=150, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "colour": rng.choice(list("abcde"), n),
            "member": rng.integers(0, 2, n),
            "wait": rng.exponential(10, n).round(2),
            "size": pd.Categorical(rng.choice(list("sml"), n), list("sml"), ordered=True),
        }
    )
    frame.loc[rng.random(n) < 0.15, "age"] = np.nan
    y = (frame["age"].fillna(90) > 52).to_numpy() ^ (frame["colour"] == "b").to_numpy()
    y ^= rng.random(n) < 0.1
    return frame, np.where(y, "yes", "no")


def score(model, tree, X, y):
    return log_posterior(tree, model.encoder_.transform(X), y, test_weights=model.test_weights_)


@pytest.mark.parametrize("prior", PRIORS, ids=str)
@pytest.mark.parametrize("most", [3, 16, 10**6])
def test_the_certificate_is_about_the_prior(prior, most):
    X, y = table()
    encoder = BinaryEncoder(max_thresholds=most)
    model = classifier(encoder=encoder, max_expansions=100, **prior).fit(X, y)
    certificate = model.certificate_
    assert score(model, model.tree_, X, y) == pytest.approx(certificate.log_posterior, abs=1e-6)
    assert len(set(model.test_weights_.tolist())) > 1
    assert model.test_weights_.dtype == np.uint32
    again = model.encoder_.test_weights(
        model.split_prior,
        {k: w for k, w in (prior.get("column_weights") or {}).items() if w > 0},
    )
    np.testing.assert_array_equal(again, model.test_weights_)


@pytest.mark.parametrize("prior", PRIORS, ids=str)
@pytest.mark.parametrize("kind", [MCMCTreeClassifier, SMCTreeClassifier])
def test_samplers_draw_from_the_prior(kind, prior):
    X, y = table()
    model = sampler(kind, **prior).fit(X, y)
    for tree, value in list(zip(model.trees_, model.tree_log_posteriors_, strict=True))[:20]:
        assert score(model, tree, X, y) == pytest.approx(value, abs=1e-6)
    assert score(model, model.tree_, X, y) == pytest.approx(model.log_posterior_, abs=1e-6)


def test_no_tree_is_better_under_its_own_prior():
    """Each of two proved trees, scored under both priors."""
    X, y = table(80)
    encoder = BinaryEncoder(max_thresholds=4)
    models = [
        MAPTreeClassifier(time_limit=None, max_depth=2, encoder=encoder, **prior).fit(X, y)
        for prior in ({}, *PRIORS[:2])
    ]
    for judge in models:
        assert judge.certificate_.optimal
        scores = [score(judge, model.tree_, X, y) for model in models]
        assert max(scores) == pytest.approx(judge.certificate_.log_posterior, abs=1e-6)


@pytest.mark.parametrize("encoder", ["auto", None])
def test_a_0_1_table_is_the_same_under_both(encoder):
    X, y = noisy()
    one = classifier(encoder=encoder).fit(X, y)
    other = classifier(encoder=encoder, split_prior="columns").fit(X, y)
    assert other.tree_ == one.tree_
    assert other.test_weights_.tolist() == [1] * X.shape[1]
    for field in ("log_posterior", "log_posterior_bound", "expansions", "subproblems"):
        assert getattr(other.certificate_, field) == getattr(one.certificate_, field)


@pytest.mark.parametrize("encoder", ["auto", None])
def test_odds_of_0_1_columns(encoder):
    """With weight 3 a column is 3 times as probable where the tree tests it at the root."""
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 10)
    y = X[:, 0]
    plain = classifier(encoder=encoder).fit(X, y)
    heavy = classifier(encoder=encoder, column_weights={0: 3}).fit(X, y)
    light = classifier(encoder=encoder, column_weights={1: 3}).fit(X, y)
    assert plain.tree_ == heavy.tree_ == light.tree_
    base = plain.certificate_.log_posterior
    assert heavy.certificate_.log_posterior - base == pytest.approx(math.log(3 / 4 * 2))
    assert light.certificate_.log_posterior - base == pytest.approx(math.log(1 / 4 * 2))
    assert heavy.test_weights_.tolist() == [3, 1]


def test_weights_decide_between_equal_columns():
    X, y = noisy()
    X = pd.DataFrame({"first": X[:, 0], "second": X[:, 0], "third": X[:, 1]})
    for name in ("first", "second"):
        model = classifier(column_weights={name: 2}).fit(X, y)
        assert name in model.export_text()


def test_thresholds_without_a_cap_do_not_make_splits_dear():
    """The threshold of the median costs the logarithm of the number of levels, not of tests."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] > np.median(X[:, 0])).astype(int)
    y ^= rng.random(400) < 0.2
    costs = {}
    for split_prior in ("tests", "columns"):
        for most in (7, 10**6):
            model = classifier(
                split_prior=split_prior, encoder=BinaryEncoder(max_thresholds=most), max_depth=1
            ).fit(X, y)
            assert model.certificate_.optimal
            costs[split_prior, most] = -model.certificate_.log_posterior
    assert costs["tests", 10**6] - costs["tests", 7] > 2
    assert costs["columns", 10**6] - costs["columns", 7] < 1.5


@pytest.mark.parametrize("prior", PRIORS, ids=str)
def test_the_model_file_keeps_the_prior(tmp_path, prior):
    X, y = table()
    model = classifier(max_expansions=20, **prior).fit(X, y)
    model.save(tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(again.test_weights_, model.test_weights_)
    assert again.split_prior == model.split_prior
    assert again.column_weights == model.column_weights
    assert score(again, again.tree_, X, y) == score(model, model.tree_, X, y)
    assert clone(again).fit(X, y).tree_ == model.tree_


def test_a_grid_of_priors():
    X, y = table(90)
    grid = {"split_prior": ["tests", "columns"], "column_weights": [None, {"age": 4}]}
    search = GridSearchCV(classifier(max_expansions=5), grid, cv=3).fit(X, y)
    assert len(search.cv_results_["params"]) == 4
    assert search.best_estimator_.get_params()["split_prior"] in grid["split_prior"]


@pytest.mark.parametrize("kind", [MAPTreeClassifier, MCMCTreeClassifier, SMCTreeClassifier])
def test_parameters_are_kept_as_they_are(kind):
    weights = {"age": 2}
    model = kind(split_prior="columns", column_weights=weights)
    assert model.get_params()["column_weights"] is weights
    copied = clone(model)
    assert copied.get_params()["column_weights"] == weights
    assert copied.split_prior == "columns"
    assert model.set_params(column_weights=None).column_weights is None
