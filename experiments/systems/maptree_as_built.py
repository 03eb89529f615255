"""MAPTree as this library builds it, on one thread."""

from __future__ import annotations

import time
from typing import Any

from experiments.systems.fitted import Fitted, finite
from maptree import MAPTreeClassifier

PACKAGES = ("maptree",)
WARM_UP: dict[str, Any] = {}


def fit(X: Any, y: Any, params: dict[str, Any], seed: int | None, limit: float | None) -> Fitted:
    """Search; ``params`` are those of the classifier."""
    model = MAPTreeClassifier(**params, time_limit=limit, encoder=None, n_jobs=1)
    started = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - started
    certificate = model.certificate_
    return Fitted(
        tree=model.tree_,
        seconds=seconds,
        status=certificate.status,
        log_posterior=certificate.log_posterior,
        bound=certificate.log_posterior_bound,
        trace=[
            [float(t), int(steps), finite(value), finite(bound)]
            for t, steps, value, bound in model.trace_
        ],
        extra={
            "expansions": certificate.expansions,
            "subproblems": certificate.subproblems,
            "proved_depth": finite(certificate.proved_depth),  # None: of any depth
            "counted_bytes": certificate.peak_bytes,
        },
    )
