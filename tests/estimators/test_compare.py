"""What a wish costs: two trees on one scale, or the statement why they are not."""

from __future__ import annotations

import copy
import math

import numpy as np
import pandas as pd
import pytest

import maptree
from maptree import BinaryEncoder, MAPTreeClassifier, compare, load_model, log_posterior
from maptree.parameters.budget import Constraints
from maptree.trees.one_scale import is_stricter, obstacle
from maptree.trees.training import HeldOutScores
from maptree.words.nats import MILLION
from samples import branching, sampler


def fit(X, y, **parameters):
    return MAPTreeClassifier(**{"time_limit": None} | parameters).fit(X, y)


def table(n=120, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {name: rng.normal(size=n).round(1) for name in ("age", "size", "postcode")}
    )
    y = np.where((frame["age"] > 0) ^ (rng.random(n) < 0.1), "yes", "no")
    frame["postcode"] += 0.5 * (y == "yes")
    return frame, y


@pytest.fixture(scope="module")
def fits():
    X, y = branching()
    return X, y, fit(X, y)


# Constraints: certificates are on one scale


def test_a_wish_costs_the_difference_of_the_best_trees(fits):
    X, y, model = fits
    root = int(model.tree_.feature[0])
    other = fit(X, y, without_columns=root)
    found = compare(model, other)
    cost = model.certificate_.log_posterior - other.certificate_.log_posterior
    assert found.cost == cost > 0
    assert found.cost_bounds == (cost, cost)
    assert found.proof == "Proved: the best trees of both kinds differ by exactly this."
    assert f"x{root}" in found.model.only
    assert found.scale == "the same rows, tests and prior"
    assert found.summary.startswith(f"Without a test of x{root}: ")
    assert f"{math.exp(cost):,.0f} times less probable" in found.summary or cost > math.log(1e6)
    other_root = (root + 1) % X.shape[1]
    first = compare(model, fit(X, y, first_columns=other_root))
    assert first.summary.startswith(f"A tree whose first test is of x{other_root}: ")
    assert compare(model, fit(X, y, max_leaf_nodes=2)).summary.startswith("A tree of at most 2 ")
    back = compare(other, model)
    assert back.cost == -cost
    assert back.wishes == (f"not limited to trees without a test of x{root}",)
    assert "times more probable" in back.summary


@pytest.mark.parametrize("parameters", [{"max_depth": 1}, {"min_samples_leaf": 30}])
def test_other_constraints_are_wishes_too(fits, parameters):
    X, y, model = fits
    found = compare(model, fit(X, y, **parameters))
    assert found.cost >= 0
    assert found.cost_bounds == (found.cost, found.cost)


def test_the_bounds_hold_the_cost_of_the_wish_at_every_stop(fits):
    """Whatever was proved before both searches were stopped."""
    X, y, model = fits
    wish = {"first_columns": [(int(model.tree_.feature[0]) + 1) % X.shape[1]]}
    exact = compare(model, fit(X, y, **wish)).cost
    for mine in (1, 3, 10, 40):
        for theirs in (1, 3, 10, 40):
            first, second = fit(X, y, max_expansions=mine), fit(X, y, max_expansions=theirs, **wish)
            found = compare(first, second)
            low, high = found.cost_bounds
            assert max(0.0, low) == low <= exact + 1e-9
            assert high >= exact - 1e-9
            assert found.cost <= high + 1e-9
            if high - low > 1e-6 and high < MILLION:
                assert f"at most {high:,.1f} nats less probable" in found.proof
            # The other way round, with the same numbers.
            assert compare(second, first).cost_bounds == pytest.approx((-high, -low))


def test_two_searches_of_the_same_trees(fits):
    X, y, model = fits
    stopped = fit(X, y, max_expansions=1)
    found = compare(stopped, model)
    assert found.cost_bounds is None
    assert found.cost <= 0
    assert found.wishes == ()
    if found.cost < -1e-6:
        assert any("was stopped before it found it" in note for note in found.notes)
    said = any(note.startswith("Proved: no tree that the first search") for note in found.notes)
    assert said == (stopped.certificate_.log_posterior_bound - found.other.log_posterior < MILLION)
    same = compare(model, fit(X, y))
    assert same.same_tree
    assert same.summary == "The second tree: the same tree."


