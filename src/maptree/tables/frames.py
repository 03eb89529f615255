"""Data frames of pandas, polars and pyarrow, read through narwhals.

Imported only when something other than an array or a list is passed.
"""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from sklearn.utils.validation import validate_data

from maptree.tables.parquet import ParquetTable
from maptree.tables.series import kind_of_type, read_series
from maptree.tables.table import Matrix, Table, refuse_sizes
from maptree.tables.values import Values


class Frame(Table):
    """A data frame in memory; a column becomes an array when it is read."""

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        self.frame = frame
        self.n_rows, self.n_columns = frame.shape
        self._keys = frame.columns  # kept, for the frame would list all of them each time

    def read(self, column: int) -> Values:
        return read_series(self._series(column), self.label(column))

    def kind(self, column: int) -> str | None:
        return kind_of_type(self._series(column))

    def _series(self, column: int) -> nw.Series[Any]:
        return self.frame.get_column(self._keys[column])


def open_frame(owner: Any, X: Any, *, reset: bool) -> Table | None:
    """Return a data frame as a table, or None if X is something else.

    Sets or checks ``n_features_in_`` and ``feature_names_in_`` of the owner, as scikit-learn does.
    """
    if isinstance(X, ParquetTable):  # a file, whose columns are read when they are needed
        validate_data(owner, X.empty_frame(), reset=reset, skip_check_array=True)
        refuse_sizes(X.n_rows, X.n_columns)
        return X.copy()
    try:
        native = nw.from_native(X, pass_through=True)
    except DuplicateError as error:
        raise ValueError(f"Two columns of X have one name: {error}. Rename one.") from None
    if isinstance(native, nw.LazyFrame):
        raise TypeError(f"X is a {type(X).__name__}, which is not computed yet: pass X.collect().")
    if not isinstance(native, nw.DataFrame):
        return None
    if native.implementation.is_pandas_like() and X.columns.nlevels > 1:
        return open_frame(owner, X.set_axis(_joined(X.columns), axis=1), reset=reset)
    refuse_sizes(*native.shape)
    validate_data(owner, X, reset=reset, skip_check_array=True)
    if native.implementation.is_pandas_like():
        block = _one_block(X)
        if block is not None:
            return Matrix(block)
        # By position: names may be numbers or tuples.
        native = nw.from_native(X.set_axis([f"x{j}" for j in range(X.shape[1])], axis=1))
    return Frame(native)


def _joined(columns: Any) -> list[str]:
    """Return names of several levels as text, ``"price / max"``; empty levels are left out."""
    return [" / ".join(text for level in name if (text := str(level))) for name in columns]


def _one_block(X: Any) -> np.ndarray[Any, Any] | None:
    """Return the memory of a pandas frame that holds numbers of one type in one block."""
    dtypes = set(X.dtypes)
    if len(dtypes) != 1 or not isinstance(dtype := dtypes.pop(), np.dtype):
        return None
    if dtype.kind not in "biuf" or dtype.itemsize > 8:
        return None
    # One row tells whether an array of all of them is a copy, without making that copy.
    whole, part = X.iloc[:1].to_numpy(), X.iloc[:1, 0].to_numpy()
    if not np.may_share_memory(whole, part) and len(X) > 1:
        return None
    values: np.ndarray[Any, Any] = X.to_numpy()
    return values
