"""Problems that several test modules fit."""

import numpy as np

from maptree import MAPTreeClassifier, MAPTreeRegressor, MCMCTreeClassifier


def classifier(**params):
    """A classifier whose result does not depend on the clock."""
    return MAPTreeClassifier(**({"time_limit": None, "max_expansions": 300} | params))


def sampler(kind, **params):
    """A sampler that is quick and repeats."""
    few = {"n_particles": 200}
    if kind is MCMCTreeClassifier:
        few = {"n_samples": 200, "burn_in": 100, "thin": 1, "n_chains": 2}
    return kind(**({"random_state": 0} | few | params))


def noisy(n_rows=120, n_columns=8, n_classes=2, seed=0):
    """A 0/1 table whose labels follow two of its columns, most of the time."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(n_rows, n_columns))
    y = (X[:, 0] + 2 * (X[:, 1] & X[:, 0])) % n_classes
    flip = rng.random(n_rows) < 0.15
    y[flip] = rng.integers(0, n_classes, flip.sum())
    return X, y


def branching(n_rows=150, n_columns=8, seed=0):
    """A 0/1 table whose first column tells which of two others the labels follow, mostly."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(n_rows, n_columns))
    return X, np.where(X[:, 0] == 1, X[:, 1], X[:, 2]) ^ (rng.random(n_rows) < 0.15)


def hard(n_rows=500, n_columns=80, seed=0):
    """Labels that follow nothing: no search ends on this within a test's time."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2, (n_rows, n_columns)), rng.integers(0, 2, n_rows)


def regressor(**params):
    """A regressor whose result does not depend on the clock."""
    return MAPTreeRegressor(**({"time_limit": None, "max_expansions": 300} | params))
