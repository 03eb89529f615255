"""Folds and scores of the experiments."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest
from scipy.special import betaln

from experiments import data as module
from experiments.data import Split, available, load
from experiments.scores import score
from maptree import Tree, log_posterior
from maptree.datasets import DatasetNotFoundError, load_tic_tac_toe

PRIOR = {"alpha": 0.95, "beta": 0.5, "rho": 2.5}
STUMP = Tree([1, -1, -1], [1, -1, -1], [2, -1, -1], [[4, 4], [3, 1], [1, 3]])


def fold(number):
    return load({"kind": "cp4im", "name": "tic-tac-toe", "fold": number})


def test_the_folds_part_the_rows_and_keep_the_classes_in_proportion():
    boards = load_tic_tac_toe()
    held = [fold(number) for number in range(10)]
    tested = np.concatenate([split.X_test for split in held])
    assert sorted(map(bytes, tested)) == sorted(map(bytes, boards.data))
    for split in held:
        assert len(split.y_train) + len(split.y_test) == 958
        assert not set(map(bytes, split.X_test)) & set(map(bytes, split.X_train))
        assert abs(split.y_test.mean() - boards.target.mean()) < 0.01


def test_the_folds_are_the_same_on_every_machine():
    """Peers run beside another version of scikit-learn, and must get the same rows."""
    digest = hashlib.sha256(fold(0).X_test.tobytes() + fold(9).X_test.tobytes())
    assert digest.hexdigest()[:16] == "facdb70df0f31029"


def test_the_whole_set_has_nothing_to_test_on():
    split = load({"kind": "cp4im", "name": "tic-tac-toe", "fold": None})
    assert len(split.X_train) == 958
    assert split.X_test is split.y_test is None


def test_synthetic_data_are_loaded_by_tree_rows_and_noise():
    split = load({"kind": "synthetic", "tree": 2, "rows": 300, "noise": 0.25})
    assert split.X_train.shape == (300, 40)
    assert split.X_test.shape == (1000, 40)
    with pytest.raises(ValueError, match="no such kind of data"):
        load({"kind": "table"})


def test_without_a_connection_only_one_set_is_asked_for(monkeypatch):
    asked = []

    def offline(name, download):
        if name in ("tic-tac-toe", "vote"):
            return load_tic_tac_toe()
        asked.append((name, download))
        raise DatasetNotFoundError(f"no {name}")

    monkeypatch.setattr(module, "load_cp4im", offline)
    present, absent = available()
    assert present == ["tic-tac-toe", "vote"]
    assert len(absent) == 14
    assert absent["anneal"] == "no anneal"
    assert [name for name, download in asked if download] == ["anneal"]


def stump_split():
    """Training rows as in STUMP's counts; test rows 3 and 1 to the left, 0 and 2 to the right."""
    column = np.array([0] * 4 + [1] * 4)
    X_train = np.column_stack([1 - column, column, [0, 1] * 4]).astype(np.uint8)
    y_train = np.array([0, 0, 0, 1, 1, 1, 1, 0])
    X_test = np.array([[1, 0, 0]] * 4 + [[0, 1, 0]] * 2, dtype=np.uint8)
    return Split(X_train, y_train, X_test, np.array([0, 0, 0, 1, 1, 1]))


def test_scores_by_hand():
    split = stump_split()
    found = score(STUMP, split, PRIOR)
    assert found["nodes"] == 3
    assert found["leaves"] == 2
    assert found["depth"] == 1
    assert found["train_accuracy"] == 6 / 8
    assert found["test_accuracy"] == 5 / 6
    own = (3 * math.log(3 / 4) + math.log(1 / 4) + 2 * math.log(3 / 4)) / 6
    assert found["ll_own"] == pytest.approx(own)
    likely, unlikely = math.log(5.5 / 9), math.log(3.5 / 9)
    assert found["ll_predictive"] == pytest.approx((5 * likely + unlikely) / 6)
    marginal = betaln(5.5, 3.5) + betaln(2.5, 4.5) - 2 * betaln(2.5, 2.5)
    assert found["ll_marginal"] == pytest.approx(marginal / 6)
    expected = log_posterior(STUMP, split.X_train, split.y_train, **PRIOR)
    assert found["log_posterior"] == pytest.approx(expected)


def test_the_prior_of_the_cell_counts():
    split = stump_split()
    other = score(STUMP, split, {"alpha": 0.2, "beta": 8.0, "rho": 1.0})
    expected = log_posterior(STUMP, split.X_train, split.y_train, alpha=0.2, beta=8.0, rho=1.0)
    assert other["log_posterior"] == pytest.approx(expected)
    assert other["ll_predictive"] == pytest.approx((5 * math.log(4 / 6) + math.log(2 / 6)) / 6)
    default = score(STUMP, split, {"alpha": 0.95, "beta": 0.5, "rho": None})
    assert default == pytest.approx(score(STUMP, split, PRIOR))


def test_a_leaf_that_is_sure_and_wrong_is_clipped():
    X = np.array([[0], [0], [1], [1]], dtype=np.uint8)
    y = np.array([0, 0, 1, 1])
    tree = Tree([0, -1, -1], [1, -1, -1], [2, -1, -1], [[2, 2], [2, 0], [0, 2]])
    found = score(tree, Split(X, y, X, 1 - y), PRIOR)
    assert found["test_accuracy"] == 0
    assert found["ll_own"] == pytest.approx(math.log(0.001))
    # The published score does not look at the training labels at all.
    assert found["ll_marginal"] == score(tree, Split(X, y, X, y), PRIOR)["ll_marginal"]
    assert found["ll_predictive"] == pytest.approx(math.log(2.5 / 7))


def test_a_leaf_that_no_training_row_reaches_says_every_class_alike():
    X = np.array([[0, 0], [0, 1]], dtype=np.uint8)
    y = np.array([0, 1])
    tree = Tree([0, -1, -1], [1, -1, -1], [2, -1, -1], [[1, 1], [1, 1], [0, 0]])
    found = score(tree, Split(X, y, 1 - X, y), PRIOR)
    assert found["log_posterior"] is None, "the prior gives such a tree no probability"
    assert found["ll_own"] == found["ll_predictive"] == pytest.approx(math.log(0.5))


def test_without_test_rows_there_are_no_test_scores():
    split = stump_split()
    found = score(STUMP, Split(split.X_train, split.y_train), PRIOR)
    missing = {name for name, value in found.items() if value is None}
    assert missing == {"test_accuracy", "ll_own", "ll_predictive", "ll_marginal"}


def test_the_trees_counts_are_not_trusted():
    lying = Tree(STUMP.feature, STUMP.left, STUMP.right, [[8, 0], [8, 0], [0, 0]])
    split = stump_split()
    assert score(lying, split, PRIOR) == score(STUMP, split, PRIOR)
