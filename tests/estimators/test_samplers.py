"""The samplers as classifiers."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    parametrize_with_checks,
)

from maptree import (
    BinaryEncoder,
    MAPTreeClassifier,
    MCMCTreeClassifier,
    SMCTreeClassifier,
    log_posterior,
)
from maptree.trees.leaf_probabilities import posterior_mean
from samples import noisy, sampler

BOTH = [MCMCTreeClassifier, SMCTreeClassifier]


def wine():
    data = load_wine(as_frame=True)
    return data.data, data.target_names[data.target]


# scikit-learn's conventions


@parametrize_with_checks(
    [
        MCMCTreeClassifier(),
        SMCTreeClassifier(),
        sampler(MCMCTreeClassifier, encoder=BinaryEncoder(4), n_jobs=2),
        sampler(SMCTreeClassifier, encoder=BinaryEncoder(4), n_jobs=2, n_islands=3),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# It passes an array to a fitted frame on purpose, which warns.
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize("kind", BOTH)
def test_column_names(kind):
    check_dataframe_column_names_consistency(kind.__name__, sampler(kind))


@pytest.mark.parametrize("kind", BOTH)
def test_clone_pickle_grid_search_and_pipeline(kind):
    X, y = noisy(n_classes=3)
    model = sampler(kind, alpha=0.8).fit(X, y)
    fresh = clone(model)
    assert fresh.alpha == 0.8
    assert not hasattr(fresh, "trees_")
    again = pickle.loads(pickle.dumps(model))
    assert list(again.trees_) == list(model.trees_)
    assert again.tree_ == model.tree_
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    search = GridSearchCV(sampler(kind), {"alpha": [0.5, 0.95], "encoder": ["auto", None]}, cv=2)
    assert search.fit(X, y).best_score_ > 0.6
    assert make_pipeline(StandardScaler(), sampler(kind)).fit(X, y).score(X, y) > 0.6
    assert cross_val_score(sampler(kind), X, y, cv=2).min() > 0.5


# What is fitted


@pytest.mark.parametrize("kind", BOTH)
def test_trees_and_weights(kind):
    X, y = wine()
    model = sampler(kind).fit(X, y)
    answers, weights = model.encoder_.transform(X), model.test_weights_
    assert model.status_ == "complete"
    assert model.classes_.tolist() == ["class_0", "class_1", "class_2"]
    assert len(model.trees_) == len(set(model.trees_)) == len(model.weights_)
    assert model.weights_.sum() == pytest.approx(1)
    assert (model.weights_ > 0).all()
    assert (np.diff(model.weights_) <= 0).all()
    for tree, value in zip(model.trees_[:20], model.tree_log_posteriors_, strict=False):
        assert value == pytest.approx(
            log_posterior(tree, answers, y, test_weights=weights), abs=1e-6
        )
        np.testing.assert_array_equal(tree.counts, counted(tree, answers, y))
    best = log_posterior(model.tree_, answers, y, test_weights=weights)
    assert model.log_posterior_ == pytest.approx(best, abs=1e-6)
    assert model.log_posterior_ >= model.tree_log_posteriors_.max()
    assert len(model.rules()) == model.tree_.n_leaves
    assert "class_1" in model.export_text()


def counted(tree, answers, y):
    paths = tree.decision_path(answers).toarray()
    return np.stack([paths[y == label].sum(axis=0) for label in np.unique(y)], axis=1)


@pytest.mark.parametrize("kind", BOTH)
def test_the_trace_rises_to_the_best_tree(kind):
    model = sampler(kind).fit(*wine())
    trace = model.trace_
    assert trace.dtype.names == ("seconds", "steps", "log_posterior")
    for name in trace.dtype.names:
        assert (np.diff(trace[name]) >= 0).all()
    assert trace["log_posterior"][-1] == model.log_posterior_
    assert trace["steps"][-1] > 0


@pytest.mark.parametrize("kind", BOTH)
def test_probabilities_are_averages_over_the_trees(kind):
    X, y = wine()
    model = sampler(kind, rho=[0.5, 1.0, 4.0]).fit(X, y)
    answers = model.encoder_.transform(X)
    expected = sum(
        weight * posterior_mean(tree.counts, model.rho_)[tree.apply(answers)]
        for tree, weight in zip(model.trees_, model.weights_, strict=True)
    )
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities, expected)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), probabilities)
    np.testing.assert_array_equal(model.predict(X), model.classes_[probabilities.argmax(axis=1)])
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("kind", BOTH)
def test_importances_are_expected_splits(kind):
    X, y = wine()
    model = sampler(kind).fit(X, y)
    expected = np.zeros(X.shape[1])
    for tree, weight in zip(model.trees_, model.weights_, strict=True):
        tests = tree.feature[tree.feature >= 0]
        np.add.at(expected, model.encoder_.test_columns_[tests], weight)
    np.testing.assert_allclose(model.feature_importances_, expected / expected.sum())
    lone = sampler(kind).fit([[0], [0]], [0, 1])
    assert lone.feature_importances_.tolist() == [0]


@pytest.mark.parametrize("kind", BOTH)
def test_a_sampler_finds_good_trees(kind):
    """Both meet the proved optimum here: nothing beats it, and few miss it."""
    X, y = noisy(n_rows=300, n_classes=3)
    optimum = MAPTreeClassifier(time_limit=None).fit(X, y).certificate_
    model = sampler(kind, random_state=3).fit(X, y)
    assert optimum.optimal
    assert model.log_posterior_ == pytest.approx(optimum.log_posterior, abs=1e-6)


# Repetition


@pytest.mark.parametrize("kind", BOTH)
def test_the_same_seed_gives_the_same_samples(kind):
    X, y = noisy(n_columns=20, n_classes=3)
    several = {"n_chains": 5} if kind is MCMCTreeClassifier else {"n_islands": 5}
    one, same, threads = (
        sampler(kind, random_state=7, n_jobs=jobs, **several).fit(X, y) for jobs in (None, 1, 3)
    )
    other = sampler(kind, random_state=8, **several).fit(X, y)
    for model in (same, threads):
        assert list(model.trees_) == list(one.trees_)
        np.testing.assert_array_equal(model.weights_, one.weights_)
        assert model.tree_ == one.tree_
        assert model.log_posterior_ == one.log_posterior_
    assert list(other.trees_) != list(one.trees_)
    state = np.random.RandomState(1)
    first, second = (sampler(kind, random_state=state).fit(X, y) for _ in range(2))
    assert list(first.trees_) != list(second.trees_)
    assert sampler(kind, random_state=None).fit(X, y).status_ == "complete"


@pytest.mark.parametrize("kind", BOTH)
def test_weights_are_repetitions(kind):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 4)).round(1), rng.integers(0, 3, 60)
    weights = rng.integers(0, 4, 60)
    weighted = sampler(kind).fit(X, y, sample_weight=weights.astype(float))
    repeated = sampler(kind).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    order = rng.permutation(60)
    shuffled = sampler(kind).fit(X[order], y[order], sample_weight=weights[order])
    for model in (repeated, shuffled):
        assert list(model.trees_) == list(weighted.trees_)
        np.testing.assert_array_equal(model.weights_, weighted.weights_)


@pytest.mark.parametrize("kind", BOTH)
def test_a_fit_on_a_frame_and_then_on_an_array_forgets_the_names(kind):
    X, y = noisy()
    model = sampler(kind).fit(pd.DataFrame(X, columns=list("abcdefgh")), y)
    assert model.rules()[0].startswith("a")
    model.fit(X, y)
    assert not hasattr(model, "feature_names_in_")
    assert model.rules()[0].startswith("x0")


@pytest.mark.parametrize("kind", BOTH)
def test_tables_of_one_row_or_class(kind):
    for X, y in (([[0, 1]], ["a"]), ([[0, 1], [1, 0], [1, 1]], ["a", "a", "a"])):
        model = sampler(kind).fit(X, y)
        np.testing.assert_allclose(model.predict_proba(X), 1)
        assert model.log_posterior_ <= 0


# Mistakes


@pytest.mark.parametrize(
    ("kind", "name", "value", "error"),
    [
        (MCMCTreeClassifier, "n_samples", 0, ValueError),
        (MCMCTreeClassifier, "n_samples", 2.5, TypeError),
        (MCMCTreeClassifier, "burn_in", -1, ValueError),
        (MCMCTreeClassifier, "thin", 0, ValueError),
        (MCMCTreeClassifier, "n_chains", 0, ValueError),
        (SMCTreeClassifier, "n_particles", 0, ValueError),
        (SMCTreeClassifier, "n_islands", True, TypeError),
        (MCMCTreeClassifier, "n_chains", 2**40, ValueError),
        (SMCTreeClassifier, "n_particles", 2**40, ValueError),
        (SMCTreeClassifier, "proposal", "best", ValueError),
        (SMCTreeClassifier, "proposal", None, TypeError),
        (SMCTreeClassifier, "growth", "leaf", ValueError),
        (SMCTreeClassifier, "resampling", "residual", ValueError),
        (SMCTreeClassifier, "ess_threshold", 1.5, ValueError),
        (SMCTreeClassifier, "ess_threshold", "half", TypeError),
        *[
            (kind, name, value, error)
            for kind in BOTH
            for name, value, error in [
                ("alpha", 1.0, ValueError),
                ("beta", -1, ValueError),
                ("rho", 0, ValueError),
                ("time_limit", 0, ValueError),
                ("encoder", "one-hot", ValueError),
                ("n_jobs", 0, ValueError),
                ("random_state", "seed", ValueError),
                ("verbose", -1, ValueError),
                ("callback", 3, TypeError),
            ]
        ],
    ],
)
def test_mistakes_name_the_parameter_and_change_nothing(kind, name, value, error):
    X, y = noisy()
    model = sampler(kind).fit(X, y).set_params(**{name: value})
    before = dict(model.__dict__)
    with pytest.raises(error, match=f"{name}=") as caught:
        model.fit(X, 1 - y)
    assert "pass" in str(caught.value)
    assert model.__dict__ == before


@pytest.mark.parametrize("kind", BOTH)
def test_nothing_works_before_fit(kind):
    model = kind()
    for method in (model.predict, model.predict_proba, model.predict_log_proba):
        with pytest.raises(NotFittedError):
            method([[0]])
    for method in (model.rules, model.export_text, model.posterior_summary):
        with pytest.raises(NotFittedError):
            method()
    if kind is MCMCTreeClassifier:
        with pytest.raises(NotFittedError):
            model.diagnostics()


@pytest.mark.parametrize("kind", BOTH)
def test_values_that_mean_nothing_in_predict(kind):
    X, y = noisy()
    for encoder in (None, "auto"):
        model = sampler(kind, encoder=encoder).fit(X, y)
        with pytest.raises(ValueError, match="X has 8 at row 0, column 0"):
            model.predict(X + 7)
