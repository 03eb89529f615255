"""Reading y as numbers or counts, and the exposure of counts."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maptree.parameters.limits import MAX_TOTAL_WEIGHT
from maptree.tables.objects import find_missing
from maptree.tables.one_per_row import as_objects, one_per_row

Numbers = NDArray[np.float64]

# Larger numbers would leave no room for the ends of an interval around them.
_LARGEST = 2.0**1020

_CLASSES = "if they are classes, use MAPTreeClassifier"


def read_numbers(y: Any, n_rows: int, name: str = "y") -> Numbers:
    """Return one finite number per row; ``name`` says in messages what they are.

    Text is not converted, not even where it reads as numbers: what ``1.234`` means depends on who
    wrote it. Truth values are refused, because they are classes.

    >>> from decimal import Decimal
    >>> read_numbers([1, 2.5, Decimal("3.25")], 3)
    array([1.  , 2.5 , 3.25])
    >>> read_numbers([1.0, None], 2)
    Traceback (most recent call last):
    ValueError: y has a missing number at row 1: drop the row, or give it a number.
    """
    given = one_per_row(y, n_rows, "regressor", "number", name)
    if np.ma.isMaskedArray(y):
        _refuse_missing(np.ma.getmaskarray(y).ravel(), name)
    if isinstance(y, (list, tuple)) and np.ndim(y[:1]) == 1 and _converted(y, given):
        given = as_objects(y)  # as they were passed
    if len(given) == 0:
        raise ValueError(f"{name} is empty: pass one number per row.")
    kind = given.dtype.kind
    if kind == "c":
        raise ValueError(f"Complex data not supported: {name} has complex numbers. Pass real ones.")
    if kind == "O":
        numbers = _from_objects(given, name)
    elif kind in "iuf":
        with np.errstate(over="ignore"):  # of longer floats
            numbers = given.astype(np.float64)
    else:
        raise _not_numbers(given[0], 0, name)
    _refuse_missing(np.isnan(numbers), name)
    _refuse_large(numbers, name)
    return numbers + 0.0  # not -0.0


def are_fractions(y: Any) -> bool:
    """Return whether y has floats that are not all whole, which are not labels.

    >>> are_fractions([1.5, 2]), are_fractions([1.0, 2.0]), are_fractions(["a"])
    (True, False, False)
    """
    try:
        given = np.asarray(y)
    except ValueError:  # sequences of different lengths
        return False
    if given.dtype.kind != "f":
        return False
    finite = given[np.isfinite(given)]
    return bool((finite != np.floor(finite)).any())


def _converted(y: Sequence[Any], given: NDArray[Any]) -> bool:
    """Return whether numpy has turned numbers into text, or truth values into numbers."""
    return given.dtype.kind not in "iufO" or not {bool, np.bool_}.isdisjoint(map(type, y))


def _from_objects(objects: NDArray[np.object_], name: str) -> Numbers:
    _refuse_missing(find_missing(objects.tolist()), name)
    for type_ in dict.fromkeys(map(type, objects)):
        number = issubclass(type_, (Real, Decimal)) and not issubclass(type_, (bool, np.bool_))
        if not number:
            row = next(i for i, value in enumerate(objects) if type(value) is type_)
            raise _not_numbers(objects[row], row, name)
    return np.fromiter(map(_as_float, objects), dtype=np.float64, count=len(objects))


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number too large for a float
        return np.inf if value > 0 else -np.inf


def _not_numbers(value: object, row: int, name: str) -> TypeError:
    """Return the error for what is not a number."""
    where = f"{name} has {value!r} at row {row}"
    remedy = f" ({_CLASSES})" if name == "y" else ""
    if isinstance(value, (bool, np.bool_)):
        return TypeError(
            f"{where}, a truth value: pass numbers, such as {name}.astype(int){remedy}."
        )
    if isinstance(value, str):
        return TypeError(
            f"{where}, which is text: convert it to numbers, such as {name}.astype(float), where "
            f"that is what it is{remedy}."
        )
    return TypeError(
        f"{where}, of type {type(value).__name__}: pass numbers. Dates and durations become "
        "numbers as the days since a date, for example."
    )


def _refuse_missing(missing: NDArray[np.bool_], name: str) -> None:
    if missing.any():
        row = int(np.argmax(missing))
        raise ValueError(
            f"{name} has a missing number at row {row}: drop the row, or give it a number."
        )


def _refuse_large(numbers: Numbers, name: str) -> None:
    bad = ~(np.abs(numbers) <= _LARGEST)
    if not bad.any():
        return
    row = int(np.argmax(bad))
    if np.isinf(numbers[row]):
        raise ValueError(
            f"{name} has {numbers[row]} at row {row}, which is infinite or too large for a float: "
            "drop the row, or give it a finite number."
        )
    raise ValueError(
        f"{name} has {numbers[row]:g} at row {row}, which is too large: pass {name} in a larger "
        "unit, up to 1e307."
    )


def read_counts(y: Any, n_rows: int) -> NDArray[np.int64]:
    """Return one count per row: whole numbers of at least 0.

    >>> read_counts([0.0, 3.0], 2)
    array([0, 3])
    >>> read_counts([0, -1], 2)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: y has -1 at row 1, but likelihood="poisson" is for counts, whole numbers of at ...
    """
    numbers = read_numbers(y, n_rows)
    bad = (numbers < 0) | (numbers != np.floor(numbers))
    if bad.any():
        row = int(np.argmax(bad))
        more = ""
        if numbers[row] > 0:
            more = " If they are rates, pass the counts, and what they were divided by as exposure."
        raise ValueError(
            f'y has {numbers[row]:g} at row {row}, but likelihood="poisson" is for counts, whole '
            f'numbers of at least 0: pass counts, or likelihood="normal".{more}'
        )
    if numbers.max() > MAX_TOTAL_WEIGHT:
        row = int(np.argmax(numbers))
        raise _too_many(f"y has {numbers[row]:g} at row {row}")
    return numbers.astype(np.int64)


def refuse_many_events(counts: NDArray[np.int64], weights: NDArray[np.int64] | None) -> int:
    """Return the sum of the counts; refuse more than the search can count."""
    total = float(
        counts.sum(dtype=np.float64) if weights is None else counts @ weights.astype(float)
    )
    if total > MAX_TOTAL_WEIGHT:
        raise _too_many(f"y sums to {total:g}")
    return int(total)


def _too_many(where: str) -> ValueError:
    return ValueError(
        f"{where}, which is more than the {MAX_TOTAL_WEIGHT:,} events that the search can count: "
        'pass likelihood="normal", or a sample of the rows.'
    )


def read_exposure(exposure: Any, n_rows: int) -> Numbers:
    """Return the exposure of every row, numbers above 0; one number is that of all rows.

    >>> read_exposure([0.5, 2], 2), read_exposure(3, 2)
    (array([0.5, 2. ]), array([3., 3.]))
    """
    if isinstance(exposure, Real) and not isinstance(exposure, bool):
        exposure = np.full(n_rows, float(exposure))
    found = read_numbers(exposure, n_rows, "exposure")
    bad = found <= 0
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"exposure has {found[row]:g} at row {row}: pass numbers above 0, such as the time "
            "during which the events of the row were counted, or drop the row."
        )
    return found
