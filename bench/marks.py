"""What the trace of a search says at given times."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

MARKS = (0.01, 0.1, 1.0, 10.0, 60.0)  # seconds from the start of fit


def marks_within(limit: float) -> list[float]:
    """Return the marks that lie within a run of this length."""
    return [mark for mark in MARKS if mark <= limit]


def at_mark(trace: NDArray[Any], mark: float) -> dict[str, float | None]:
    """Return cost and lower bound at a mark, from the last entry up to it; None without one."""
    before = int(np.searchsorted(trace["seconds"], mark, side="right"))
    if before == 0:
        return {"seconds": mark, "cost": None, "lower_bound": None}
    entry = trace[before - 1]
    return {
        "seconds": mark,
        "cost": -float(entry["log_posterior"]),
        "lower_bound": -float(entry["log_posterior_bound"]),
    }


def seconds_to_bound(seconds: list[float], bounds: list[float], target: float) -> float | None:
    """Return when a lower bound was first reached; None if never."""
    for second, bound in zip(seconds, bounds, strict=True):
        if bound >= target:
            return second
    return None
