"""How a search went and what it proved, in the words and numbers that pictures show."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class SearchView:
    """The best log posterior and the bound on it, against seconds; without a bound: None."""

    seconds: NDArray[np.float64]
    best: NDArray[np.float64]
    bound: NDArray[np.float64] | None

    @property
    def log_time(self) -> bool:
        """Whether time is better shown by its logarithm: it spans more than a factor of 30."""
        return bool(self.seconds[-1] > 30 * self.seconds[0])

    def thin(self, every: int) -> SearchView:
        """Return every so many steps, the first and the last among them."""
        kept = np.unique(np.append(np.arange(0, len(self.seconds), every), len(self.seconds) - 1))
        bound = None if self.bound is None else self.bound[kept]
        return SearchView(self.seconds[kept], self.best[kept], bound)


def view_search(classifier: Any) -> SearchView | None:
    """Return how the search of a fitted classifier went; None if nothing is known of it.

    Without a trace, as in a model that was stored without, there is only how it ended.
    """
    steps: list[tuple[float, float, float | None]] = []
    trace = getattr(classifier, "trace_", None)
    if trace is not None:
        bounded = "log_posterior_bound" in trace.dtype.names
        bounds = trace["log_posterior_bound"].tolist() if bounded else [None] * len(trace)
        known = zip(trace["seconds"].tolist(), trace["log_posterior"].tolist(), bounds, strict=True)
        steps += [step for step in known if all(v is None or math.isfinite(v) for v in step)]
    certificate = getattr(classifier, "certificate_", None)
    if certificate is not None:  # the last step of the trace may be a little before the end
        end = certificate.seconds, certificate.log_posterior, certificate.log_posterior_bound
        steps.append(end)
    if not steps:
        return None
    seconds, best, bound = (np.array(values) for values in zip(*steps, strict=True))
    # A time of 0 has no place on a logarithmic axis.
    seconds = np.maximum.accumulate(seconds).clip(min=1e-4)
    return SearchView(seconds, best, None if None in bound.tolist() else bound)


def headline(certificate: Any) -> str:
    """Say in a few words what is proved.

    >>> from maptree import MAPTreeClassifier
    >>> model = MAPTreeClassifier().fit([[0], [1]] * 9, [0, 1] * 9)
    >>> headline(model.certificate_)
    'Proved: no tree is more probable'
    """
    if certificate.optimal:
        return "Proved: no tree is more probable"
    depth = certificate.proved_depth
    words = f"Best found; at most {certificate.gap:.1f} nats below the best possible"
    if depth >= 1 and math.isfinite(depth):
        words += f", and proved best to depth {depth:.0f}"
    return words


def seconds_text(seconds: float) -> str:
    """Write a time.

    >>> seconds_text(0.0123), seconds_text(9.96), seconds_text(432)
    ('0.012 s', '10 s', '7 min 12 s')
    """
    if seconds < 60:
        return f"{seconds:.2g} s" if seconds < 9.95 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes / 60:.1f} h"
