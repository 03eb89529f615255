"""Reading X: from what the user passes to a plain array of finite numbers.

Whatever is wrong is reported with its row, its column by name, its value and a remedy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from maptree import _core

# Bytes of the table looked at together, so that checking takes no memory to speak of.
_BLOCK = 1 << 18

_NUMBERS_ONLY = (
    "maptree reads numbers and booleans in this release; columns of categories and dates come "
    "in another. Turn the column into numbers or into 0/1 columns first (pandas.get_dummies does)"
)
_NO_MISSING = (
    "missing values are not supported in this release. Fill it in or drop the row "
    "(sklearn.impute.SimpleImputer fills)"
)
# What scikit-learn says of a shape, and what to do about it.
_REMEDIES = {
    "Found array with dim": "Pass a table of rows and columns.",
    "0 sample(s)": "Pass at least one row.",
    "0 feature(s)": "Pass at least one column.",
}
_NATIVE = {np.dtype(kind) for kind in np.typecodes["AllInteger"] + "?fd"}


@dataclass(frozen=True)
class Table:
    """A numeric matrix, the names of its columns, and the memory taken to make it."""

    values: NDArray[Any]
    names: NDArray[np.object_] | None  # as in the user's data frame
    n_bytes: int  # 0 where values is the caller's own memory
    packed: _core.PackedTable | None = None  # where that was asked for and all values are 0 and 1

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.values.shape[1])

    def label(self, column: int) -> str:
        """Name a column in a message."""
        return f"column {column}" if self.names is None else f"column {self.names[column]!r}"


def read_table(owner: Any, X: Any, *, reset: bool, pack: bool = False) -> Table:
    """Validate X for an estimator; with ``reset`` as at fit, else against what it was fitted on.

    ``owner`` gets ``n_features_in_`` and ``feature_names_in_`` when reset, as scikit-learn does.
    With ``pack`` a matrix of 0 and 1 is packed on the way: the one look at it that this takes is
    the check of its values as well.
    """
    if issparse(X):
        raise TypeError(
            "X is a sparse matrix: sparse data is not supported. Pass X.toarray(), "
            "which the search packs into one bit per value."
        )
    if np.ma.is_masked(X):
        row, column = np.argwhere(np.ma.getmaskarray(X))[0]
        raise ValueError(f"X is masked at row {row}, column {column}: {_NO_MISSING}.")
    _refuse_other_types(X)
    try:
        values = validate_data(owner, X, reset=reset, dtype="numeric", ensure_all_finite=False)
    except ValueError as error:
        if "inhomogeneous" in str(error):
            raise ValueError(
                "The rows of X differ in length: pass a table with the same columns in every row."
            ) from None
        for fault, remedy in _REMEDIES.items():
            if fault in str(error):
                raise ValueError(f"{error} {remedy}") from None
        raise
    if values.dtype not in _NATIVE:
        values = values.astype(np.float64)
    held = 0 if np.may_share_memory(values, _memory_of(X)) else values.nbytes
    packed = _core.pack(values) if pack else None
    table = Table(values, getattr(owner, "feature_names_in_", None), held, packed)
    if packed is None:
        _refuse_not_finite(table)
    return table


def first_not_binary(values: NDArray[Any]) -> tuple[int, int] | None:
    """Return the row and column of the first value other than 0 and 1, or None.

    >>> first_not_binary(np.array([[0, 1], [1, 2]]))
    (1, 1)
    """
    if values.dtype == bool:
        return None
    for start, block in _row_blocks(values):
        bad = (block != 0) & (block != 1)
        if bad.any():
            row, column = np.argwhere(bad)[0]
            return start + int(row), int(column)
    return None


def _row_blocks(values: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
    step = max(1, _BLOCK // max(1, values.itemsize * values.shape[1]))
    for start in range(0, values.shape[0], step):
        yield start, values[start : start + step]


def _refuse_not_finite(table: Table) -> None:
    if table.values.dtype.kind != "f":
        return
    for start, block in _row_blocks(table.values):
        bad = ~np.isfinite(block)
        if not bad.any():
            continue
        row, column = (int(i) for i in np.argwhere(bad)[0])
        value = float(block[row, column])
        where = f"X has {_spell(value)} at row {start + row}, {table.label(column)}"
        if np.isnan(value):
            raise ValueError(f"{where}: {_NO_MISSING}.")
        raise ValueError(f"{where}: thresholds need finite numbers. Replace it or drop the row.")


def _spell(value: float) -> str:
    return "NaN" if np.isnan(value) else str(value)


def _refuse_other_types(X: Any) -> None:
    """Refuse what scikit-learn would coerce in silence or report without naming a column."""
    if hasattr(X, "dtypes") and hasattr(X, "columns") and hasattr(X, "iloc"):
        for position, name in enumerate(X.columns):
            dtype = X.dtypes.iloc[position]
            if str(dtype) == "category" or getattr(dtype, "kind", "O") in "USMmV":
                raise TypeError(f"X column {name!r} has type {dtype}: {_NUMBERS_ONLY}.")
            if getattr(dtype, "kind", "O") == "O":
                _refuse_objects(np.asarray(X.iloc[:, position], dtype=object), f"column {name!r}")
        return
    array = X if isinstance(X, np.ndarray) else None
    rows = X if isinstance(X, (list, tuple)) else ()
    if any(
        isinstance(v, (str, bytes)) for row in rows if isinstance(row, (list, tuple)) for v in row
    ):
        # As objects: numpy would turn a list of numbers and words into words.
        array = np.array(X, dtype=object)
    if array is None or array.ndim != 2:
        return
    if array.dtype.kind == "c":
        raise ValueError(
            "Complex data not supported: X has complex numbers. Pass the real and the imaginary "
            "parts as columns of their own."
        )
    if array.dtype.kind in "USMmV":
        raise TypeError(f"X has type {array.dtype}: {_NUMBERS_ONLY}.")
    if array.dtype.kind == "O":
        for column in range(array.shape[1]):
            _refuse_objects(array[:, column], f"column {column}")


def _refuse_objects(column: NDArray[np.object_], where: str) -> None:
    for row, value in enumerate(column):
        if value is None or isinstance(value, (Real, np.bool_, complex)):
            continue
        if str(value) in ("<NA>", "NaT", "nan"):
            raise ValueError(f"X has NaN at row {row}, {where}: {_NO_MISSING}.")
        # scikit-learn's checks look for "argument must be", "string" and "number", in this order.
        raise TypeError(
            f"X has {value!r} at row {row}, {where}: the argument must be free of strings and "
            f"whatever else is no number. {_NUMBERS_ONLY}."
        )


def _memory_of(X: Any) -> NDArray[Any]:
    """Return an array that shares X's memory if an array of all of X would."""
    if isinstance(X, np.ndarray):
        return X
    if hasattr(X, "iloc"):
        # A frame that holds one block of one type gives its own memory, any other a copy. One
        # row tells which, without making that copy a second time.
        return np.asarray(X.iloc[:1])
    return np.empty(0)
