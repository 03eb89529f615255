"""CART: scikit-learn's decision tree, grown greedily to a depth."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from experiments.systems.fitted import Fitted, counted
from maptree import Tree

PACKAGES = ("scikit-learn",)
WARM_UP: dict[str, Any] = {"depth": 2}


def fit(X: Any, y: Any, params: dict[str, Any], seed: int | None, limit: float | None) -> Fitted:
    """Grow; ``params``: depth, None or absent for no limit."""
    # A seed even if the cell has none: ties between splits are random, and runs must be
    # reproducible.
    model = DecisionTreeClassifier(max_depth=params.get("depth"), random_state=seed or 0)
    started = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - started
    return Fitted(convert(model, X, y), seconds, "complete")


def convert(model: DecisionTreeClassifier, X: Any, y: Any) -> Tree:
    """Turn a fitted tree into ours. Its threshold is 0.5, so its left side is where X is 0."""
    grown = model.tree_
    feature = np.where(grown.children_left < 0, -1, grown.feature)
    return counted(feature, grown.children_left, grown.children_right, X, y)
