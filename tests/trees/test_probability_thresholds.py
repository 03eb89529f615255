"""Counts, costs and ROC AUC of scored rows, compared with scikit-learn's metrics."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.metrics import (
    confusion_matrix,
    precision_recall_fscore_support,
    roc_auc_score,
)

from maptree.parameters.costs import cheapest
from maptree.trees.decisions import (
    Scored,
    Thresholds,
    at_thresholds,
    by_class,
    macro_roc_auc,
    roc_auc,
    total_costs,
)
from problems import seeds


def problem(seed, n_classes=2):
    """Leaves with probabilities, many alike, and rows with labels and fractional weights."""
    rng = np.random.default_rng(seed)
    n_leaves, n_rows = rng.integers(1, 9), rng.integers(2, 200)
    nodes = rng.integers(1, 6, (n_leaves, n_classes)).astype(float)
    nodes /= nodes.sum(axis=1, keepdims=True)
    leaves = rng.integers(0, n_leaves, n_rows)
    labels = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n_rows)])
    leaves = np.concatenate([rng.integers(0, n_leaves, n_classes), leaves])
    weights = rng.choice([0.0, 0.5, 1.0, 2.25], len(labels))
    weights[:n_classes] = 1.0  # every class has rows that count
    return nodes, labels, leaves, weights


@seeds(20)
@pytest.mark.parametrize("weighted", [False, True])
def test_areas_are_those_of_scikit_learn(seed, weighted):
    nodes, labels, leaves, weights = problem(seed)
    given = weights if weighted else None
    scored = Scored.of(nodes, labels, leaves, given)
    expected = roc_auc_score(labels, nodes[leaves, 1], sample_weight=given)
    assert roc_auc(scored, 1) == pytest.approx(expected, abs=1e-12)
    assert roc_auc(scored, 0) == pytest.approx(expected, abs=1e-12)
    assert macro_roc_auc(scored) == roc_auc(scored, 1)


@seeds(20)
def test_the_area_of_several_classes_is_the_mean_of_one_against_all_others(seed):
    nodes, labels, leaves, weights = problem(seed, n_classes=4)
    scored = Scored.of(nodes, labels, leaves, weights)
    expected = roc_auc_score(labels, nodes[leaves], multi_class="ovr", sample_weight=weights)
    assert macro_roc_auc(scored) == pytest.approx(expected, abs=1e-12)


def test_a_class_without_rows_is_left_out_of_the_mean():
    nodes = np.array([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]])
    scored = Scored.of(nodes, np.array([0, 1, 1, 0]), np.array([0, 1, 2, 2]))
    areas = [roc_auc(scored, k) for k in range(3)]
    assert areas[2] is None
    assert macro_roc_auc(scored) == pytest.approx((areas[0] + areas[1]) / 2)


@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_rows_of_one_class_have_no_area(n_classes):
    nodes = np.full((2, n_classes), 1 / n_classes)
    scored = Scored.of(nodes, np.zeros(3, int), np.array([0, 1, 1]))
    assert macro_roc_auc(scored) is None
    found = by_class(scored, ["a", "b", "c"][:n_classes])
    assert found[0].recall == 1.0
    assert all(k.recall is None and k.precision is None for k in found[1:])


@seeds(20)
def test_counts_at_every_threshold_are_those_of_scikit_learn(seed):
    nodes, labels, leaves, weights = problem(seed)
    scored = Scored.of(nodes, labels, leaves, weights)
    for k in (0, 1):
        table = at_thresholds(scored, k)
        p = nodes[leaves, k]
        counted = np.unique(p[weights > 0])
        assert len(table.rows) == len(counted) + 1, "one for every decision"
        assert [at.threshold for at in table.rows] == sorted(at.threshold for at in table.rows)
        for at in table.rows:
            expected = confusion_matrix(labels == k, p >= at.threshold, sample_weight=weights)
            (tn, fp), (fn, tp) = expected
            found = (
                at.true_negatives,
                at.false_positives,
                at.false_negatives,
                at.true_positives,
            )
            assert found == pytest.approx((tn, fp, fn, tp))
            assert at.recall == pytest.approx(tp / (tp + fn))
            assert (at.precision is None) == (tp + fp == 0)
        first, last = table.rows[0], table.rows[-1]
        assert first.threshold == 0
        assert first.true_negatives == first.false_negatives == 0
        assert last.true_positives == last.false_positives == 0


@seeds(10)
def test_precision_and_recall_are_those_of_scikit_learn(seed):
    nodes, labels, leaves, weights = problem(seed, n_classes=3)
    scored = Scored.of(nodes, labels, leaves, weights)
    predicted = nodes.argmax(axis=1)[leaves]
    precision, recall, _, _ = precision_recall_fscore_support(
        labels, predicted, labels=[0, 1, 2], sample_weight=weights, zero_division=np.nan
    )
    for k, found in enumerate(by_class(scored, ["a", "b", "c"])):
        expected = None if math.isnan(precision[k]) else pytest.approx(precision[k])
        assert found.precision == expected
        assert found.recall == pytest.approx(recall[k])


@seeds(20)
def test_costs_at_thresholds(seed):
    nodes, labels, leaves, weights = problem(seed)
    rng = np.random.default_rng(seed)
    costs = rng.integers(0, 9, (2, 2)) / 2 + [[0, 5], [5, 0]]
    scored = Scored.of(nodes, labels, leaves, weights)

    def cost(predicted):
        return float((costs[labels, predicted] * weights).sum())

    for k in (0, 1):
        table = at_thresholds(scored, k, costs)
        for at in table.rows:
            predicted = np.where(nodes[leaves, k] >= at.threshold, k, 1 - k)
            assert at.cost == pytest.approx(cost(predicted))
        assert table.rows[table.best].cost == min(at.cost for at in table.rows)
        # The marks decide like predict and predict with costs.
        assert table.rows[table.most_probable].cost == pytest.approx(
            cost(nodes.argmax(axis=1)[leaves])
        )
        chosen = cheapest(nodes, costs)[leaves]
        assert table.rows[table.least_expected].cost == pytest.approx(cost(chosen))
    total = total_costs(scored, costs, np.array([0.25, 0.75]), ["a", "b"])
    assert total.least_expected == pytest.approx(cost(chosen))
    assert total.most_probable == pytest.approx(cost(nodes.argmax(axis=1)[leaves]))
    always = int(np.argmin([0.25, 0.75] @ costs))
    assert total.constant_label == "ab"[always]
    assert total.constant == pytest.approx(cost(np.full(len(labels), always)))
    expected = ((nodes @ costs).min(axis=1)[leaves] * weights).sum()
    assert total.expected == pytest.approx(expected)


def test_a_probability_of_exactly_a_half_is_not_predicted_as_the_second_class():
    """Ties go to the first class, in ``predict`` and at the threshold that is marked."""
    nodes = np.array([[0.5, 0.5], [0.9, 0.1], [0.2, 0.8]])
    scored = Scored.of(nodes, np.array([0, 1, 1]), np.array([0, 1, 2]))
    table = at_thresholds(scored, 1, 1 - np.eye(2))
    assert [at.threshold for at in table.rows] == [0.0, 0.5, 0.7, 1.0]
    assert table.most_probable == table.least_expected == 2
    assert at_thresholds(scored, 0).rows[at_thresholds(scored, 0).most_probable].threshold == 0.5


def test_where_errors_are_cheaper_than_right_predictions_no_threshold_decides():
    nodes = np.array([[0.9, 0.1], [0.2, 0.8]])
    scored = Scored.of(nodes, np.array([0, 1]))
    table = at_thresholds(scored, 1, np.eye(2))
    assert table.least_expected is None
    assert table.rows[table.best].cost == 1


def test_thresholds_that_are_asked_for():
    nodes = np.array([[0.9, 0.1], [0.2, 0.8]])
    scored = Scored.of(nodes, np.array([0, 1, 1]), np.array([0, 0, 1]))
    table = at_thresholds(scored, 1, wanted=np.array([0.1, 0.100001, 0.8, 1.0]))
    assert [at.threshold for at in table.rows] == [0.1, 0.100001, 0.8, 1.0]
    assert [at.true_positives for at in table.rows] == [2, 1, 1, 0]
    assert table.most_probable == 1, "the first that decides like predict"
    assert at_thresholds(scored, 1, wanted=np.array([0.0])).most_probable is None


def test_thresholds_have_few_digits_and_divide_neighbouring_probabilities():
    p = np.array([0.1, np.nextafter(0.1, 1), 0.123456, 0.1236, 0.7, 1.0])
    scored = Scored.of(np.column_stack([1 - p, p]), np.array([0, 1, 0, 1, 0, 1]))
    given = [at.threshold for at in at_thresholds(scored, 1).rows]
    assert given == [0.0, p[1], 0.11, 0.1235, 0.5, 0.8, math.inf]
    assert [(p >= t).sum() for t in given] == [6, 5, 4, 3, 2, 1, 0]


def test_few_of_many_thresholds_keep_the_marked_ones():
    p = np.linspace(0.01, 0.99, 200)
    rng = np.random.default_rng(0)
    scored = Scored.of(np.column_stack([1 - p, p]), (rng.random(200) < p).astype(int))
    table = at_thresholds(scored, 1, np.array([[0.0, 1.0], [7.0, 0.0]]))
    shown = table.few(12)
    assert 10 <= len(shown) <= 12, "some may be marked anyway"
    assert max(np.diff(shown)) < 30, "evenly spread"
    assert {0, 200, table.most_probable, table.least_expected, table.best} <= set(shown)
    assert Thresholds(table.rows[:3]).few(12) == [0, 1, 2]


def test_of_thousands_of_thresholds_many_are_kept_and_all_that_are_marked():
    rng = np.random.default_rng(0)
    p = rng.random(5000)
    labels = (rng.random(5000) < p).astype(int)
    costs = np.array([[0.0, 1.0], [7.0, 0.0]])
    scored = Scored.of(np.column_stack([1 - p, p]), labels)
    table = at_thresholds(scored, 1, costs)
    assert 1000 <= len(table.rows) <= 1003
    for at in table.rows:
        assert at.true_positives == ((p >= at.threshold) & (labels == 1)).sum()
    total = [costs[labels, (p >= t).astype(int)].sum() for t in np.append(p, 1.0)]
    assert table.rows[table.best].cost == min(total)
    assert table.rows[table.least_expected].true_positives == ((p >= 0.125) & (labels == 1)).sum()


def test_weights_that_floats_cannot_hold_leave_nothing_behind():
    p = np.repeat([0.1, 0.4, 0.8], 7)
    weights = np.full(21, 0.1)
    table = at_thresholds(Scored.of(np.column_stack([1 - p, p]), p > 0.5, weights=weights), 1)
    assert table.rows[3].precision is None
    assert [at.false_negatives for at in table.rows[:3]] == [0, 0, 0]
    assert [at.false_positives for at in table.rows[2:]] == [0, 0]


def test_rows_of_unknown_classes_and_of_weight_0_do_not_count():
    nodes = np.array([[0.9, 0.1], [0.2, 0.8]])
    some = Scored.of(nodes, np.array([0, -1, 1, 1]), np.array([0, 0, 1, 0]), np.array([1, 1, 1, 0]))
    assert len(some.labels) == 2
    assert macro_roc_auc(some) == 1.0
