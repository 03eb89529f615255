"""The prior on trees and leaf probabilities, as the user writes it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

from maptree.parameters.numbers import bad_type, bad_value, real_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Within these ranges the core's fixed-point tables are exact enough (core/model/posterior.hpp).
MIN_RHO, MAX_RHO = 1e-9, 1e8
MAX_BETA = 1e6


@dataclass(frozen=True)
class Prior:
    """p_split(d) = alpha * (1 + d)**-beta, and Dirichlet(rho) probabilities in every leaf.

    Where a node splits, the probability of a test is its weight divided by the sum over the tests
    that are not constant on the rows of the node. docs/design/prior.md defines the weights.
    """

    alpha: float
    beta: float
    rho: NDArray[np.float64]
    split_prior: str = "columns"
    column_weights: tuple[float, ...] = ()  # one per column; none: all the same


def read_prior(alpha: object, beta: object, rho: object, n_classes: int) -> Prior:
    """Validate the prior's parameters for a number of classes.

    >>> read_prior(0.95, 0.5, None, n_classes=2).rho
    array([2.5, 2.5])
    """
    return Prior(read_alpha(alpha), read_beta(beta), read_rho(rho, n_classes))


def read_alpha(alpha: object) -> float:
    """Return alpha, which lies strictly between 0 and 1."""
    remedy = "pass a number above 0 and below 1, such as 0.95"
    value = real_number("alpha", alpha, remedy)
    if not 0 < value < 1:
        raise bad_value("alpha", alpha, "is out of range", remedy)
    return value


def read_beta(beta: object) -> float:
    """Return beta, which lies between 0 and a million."""
    remedy = "pass a number from 0 to 1e6, such as 0.5"
    value = real_number("beta", beta, remedy)
    if not 0 <= value <= MAX_BETA:
        raise bad_value("beta", beta, "is out of range", remedy)
    return value


def read_rho(rho: Any, n_classes: int) -> NDArray[np.float64]:
    """Return one positive pseudo-count per class; None is 5 / n_classes for each."""
    import numpy as np  # not needed to refuse the other parameters, and slow to import

    if rho is None:
        return np.full(n_classes, 5.0 / n_classes)
    remedy = "pass a number from 1e-9 to 1e8, or one per class in the order of classes_"
    if isinstance(rho, Real):
        values = np.full(n_classes, real_number("rho", rho, remedy))
    elif isinstance(rho, str) or not isinstance(rho, Iterable):
        raise bad_type("rho", rho, "is not a number", remedy)
    else:
        values = np.array([real_number("rho", value, remedy) for value in rho], dtype=np.float64)
        if len(values) != n_classes:
            raise ValueError(
                f"rho has {len(values):,} values but there are {n_classes:,} classes: {remedy}."
            )
    if not ((values >= MIN_RHO) & (values <= MAX_RHO)).all():
        raise bad_value("rho", rho, "is out of range", remedy)
    return values
