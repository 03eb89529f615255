"""Sample weights: how often each row counts."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maptree.parameters.limits import total_weight

# Weights checked at a time, so that checking takes almost no memory.
_BLOCK = 1 << 15


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
    for start in range(0, n_rows, _BLOCK):
        _refuse_not_whole(given[start : start + _BLOCK], start)
    total = int(given.sum(dtype=np.float64))
    if total == 0:
        raise ValueError("Every sample weight is zero: pass at least one above 0.")
    total_weight(total)
    return given.astype(np.int64, copy=False)


def _refuse_not_whole(weights: NDArray[Any], first_row: int) -> None:
    with np.errstate(invalid="ignore"):
        bad = ~((weights >= 0) & (weights == np.floor(weights)) & np.isfinite(weights))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"sample_weight[{first_row + row}] is {weights[row]!s}: weights must be whole numbers "
            "of at least 0, because a weight of w means w copies of the row. Scale them to whole "
            "numbers first."
        )
