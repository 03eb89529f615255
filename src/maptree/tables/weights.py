"""Sample weights: how often each row counts."""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maptree.parameters.limits import total_weight

# Weights checked at a time, so that checking takes almost no memory.
_BLOCK = 1 << 15
# By what fractional weights may be multiplied, and how many different ones are looked at.
_LARGEST_FACTOR, _MOST_DIFFERENT, _MOST = 1000, 1000, 2**31


def read_weights(sample_weight: Any, n_rows: int) -> NDArray[np.int64] | None:
    """Return whole weights, one per row, or None where every row counts once.

    A weight of w means w copies of the row; 0 leaves the row out. Other numbers have no meaning in
    the posterior, whose likelihood counts rows, so they are refused, not rounded.

    >>> read_weights([1.0, 2.0, 0.0], 3)
    array([1, 2, 0])
    """
    if sample_weight is None:
        total_weight(n_rows)
        return None
    given = _one_per_row(sample_weight, n_rows)
    for start in range(0, n_rows, _BLOCK):
        _refuse_not_whole(given, start)
    total = int(given.sum(dtype=np.float64))
    if total == 0:
        raise ValueError("Every sample weight is zero: pass at least one above 0.")
    total_weight(total)
    return given.astype(np.int64, copy=False)


def _refuse_not_whole(given: NDArray[Any], start: int) -> None:
    weights = given[start : start + _BLOCK]
    with np.errstate(invalid="ignore"):
        bad = ~((weights >= 0) & (weights == np.floor(weights)) & np.isfinite(weights))
    if not bad.any():
        return
    row = int(np.argmax(bad))
    value = weights[row]
    fault = (
        f"sample_weight[{start + row}] is {value!s}: weights must be whole numbers of at least 0, "
        "because a weight of w means w copies of the row."
    )
    if not np.isfinite(value) or value < 0:
        raise ValueError(f"{fault} Pass 0 to leave a row out.")
    factor = _common_factor(given)
    scale = (
        f"pass sample_weight * {factor}, which are whole"
        if factor
        else "multiply them by one number and round them"
    )
    raise ValueError(
        f"{fault} The proofs count rows exactly, so fractions are not rounded. If the weights "
        f"count something, {scale}: but every row then counts for more, so that probabilities "
        "become more certain and the tree larger. If they say that errors in some rows matter "
        "more, fit without them: predict and decisions take costs, and decisions takes these "
        "weights."
    )


def _common_factor(given: NDArray[Any]) -> int | None:
    """Return the least number that makes all weights whole, if it is small; None: it is not.

    >>> _common_factor(np.array([0.5, 1.0, 0.75])), _common_factor(np.array([0.123456789]))
    (4, None)
    """
    weights = np.unique(given[np.isfinite(given)].astype(np.float64))
    if len(weights) > _MOST_DIFFERENT:
        return None
    parts = [Fraction(weight).limit_denominator(_LARGEST_FACTOR) for weight in weights.tolist()]
    factor = math.lcm(*(part.denominator for part in parts))
    scaled = weights * factor
    near = np.allclose(scaled, np.round(scaled), rtol=1e-9, atol=0) and scaled[-1] < _MOST
    return factor if near and factor <= _LARGEST_FACTOR else None


def read_score_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Return how much each row counts in a score: any numbers of at least 0, not all 0.

    >>> read_score_weights([0.5, 2], 2)
    array([0.5, 2. ])
    """
    if sample_weight is None:
        return None
    weights = _one_per_row(sample_weight, n_rows).astype(np.float64)
    bad = ~((weights >= 0) & np.isfinite(weights))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"sample_weight[{row}] is {weights[row]:g}: pass finite numbers of at least 0."
        )
    if not weights.any():
        raise ValueError("Every sample weight is zero: pass at least one above 0.")
    return weights


def _one_per_row(sample_weight: Any, n_rows: int) -> NDArray[Any]:
    given = np.asarray(sample_weight)
    if given.ndim == 0:
        raise TypeError(
            f"sample_weight={sample_weight!r} is a single value: pass one weight per row, "
            "or None where every row counts once."
        )
    if given.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {given.shape} but X has {n_rows:,} rows: "
            "pass one weight per row."
        )
    if given.dtype.kind == "O" and all(isinstance(weight, Real) for weight in given):
        given = given.astype(np.float64)
    if given.dtype.kind not in "biuf":
        raise TypeError(
            f"sample_weight has type {given.dtype}: pass whole numbers of at least 0, one per row."
        )
    return given
