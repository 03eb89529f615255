"""CART with depth and least leaf chosen by the accuracy in 3-fold cross-validation."""

from __future__ import annotations

import time
from typing import Any

from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from experiments.systems.cart import convert
from experiments.systems.fitted import Fitted

PACKAGES = ("scikit-learn",)
WARM_UP: dict[str, Any] = {}
GRID = {
    "max_depth": [1, 2, 3, 4, 5, 6, 8, 10, None],
    "min_samples_leaf": [1, 2, 5, 10, 20],
}


def fit(X: Any, y: Any, params: dict[str, Any], seed: int | None, limit: float | None) -> Fitted:
    """Try the grid, then grow on all rows by the best; no ``params``."""
    seed = seed or 0
    search = GridSearchCV(
        DecisionTreeClassifier(random_state=seed),
        GRID,
        cv=StratifiedKFold(3, shuffle=True, random_state=seed),
    )
    started = time.perf_counter()
    search.fit(X, y)
    seconds = time.perf_counter() - started
    tree = convert(search.best_estimator_, X, y)
    return Fitted(tree, seconds, "complete", extra={"chosen": search.best_params_})
