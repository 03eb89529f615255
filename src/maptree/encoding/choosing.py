"""Which tests a column gets, and one pass over a table that chooses the tests of every column."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maptree.encoding.category_sets import in_sets
from maptree.encoding.prepared_columns import add_column, prepare
from maptree.encoding.thresholds import ChosenThresholds, choose_thresholds
from maptree.parameters.numbers import bad_value
from maptree.schema.columns import BinaryColumns, Column, EncoderParameters
from maptree.schema.kept_thresholds import FEW_THRESHOLDS
from maptree.schema.placing import EveryThreshold, ReadAgain, digest_of
from maptree.tables.binary import is_binary
from maptree.tables.clock import is_zone
from maptree.tables.deadline import OutOfTimeError, until
from maptree.tables.labels import Codes
from maptree.tables.row_hashes import RowHashes
from maptree.tables.table import Table
from maptree.tables.values import Category, Values
from maptree.tables.writing import Reading, read_text
from maptree.trees.outcomes import Amounts
from maptree.words.values import category_text

# Text is taken for an identifier if it has more distinct values than this, and more than one for
# every two rows: a test for one value would single out a row or two.
_FEW_CATEGORIES = 10
# The answers to all thresholds of a table may take this many bytes, packed.
_MOST_PACKED = 1 << 31
# How many values of an identifier are examined to see whether they read as numbers.
_SAMPLE = 100


# For each row, the rank of its value among those of a column.
Ranks = NDArray[np.uint32]


@dataclass(frozen=True)
class Rows:
    """What is known about the rows: class numbers, and how often each counts; None: once.

    Numbers and counts have amounts in place of class numbers.
    """

    codes: Codes | None = None
    weights: NDArray[np.int64] | None = None
    amounts: Amounts | None = None

    @property
    def counted(self) -> NDArray[np.bool_] | None:
        """The rows that count; None: all of them."""
        return None if self.weights is None or self.weights.all() else self.weights > 0

    def keep(self, mask: NDArray[np.bool_] | None) -> Rows:
        """Return some of the rows; None: all of them."""
        if mask is None:
            return self
        return Rows(
            None if self.codes is None else self.codes[mask],
            None if self.weights is None else self.weights[mask],
            None if self.amounts is None else self.amounts.keep(mask),
        )


# A table of so few tests, thresholds and others, is proved sooner from packed answers, which are
# counted for all pairs of tests at once (docs/design/encoding.md).
FEW_TESTS = 256


class TablePass:
    """The tests of a table's columns, and with ``pack`` their packed answers.

    Where columns have all their thresholds, ``ranks`` gets the ranks of their values, by column, in
    place of packed answers: the answer to threshold t of a column is whether the rank is at most t.
    Missing values have the highest rank. A table of few tests gets packed answers only.
    """

    def __init__(
        self,
        table: Table,
        rows: Rows,
        parameters: EncoderParameters,
        pack: bool,
        hashes: RowHashes | None = None,
        unused: Collection[int] = (),
        ranks: dict[int, Ranks] | None = None,
    ) -> None:
        self.table = table
        self.rows = rows
        self.parameters = parameters
        self.pack = pack
        self.hashes = hashes  # of the rows
        self.unused = unused  # columns that get no test, unread
        self.ranks = ranks
        self.columns: list[Column] = []
        self.packed: list[NDArray[np.uint8]] = []  # per column
        self.binary = True  # all columns so far are 0/1
        self._has_read = False  # any column
        self._seconds = 0.0  # for choosing and packing tests

    @property
    def schema(self) -> tuple[Column, ...]:
        """The columns with their tests."""
        return tuple(self.columns)

    def run(self, deadline: float = np.inf) -> None:
        """Read the columns one by one until the deadline.

        After that the core takes the table apart, for half as long as choosing and packing tests
        took. Where the values are Python objects, reading takes longer, but this does not.
        """
        for j in range(self.table.n_columns):
            name = column_name(self.table, j)
            if j in self.unused:
                self._append_unused(name)
                continue
            last = deadline - self._seconds / 2
            if self._has_read and time.perf_counter() > last:
                self._leave_unread(name)
                continue
            self._has_read = True
            try:
                with until(last):
                    self._read(j, name)
            except OutOfTimeError:
                del self.columns[j:], self.packed[j:]
                if self.ranks is not None:
                    self.ranks.pop(j, None)
                if self.hashes is not None:
                    self.hashes.complete = False
                self._leave_unread(name)
        if self.ranks and sum(len(column.tests) for column in self.columns) <= FEW_TESTS:
            self._pack_ranks(self.ranks)

    def _pack_ranks(self, ranks: dict[int, Ranks]) -> None:
        for j in list(ranks):
            of_rows, column = ranks.pop(j), self.columns[j]
            answers = [of_rows <= t for t in range(len(column.tests))]
            if column.has_missing:
                answers[-1] = ~answers[-1]  # the last test asks whether there is no value
            self.packed[j] = np.array([np.packbits(one, bitorder="little") for one in answers])

    def _read(self, j: int, name: str) -> None:
        values = self.table.read(j)
        if self.binary and not is_binary(values):
            self._leave_binary()
        reading = Reading(values) if self.binary else self._read_text(values)
        values = reading.values
        begun = time.perf_counter()
        if self.binary:
            column = binary_column(name, values)
        else:
            column, ranks = choose_with_ranks(name, values, self.rows, self.parameters)
            column = with_reading(column, reading)
            # One test is one bit a row; a rank takes 32.
            if self.ranks is not None and ranks is not None and len(column.tests) > 1:
                self.ranks[j] = ranks
                column = self._without_values(j, column, values)
        self._append(column, values, self.table.label(j))
        self._seconds += time.perf_counter() - begun

    def _without_values(self, j: int, column: Column, values: Values) -> Column:
        """Let the values of many thresholds go, where those of the tree can be read again."""
        table, every = self.table, column.thresholds
        if (
            not table.borrowed
            or self.rows.counted is not None  # the values of other rows have no thresholds
            or not isinstance(every, EveryThreshold)
            or len(every) <= FEW_THRESHOLDS
            or values.kind != "number"
            or values.per_unit != 1
            or values.data.dtype.kind not in "iuf"
        ):
            return column
        digest = digest_of(values.data)
        later = ReadAgain(lambda: table.read(j).data, len(every), every.as_floats, digest)
        return replace(column, thresholds=later)

    def _append_unused(self, name: str) -> None:
        self.columns.append(Column.unused(name))
        if self.pack:
            self.packed.append(no_answers(self.table.n_rows))

    def _leave_unread(self, name: str) -> None:
        self._leave_binary()
        note = "not read before the time limit: no test"
        self.columns.append(Column(name, "unread", "", note=note))

    def _read_text(self, values: Values) -> Reading:
        if not values.text:
            return Reading(values)
        return read_text(values, self.rows.counted, self.parameters.text)

    def _append(self, column: Column, values: Values, where: str) -> None:
        self.columns.append(column)
        if self.hashes is not None:
            add_column(self.hashes, len(self.columns) - 1, column, values)
        ranked = self.ranks is not None and len(self.columns) - 1 in self.ranks
        if self.pack and column.tests and not ranked:
            self._refuse_many(column)
            self.packed.append(prepare(column, values, where).pack())
        elif self.pack:
            self.packed.append(no_answers(len(values)))

    def _refuse_many(self, column: Column) -> None:
        """Refuse to pack the answers to very many thresholds."""
        n_tests = sum(map(len, self.packed)) + len(column.tests)
        n_bytes = n_tests * -(-self.table.n_rows // 8)
        if self.parameters.max_thresholds is None and n_bytes > _MOST_PACKED:
            fault = f"gives the columns up to {column.name!r} {n_tests:,} tests, whose answers"
            raise bad_value(
                "max_thresholds",
                None,
                f"{fault} would take {n_bytes / 2**30:,.1f} GiB",
                "pass a number, such as 256; MAPTreeClassifier takes all thresholds",
            )

    def _leave_binary(self) -> None:
        """Remove the tests of constant columns, which only an all-0/1 table keeps."""
        if not self.binary:
            return
        self.binary = False
        with until(np.inf):  # all of them, or the table would have columns of both kinds
            for j, column in enumerate(self.columns):
                if column.kind == "unused":
                    continue
                values = self.table.read(j)
                self.columns[j] = choose_column(column.name, values, self.rows, self.parameters)
                if self.columns[j].tests:
                    continue
                if self.pack:
                    self.packed[j] = self.packed[j][:0]
                if self.hashes is not None:
                    self.hashes.remove(j, values)


def no_answers(n_rows: int) -> NDArray[np.uint8]:
    """Return the packed answers of a column without tests."""
    return np.empty((0, -(-n_rows // 8)), dtype=np.uint8)


def column_name(table: Table, column: int) -> str:
    """Return the name of a column, or x0, x1, ... where the table has no names."""
    return f"x{column}" if table.names is None else str(table.names[column])


# Columns of a 0/1 table


def binary_schema(table: Table) -> BinaryColumns:
    """Return the columns of an all-0/1 matrix."""
    values = table.read(0)
    flags = values.kind == "boolean"
    return BinaryColumns(table.n_columns, table.names, values.dtype, flags=flags)


def binary_column(name: str, values: Values) -> Column:
    """Return a column of a 0/1 table: one test, whatever its values."""
    flags = values.kind == "boolean"
    return Column(name, "boolean", values.dtype, categories=(False, True) if flags else (0, 1))


# Columns of any other table


def choose_column(name: str, values: Values, rows: Rows, parameters: EncoderParameters) -> Column:
    """Choose the tests of a column.

    >>> values = Values("number", "int64", np.array([30, 45, 46]))
    >>> rows = Rows(np.array([0, 0, 1], np.uint8))
    >>> choose_column("age", values, rows, EncoderParameters()).thresholds
    (45.5,)
    """
    return choose_with_ranks(name, values, rows, parameters)[0]


def choose_with_ranks(
    name: str, values: Values, rows: Rows, parameters: EncoderParameters
) -> tuple[Column, Ranks | None]:
    """Choose the tests of a column; where these are all thresholds, return the ranks of the rows.

    >>> values = Values("number", "float64", np.array([30, np.nan, 45, 46]))
    >>> choose_with_ranks("age", values, Rows(), EncoderParameters(max_thresholds=None))[1]
    array([0, 3, 1, 2], dtype=uint32)
    """
    counted = rows.counted
    present = values.present(counted)
    n_counted = len(values) if counted is None else int(np.count_nonzero(counted))
    n_present = len(values) if present is None else int(np.count_nonzero(present))
    # A zone without a portable name, such as tzlocal(), is written as UTC.
    zone = values.zone if values.zone is None or is_zone(values.zone) else "UTC"
    column = Column(name, values.kind, values.dtype, zone=zone)
    if n_present == 0:
        note = "every value is missing: no test"
        return replace(column, kind="constant", zone=None, note=note), None
    column = replace(column, has_missing=n_present < n_counted)
    kept, rows = values.keep(present), rows.keep(present)
    if values.kind == "category":
        chosen = choose_categories(kept, rows.weights, parameters.max_categories)
        # Sets are for columns where some categories would have no test.
        many = chosen.n_seen > parameters.max_categories and not chosen.identifier
        found = None
        outcome = rows.codes if rows.amounts is None else rows.amounts
        if many and parameters.category_sets and outcome is not None:
            found = in_sets(kept, outcome, rows.weights)
        if found is None:
            return _with_categories(column, chosen), None
        kept = found.values
        column = replace(column, kind="sets", unknown=found.unknown)
        what = f"{chosen.n_seen:,} categories, tested in sets"
        learnt = "labels" if rows.amounts is None else rows.amounts.outcome.name
        in_groups = f"{what} of {found.n_groups:,} groups learnt from the {learnt}"
    if values.kind == "boolean":
        if kept.data.all() or not kept.data.any():
            return _constant(column, str(bool(kept.data[0]))), None
        return replace(column, categories=(False, True)), None
    thresholds = choose_thresholds(kept, rows.codes, rows.weights, parameters.max_thresholds)
    column = _with_thresholds(column, thresholds)
    if column.kind == "sets":
        column = replace(column, note="; ".join(filter(None, (in_groups, column.note))))
    if thresholds.ranks is None or present is None:
        return column, thresholds.ranks
    # The highest rank, which is that of missing values; rows that do not count may have any.
    ranks = np.full(len(values), len(column.tests), dtype=np.uint32)
    ranks[present] = thresholds.ranks
    return column, ranks


def with_reading(column: Column, reading: Reading) -> Column:
    """Return a column with how its text was read."""
    note = "; ".join(filter(None, (reading.note, column.note)))
    # A constant needs no reading: it has no test, or one for missing values.
    tested = len(column.tests) > column.has_missing
    return replace(column, note=note, writing=reading.writing if tested else None)


def _with_categories(column: Column, chosen: ChosenCategories) -> Column:
    if len(chosen.categories) == 1 and chosen.n_seen == 1:
        return _constant(column, category_text(chosen.categories[0]))
    if chosen.identifier:
        what = f"{chosen.n_seen:,} different values in {chosen.n_rows:,} rows, like an identifier"
        note = "; ".join(filter(None, (f"{what}: {_remaining_tests(column)}", chosen.note)))
        return replace(column, kind="identifier", note=note)
    return replace(column, categories=chosen.categories, note=chosen.note, others=chosen.others)


def _with_thresholds(column: Column, chosen: ChosenThresholds) -> Column:
    if chosen.only is not None:
        return _constant(column, chosen.only)
    return replace(
        column,
        kind=chosen.kind,
        thresholds=chosen.thresholds,
        levels=chosen.levels,
        categories=chosen.categories,
        note=chosen.note,
    )


def _constant(column: Column, value: str) -> Column:
    note = f"every value is {value}: {_remaining_tests(column)}"
    return replace(column, kind="constant", zone=None, note=note)


def _remaining_tests(column: Column) -> str:
    return "only a test for missing values" if column.has_missing else "no test"


# Categories


@dataclass(frozen=True)
class ChosenCategories:
    """The categories to test for, and what was seen."""

    categories: tuple[Category, ...]  # sorted
    n_seen: int
    n_rows: int
    note: str = ""
    identifier: bool = False
    others: tuple[Category, ...] | None = None  # seen, without a test


def choose_categories(
    values: Values, weights: NDArray[np.int64] | None, limit: int
) -> ChosenCategories:
    """Choose the categories to test for, in a column without missing values.

    Two categories give one test, for the second in sorted order, as in no and yes. If there are
    more than ``limit``, the most frequent are kept; ties go to the first in sorted order.
    """
    counts = np.bincount(values.data, weights, minlength=len(values.categories))
    seen = np.flatnonzero(counts)
    n_seen, n_rows = len(seen), int(counts.sum())
    if n_seen > max(_FEW_CATEGORIES, n_rows / 2):
        note = _about_numbers(values.categories[:_SAMPLE])
        return ChosenCategories((), n_seen, n_rows, note, identifier=True)
    notes = []
    if n_seen > limit:
        notes.append(f"the {limit:,} most frequent of {n_seen:,} categories")
        least = np.partition(counts[seen], n_seen - limit)[n_seen - limit]
        seen = seen[counts[seen] >= least]  # more than the limit if there are ties
    pairs = [(-int(counts[i]), values.categories[int(i)]) for i in seen]
    pairs.sort(key=lambda pair: (pair[0], _order(pair[1])))
    categories = sorted((category for _, category in pairs[:limit]), key=_order)
    if n_seen > 1 and (about := _about_numbers(categories)):
        notes.append(about)
    others: tuple[Category, ...] | None = () if n_seen <= limit else None
    if n_seen == 2 and limit > 1:
        others = (categories.pop(0),)
        notes.append(f"the other value is {category_text(others[0])}")
    return ChosenCategories(tuple(categories), n_seen, n_rows, "; ".join(notes), others=others)


def _order(category: Category) -> tuple[bool, Any]:
    """Order numbers before text, which cannot be compared with them."""
    return isinstance(category, str), category


def _about_numbers(categories: Sequence[Category]) -> str:
    """Return a note if text reads as numbers, possibly except one word that may mean missing.

    >>> _about_numbers(["1.5", "2", "?"])
    'text that reads as numbers except ?: convert it to get thresholds, and ? if it means missing'
    """
    words = [c for c in categories if not isinstance(c, str) or not _reads_as_number(c)]
    if not words:
        return "text that reads as numbers: convert it to get thresholds"
    if len(words) > 1 or len(categories) < 3:
        return ""
    word = category_text(words[0])
    return (
        f"text that reads as numbers except {word}: convert it to get thresholds, and {word} if it "
        "means missing"
    )


def _reads_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
