"""GOSDT: the tree with the lowest training error plus a penalty per leaf (gosdt).

It checks the clock only rarely: on wide data a limit of seconds may take a minute, and the sandbox
then kills it.
"""

from __future__ import annotations

import math
import time
from typing import Any

from gosdt import GOSDTClassifier

from experiments.systems.fitted import Fitted, Split, tree_of
from maptree import Tree

PACKAGES = ("gosdt",)
WARM_UP: dict[str, Any] = {"regularization": 0.1}


def fit(X: Any, y: Any, params: dict[str, Any], seed: int | None, limit: float | None) -> Fitted:
    """Search; ``params``: regularization, the penalty per leaf."""
    model = GOSDTClassifier(
        regularization=params["regularization"],
        allow_small_reg=True,  # otherwise it raises it to 1 / number of rows
        time_limit=None if limit is None else math.ceil(limit),  # whole seconds
    )
    started = time.perf_counter()
    model.fit(X, y)
    taken = time.perf_counter() - started
    result = model.result_
    status = "optimal" if result.status.name == "CONVERGED" else "time_limit"
    extra = {"loss": result.upperbound, "loss_bound": result.lowerbound}
    return Fitted(convert(model, X, y), taken, status, extra=extra)


def convert(model: GOSDTClassifier, X: Any, y: Any) -> Tree | None:
    """Turn its tree into ours; None if it found none in time."""
    return tree_of(model.trees_[0].tree, _split, X, y) if model.trees_ else None


def _split(node: Any) -> Split:
    # Its left child is where the feature is 1.
    if not hasattr(node, "feature"):
        return None
    return int(node.feature), node.right_child, node.left_child
