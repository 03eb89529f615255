"""STreeD: the optimal tree of a depth, by accuracy or by the likelihood of its leaves (pystreed).

The objective "bayes" is the nearest to ours: the leaf likelihood with rho 2.5, which it does not
let one choose, and no prior on the tree.
"""

from __future__ import annotations

import time
from typing import Any

from pystreed import STreeDClassifier

from experiments.systems.fitted import Fitted, Split, tree_of
from maptree import Tree

PACKAGES = ("pystreed",)
WARM_UP: dict[str, Any] = {"depth": 2}
NO_LIMIT = 1e9  # seconds: it has a limit by default
RHO = 2.5
OBJECTIVES = {
    "accuracy": {"optimization_task": "accuracy"},
    "bayes": {"optimization_task": "accuracy-flex", "accuracy_objective": "bayes"},
}


def fit(X: Any, y: Any, params: dict[str, Any], seed: int | None, limit: float | None) -> Fitted:
    """Search; ``params``: depth, objective ("accuracy" by default), leaves (all that fit)."""
    if params.get("rho", RHO) != RHO:
        raise ValueError(f"its rho is {RHO} and cannot be {params['rho']}")
    objective = OBJECTIVES[params.get("objective", "accuracy")]
    seconds = NO_LIMIT if limit is None else limit
    nodes = {"max_num_nodes": params["leaves"] - 1} if "leaves" in params else {}
    model = STreeDClassifier(max_depth=params["depth"], time_limit=seconds, **nodes, **objective)
    started = time.perf_counter()
    model.fit(X, y)
    taken = time.perf_counter() - started
    status = "optimal" if model.fit_result.is_optimal() else "time_limit"
    return Fitted(convert(model, X, y), taken, status)


def convert(model: STreeDClassifier, X: Any, y: Any) -> Tree | None:
    """Turn its tree into ours; None if it found none in time."""
    found = model.fit_result.is_feasible()
    return tree_of(model.get_tree(), _split, X, y) if found else None


def _split(node: Any) -> Split:
    # Its left child is where the feature is 0.
    return None if node.is_leaf_node() else (node.feature, node.left_child, node.right_child)
