"""The course of a search, in the numbers that pictures show."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maptree.trees.fitted import FittedTree


@dataclass(frozen=True)
class SearchView:
    """The best log posterior and its upper bound (None for samplers), against seconds."""

    seconds: NDArray[np.float64]
    best: NDArray[np.float64]
    bound: NDArray[np.float64] | None

    @property
    def log_time(self) -> bool:
        """Whether time needs a logarithmic axis: it spans more than a factor of 30."""
        return bool(self.seconds[-1] > 30 * self.seconds[0])

    def thin(self, every: int) -> SearchView:
        """Return an evenly spaced selection of the steps, including the first and the last."""
        kept = np.unique(np.append(np.arange(0, len(self.seconds), every), len(self.seconds) - 1))
        bound = None if self.bound is None else self.bound[kept]
        return SearchView(self.seconds[kept], self.best[kept], bound)


def view_search(fitted: FittedTree) -> SearchView | None:
    """Return the course of the search for a tree; None if nothing is known about it.

    Without a trace, as in a model that was saved without one, only the end is known.
    """
    trace, certificate = fitted.trace, fitted.certificate
    bounded = "log_posterior_bound" in (trace.dtype.names or ())
    bounds = trace["log_posterior_bound"].tolist() if bounded else [None] * len(trace)
    known = zip(trace["seconds"].tolist(), trace["log_posterior"].tolist(), bounds, strict=True)
    steps: list[tuple[float, float, float | None]] = [
        step for step in known if all(v is None or math.isfinite(v) for v in step)
    ]
    if certificate is not None:  # the last step of the trace may be shortly before the end
        end = certificate.seconds, certificate.log_posterior, certificate.log_posterior_bound
        steps.append(end)
    if not steps:
        return None
    seconds, best, bound = (np.array(values) for values in zip(*steps, strict=True))
    # A time of 0 has no place on a logarithmic axis.
    seconds = np.maximum.accumulate(seconds).clip(min=1e-4)
    return SearchView(seconds, best, None if None in bound.tolist() else bound)
