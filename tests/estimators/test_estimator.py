"""The classifier."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import isspmatrix_csr
from scipy.stats import beta as beta_distribution
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_set_output_transform_pandas,
    check_transformer_get_feature_names_out,
    check_transformer_get_feature_names_out_pandas,
    parametrize_with_checks,
)

from maptree import BinaryEncoder, Certificate, MAPTreeClassifier, Tree, log_posterior
from samples import classifier, noisy

# scikit-learn's own checks


class NumbersOnly(MAPTreeClassifier):
    """Does not say that it takes categories, for then the checks pass whole numbers only."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = False
        return tags


@parametrize_with_checks(
    [
        classifier(),
        classifier(encoder=BinaryEncoder(4)),
        NumbersOnly(time_limit=None, max_expansions=300),
        BinaryEncoder(),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# One check passes an array to a fitted frame on purpose, which warns.
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize(
    ("check", "estimator"),
    [
        (check_dataframe_column_names_consistency, classifier()),
        (check_dataframe_column_names_consistency, BinaryEncoder()),
        (check_transformer_get_feature_names_out, BinaryEncoder()),
        (check_transformer_get_feature_names_out_pandas, BinaryEncoder()),
        (check_set_output_transform_pandas, BinaryEncoder()),
    ],
)
def test_more_scikit_learn_checks(check, estimator):
    check(type(estimator).__name__, estimator)


def test_clone_keeps_parameters_and_forgets_the_fit():
    encoder = BinaryEncoder(max_thresholds=3)
    model = classifier(alpha=0.8, rho=[1.0, 2.0], encoder=encoder).fit(*noisy())
    fresh = clone(model)
    assert not hasattr(fresh, "tree_")
    assert fresh.alpha == 0.8
    assert fresh.rho == [1.0, 2.0]
    assert fresh.encoder.max_thresholds == 3
    # The encoder that was passed is not the one that was fitted.
    assert model.encoder is encoder
    assert not hasattr(encoder, "test_columns_")


def test_pickle():
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = classifier().fit(pd.DataFrame(X, columns=list("abc")), X[:, 0] > 0)
    again = pickle.loads(pickle.dumps(model))
    assert again.tree_ == model.tree_
    assert again.certificate_ == model.certificate_
    assert again.rules() == model.rules()
    frame = pd.DataFrame(X, columns=list("abc"))
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))


def test_grid_search_and_pipeline():
    X, y = noisy(n_classes=3)
    search = GridSearchCV(classifier(), {"alpha": [0.5, 0.95], "encoder": ["auto", None]}, cv=2)
    assert search.fit(X, y).best_score_ > 0.6
    steps = make_pipeline(StandardScaler(), classifier())
    assert steps.fit(X, y).score(X, y) > 0.6
    assert cross_val_score(make_pipeline(classifier()), X, y, cv=2).min() > 0.5


# What is fitted


def test_grid_search_over_the_encoder():
    X, y = noisy(60, 3)
    search = GridSearchCV(
        classifier(encoder=BinaryEncoder()), {"encoder__max_thresholds": [1, 2]}, cv=2
    ).fit(X * 1.5, y)
    assert search.best_params_["encoder__max_thresholds"] in (1, 2)
    with pytest.raises(ValueError, match=r"encoder='auto' has no.*encoder=BinaryEncoder\(\)"):
        classifier().set_params(encoder__max_thresholds=2)
    both = classifier().set_params(encoder=BinaryEncoder(), encoder__max_thresholds=2)
    assert both.encoder.max_thresholds == 2


def test_names_that_do_not_fit_the_table():
    model = classifier().fit(pd.DataFrame({"age": [20, 60]}), ["no", "yes"])
    with pytest.raises(ValueError, match="feature_names is not equal to feature_names_in_"):
        model.rules(["Age"])


def test_the_reported_posterior_is_that_of_the_tree():
    for n_classes in (2, 3, 4):
        X, y = noisy(n_classes=n_classes)
        for prior in ({}, {"alpha": 0.5, "beta": 2.0}, {"rho": 0.3}):
            model = classifier(**prior).fit(X, y)
            score = log_posterior(model.tree_, X, y, **prior)
            assert model.certificate_.log_posterior == pytest.approx(score, abs=1e-6)


def test_numbers_are_searched_as_their_tests():
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.normal(size=80), rng.integers(0, 5, 80), rng.integers(0, 2, 80)])
    y = (X[:, 0] > 0.3) ^ (X[:, 2] == 1)
    model = classifier(split_prior="tests").fit(X, y)
    answers = BinaryEncoder().fit_transform(X, y)
    np.testing.assert_array_equal(model.encoder_.transform(X), answers)
    same = classifier(encoder=None).fit(answers, y)
    assert same.tree_ == model.tree_
    assert same.certificate_.log_posterior == model.certificate_.log_posterior
    np.testing.assert_array_equal(same.apply(answers), model.apply(X))
    coarse = classifier(encoder=BinaryEncoder(max_thresholds=2)).fit(X, y)
    assert len(coarse.encoder_.test_columns_) == 2 + 2 + 1


