"""Reading y, whatever it holds: one value for every row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def one_per_row(y: Any, n_rows: int, estimator: str, what: str, name: str = "y") -> NDArray[Any]:
    """Return y as an array with one value per row; ``what`` these are, for messages.

    >>> one_per_row(["yes", "no"], 2, "classifier", "label")
    array(['yes', 'no'], dtype='<U3')
    """
    if y is None:
        raise ValueError(
            f"The {estimator} requires {name} to be passed, but the target {name} is None: "
            f"pass one {what} per row."
        )
    if hasattr(y, "tocsr"):  # without scipy, which takes long to import
        raise TypeError(
            f"{name} is a sparse matrix: pass the {what}s as an array, {name}.toarray().ravel()."
        )
    try:
        values: NDArray[Any] = np.asarray(y)
    except ValueError:
        raise ValueError(
            f"{name} holds sequences of different lengths: pass one {what} per row."
        ) from None
    if values.ndim == 0:
        such_as = f", such as X[{y!r}] if that is a column" if isinstance(y, str) else ""
        raise ValueError(
            f"{name} should be a 1d array, got the single value {y!r} instead: pass one {what} per "
            f"row{such_as}."
        )
    if values.ndim > 2 or (values.ndim == 2 and values.shape[1] != 1):
        raise ValueError(
            f"{name} should be a 1d array, got an array of shape {values.shape} instead: "
            f"pass one {what} per row; several outputs are not supported."
        )
    # Here, so that the command line can refuse a target before scikit-learn is imported.
    from sklearn.utils.validation import column_or_1d

    column: NDArray[Any] = column_or_1d(values, warn=True)
    refuse_length(len(column), n_rows, what, name)
    return column


def as_objects(values: Sequence[Any]) -> NDArray[np.object_]:
    """Return a list as it was written, without the conversions of numpy.

    >>> as_objects([1, "a"])
    array([1, 'a'], dtype=object)
    """
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects


def refuse_length(n_values: int, n_rows: int, what: str, name: str = "y") -> None:
    """Refuse more or fewer values than rows."""
    if n_values != n_rows:
        raise ValueError(
            f"X has {n_rows:,} rows but {name} has {n_values:,} {what}s: pass one {what} per row."
        )
