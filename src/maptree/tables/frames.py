"""Data frames (pandas, polars, pyarrow), read through narwhals.

Imported only when something other than an array or a list is passed.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import InvalidOperation
from fractions import Fraction
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from maptree.tables.clock import UNITS
from maptree.tables.objects import find_missing, read_objects, read_times
from maptree.tables.parquet import ParquetTable
from maptree.tables.table import Matrix, Table, native, refuse_sizes
from maptree.tables.values import Categories, Values, none_if_empty, nothing

_KINDS: dict[type, str] = {
    nw.Boolean: "boolean",
    nw.String: "category",
    nw.Categorical: "category",
    nw.Enum: "ordered",
    nw.Date: "date",
    nw.Duration: "duration",
    nw.Time: "time",
}


class Frame(Table):
    """A data frame in memory; a column becomes an array when it is read."""

    borrowed = True

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        self.frame = frame
        self.n_rows, self.n_columns = frame.shape
        self._keys = frame.columns  # cached, because the frame builds the list each time

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
        frame = nw.from_native(X, pass_through=True)
    except DuplicateError as error:
        raise ValueError(f"Two columns of X have the same name: {error}. Rename one.") from None
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(f"X is a {type(X).__name__}, which is lazy: pass X.collect().")
    if not isinstance(frame, nw.DataFrame):
        return None
    if frame.implementation.is_pandas_like() and X.columns.nlevels > 1:
        return open_frame(owner, X.set_axis(_joined(X.columns), axis=1), reset=reset)
    refuse_sizes(*frame.shape)
    validate_data(owner, X, reset=reset, skip_check_array=True)
    if frame.implementation.is_pandas_like():
        block = _one_block(X)
        if block is not None:
            return Matrix(block, borrowed=len(X) > 1)
        # By position: names may be numbers or tuples.
        frame = nw.from_native(X.set_axis([f"x{j}" for j in range(X.shape[1])], axis=1))
    return Frame(frame)


def _joined(columns: Any) -> list[str]:
    """Return multi-level names as text, ``"price / max"``; empty levels are left out."""
    return [" / ".join(text for level in name if (text := str(level))) for name in columns]


def _one_block(X: Any) -> NDArray[Any] | None:
    """Return the memory of a pandas frame that holds numbers of one type in one block."""
    dtypes = set(X.dtypes)
    if len(dtypes) != 1 or not isinstance(dtype := dtypes.pop(), np.dtype):
        return None
    if dtype.kind not in "biuf" or dtype.itemsize > 8:
        return None
    # One row is enough to see whether an array of all columns would be a copy.
    whole, part = X.iloc[:1].to_numpy(), X.iloc[:1, 0].to_numpy()
    if not np.may_share_memory(whole, part) and len(X) > 1:
        return None
    values: NDArray[Any] = X.to_numpy()
    return values


# One column


def read_series(series: nw.Series[Any], where: str) -> Values:
    """Turn a column into values, without rounding; ``where`` names it in messages."""
    dtype, name = series.dtype, _native_type(series)
    missing = _find_missing(series)
    if missing is not None and missing.all():
        return nothing(len(missing), name)
    if dtype.is_integer() and dtype not in (nw.Int128, nw.UInt128):
        whole = series if missing is None else series.fill_null(0)
        return Values("number", name, whole.to_numpy(), missing)
    if dtype == nw.Boolean:
        flags = series if missing is None else series.fill_null(False)
        return Values("boolean", name, flags.to_numpy().astype(bool), missing)
    if dtype in (nw.Categorical, nw.Enum):
        return _read_categories(series, name)
    if dtype == nw.String:
        return replace(_read_text(series, name), text=True)
    if dtype == nw.Time:
        return _read_clock(series, name, missing)
    if dtype == nw.Decimal and _has_arrow():
        values = _read_decimals(_chunks(series), name, missing)
        if values is not None:
            return values
    if dtype in (nw.Binary, nw.List, nw.Struct, nw.Array):
        raise TypeError(
            f"X has type {name} in {where}: pass columns of strings, numbers, booleans, dates, "
            "times or durations."
        )
    if dtype in (nw.Int128, nw.UInt128):
        return read_objects(np.array(series.to_list(), dtype=object), name, where)
    data = series.to_numpy()
    if data.dtype.kind in "mM":
        return read_times(data, name, where, zone=getattr(dtype, "time_zone", None))
    if data.dtype.kind == "f":
        return Values("number", name, native(data))
    return read_objects(data.astype(object), name, where)


def _find_missing(series: nw.Series[Any]) -> NDArray[np.bool_] | None:
    """Return where values are missing; None: nowhere."""
    # pandas has to examine every value; the others know how many are missing.
    if not series.implementation.is_pandas_like() and series.null_count() == 0:
        return None
    try:
        missing = series.is_null().to_numpy().astype(bool)
    except InvalidOperation:  # pandas compares Decimals with themselves, and sNaN refuses that
        missing = find_missing(series.to_list())
    return none_if_empty(missing)


def kind_of_type(series: nw.Series[Any]) -> str | None:
    """Return the kind of a column if its type determines it; None: it has to be read."""
    dtype = series.dtype
    if dtype.is_numeric():
        return "number"
    if dtype == nw.String and _native_type(series) == "object":
        return None  # a guess from some of the objects
    return _KINDS.get(type(dtype))


def _native_type(series: nw.Series[Any]) -> str:
    column = series.to_native()
    return str(column.type if _is_arrow(series) else column.dtype)


def _is_arrow(series: nw.Series[Any]) -> bool:
    return bool(series.implementation.is_pyarrow())


def _has_arrow() -> bool:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return False
    return True


# Text and categories


def _read_text(series: nw.Series[Any], dtype: str) -> Values:
    if series.implementation.is_pandas_like():
        import pandas as pd

        codes, texts = pd.factorize(series.to_native())
        return _values(codes, Categories(len(texts), lambda a, b: texts[a:b].tolist()), dtype)
    if _has_arrow():
        return _from_dictionary(_whole(series.to_arrow()).dictionary_encode(), dtype)
    texts = series.drop_nulls().unique().to_list()
    numbers = series.replace_strict([*texts, None], [*range(len(texts)), -1], return_dtype=nw.Int32)
    return _values(numbers.to_numpy(), Categories.of(texts), dtype)


def _read_categories(series: nw.Series[Any], dtype: str) -> Values:
    ordered = series.dtype == nw.Enum
    if series.implementation.is_pandas_like():
        accessor = series.to_native().cat
        listed = accessor.categories
        categories = Categories(len(listed), lambda a, b: listed[a:b].tolist())
        return _values(accessor.codes.to_numpy(), categories, dtype, ordered)
    if _has_arrow():
        array = _whole(series.to_arrow())
        return _from_dictionary(array, dtype, ordered or array.type.ordered)
    values = _read_text(series.cast(nw.String), dtype)
    if not ordered:
        return values
    listed = list(getattr(series.dtype, "categories", ()))
    position = {category: i for i, category in enumerate(listed)}
    table = np.array([*(position[c] for c in values.categories), -1], dtype=np.int32)
    return _values(table[values.data], Categories.of(listed), dtype, ordered)


def _chunks(series: nw.Series[Any]) -> list[Any]:
    """Return the pieces of a column as arrow arrays."""
    array = series.to_arrow() if not _is_arrow(series) else series.to_native()
    return list(getattr(array, "chunks", [array]))


def _whole(array: Any) -> Any:
    """Return an arrow array in one piece."""
    return array.combine_chunks() if hasattr(array, "combine_chunks") else array


def _from_dictionary(array: Any, dtype: str, ordered: bool = False) -> Values:
    listed = array.dictionary
    if len(listed.unique()) < len(listed):
        array = array.dictionary_decode().dictionary_encode()
        listed = array.dictionary
    missing = array.is_null().to_numpy(zero_copy_only=False)
    codes = array.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int32)
    codes[missing] = -1
    categories = Categories(len(listed), lambda a, b: listed[a:b].to_pylist())
    if "float" in str(listed.type) or "double" in str(listed.type):
        nan = [i for i, category in enumerate(categories) if category != category]
        codes[np.isin(codes, nan)] = -1  # NaN is missing, not a category
    return _values(codes, categories, dtype, ordered)


def _values(
    codes: NDArray[Any], categories: Categories, dtype: str, ordered: bool = False
) -> Values:
    data = codes.astype(np.int32, copy=False)
    kind = "ordered" if ordered else "category"
    return Values(kind, dtype, data, none_if_empty(data < 0), categories=categories)


# Times and decimals, which would be slow or rounded as Python objects


def _read_clock(series: nw.Series[Any], dtype: str, missing: NDArray[np.bool_] | None) -> Values:
    if series.implementation.is_polars():
        whole = series.cast(nw.Int64).fill_null(0).to_numpy()
        return Values("time", dtype, whole, missing)
    import pyarrow as pa

    array = pa.chunked_array(_chunks(series))
    bits = pa.int32() if array.type.bit_width == 32 else pa.int64()
    whole = array.cast(bits).fill_null(0).to_numpy().astype(np.int64)
    return Values("time", dtype, whole, missing, Fraction(1, UNITS[array.type.unit]))


def _read_decimals(
    chunks: list[Any], dtype: str, missing: NDArray[np.bool_] | None
) -> Values | None:
    """Read decimals as whole numbers of their last place, if 64 bits hold them all."""
    kind = chunks[0].type
    if kind.bit_width != 128 or kind.scale < 0:
        return None
    pieces = [
        np.frombuffer(chunk.buffers()[1], dtype="<i8").reshape(-1, 2)[
            chunk.offset : chunk.offset + len(chunk)
        ]
        for chunk in chunks
        if len(chunk)
    ]
    halves = np.concatenate(pieces) if pieces else np.zeros((0, 2), dtype=np.int64)
    if missing is not None:
        halves[missing] = 0
    low, high = halves.T
    if (high != low >> 63).any():  # the upper half must only repeat the sign
        return None
    return Values("number", dtype, low, missing, Fraction(10) ** kind.scale)
