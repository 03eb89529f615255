"""Bootstrap intervals of a mean."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

RESAMPLES = 2000


class Mean(NamedTuple):
    """A mean with the ends of its 95% interval, and of how many values it is."""

    value: float
    low: float
    high: float
    count: int


def mean_interval(values: Sequence[float]) -> Mean:
    """Return the mean and the 2.5% and 97.5% points of the means of resamples.

    The draws are the same every time, so a figure drawn again is the same figure.

    >>> mean_interval([1.0, 2.0, 3.0]).value
    2.0
    >>> mean_interval([2.0])
    Mean(value=2.0, low=2.0, high=2.0, count=1)
    """
    if len(values) == 0:
        raise ValueError("no values: there is no mean")
    return _mean_interval(tuple(values))


@lru_cache(maxsize=4096)  # figures, tables and claims ask for the same ones
def _mean_interval(values: tuple[float, ...]) -> Mean:
    given = np.asarray(values, dtype=np.float64)
    if len(given) == 1:
        return Mean(float(given[0]), float(given[0]), float(given[0]), 1)
    rng = np.random.default_rng(len(given))
    means = given[rng.integers(len(given), size=(RESAMPLES, len(given)))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return Mean(float(given.mean()), float(low), float(high), len(given))