@pytest.mark.parametrize(
    ("mine", "theirs", "stricter"),
    [
        ({}, {}, True),
        ({}, {"max_depth": 2, "without_columns": (1,)}, True),
        ({"max_depth": 2}, {"max_depth": 3}, False),
        ({"max_depth": 2}, {"max_depth": 1}, True),
        ({"min_samples_leaf": 5}, {"min_samples_leaf": 4}, False),
        ({"first_columns": (0, 1)}, {"first_columns": (1,)}, True),
        ({"first_columns": (1,)}, {"first_columns": (0, 1)}, False),
        ({"first_columns": (1,)}, {}, False),
        ({"without_columns": (1,)}, {"without_columns": (1, 2)}, True),
        ({"without_columns": (1, 2)}, {"without_columns": (1,)}, False),
    ],
)
def test_which_constraints_are_stricter(mine, theirs, stricter):
    assert is_stricter(Constraints(**mine), Constraints(**theirs)) == stricter


# Other priors: only with the training rows


@pytest.mark.parametrize("parameters", [{"column_weights": {"postcode": 0}}, {"alpha": 0.6}])
def test_another_prior_needs_the_training_rows(parameters):
    X, y = table()
    model, other = fit(X, y), fit(X, y, **parameters)
    for without_rows in (copy.deepcopy(model), model.fitted_):
        found = compare(without_rows, other)
        assert (found.cost, found.cost_bounds) == (None, None)
        assert found.obstacle.startswith("they have different ")
        assert "training rows of the first: pass these rows" in str(found)
        assert compare(without_rows, other, X[:-1], y[:-1]).cost is None
    found = compare(copy.deepcopy(model), other, X, y)
    assert found.scale.startswith("both trees under the prior and over the tests of the first")
    assert found.model.log_posterior == pytest.approx(model.certificate_.log_posterior, abs=1e-6)
    assert found.cost == found.model.log_posterior - found.other.log_posterior >= -1e-6
    assert found.cost_bounds is None
    assert found.scored_on == "training"
    # A classifier that still has its table needs no other; scores are of the rows that are given.
    assert compare(model, other).cost == found.cost
    scored = compare(model, other, X[:-1], y[:-1])
    assert (scored.cost, scored.notes[0]) == (found.cost, "Scored on 119 rows.")


def test_trees_are_scored_as_log_posterior_does():
    """Without postcode the tests have other numbers: it was the first column."""
    X, y = table()
    X = X[["postcode", "size", "age"]]
    model, other = fit(X, y), fit(X, y, column_weights={"postcode": 0})
    names = model.encoder_.get_feature_names_out().tolist()
    of_other, tree = other.encoder_.get_feature_names_out(), other.tree_
    feature = [names.index(of_other[test]) if test >= 0 else -1 for test in tree.feature]
    renumbered = maptree.Tree(feature, tree.left, tree.right, tree.counts)
    answers, weights = model.encoder_.transform(X), model.test_weights_
    expected = log_posterior(renumbered, answers, y, test_weights=weights)
    assert compare(model, other, X, y).other.log_posterior == pytest.approx(expected, abs=1e-9)


def test_columns_of_another_table_are_told():
    X, y = table()
    model, other = fit(X, y), fit(X.drop(columns="postcode"), y)
    found = compare(model.fitted_, other)
    assert found.wishes == ("without the column postcode",)
    assert found.obstacle.startswith("they have different tests")
    assert compare(model, other).cost >= -1e-6  # on the training rows


def test_a_tree_with_other_tests_cannot_be_scored():
    X, y = table()
    model = fit(X, y, encoder=BinaryEncoder(2), max_depth=2)
    other = fit(X, y, encoder=BinaryEncoder(30), max_depth=2, rho=0.1)
    found = compare(model, other, X, y)
    assert found.cost is None
    assert found.obstacle == (
        "they have different tests, and the second tree has a test that is not among those of the "
        "first"
    )


def test_a_sampler_has_no_certificate(fits):
    X, y, model = fits
    chains = sampler(maptree.MCMCTreeClassifier).fit(X, y)
    assert compare(model.fitted_, chains).obstacle.startswith("one was drawn by a sampler")
    found = compare(model, chains)
    assert found.cost >= -1e-6
    assert found.notes[0] == (
        "The second model predicts by an average over trees: compared is its best tree."
    )


def test_what_stands_in_the_way(fits, tmp_path):
    X, y, model = fits
    assert obstacle(model.fitted_, fit(X[:-1], y[:-1]).fitted_) == (
        "they were fitted to different rows"
    )
    assert obstacle(model.fitted_, fit(X, y[::-1]).fitted_) == "they were fitted to different rows"
    unseen = model.fitted_.with_training(seen=None)
    assert obstacle(unseen, model.fitted_).startswith("it is not known whether")
    assert obstacle(model.fitted_, fit(X[:, :-1], y).fitted_) == "they have different tests"
    # Odds count, not weights.
    twice = fit(X, y, column_weights=dict.fromkeys(range(X.shape[1]), 2))
    assert obstacle(model.fitted_, twice.fitted_) == ""


