"""Tiny problems whose posterior over trees is enumerated, and what samplers are compared by."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from checks import tree_of
from oracle import Tree, distribution
from problems import Matrix, Problem, Vector


def _rows(*rows: str) -> Matrix:
    return np.array([[int(value) for value in row] for row in rows], dtype=np.uint8)


def _labels(labels: str) -> Vector:
    return np.array([int(label) for label in labels])


def _tiny(X: Matrix, labels: str, n_classes: int, **prior: Any) -> Problem:
    given = {"alpha": 0.95, "beta": 0.5, "rho": (5 / n_classes,) * n_classes} | prior
    return Problem(X, _labels(labels), n_classes, **given)


_SIX = _rows("000", "001", "010", "100", "101", "111")
_TWICE = np.repeat(_SIX, 2, axis=0)

TINY = {
    "two classes": _tiny(_SIX, "001101", 2),
    "three classes": _tiny(_SIX, "001212", 3, rho=(0.5, 1.0, 2.0)),
    "all rows of three columns": _tiny(
        _rows("000", "001", "010", "011", "100", "101", "110", "111"), "01101011", 2, rho=(0.3, 0.3)
    ),
    "duplicate rows": _tiny(_TWICE, "001001110011", 2, alpha=0.8, beta=1.0),
    "three classes, duplicate rows": _tiny(_TWICE, "001122220011", 3),
    "duplicate column": _tiny(_SIX[:, [0, 1, 2, 0]], "001101", 2, rho=(1.0, 1.0)),
    "complementary column": _tiny(_SIX[:, [0, 1, 2, 1]] ^ _rows("0001"), "001101", 2),
    "three classes, duplicate rows and columns": _tiny(
        _TWICE[:, [0, 1, 1]] ^ _rows("001"), "001122220011", 3, rho=(0.2, 0.2, 0.2)
    ),
    "weights of tests": _tiny(_SIX, "001101", 2, test_weights=np.array([5, 1, 2])),
    "weights of tests, duplicate rows and columns": _tiny(
        _TWICE[:, [0, 1, 2, 1]], "001001110011", 2, test_weights=np.array([1, 3, 1000, 7])
    ),
    "constant column": _tiny(_SIX[:, [0, 1, 2, 2]] & _rows("1110"), "001101", 2, alpha=0.5),
}
"""By what is special about them. Few enough trees for a total variation below 0.02."""


@cache
def exact(name: str) -> tuple[dict[Tree, float], float]:
    """The posterior probability of every tree, and the log evidence; by brute force."""
    problem = TINY[name]
    return distribution(problem.X.tolist(), problem.y.tolist(), problem.weights, **problem.prior)


def estimated(model: Any) -> dict[Tree, float]:
    """The weight of every tree that a fitted sampler has."""
    weights = zip(model.trees_, model.weights_.tolist(), strict=True)
    return {tree_of(tree): weight for tree, weight in weights}


def total_variation(one: dict[Tree, float], other: dict[Tree, float]) -> float:
    """Half the sum of the differences: the largest difference in the probability of any event."""
    return sum(abs(one.get(t, 0.0) - other.get(t, 0.0)) for t in one.keys() | other.keys()) / 2
