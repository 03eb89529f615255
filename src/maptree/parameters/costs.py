"""What predictions cost, and from which probability a class is predicted, as users write it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maptree.parameters.names import nearest
from maptree.parameters.numbers import bad_type, bad_value, real_number

# A matrix, or costs by class: of every error in a class, or of one class predicted as another.
Costs = ArrayLike | Mapping[Any, float]

_NEGATIVE = (
    "pass numbers of at least 0; to add the same number to all costs of a true class changes no "
    "decision"
)
_THRESHOLDS = "pass probabilities from 0 to 1, such as [0.2, 0.5]"


def read_costs(costs: Costs, classes: Sequence[Any]) -> NDArray[np.float64]:
    """Return the costs of predictions: one row per true class, one column per predicted class.

    >>> read_costs([[0, 1], [5, 0]], ["ill", "well"])
    array([[0., 1.],
           [5., 0.]])
    >>> read_costs({"ill": 5}, ["ill", "well"])
    array([[0., 5.],
           [1., 0.]])
    """
    if isinstance(costs, Mapping):
        return costs_of_classes(costs, classes)
    costs = _in_order(costs, classes)
    n_classes = len(classes)
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
    if (read < 0).any():
        raise bad_value("costs", read, "has a negative entry", _NEGATIVE)
    return read


def _in_order(costs: Any, classes: Sequence[Any]) -> Any:
    """Return a data frame of costs in the order of the classes, where it names these.

    >>> import pandas as pd
    >>> names = ["well", "ill"]
    >>> read_costs(pd.DataFrame([[0, 1], [5, 0]], index=names, columns=names), ["ill", "well"])
    array([[0., 5.],
           [1., 0.]])
    """
    if not all(hasattr(costs, name) for name in ("index", "columns", "loc")):
        return costs
    wanted = [_plain(label) for label in classes]
    axes = list(costs.index), list(costs.columns)
    if all(len(names) == len(wanted) and set(names) == set(wanted) for names in axes):
        return costs.loc[wanted, wanted]
    if all(names == list(range(len(names))) for names in axes):
        return costs  # without names
    remedy = "name its rows by the true classes and its columns by the predicted ones, or neither"
    raise bad_value("costs", costs, "does not have the classes as names", remedy)


def costs_of_classes(costs: Mapping[Any, float], classes: Sequence[Any]) -> NDArray[np.float64]:
    """Return the costs of a dict: other errors cost 1, and right predictions nothing.

    A class as key is about all errors in its rows, a pair of classes about one predicted as
    another; the pair goes before the class, whatever their order.

    >>> costs_of_classes({("ill", "well"): 9, "ill": 5}, ["ill", "sick", "well"])
    array([[0., 5., 9.],
           [1., 0., 1.],
           [1., 1., 0.]])
    """
    position = {label: k for k, label in enumerate(classes)}
    read = 1.0 - np.eye(len(classes))
    for pairs in (False, True):
        for key, cost in costs.items():
            if isinstance(key, tuple) != pairs:
                continue
            name = f"costs[{key!r}]"
            number = real_number(name, cost, "pass a number of at least 0")
            if number < 0:
                raise bad_value(name, cost, "is negative", _NEGATIVE)
            if isinstance(key, tuple) and len(key) != 2:
                raise bad_value(name, cost, "is not about two classes", "pass (true, predicted)")
            given = key if isinstance(key, tuple) else (key,)
            numbers = [_position(label, position, name, cost) for label in given]
            if pairs:
                read[numbers[0], numbers[1]] = number
            else:
                others = np.arange(len(classes)) != numbers[0]
                read[numbers[0], others] = number
    return read


def _position(label: Any, position: Mapping[Any, int], name: str, value: object) -> int:
    """Return the number of a class."""
    try:
        if label in position:
            return position[label]
    except TypeError:  # a list or the like
        pass
    meant = " or ".join(map(repr, nearest(str(label), list(map(str, position)))))
    known = ", ".join(repr(_plain(label)) for label in list(position)[:12])
    remedy = f"pass {meant} if that is meant" if meant else f"pass one of {known}"
    raise bad_value(name, value, f"is about {label!r}, which is not a class", remedy)


def read_positive(positive: Any, classes: Sequence[Any]) -> int:
    """Return the number of the class that probability thresholds are about.

    By default the second of two; of ``ill`` and ``not ill`` it is ``ill``.

    >>> read_positive(None, ["no", "yes"]), read_positive("no", ["no", "yes"])
    (1, 0)
    >>> read_positive(None, ["ill", "not ill"])
    0
    """
    if positive is not None:
        position = {label: k for k, label in enumerate(classes)}
        return _position(positive, position, "positive", positive)
    merged = len(classes) == 2 and str(classes[1]) == f"not {classes[0]}"
    return 0 if merged else min(1, len(classes) - 1)


def read_thresholds(thresholds: ArrayLike) -> NDArray[np.float64]:
    """Return probability thresholds, sorted, each once.

    >>> read_thresholds([0.5, 0.2, 0.5])
    array([0.2, 0.5])
    """
    try:
        read = np.atleast_1d(np.asarray(thresholds, dtype=np.float64))
    except (TypeError, ValueError):
        raise bad_type("thresholds", thresholds, "are not numbers", _THRESHOLDS) from None
    if read.ndim != 1 or len(read) == 0:
        raise bad_value("thresholds", thresholds, "is not a list of numbers", _THRESHOLDS)
    outside = read[~((read >= 0) & (read <= 1))]
    if len(outside):
        raise bad_value("thresholds", thresholds, f"has {outside[0]:g}", _THRESHOLDS)
    return np.unique(read)


def cheapest(probabilities: NDArray[np.float64], costs: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the class of least expected cost for each row of probabilities, the first of equals.

    >>> cheapest(np.array([[0.7, 0.3], [0.9, 0.1]]), np.array([[0.0, 1.0], [5.0, 0.0]]))
    array([1, 0])
    """
    best: NDArray[np.intp] = np.argmin(probabilities @ costs, axis=1)
    return best


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
