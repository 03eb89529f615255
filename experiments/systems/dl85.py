"""DL8.5: the most accurate tree of a depth on the training rows (pydl8.5)."""

from __future__ import annotations

import math
import time
from typing import Any

from pydl85 import DL85Classifier

from experiments.systems.fitted import Fitted, Split, tree_of
from maptree import Tree

PACKAGES = ("pydl8.5",)
WARM_UP: dict[str, Any] = {"depth": 2}


def fit(X: Any, y: Any, params: dict[str, Any], seed: int | None, limit: float | None) -> Fitted:
    """Search; ``params``: depth."""
    # Its limit is in whole seconds; 0 is no limit.
    seconds = 0 if limit is None else math.ceil(limit)
    model = DL85Classifier(max_depth=params["depth"], time_limit=seconds)
    started = time.perf_counter()
    model.fit(X, y)
    taken = time.perf_counter() - started
    status = "time_limit" if model.timeout_ else "optimal"
    return Fitted(convert(model, X, y), taken, status)


def convert(model: DL85Classifier, X: Any, y: Any) -> Tree | None:
    """Turn its tree into ours; None if it found none in time."""
    return None if model.base_tree_ is None else tree_of(model.base_tree_, _split, X, y)


def _split(node: dict[str, Any]) -> Split:
    # Its left child is where the feature is 1.
    return (int(node["feat"]), node["right"], node["left"]) if "feat" in node else None
