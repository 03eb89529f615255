"""Parquet files that need not fit into memory: one column is read at a time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from maptree.table import Table
from maptree.values import Values

if TYPE_CHECKING:
    import pyarrow


class ParquetTable(Table):
    """A Parquet file, or a folder of them, of which only the schema has been read.

    Pass it to ``fit`` or ``predict`` in place of a data frame: columns are read one after the
    other and turned into bits, and predictions read only the columns that the tree asks about.

    >>> table = scan_parquet("people.parquet")  # doctest: +SKIP
    >>> model = MAPTreeClassifier()  # doctest: +SKIP
    >>> model.fit(table.drop("income", "id"), table["income"])  # doctest: +SKIP
    """

    def __init__(self, dataset: Any, columns: Sequence[str]) -> None:
        self._dataset = dataset
        self.columns = list(columns)
        self.n_rows = dataset.count_rows()
        self.n_columns = len(self.columns)
        self._texts = {
            field.name: str(field.type) for field in dataset.schema if field.name in self.columns
        }

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return self.n_rows, self.n_columns

    def __len__(self) -> int:
        return self.n_rows

    def drop(self, *names: str) -> ParquetTable:
        """Return the table without some columns."""
        self._refuse_unknown(names)
        return ParquetTable(self._dataset, [name for name in self.columns if name not in names])

    def select(self, *names: str) -> ParquetTable:
        """Return the table with these columns only, in this order."""
        self._refuse_unknown(names)
        return ParquetTable(self._dataset, names)

    def __getitem__(self, name: str) -> pyarrow.ChunkedArray:
        """Read one column, such as that of the labels."""
        self._refuse_unknown([name])
        return self._dataset.to_table(columns=[name]).column(0)

    def _refuse_unknown(self, names: Sequence[str]) -> None:
        unknown = [name for name in names if name not in self.columns]
        if unknown:
            raise KeyError(f"no column is named {', '.join(map(repr, unknown))}: {self.columns}")

    def read(self, column: int) -> Values:
        import narwhals.stable.v2 as nw

        from maptree.series import read_series

        array = self[self.columns[column]]
        return read_series(nw.from_native(array, series_only=True), self.label(column))

    def kind(self, column: int) -> str | None:
        import narwhals.stable.v2 as nw

        from maptree.series import kind_of_type

        empty = self.empty_frame().column(column)
        return kind_of_type(nw.from_native(empty, series_only=True))

    def empty_frame(self) -> pyarrow.Table:
        """Return a frame with these columns and no rows."""
        return self._dataset.schema.empty_table().select(self.columns)

    def renewed(self) -> ParquetTable:
        """Return the same table, to be named as its reader names it."""
        return ParquetTable(self._dataset, self.columns)

    def __repr__(self) -> str:
        return f"ParquetTable({self.n_rows:,} rows, {self.n_columns} columns)"


def scan_parquet(path: str | os.PathLike[str]) -> ParquetTable:
    """Open a Parquet file, or a folder of them, without reading the rows. Needs pyarrow.

    >>> import tempfile, pathlib
    >>> import pyarrow as pa, pyarrow.parquet
    >>> from maptree import MAPTreeClassifier, scan_parquet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "people.parquet")
    ...     ages, members = [30, 40, 50, 60] * 5, ["no", "no", "yes", "yes"] * 5
    ...     pa.parquet.write_table(pa.table({"age": ages, "member": members}), path)
    ...     table = scan_parquet(path)
    ...     model = MAPTreeClassifier().fit(table.drop("member"), table["member"])
    >>> print(*model.rules(), sep="\\n")
    age <= 45  ->  no 0.83 [0.62, 0.97], n = 10
    age > 45  ->  yes 0.83 [0.62, 0.97], n = 10
    """
    try:
        import pyarrow.dataset as dataset
    except ImportError:
        raise ImportError("Reading Parquet files needs pyarrow: pip install pyarrow.") from None
    opened = dataset.dataset(path, format="parquet")
    return ParquetTable(opened, opened.schema.names)
