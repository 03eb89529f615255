"""Sparse matrices: columns are filled in one by one, or some of them at a time, never all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maptree import _core
from maptree.tables.row_hashes import RowHashes
from maptree.tables.table import Table, native
from maptree.tables.values import Values

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

# Answers that are unpacked at a time, in bytes, and entries that are hashed at a time.
_BLOCK, _ENTRIES = 1 << 24, 1 << 18


class SparseMatrix(Table):
    """A sparse matrix of numbers or booleans, by columns; what is not stored is 0."""

    def __init__(self, matrix: csc_matrix) -> None:
        if not matrix.has_canonical_format:  # entries may be stored in parts
            matrix = matrix.copy()
            matrix.sum_duplicates()
        self.entries = native(matrix.data)
        self._rows = matrix.indices
        self._first = matrix.indptr
        self.n_rows, self.n_columns = matrix.shape

    def read(self, column: int) -> Values:
        here = slice(self._first[column], self._first[column + 1])
        data = np.zeros(self.n_rows, dtype=self.entries.dtype)
        data[self._rows[here]] = self.entries[here]
        return Values(self.kind(column), str(data.dtype), data)

    def kind(self, column: int) -> str:
        return "boolean" if self.entries.dtype.kind == "b" else "number"

    def first_not_binary(self, missing: bool = False) -> tuple[int, int] | None:
        """Return the row and column of a value other than 0 and 1, or None."""
        for start in range(0, len(self.entries), _BLOCK):
            block = self.entries[start : start + _BLOCK]
            bad = (block != 0) & (block != 1)
            if missing:
                bad &= block == block
            if bad.any():
                place = start + int(np.argmax(bad))
                return int(self._rows[place]), self._columns(slice(place, place + 1))[0]
        return None

    def value(self, row: int, column: int) -> Any:
        """Return one value."""
        return self.read(column).data[row]

    def pack(self) -> _core.PackedTable | None:
        """Pack an all-0/1 matrix, some columns at a time; None if it is not."""
        if self.first_not_binary() is not None:
            return None
        packed = _core.PackedTable(self.n_rows, self.n_columns)
        step = max(1, _BLOCK // self.n_rows)
        for first in range(0, self.n_columns, step):
            last = min(first + step, self.n_columns)
            here = slice(self._first[first], self._first[last])
            answers = np.zeros((last - first, self.n_rows), dtype=bool)
            answers[self._columns(here) - first, self._rows[here]] = self.entries[here] != 0
            packed.write(first, np.packbits(answers, axis=1, bitorder="little"))
        return packed

    def add_to(self, hashes: RowHashes) -> None:
        """Add all columns of an all-0/1 matrix to the hashes of its rows."""
        hashes.add_zeros(self.n_columns)
        for start in range(0, len(self.entries), _ENTRIES):
            here = slice(start, min(start + _ENTRIES, len(self.entries)))
            ones = self.entries[here] != 0
            if not hashes.add_ones(self._rows[here][ones], self._columns(here)[ones]):
                return

    def _columns(self, entries: slice) -> NDArray[np.intp]:
        """Return the columns of some entries."""
        places = np.arange(entries.start, entries.stop)
        return np.searchsorted(self._first, places, side="right") - 1
