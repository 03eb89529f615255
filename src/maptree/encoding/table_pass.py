"""One pass over the columns of a table: the tests of each are chosen, and answered if wanted."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from maptree.encoding.asking import ask
from maptree.encoding.choosing import Most, Rows, choose_column
from maptree.encoding.schema import Column
from maptree.tables.binary import is_binary
from maptree.tables.table import Table
from maptree.tables.values import Values


class TablePass:
    """The tests of a table's columns, and their packed answers if these are wanted."""

    def __init__(self, table: Table, rows: Rows, most: Most, pack: bool) -> None:
        self.table = table
        self.rows = rows
        self.most = most
        self.pack = pack
        self.columns: list[Column] = []
        self.packed: list[NDArray[np.uint8]] = []  # of each column
        self.binary = True  # all columns so far are 0/1

    @property
    def schema(self) -> tuple[Column, ...]:
        """The columns with their tests."""
        return tuple(self.columns)

    def run(self, deadline: float = np.inf) -> None:
        """Read the columns one after the other, until time is out."""
        for j in range(self.table.n_columns):
            name = column_name(self.table, j)
            if j > 0 and time.perf_counter() > deadline:
                self._leave_binary()
                note = "no time to read it: no test"
                self.columns.append(Column(name, "unread", "", note=note))
                continue
            values = self.table.read(j)
            if self.binary and not is_binary(values):
                self._leave_binary()
            if self.binary:
                column = binary_column(name, values)
            else:
                column = choose_column(name, values, self.rows, self.most)
            self._append(column, values, self.table.label(j))

    def _append(self, column: Column, values: Values, where: str) -> None:
        self.columns.append(column)
        if self.pack and column.tests:
            self.packed.append(ask(column, values, where).pack())
        elif self.pack:
            self.packed.append(np.empty((0, -(-len(values) // 8)), dtype=np.uint8))

    def _leave_binary(self) -> None:
        """Take back the tests of constant columns, which only a table of 0 and 1 has."""
        if not self.binary:
            return
        self.binary = False
        for j, column in enumerate(self.columns):
            values = self.table.read(j)
            self.columns[j] = choose_column(column.name, values, self.rows, self.most)
            if self.pack and not self.columns[j].tests:
                self.packed[j] = self.packed[j][:0]


def column_name(table: Table, column: int) -> str:
    """Return the name of a column, or x0, x1, ... where the table has no names."""
    return f"x{column}" if table.names is None else str(table.names[column])


def binary_column(name: str, values: Values) -> Column:
    """Return a column of a 0/1 table: one test, whatever its values."""
    flags = values.kind == "boolean"
    return Column(name, "boolean", values.dtype, categories=(False, True) if flags else (0, 1))


def binary_schema(table: Table) -> tuple[Column, ...]:
    """Return the columns of a table that is 0/1 throughout."""
    return tuple(
        binary_column(column_name(table, j), table.read(j)) for j in range(table.n_columns)
    )