def test_files_with_few_of_all_thresholds_are_on_one_scale(tmp_path):
    X, y = table()
    every = BinaryEncoder(max_thresholds=None)
    model = fit(X, y, encoder=every, max_depth=2)
    other = fit(X, y, encoder=every, max_depth=2, without_columns="postcode")
    for name, each in (("a", model), ("b", other)):
        each.save(tmp_path / name)
    found = compare(load_model(tmp_path / "a"), load_model(tmp_path / "b"))
    assert found.cost == model.certificate_.log_posterior - other.certificate_.log_posterior
    assert found.cost_bounds == (found.cost, found.cost)


def test_other_classes_are_refused(fits):
    X, y, model = fits
    other = fit(X, np.where(y == y[0], "a", "b"))
    with pytest.raises(ValueError, match=r"predict different classes, .* fitted to one target"):
        compare(model, other)


def test_what_else_is_refused(fits):
    X, _, model = fits
    with pytest.raises(ValueError, match="X and y must be passed together"):
        compare(model, model, X)
    with pytest.raises(TypeError, match="has no fitted tree"):
        compare(model, "model.json")


# Scores


def test_scores_of_both_on_the_same_rows(fits):
    X, y, _ = fits
    X = np.column_stack([X, np.random.default_rng(0).normal(size=len(X))])  # no two rows are equal
    first, second = fit(X[:60], y[:60]), fit(X[:60], y[:60], max_depth=1)
    found = compare(first, second, X[60:], y[60:])
    assert found.scored_on == "held-out"
    losses = []
    for model in (first, second):
        probabilities = model.predict_proba(X[60:])
        codes = np.searchsorted(model.classes_, y[60:])
        losses.append(-np.log(probabilities[np.arange(len(codes)), codes]))
    assert found.model.log_loss == pytest.approx(losses[0].mean())
    assert found.other.log_loss == pytest.approx(losses[1].mean())
    difference = losses[1] - losses[0]
    assert found.log_loss.mean == pytest.approx(difference.mean())
    error = difference.std(ddof=1) / math.sqrt(len(difference))
    assert found.log_loss.standard_error == pytest.approx(error)
    assert found.accuracy.mean == pytest.approx(
        second.score(X[60:], y[60:]) - first.score(X[60:], y[60:])
    )
    assert f"log loss {found.other.log_loss:.3f} instead of {found.model.log_loss:.3f}" in str(
        found
    )
    assert "standard error" in str(found)


def test_scores_that_files_hold(fits):
    X, y, model = fits
    other = fit(X, y, max_depth=1)
    kept = [
        HeldOutScores("5-fold cross-validation, seed 0", 60, 0.9, 0.2965, 0.1),
        HeldOutScores("5-fold cross-validation, seed 0", 60, 0.8, 0.3023, 0.1),
        HeldOutScores("10-fold cross-validation, seed 0", 60, 0.8, 0.3, 0.1),
    ]
    first = model.fitted_.with_training(held_out=kept[0])
    found = compare(first, other.fitted_.with_training(held_out=kept[1]))
    assert "held-out log loss 0.302 instead of 0.296" in found.summary
    assert found.log_loss.standard_error is None
    assert found.notes[-1] == "Scored by 5-fold cross-validation, seed 0: 60 rows."
    found = compare(first, other.fitted_.with_training(held_out=kept[2]))
    assert found.log_loss is None
    assert found.notes[-1].startswith("The models were scored in different ways: 5-fold")
    assert compare(first, other).log_loss is None


def test_a_notebook_shows_a_table(fits):
    X, y, _ = fits
    frame = pd.DataFrame(X, columns=[f"<{j}>" for j in range(X.shape[1])])
    shown = compare(fit(frame, y), fit(frame, y, max_depth=1))._repr_html_()
    assert "<table " in shown
    assert "&lt;" in shown
    assert "<0>" not in shown


def test_a_certificate_under_another_prior_says_so():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 6)
    model = MAPTreeClassifier().fit(X, X[:, 0])
    same = compare(model, MAPTreeClassifier(without_columns=0).fit(X, X[:, 0]))
    assert same.other.proved == "Proved: no tree without a test of x0 is more probable"
    tilted = compare(model, MAPTreeClassifier(column_weights={0: 0}).fit(X, X[:, 0]))
    assert tilted.other.proved.endswith("(by its own prior, over its own tests)")
    assert tilted.model.proved == "Proved: no tree is more probable"