def test_xor_is_found_and_proved():
    X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], 10, axis=0)
    y = X[:, 0] ^ X[:, 1]
    model = MAPTreeClassifier(time_limit=None).fit(X, y)
    certificate = model.certificate_
    assert isinstance(certificate, Certificate)
    assert certificate.status == "optimal"
    assert certificate.optimal
    assert certificate.proved_depth == math.inf
    assert certificate.gap == 0
    assert certificate.log_posterior == certificate.log_posterior_bound
    assert -certificate.log_posterior == pytest.approx(15.79, abs=0.005)
    assert model.tree_.n_leaves == 4
    assert model.score(X, y) == 1
    assert str(certificate).startswith("Proved: no tree over these 2 tests is more probable")


def test_leaves_of_identical_rows_may_be_mixed():
    X = np.array([[0, 0], [0, 0], [1, 0], [1, 0], [1, 1], [1, 1]])
    model = MAPTreeClassifier(rho=10, time_limit=None).fit(X, [1, 1, 1, 0, 0, 0])
    assert -model.certificate_.log_posterior == pytest.approx(5.26, abs=0.005)
    assert model.certificate_.optimal


def test_the_tree_counts_the_training_rows():
    X, y = noisy(n_classes=3)
    model = classifier().fit(X, y)
    paths = model.decision_path(X).toarray()
    counts = np.array(
        [[paths[y == k, node].sum() for k in range(3)] for node in range(len(paths.T))]
    )
    np.testing.assert_array_equal(model.tree_.counts, counts)
    assert model.tree_.counts.sum(axis=1)[0] == len(y)


def test_trace():
    X, y = noisy()
    trace = classifier().fit(X, y).trace_
    assert trace.dtype.names == ("seconds", "expansions", "log_posterior", "log_posterior_bound")
    assert len(trace) > 0
    for name in ("seconds", "expansions", "log_posterior"):
        assert (np.diff(trace[name]) >= 0).all()
    assert (np.diff(trace["log_posterior_bound"]) <= 0).all()
    assert (trace["log_posterior"] <= trace["log_posterior_bound"]).all()


def test_a_fit_that_stopped_early_says_so():
    X, y = np.random.default_rng(0).integers(0, 2, (2, 300, 40))
    model = MAPTreeClassifier(time_limit=None, max_expansions=20).fit(X, y[:, 0])
    certificate = model.certificate_
    assert certificate.status == "expansion_limit"
    assert not certificate.optimal
    assert certificate.expansions <= 20
    assert certificate.gap > 0
    assert certificate.gap == pytest.approx(
        certificate.log_posterior_bound - certificate.log_posterior
    )
    assert certificate.proved_depth >= 0
    assert certificate.peak_bytes > X.size / 8
    assert "the limit on expansions" in str(certificate)


# Predictions


def test_probabilities_are_posterior_means():
    X, y = noisy(n_classes=3)
    rho = np.array([0.5, 1.0, 4.0])
    model = classifier(rho=rho).fit(X, y)
    leaves = model.apply(X)
    probabilities = model.predict_proba(X)
    for leaf in np.unique(leaves):
        c = np.bincount(y[leaves == leaf], minlength=3)
        expected = (c + rho) / (c.sum() + rho.sum())
        np.testing.assert_allclose(probabilities[leaves == leaf], [expected] * c.sum())
    np.testing.assert_array_equal(model.predict(X), probabilities.argmax(axis=1))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), probabilities)


def test_intervals_are_those_of_the_dirichlet_marginals():
    X, y = noisy(n_classes=3)
    model = classifier(rho=[1.0, 2.0, 3.0]).fit(X, y)
    intervals = model.predict_interval(X, level=0.9)
    assert intervals.shape == (len(X), 3, 2)
    weights = model.tree_.counts[model.apply(X)] + np.array([1.0, 2.0, 3.0])
    rest = weights.sum(axis=1, keepdims=True) - weights
    low, high = beta_distribution(weights, rest).interval(0.9)
    np.testing.assert_allclose(intervals[..., 0], low)
    np.testing.assert_allclose(intervals[..., 1], high)
    wider = model.predict_interval(X)
    assert (wider[..., 0] < intervals[..., 0]).all()
    assert (wider[..., 1] > intervals[..., 1]).all()


