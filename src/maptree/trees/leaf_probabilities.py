"""Class probabilities of leaves: the Dirichlet posterior of their counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maptree.parameters.numbers import bad_value, real_number

LEVEL = 0.95  # of the credible intervals that rules, plots and reports show


def posterior_mean(counts: NDArray[np.int64], rho: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (counts + rho) / (n + sum of rho) for each row of counts.

    >>> posterior_mean(np.array([[5, 0]]), np.array([2.5, 2.5]))
    array([[0.75, 0.25]])
    """
    weights = counts + rho
    means: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return means


def credible_interval(
    counts: NDArray[np.int64], rho: NDArray[np.float64], level: float
) -> NDArray[np.float64]:
    """Return the central credible interval of each class probability, (rows, classes, 2).

    The marginals of a Dirichlet are Beta distributions; their quantiles at (1 - level) / 2 and
    (1 + level) / 2 are the ends. With a single class, the probability and both ends are 1.

    >>> credible_interval(np.array([[0, 0]]), np.array([1.0, 1.0]), level=0.5)[0, 0]
    array([0.25, 0.75])
    """
    tail = (1.0 - read_level(level)) / 2.0
    ours = counts + rho
    if ours.shape[1] == 1:
        return np.ones((*ours.shape, 2))
    from scipy.special import betaincinv  # slow to import, and probabilities do not need it

    others = ours.sum(axis=1, keepdims=True) - ours
    return np.stack([betaincinv(ours, others, tail), betaincinv(ours, others, 1.0 - tail)], axis=-1)


def read_level(level: object) -> float:
    """Return a credible level, checked."""
    remedy = "pass a number above 0 and below 1, such as 0.95"
    checked = real_number("level", level, remedy)
    if not 0 < checked < 1:
        raise bad_value("level", level, "is out of range", remedy)
    return checked
