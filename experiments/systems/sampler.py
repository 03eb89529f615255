"""What the rows of both samplers share: the most probable tree that was drawn, and when."""

from __future__ import annotations

import time
from typing import Any

from experiments.systems.fitted import Fitted, finite


def fit_sampler(model: Any, X: Any, y: Any) -> Fitted:
    """Fit a sampler of this library."""
    started = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - started
    return Fitted(
        tree=model.tree_,
        seconds=seconds,
        status=model.status_,
        log_posterior=model.log_posterior_,
        trace=[[float(t), int(steps), finite(value), None] for t, steps, value in model.trace_],
        extra={"trees": len(model.trees_)},
    )
