"""Numbers and exposures in units of their own table, as whole numbers: what the search adds up.

docs/design/outcomes.md defines them. They do not depend on the unit of y: a number is divided by
the standard deviation, an exposure by the mean exposure.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maptree.parameters.outcomes import EXPOSURE_UNITS, STEPS

# Positions are rounded to this part of a step before they are rounded to a step. Those halfway
# between two steps are so in every unit of y, whose rounding errors are far smaller.
_FINE = 2.0**20


@dataclass(frozen=True)
class Standardised:
    """Numbers as whole steps from their mean; ``STEPS`` of them are a standard deviation."""

    mean: float
    sd: float  # 0: all numbers are equal
    z: NDArray[np.int64]


def standardise(numbers: NDArray[np.float64], weights: NDArray[np.int64] | None) -> Standardised:
    """Standardise numbers; rows of weight 0 do not count, and are 0.

    >>> standardise(np.array([1.0, 2.0, 3.0]), None)  # doctest: +ELLIPSIS
    Standardised(mean=2.0, sd=0.81649..., z=array([-314,    0,  314]))
    >>> standardise(np.array([1e300, 3e300]), np.array([3, 1])).z
    array([-148,  443])
    """
    counted = np.ones(len(numbers), dtype=bool) if weights is None else weights > 0
    some = numbers[counted]
    low, high = float(some.min()), float(some.max())
    z = np.zeros(len(numbers), dtype=np.int64)
    if low == high:
        return Standardised(low, 0.0, z)
    # Divided by a power of two, which is exact, squares neither overflow nor vanish; and as
    # differences from the middle, numbers far from 0 keep their digits.
    power = math.frexp(max(abs(low), abs(high)))[1]
    middle = (math.ldexp(low, -power) + math.ldexp(high, -power)) / 2
    away = np.ldexp(some, -power) - middle
    times = None if weights is None else weights[counted]
    mean = _mean(away, times)
    away -= mean
    sd = math.sqrt(_mean(away * away, times))
    scale = math.ldexp(sd, power)
    if scale < sys.float_info.min:
        raise ValueError(
            f"y varies by less than {sys.float_info.min:.1g}, too little for a float: pass it in a "
            "smaller unit, such as y * 1e300."
        )
    z[counted] = np.rint(np.rint(away / sd * STEPS * _FINE) / _FINE)
    return Standardised(math.ldexp(middle + mean, power), scale, z)


@dataclass(frozen=True)
class Exposures:
    """Exposures as whole units, ``per_mean`` of which are the mean exposure."""

    mean: float
    per_mean: int
    units: NDArray[np.int64]

    @property
    def in_means(self) -> NDArray[np.float64]:
        """The exposures as the search sees them, in multiples of the mean."""
        return self.units / self.per_mean


def exposure_units(exposure: NDArray[np.float64], weights: NDArray[np.int64] | None) -> Exposures:
    """Return exposures in whole units: one each where all are equal.

    >>> exposure_units(np.array([2.0, 2.0]), None).units
    array([1, 1])
    >>> exposure_units(np.array([1.0, 3.0]), None)
    Exposures(mean=2.0, per_mean=65536, units=array([32768, 98304]))
    """
    counted = np.ones(len(exposure), dtype=bool) if weights is None else weights > 0
    units = np.ones(len(exposure), dtype=np.int64)
    some = exposure[counted]
    if some.min() == some.max():
        return Exposures(float(some[0]), 1, units)
    power = math.frexp(float(some.max()))[1]
    scaled = np.ldexp(some, -power)
    mean = _mean(scaled, None if weights is None else weights[counted])
    fine = np.rint(np.rint(scaled / mean * EXPOSURE_UNITS * _FINE) / _FINE)
    units[counted] = np.maximum(fine, 1)
    return Exposures(math.ldexp(mean, power), EXPOSURE_UNITS, units)


def _mean(values: NDArray[np.float64], weights: NDArray[np.int64] | None) -> float:
    """Return a mean that does not depend on the order of the rows."""
    if weights is None:
        return math.fsum(_floats(values)) / len(values)
    return math.fsum(_floats(values * weights)) / int(weights.sum())


def _floats(values: NDArray[np.float64]) -> Any:
    return np.ascontiguousarray(values).data  # whose items are floats, one at a time
