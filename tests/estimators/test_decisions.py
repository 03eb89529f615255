"""The class of least expected cost, and the size of a tree by scikit-learn's names."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from maptree import MAPTreeClassifier, MCMCTreeClassifier, SMCTreeClassifier

MODELS = [
    MAPTreeClassifier(max_expansions=50, time_limit=None),
    MCMCTreeClassifier(n_samples=20, burn_in=20, random_state=0),
    SMCTreeClassifier(n_particles=20, random_state=0),
]


def table(n_classes=3):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (90, 4))
    y = np.array(
        [f"class {k}" for k in (X[:, 0] + 2 * X[:, 1] + rng.integers(0, 2, 90)) % n_classes]
    )
    return X, y


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_the_least_expected_cost_decides(model):
    X, y = table()
    model.fit(X, y)
    costs = np.array([[0, 1, 9], [4, 0, 2], [1, 1, 0.5]])
    expected = []
    for probabilities in model.predict_proba(X):
        of_class = [sum(p * costs[i, j] for i, p in enumerate(probabilities)) for j in range(3)]
        expected.append(model.classes_[of_class.index(min(of_class))])
    assert model.predict(X, costs=costs).tolist() == expected
    # One unit for every error is the most probable class.
    assert model.predict(X, costs=1 - np.eye(3)).tolist() == model.predict(X).tolist()
    # A class that costs nothing is always right; of two, the first.
    assert set(model.predict(X, costs=[[1, 0, 0]] * 3)) == {"class 1"}


@pytest.mark.parametrize(
    ("costs", "error", "message"),
    [
        ([[0, 1], [1, 0]], ValueError, "is 2 x 2: pass 3 rows, one per true class"),
        ([0, 1, 2], ValueError, "is 3: pass 3 rows"),
        (5, ValueError, "is a single number: pass 3 rows"),
        ([[0, 1, np.nan]] * 3, ValueError, "has an entry that is not finite"),
        ([["a"] * 3] * 3, TypeError, "is not a matrix of numbers"),
        ([[0, 1], [1]], TypeError, "is not a matrix of numbers"),
    ],
)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_other_costs_are_refused(model, costs, error, message):
    X, y = table()
    with pytest.raises(error, match=message):
        model.fit(X, y).predict(X, costs=costs)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_the_size_of_the_tree(model):
    with pytest.raises(NotFittedError):
        type(model)().get_depth()
    with pytest.raises(NotFittedError):
        type(model)().get_n_leaves()
    X, y = table()
    model.fit(X, y)
    tree = model.tree_
    assert model.get_n_leaves() == np.count_nonzero(tree.feature < 0)
    assert model.get_depth() == max(tree.depths)
