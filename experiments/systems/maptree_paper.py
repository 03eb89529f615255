"""MAPTree in paper mode: the search as published, with none of this library's shortcuts.

One expansion creates all children of one node; nothing is pruned, folded or looked up ahead. It is
this library's core with every switch off, so the figures compare searches, not languages.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from experiments.systems.fitted import Fitted, finite
from maptree import Tree, _core
from maptree.parameters.prior import read_prior

PACKAGES = ("maptree",)
WARM_UP: dict[str, Any] = {}


def fit(X: Any, y: Any, params: dict[str, Any], seed: int | None, limit: float | None) -> Fitted:
    """Search; ``params`` are the prior and max_expansions."""
    options = _core.Options.paper()
    params = {"alpha": 0.95, "beta": 0.5, "rho": None, "max_expansions": -1} | params
    expansions = params.pop("max_expansions")
    started = time.perf_counter()
    table = _core.pack(np.ascontiguousarray(X))
    if table is None:
        raise ValueError("X is not a 0/1 matrix")
    n_classes = max(2, int(y.max()) + 1)
    dataset = _core.Dataset(
        table,
        y.astype(np.int32),
        None,
        n_classes,
        fold_rows=options.fold_rows,
        fold_columns=options.fold_columns,
    )
    prior = read_prior(**params, n_classes=n_classes)
    packed = time.perf_counter() - started
    seconds = math.inf if limit is None else max(0.0, limit - packed)
    result = _core.search(
        dataset,
        _core.Prior(prior.alpha, prior.beta, prior.rho),
        options,
        _core.Limits(seconds=seconds, max_expansions=-1 if expansions is None else expansions),
    )
    return Fitted(
        tree=Tree(result.feature, result.left, result.right, result.counts),
        seconds=time.perf_counter() - started,
        status=result.status,
        log_posterior=0.0 - result.upper,
        bound=0.0 - result.lower,
        trace=[
            [packed + t, int(steps), finite(0.0 - upper), finite(0.0 - lower)]
            for t, steps, lower, upper in result.trace.tolist()
        ],
        extra={
            "expansions": result.expansions,
            "subproblems": result.subproblems,
            "counted_bytes": result.peak_bytes,
        },
    )
