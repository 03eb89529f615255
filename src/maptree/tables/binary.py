"""All-0/1 tables, which need no encoding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from maptree import _core
from maptree.tables.row_hashes import RowHashes
from maptree.tables.sparse import SparseMatrix
from maptree.tables.table import Matrix, Table
from maptree.tables.values import Values

NOT_BINARY = (
    'with encoder=None every value must be 0 or 1. Pass encoder="auto" to turn columns into tests.'
)

# Bytes of the table checked at a time, so that checking takes almost no memory.
_BLOCK = 1 << 18


def first_not_binary(values: NDArray[Any], missing: bool = False) -> tuple[int, int] | None:
    """Return the row and column of the first value other than 0 and 1, or None.

    With ``missing``, NaN is allowed.

    >>> first_not_binary(np.array([[0, 1], [1, 2]]))
    (1, 1)
    """
    if values.dtype == bool:
        return None
    step = max(1, _BLOCK // max(1, values.itemsize * values.shape[1]))
    for start in range(0, values.shape[0], step):
        block = values[start : start + step]
        bad = (block != 0) & (block != 1)
        if missing:
            bad &= block == block
        if bad.any():
            row, column = np.argwhere(bad)[0]
            return start + int(row), int(column)
    return None


def is_binary_matrix(table: Table) -> TypeGuard[Matrix | SparseMatrix]:
    """Return whether a table is a matrix that is all 0/1."""
    if isinstance(table, SparseMatrix):
        return table.first_not_binary() is None
    return (
        isinstance(table, Matrix)
        and table.masked is None
        and first_not_binary(table.values) is None
    )


def pack_matrix(table: Table) -> _core.PackedTable | None:
    """Pack a matrix that is all 0/1; None if the table is anything else."""
    return table.pack() if isinstance(table, (Matrix, SparseMatrix)) else None


def is_binary(values: Values) -> bool:
    """Return whether a column is booleans, or numbers 0 and 1, without missing values."""
    return _first_bad(values, missing=False) is None


def _first_bad(values: Values, missing: bool) -> int | None:
    """Return the first row that is neither 0 nor 1, nor missing if that is allowed."""
    mask = values.missing
    if values.kind not in ("number", "boolean", "nothing"):
        return 0 if mask is None or mask.all() else int(np.argmin(mask))
    for start in range(0, len(values), _BLOCK):
        block = values.data[start : start + _BLOCK]
        bad = (block != 0) & (block != int(values.per_unit))
        if missing:
            bad &= block == block
        if mask is not None:
            absent = mask[start : start + _BLOCK]
            bad = bad & ~absent if missing else bad | absent
        if bad.any():
            return start + int(np.argmax(bad))
    return None


def refuse_not_binary(
    table: Table, why: str, missing: bool = False, columns: Sequence[int] | None = None
) -> None:
    """Refuse a table that is not all 0/1; with ``missing``, missing values are allowed.

    Where only some of the columns matter, these are ``columns``.
    """
    if columns is None and isinstance(table, Matrix) and table.masked is None:
        bad = first_not_binary(table.values, missing)
        if bad is not None:
            value = table.values[bad]
            shown = "NaN" if value != value else str(value)
            raise ValueError(f"X has {shown} at row {bad[0]}, {table.label(bad[1])}: {why}")
        return
    if columns is None and isinstance(table, SparseMatrix):
        found = table.first_not_binary(missing)
        columns = [] if found is None else [found[1]]
    for column in _some(table, columns):
        values = table.read(column)
        row = _first_bad(values, missing)
        if row is not None:
            shown = _show(values, row)
            raise ValueError(f"X has {shown} at row {row}, {table.label(column)}: {why}")


def _show(values: Values, row: int) -> str:
    if values.missing is not None and values.missing[row]:
        return "a missing value"
    if len(values.categories):
        return repr(values.categories[int(values.data[row])])
    if values.kind == "number":
        value = values.data[row] if values.per_unit == 1 else values.data[row] / values.per_unit
        return "NaN" if value != value else str(value)
    return f"values of type {values.dtype}"


def pack_columns(n_rows: int, columns: list[NDArray[np.uint8]]) -> _core.PackedTable:
    """Move packed columns into one table; this empties the list, to free memory."""
    packed = _core.PackedTable(n_rows, sum(map(len, columns)))
    first = packed.n_columns
    while columns:
        last = columns.pop()
        first -= len(last)
        packed.write(first, last)
    return packed


def binary_columns(
    table: Table, columns: Sequence[int] | None = None
) -> Iterator[NDArray[np.uint8]]:
    """Pack the columns of a table that is known to be all 0/1, or some of them, one by one."""
    for column in _some(table, columns):
        values = table.read(column)
        answers = (values.data == int(values.per_unit)) & ~values.is_missing()
        yield np.packbits(answers, bitorder="little")[np.newaxis]


def pack_binary(table: Table, columns: Sequence[int] | None = None) -> _core.PackedTable:
    """Pack a table that must be all 0/1, or some of its columns, which must be."""
    packed = pack_matrix(table) if columns is None else None
    if packed is None:
        refuse_not_binary(table, NOT_BINARY, columns=columns)
        packed = pack_columns(table.n_rows, list(binary_columns(table, columns)))
    return packed


def add_binary_table(hashes: RowHashes, table: Table, columns: Sequence[int] | None = None) -> None:
    """Add columns of a table that are known to be 0/1, all or some, to the hashes of its rows."""
    if columns is None and isinstance(table, Matrix) and table.masked is None:
        hashes.add_binary(table.values)
        return
    if columns is None and isinstance(table, SparseMatrix):
        table.add_to(hashes)
        return
    for column in _some(table, columns):
        hashes.add(column, table.read(column))


def _some(table: Table, columns: Sequence[int] | None) -> Sequence[int]:
    return range(table.n_columns) if columns is None else columns