def test_paths_lead_to_leaves():
    X, y = noisy()
    model = classifier().fit(X, y)
    tree, leaves, paths = model.tree_, model.apply(X), model.decision_path(X)
    assert isspmatrix_csr(paths)
    assert paths.shape == (len(X), tree.node_count)
    assert (tree.feature[leaves] == -1).all()
    for row, leaf in enumerate(leaves):
        node, visited = 0, [0]
        while tree.feature[node] >= 0:
            node = (tree.right if X[row, tree.feature[node]] else tree.left)[node]
            visited.append(node)
        assert node == leaf
        assert paths[row].indices.tolist() == visited


def test_importances_are_what_collapsing_a_node_would_lose():
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.normal(size=150), rng.normal(size=150), rng.integers(0, 2, 150)])
    y = ((X[:, 0] > 0) ^ (X[:, 2] == 1)).astype(int)
    y[:10] = 1 - y[:10]
    model = classifier().fit(X, y)
    answers, tree = model.encoder_.transform(X), model.tree_
    weights = model.test_weights_
    whole = log_posterior(tree, answers, y, test_weights=weights)
    expected = np.zeros(3)
    for node in np.flatnonzero(tree.feature >= 0):
        lost = whole - log_posterior(collapse(tree, node), answers, y, test_weights=weights)
        assert lost > 0
        expected[model.encoder_.test_columns_[tree.feature[node]]] += lost
    assert tree.n_leaves >= 4
    np.testing.assert_allclose(model.feature_importances_, expected / expected.sum(), atol=1e-9)


def collapse(tree, node):
    """The tree with a node made a leaf."""
    dropped = set()
    for later in range(tree.node_count):
        if later == node or later in dropped:
            dropped |= {int(tree.left[later]), int(tree.right[later])}
    kept = [n for n in range(tree.node_count) if n not in dropped]
    number = {n: i for i, n in enumerate(kept)} | {-1: -1}
    inner = [n != node and tree.feature[n] >= 0 for n in kept]
    return Tree(
        np.where(inner, tree.feature[kept], -1),
        [number[int(tree.left[n])] if i else -1 for n, i in zip(kept, inner, strict=True)],
        [number[int(tree.right[n])] if i else -1 for n, i in zip(kept, inner, strict=True)],
        tree.counts[kept],
    )


# Constraints


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_max_depth(depth):
    X, y = noisy(n_classes=4)
    model = classifier(max_depth=depth).fit(X, y)
    assert model.tree_.depth == depth
    score = log_posterior(model.tree_, X, y)
    assert model.certificate_.log_posterior == pytest.approx(score, abs=1e-6)


@pytest.mark.parametrize("least", [10, 25, 1000])
def test_min_samples_leaf(least):
    X, y = noisy(n_classes=4)
    tree = classifier(min_samples_leaf=least).fit(X, y).tree_
    assert tree.n_leaves == 1 or tree.counts.sum(axis=1).min() >= least
    assert (tree.n_leaves == 1) == (least == 1000)


def test_min_samples_leaf_counts_weights():
    X, y = [[0], [1]], [0, 1]
    weights = [30, 30]
    tree = classifier(min_samples_leaf=30).fit(X, y, sample_weight=weights).tree_
    assert tree.n_leaves == 2
    tree = classifier(min_samples_leaf=31).fit(X, y, sample_weight=weights).tree_
    assert tree.n_leaves == 1


# Rows, weights, order


def test_weights_are_repetitions():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 4)).round(1), rng.integers(0, 3, 60)
    weights = rng.integers(0, 4, 60)
    weighted = classifier().fit(X, y, sample_weight=weights.astype(float))
    repeated = classifier().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert weighted.tree_ == repeated.tree_
    assert weighted.rules() == repeated.rules()
    assert weighted.certificate_.log_posterior == repeated.certificate_.log_posterior
    assert weighted.certificate_.expansions == repeated.certificate_.expansions


def test_a_class_without_weight_is_no_class():
    X, y = noisy(n_classes=4)
    weights = np.where(y == 1, 0, 2)
    weighted = classifier().fit(X, y, sample_weight=weights)
    kept = classifier().fit(np.repeat(X[y != 1], 2, axis=0), np.repeat(y[y != 1], 2))
    assert weighted.classes_.tolist() == [0, 2, 3]
    assert weighted.rho_.tolist() == [5 / 3] * 3
    assert weighted.tree_ == kept.tree_


def test_the_order_of_rows_does_not_matter():
    rng = np.random.default_rng(2)
    X, y = noisy(n_classes=3)
    order = rng.permutation(len(y))
    assert classifier().fit(X, y).tree_ == classifier().fit(X[order], y[order]).tree_


def test_fits_repeat():
    X, y = noisy(n_classes=3, n_columns=20)
    one, other = (classifier(random_state=seed, n_jobs=1).fit(X, y) for seed in (0, 1))
    assert one.tree_ == other.tree_
    names = ["expansions", "log_posterior", "log_posterior_bound"]
    np.testing.assert_array_equal(one.trace_[names][-1], other.trace_[names][-1])
