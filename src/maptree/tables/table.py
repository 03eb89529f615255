"""Reading X: from what the user passes to a table whose columns can be read one by one.

Errors name the row, the column and the value, and say what to do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from maptree import _core
from maptree.tables.objects import read_objects, read_times
from maptree.tables.values import Values, none_if_empty

# A part of scikit-learn's message about shapes, and the remedy to add to it.
_REMEDIES = {
    "Found array with dim": "Pass a table of rows and columns.",
    "0 sample(s)": "Pass at least one row.",
    "0 feature(s)": "Pass at least one column.",
}
_COMPLEX = "Complex data not supported: pass real and imaginary parts as columns."
_NATIVE = {np.dtype(kind) for kind in np.typecodes["AllInteger"] + "?fd"}


class Table(ABC):
    """A table: its size, the names of its columns, and the columns themselves on demand."""

    n_rows: int
    n_columns: int
    names: NDArray[np.object_] | None = None  # as in the user's data frame
    # Whether the values are the caller's: then it takes no memory to hold the table.
    borrowed = False

    def label(self, column: int) -> str:
        """Name a column in a message."""
        return f"column {column}" if self.names is None else f"column {self.names[column]!r}"

    @abstractmethod
    def read(self, column: int) -> Values:
        """Return the values of a column."""

    def kind(self, column: int) -> str | None:
        """Return the kind of a column if its type determines it; None: it has to be read."""
        return None


class Matrix(Table):
    """A matrix of numbers or booleans, in the caller's memory if possible."""

    def __init__(
        self,
        values: NDArray[Any],
        masked: NDArray[np.bool_] | None = None,
        borrowed: bool = False,
    ) -> None:
        self.values = values
        self.masked = masked
        self.borrowed = borrowed
        self.n_rows, self.n_columns = values.shape

    def read(self, column: int) -> Values:
        data = self.values[:, column]
        missing = None if self.masked is None else none_if_empty(self.masked[:, column])
        if missing is not None and data.dtype.kind == "f":
            missing = missing | np.isnan(data)
        kind = "boolean" if data.dtype.kind == "b" else "number"
        return Values(kind, str(data.dtype), data, missing)

    def kind(self, column: int) -> str | None:
        return "boolean" if self.values.dtype.kind == "b" else "number"

    def pack(self) -> _core.PackedTable | None:
        """Pack an all-0/1 matrix; None if it is not."""
        return None if self.masked is not None else _core.pack(self.values)


class Objects(Table):
    """An array of objects, text or times."""

    def __init__(self, values: NDArray[Any], masked: NDArray[np.bool_] | None = None) -> None:
        self.values = values
        self.masked = masked
        self.n_rows, self.n_columns = values.shape

    def read(self, column: int) -> Values:
        data = self.values[:, column]
        missing = None if self.masked is None else self.masked[:, column]
        if data.dtype.kind in "mM":
            return read_times(data, str(data.dtype), self.label(column), missing)
        objects = data.astype(object)
        return read_objects(objects, str(data.dtype), self.label(column), missing)


def read_table(owner: Any, X: Any, *, reset: bool) -> Table:
    """Validate X for an estimator: with ``reset`` as in fit, otherwise against the fitted table.

    ``reset`` sets ``n_features_in_`` and ``feature_names_in_`` of ``owner``, as in scikit-learn.
    """
    table: Table | None = None
    if issparse(X):
        table = _read_sparse(owner, X, reset)
        table.names = getattr(owner, "feature_names_in_", None)
        return table
    _refuse_records(X)
    if not isinstance(X, (np.ndarray, list, tuple)):
        from maptree.tables.frames import open_frame  # which needs narwhals

        table = open_frame(owner, X, reset=reset)
    if table is None:
        table = _read_array(owner, X, reset)
    table.names = getattr(owner, "feature_names_in_", None)
    return table


def _refuse_records(X: Any) -> None:
    """Refuse tables with named columns whose order scikit-learn does not know."""
    records = isinstance(X, (list, tuple)) and len(X) > 0 and isinstance(X[0], dict)
    structured = isinstance(X, np.ndarray) and X.dtype.names is not None
    if isinstance(X, dict) or records or structured:
        what = "a list of dicts" if records else "a structured array" if structured else "a dict"
        raise TypeError(f"X is {what}: pass a data frame, such as pandas.DataFrame(X).")


def _read_array(owner: Any, X: Any, reset: bool) -> Table:
    masked = np.ma.getmaskarray(X) if np.ma.is_masked(X) else None
    if masked is not None:
        X = np.ma.getdata(X)
    values: NDArray[Any] = _validate(owner, _as_objects(X), reset)
    if values.dtype.kind == "c":  # scikit-learn refuses it as well, with another message
        raise ValueError(_COMPLEX)
    if values.dtype.kind in "biuf":
        numbers = native(values)
        borrowed = isinstance(X, np.ndarray) and np.may_share_memory(numbers, X)
        return Matrix(numbers, masked, borrowed)
    if values.dtype.kind in "SV":
        raise TypeError(f"X has type {values.dtype}: decode bytes to text.")
    return Objects(values, masked)


def _read_sparse(owner: Any, X: Any, reset: bool) -> Table:
    from maptree.tables.sparse import SparseMatrix

    if X.dtype.kind == "c":
        raise ValueError(_COMPLEX)
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got a sparse array with {X.ndim} dimension: pass a table of rows "
            "and columns."
        )
    return SparseMatrix(_validate(owner, X, reset, accept_sparse="csc"))


def _validate(owner: Any, X: Any, reset: bool, accept_sparse: str | bool = False) -> Any:
    try:
        values = validate_data(
            owner, X, reset=reset, dtype=None, ensure_all_finite=False, accept_sparse=accept_sparse
        )
    except ValueError as error:
        if "inhomogeneous" in str(error):
            raise ValueError(
                "The rows of X differ in length: pass a table with the same columns in every row."
            ) from None
        for fault, remedy in _REMEDIES.items():
            if fault in str(error):
                raise ValueError(f"{error} {remedy}") from None
        raise
    return values


def _as_objects(X: Any) -> Any:
    """Keep numpy from turning a list of numbers and text into text."""
    if not isinstance(X, (list, tuple)):
        return X
    rows = [row for row in X if isinstance(row, (list, tuple))]
    regular = len(rows) == len(X) and len({len(row) for row in rows}) == 1
    text = regular and any(isinstance(value, (str, bytes)) for row in rows for value in row)
    return np.array(X, dtype=object) if text else X


def native(values: NDArray[Any]) -> NDArray[Any]:
    """Return numbers in a type that the core and the comparisons support, without rounding."""
    if values.dtype in _NATIVE:
        return values
    whole = values.dtype.kind in "biu"
    converted = values.astype(values.dtype.newbyteorder("=") if whole else np.float64)
    if values.dtype.itemsize > 8 and not np.array_equal(converted, values, equal_nan=True):
        raise ValueError(
            f"X has type {values.dtype} and numbers that float64 cannot hold: convert it, "
            "X.astype(np.float64)."
        )
    return converted


def refuse_sizes(n_rows: int, n_columns: int) -> None:
    """Refuse a frame without rows or columns, in scikit-learn's words."""
    for count, what, remedy in (
        (n_rows, "sample(s)", "Pass at least one row."),
        (n_columns, "feature(s)", "Pass at least one column."),
    ):
        if count == 0:
            raise ValueError(
                f"Found array with 0 {what} (shape=({n_rows}, {n_columns})) while a minimum of 1 "
                f"is required. {remedy}"
            )
