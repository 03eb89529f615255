"""What a wrong prediction costs, as users write it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maptree.parameters.numbers import bad_type, bad_value


def read_costs(costs: ArrayLike, n_classes: int) -> NDArray[np.float64]:
    """Return the costs of predictions: one row per true class, one column per predicted class.

    >>> read_costs([[0, 1], [5, 0]], n_classes=2)
    array([[0., 1.],
           [5., 0.]])
    """
    remedy = (
        f"pass {n_classes:,} rows, one per true class in the order of classes_, of {n_classes:,} "
        "numbers, one per predicted class"
    )
    try:
        read = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise bad_type("costs", costs, "is not a matrix of numbers", remedy) from None
    if read.shape != (n_classes, n_classes):
        shape = " x ".join(f"{size:,}" for size in read.shape) or "a single number"
        raise bad_value("costs", read, f"is {shape}", remedy)
    if not np.isfinite(read).all():
        raise bad_value("costs", read, "has an entry that is not finite", remedy)
    return read


def cheapest(probabilities: NDArray[np.float64], costs: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the class of least expected cost for each row of probabilities, the first of equals.

    >>> cheapest(np.array([[0.7, 0.3], [0.9, 0.1]]), np.array([[0.0, 1.0], [5.0, 0.0]]))
    array([1, 0])
    """
    best: NDArray[np.intp] = np.argmin(probabilities @ costs, axis=1)
    return best
