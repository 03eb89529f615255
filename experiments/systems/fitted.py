"""What every system returns, and how its tree becomes a `Tree` with training counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maptree import Tree

# Of a node: None for a leaf, or its feature, and its children where that is 0 and where it is 1.
Split = tuple[int, Any, Any] | None


@dataclass(frozen=True)
class Fitted:
    """A fit and how it went."""

    tree: Tree | None  # None if the limit left it without one
    seconds: float
    status: str
    log_posterior: float | None = None  # as the system says
    bound: float | None = None
    trace: list[Any] | None = None  # [seconds, steps, log posterior, bound or None]
    extra: dict[str, Any] = field(default_factory=dict)


def tree_of(root: Any, split: Callable[[Any], Split], X: NDArray[Any], y: NDArray[Any]) -> Tree:
    """Turn nodes of any kind into a Tree, with the rows of each class counted at every node."""
    feature: list[int] = []
    left: list[int] = []
    right: list[int] = []

    def add(node: Any) -> int:
        number = len(feature)
        found = split(node)
        feature.append(-1 if found is None else found[0])
        left.append(-1)
        right.append(-1)
        if found is not None:
            left[number] = add(found[1])
            right[number] = add(found[2])
        return number

    add(root)
    return counted(np.array(feature), np.array(left), np.array(right), X, y)


def counted(
    feature: NDArray[Any],
    left: NDArray[Any],
    right: NDArray[Any],
    X: NDArray[Any],
    y: NDArray[Any],
) -> Tree:
    """Make a Tree over the columns of a 0/1 matrix, with the rows of each class counted."""
    classes = np.arange(max(2, int(y.max()) + 1))
    shape = Tree(feature, left, right, np.zeros((len(feature), len(classes)), dtype=np.int64))
    labels = (np.asarray(y)[:, np.newaxis] == classes).astype(np.int64)
    return Tree(feature, left, right, shape.decision_path(X).T @ labels)


def finite(value: float) -> float | None:
    """Return a number, or None if JSON cannot represent it."""
    return float(value) if math.isfinite(value) else None
