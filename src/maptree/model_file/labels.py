"""Class labels as JSON values, and back into an array of the same type."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maptree.files.json_values import fields, items, refuse_equal_hashes, show, text

# Fixed-length strings, integers, floats, booleans, Python objects; in numpy's notation.
_DTYPE = re.compile(r"[<>]U[1-9][0-9]{0,6}|[<>|][iu][1248]|[<>]f[248]|\|b1|\|O")
_MOST_BYTES = 1 << 26
_REMEDY = "convert y to str or int and fit again"


def write_labels(classes: NDArray[Any]) -> dict[str, Any]:
    """Return the labels and their type.

    >>> write_labels(np.array(["no", "yes"]))
    {'dtype': '<U3', 'values': ['no', 'yes']}
    """
    if not _DTYPE.fullmatch(classes.dtype.str):
        raise TypeError(
            f"The classes are of type {classes.dtype}, which a model file cannot hold: {_REMEDY}."
        )
    return {"dtype": classes.dtype.str, "values": [_write(label) for label in classes.tolist()]}


def _write(label: Any) -> str | bool | int | float:
    if isinstance(label, np.generic):  # within an array of objects
        label = label.item()
    if isinstance(label, str):
        return str(label)
    if isinstance(label, (bool, int)) or (isinstance(label, float) and math.isfinite(label)):
        return label
    raise TypeError(
        f"The class {label!r} is a {type(label).__name__}, which a model file cannot hold: "
        f"{_REMEDY}."
    )


def read_labels(value: object, where: str) -> NDArray[Any]:
    """Return the array that ``write_labels`` wrote.

    >>> read_labels({"dtype": "|i1", "values": [-1, 1]}, "classes")
    array([-1,  1], dtype=int8)
    """
    given = fields(value, where, ("dtype", "values"))
    name = text(given["dtype"], f"{where}.dtype")
    if not _DTYPE.fullmatch(name):
        raise ValueError(
            f"{where}.dtype is {show(name)}: it must be a type of labels, such as '<U3' or '<i8'."
        )
    dtype = np.dtype(name)
    values = items(given["values"], f"{where}.values")
    if not values:
        raise ValueError(f"{where}.values is empty: there must be at least one class.")
    if dtype.itemsize * len(values) > _MOST_BYTES:
        raise ValueError(f"{where}.dtype is {name}, which is too long for {len(values):,} classes.")
    for i, label in enumerate(values):
        if not _fits(label, dtype):
            raise ValueError(f"{where}.values[{i}] is {show(label)}: it must be of type {name}.")
    _refuse_disorder(values, where)
    refuse_equal_hashes(values, f"{where}.values")
    labels = np.empty(len(values), dtype=dtype)
    labels[:] = values
    return labels


def _fits(label: object, dtype: np.dtype[Any]) -> bool:
    """Return whether an array of the type holds the label exactly."""
    kind = dtype.kind
    if kind == "O":
        return isinstance(label, (str, int, float)) and label == label
    if kind == "U":
        return isinstance(label, str) and len(label) <= dtype.itemsize // 4
    if kind == "b":
        return isinstance(label, bool)
    if kind == "f":
        if not isinstance(label, float):
            return False
        with np.errstate(over="ignore"):
            return float(dtype.type(label)) == label
    limits = np.iinfo(dtype)
    return (
        isinstance(label, int) and not isinstance(label, bool) and limits.min <= label <= limits.max
    )


def _refuse_disorder(values: list[Any], where: str) -> None:
    for i, (label, following) in enumerate(pairwise(values)):
        try:
            in_order = label < following
        except TypeError:
            raise ValueError(f"{where}.values has labels of several types.") from None
        if not in_order:
            raise ValueError(
                f"{where}.values[{i + 1}] is {show(following)}, after {show(label)}: classes must "
                "be sorted and distinct."
            )
