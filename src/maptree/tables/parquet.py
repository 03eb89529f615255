"""Parquet files larger than memory: one column is read at a time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from maptree.tables.table import Table
from maptree.tables.values import Values

if TYPE_CHECKING:
    import pyarrow


class ParquetTable(Table):
    """A Parquet file, or a folder of them, of which only the schema has been read.

    ``scan_parquet`` opens one. Pass it to ``fit`` or ``predict`` in place of a data frame: columns
    are read one by one and packed into bits, and predictions read only the columns that the tree
    tests.

    Attributes
    ----------
    columns : list of str
        The names.
    shape : tuple
        Number of rows and columns.
    """

    def __init__(self, dataset: Any, schema: Any, columns: Sequence[str], n_rows: int) -> None:
        self._dataset = dataset
        self._schema = schema  # of the file; text is read as a dictionary with codes
        self.columns = list(columns)
        self.n_rows = n_rows
        self.n_columns = len(self.columns)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return self.n_rows, self.n_columns

    def __len__(self) -> int:
        return self.n_rows

    def drop(self, *names: str) -> ParquetTable:
        """Return the table without some columns."""
        self._refuse_unknown(names)
        dropped = set(names)
        return self.select(*(name for name in self.columns if name not in dropped))

    def select(self, *names: str) -> ParquetTable:
        """Return the table with these columns only, in this order."""
        self._refuse_unknown(names)
        return ParquetTable(self._dataset, self._schema, names, self.n_rows)

    def __getitem__(self, name: str) -> pyarrow.ChunkedArray:
        """Read one column, such as that of the labels."""
        self._refuse_unknown([name])
        return self._load(name)

    def _load(self, name: str) -> pyarrow.ChunkedArray:
        # Few batches at a time: reading ahead takes memory, too.
        options = {"batch_readahead": 2, "fragment_readahead": 1}
        return self._dataset.to_table(columns=[name], **options).column(0)

    def _refuse_unknown(self, names: Sequence[str]) -> None:
        known = set(self.columns)
        unknown = [name for name in names if name not in known]
        if unknown:
            listed = ", ".join(map(repr, unknown))
            raise KeyError(
                f"no column is named {listed}; the columns are {', '.join(self.columns)}"
            )

    def read(self, column: int) -> Values:
        import narwhals.stable.v2 as nw
        import pyarrow

        from maptree.tables.frames import read_series

        name = self.columns[column]
        series = nw.from_native(self._load(name), series_only=True)
        values = read_series(series, self.label(column))
        del series
        pyarrow.default_memory_pool().release_unused()  # otherwise it keeps a few columns' worth
        # Text is read as a dictionary, too.
        kind = self._schema.field(name).type
        text = pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind)
        return replace(values, dtype=str(kind), text=text and values.kind == "category")

    def kind(self, column: int) -> str | None:
        import narwhals.stable.v2 as nw
        import pyarrow

        from maptree.tables.frames import kind_of_type

        empty = pyarrow.chunked_array([], type=self._schema.field(self.columns[column]).type)
        return kind_of_type(nw.from_native(empty, series_only=True))

    def empty_frame(self) -> pyarrow.Table:
        """Return a frame with these columns and no rows."""
        return self._schema.empty_table().select(self.columns)

    def copy(self) -> ParquetTable:
        """Return the same table, for a reader that refers to columns by name."""
        return self.select(*self.columns)

    def __repr__(self) -> str:
        return f"ParquetTable({self.n_rows:,} rows, {self.n_columns:,} columns)"


def scan_parquet(path: str | os.PathLike[str]) -> ParquetTable:
    r"""Open a Parquet file, or a folder of them, without reading the rows. Needs pyarrow.

    >>> import tempfile, pathlib
    >>> import pyarrow as pa, pyarrow.parquet
    >>> from maptree import MAPTreeClassifier, scan_parquet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "people.parquet")
    ...     ages, members = [30, 40, 50, 60] * 5, ["no", "no", "yes", "yes"] * 5
    ...     pa.parquet.write_table(pa.table({"age": ages, "member": members}), path)
    ...     table = scan_parquet(path)
    ...     model = MAPTreeClassifier().fit(table.drop("member"), table["member"])
    >>> print(*model.rules(), sep="\n")
    age <= 45  ->  no 0.83 [0.62, 0.97], n = 10
    age > 45  ->  yes 0.83 [0.62, 0.97], n = 10
    """
    try:
        import pyarrow as pa
        import pyarrow.dataset as ds
    except ImportError:
        raise ImportError("Reading Parquet files needs pyarrow: pip install pyarrow.") from None
    schema = ds.dataset(path, format="parquet").schema
    # Text is stored as a dictionary with codes, and only the codes are needed.
    text = {
        f.name for f in schema if pa.types.is_string(f.type) or pa.types.is_large_string(f.type)
    }
    opened = ds.dataset(path, format=ds.ParquetFileFormat(dictionary_columns=text))
    return ParquetTable(opened, schema, schema.names, opened.count_rows())
