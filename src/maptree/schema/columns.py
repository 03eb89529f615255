"""What a fitted encoder knows: the kind of every column, and its tests."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from itertools import accumulate
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from maptree.schema.on_demand import OnDemand
from maptree.tables.values import Category
from maptree.tables.writing import TextOptions, Writing
from maptree.tables.written_numbers import NumberWriting

Threshold = int | float | Decimal
Asks = Literal["at most", "equals", "missing"]
Names = Sequence[str] | NDArray[np.object_]

KINDS = (
    "number",
    "boolean",
    "category",
    "ordered",
    "sets",
    "date",
    "datetime",
    "time",
    "duration",
    "constant",
    "identifier",
    "unread",
    "unused",
)
# Kinds whose tests are thresholds.
THRESHOLDS = ("number", "ordered", "sets", "date", "datetime", "time", "duration")
# Of these, kinds whose thresholds are positions in ``categories``.
IN_ORDER = ("ordered", "sets")


@dataclass(frozen=True)
class Test:
    """One test of a column: is the value at most this, is it equal to this, or is it missing.

    A threshold of infinity tests whether the value is less than infinity.
    """

    __test__ = False  # not a test case, despite its name

    asks: Asks
    value: Threshold | Category | None = None


@dataclass(frozen=True)
class Column:
    """A column of the table, and its tests.

    Attributes
    ----------
    name : str
        As in the table, or x0, x1, ... if the table has no names.
    kind : str
        "number", "boolean" (two values that stand for yes and no), "category", "ordered", "sets"
        (categories in an order that was learnt from the labels), "date", "datetime", "time" or
        "duration". "constant" and "identifier" columns have no test except for missing values.
        "unread" columns have none because time ran out, "unused" ones because their weight is 0.
    dtype : str
        The type, as the table calls it.
    thresholds : sequence, a tuple where they are few
        Of numbers: ints, floats or Decimals. Of ordered columns and sets: positions in
        ``categories``. Of dates: days since 1970-01-01. Of other times: nanoseconds, since
        1970-01-01 (in UTC if there is a time zone), since midnight, or of the duration.
    levels : sequence of int
        The level of each threshold, from coarse to fine: 0 divides the training rows most evenly,
        1 does so on either side of it, and so on. Empty in schemas of earlier versions.
    categories : tuple
        Of a category column: those that have a test, sorted; only one if the column has two values.
        Of ordered columns and sets: all, in their order. Of a boolean column: the value for no,
        then the value for yes.
    others : tuple or None
        Of a category column: the categories that were seen but have no test, if they are known.
        None: they are not, or too many. All others are unknown categories.
    has_missing : bool
        Whether there is a test for missing values, because some were seen.
    zone : str or None
        Time zone of a datetime column.
    note : str
        How the column was handled and why, unless that is obvious.
    writing : NumberWriting, DateWriting or None
        How the values are written, if the column was text that is read as numbers, dates or times.
    unknown : int or None
        Of sets: the position of the category that unknown ones are treated like.
    """

    name: str
    kind: str
    dtype: str
    thresholds: Sequence[Threshold] = ()
    categories: tuple[Category, ...] = ()
    has_missing: bool = False
    zone: str | None = None
    note: str = ""
    others: tuple[Category, ...] | None = None
    writing: Writing | None = None
    levels: Sequence[int] = ()
    unknown: int | None = None

    @cached_property
    def tests(self) -> Sequence[Test]:
        """The tests in order; the test for missing values is the last.

        >>> Column("age", "number", "int64", thresholds=(45.5,), has_missing=True).tests
        (Test(asks='at most', value=45.5), Test(asks='missing', value=None))
        """
        if not isinstance(self.thresholds, tuple):
            return _TestsOfColumn(self.thresholds, self.has_missing)
        tests = [Test("at most", threshold) for threshold in self.thresholds]
        if self.kind == "boolean":
            tests.append(Test("equals", self.categories[1]))
        elif self.kind == "category":
            tests += [Test("equals", category) for category in self.categories]
        if self.has_missing:
            tests.append(Test("missing"))
        return tuple(tests)

    @classmethod
    def unused(cls, name: str) -> Column:
        """Return a column that the prior leaves out."""
        return cls(name, "unused", "", note="weight 0")

    def categories_of(self, test: Test) -> tuple[bool, tuple[Category, ...]]:
        """Return the categories that a threshold of an ordered column or of sets asks for.

        True and the categories for which the test is true; or, where it is true for unknown
        categories, False and those for which it is not.

        >>> size = Column("size", "ordered", "enum", thresholds=(1,), categories=("s", "m", "l"))
        >>> size.categories_of(size.tests[0])
        (True, ('s', 'm'))
        >>> replace(size, kind="sets", unknown=1).categories_of(size.tests[0])
        (False, ('l',))
        """
        inside, start, stop = self.places_of(test)
        return inside, self.categories[start:stop]

    def places_of(self, test: Test) -> tuple[bool, int, int]:
        """Return ``categories_of`` as the first place in ``categories`` and the one after the last.

        >>> size = Column("size", "ordered", "enum", thresholds=(1,), categories=("s", "m", "l"))
        >>> size.places_of(size.tests[0])
        (True, 0, 2)
        """
        assert isinstance(test.value, int)
        if self.unknown is not None and self.unknown <= test.value:
            return False, test.value + 1, len(self.categories)
        return True, 0, test.value + 1


class _TestsOfColumn(OnDemand[Test]):
    """The tests of a column with many thresholds."""

    def __init__(self, thresholds: Sequence[Threshold], has_missing: bool) -> None:
        self._thresholds = thresholds
        self._has_missing = has_missing

    def __len__(self) -> int:
        return len(self._thresholds) + self._has_missing

    def _block(self, start: int, stop: int) -> list[Test]:
        tests = [Test("at most", threshold) for threshold in self._thresholds[start:stop]]
        return tests if len(tests) == stop - start else [*tests, Test("missing")]


class BinaryColumns(OnDemand[Column]):
    """The columns of an all-0/1 table, each made when it is looked at.

    They differ only in their names, and there may be 100,000 of them, of which a tree tests ten.

    >>> columns = BinaryColumns(2, None, "uint8")
    >>> len(columns), columns[1].name, columns == tuple(columns)
    (2, 'x1', True)
    """

    def __init__(self, size: int, names: Names | None, dtype: str, flags: bool = False) -> None:
        self._size = size
        self._names = names
        self._dtype = dtype
        self._categories: tuple[Category, ...] = (False, True) if flags else (0, 1)
        self._made: dict[int, Column] = {}

    def __len__(self) -> int:
        return self._size

    def _block(self, start: int, stop: int) -> list[Column]:
        return [self._column(j) for j in range(start, stop)]

    def _column(self, j: int) -> Column:
        if j not in self._made:
            name = f"x{j}" if self._names is None else str(self._names[j])
            self._made[j] = Column(name, "boolean", self._dtype, categories=self._categories)
        return self._made[j]


@dataclass(frozen=True)
class EncoderParameters:
    """How many tests an encoder makes of a column, at most, and how it reads text.

    ``max_thresholds=None``: all thresholds. ``category_sets``: whether more categories than
    ``max_categories`` may be tested in sets.
    """

    max_thresholds: int | None = 32
    max_categories: int = 32
    dates: str | None = None
    decimal: str | None = None
    category_sets: bool = False

    @property
    def text(self) -> TextOptions:
        """What decides how text is read."""
        return TextOptions(self.dates, self.decimal)


@dataclass(frozen=True)
class Schema:
    """The columns of a fitted table with their tests, and what later tables must look like.

    Attributes
    ----------
    columns : sequence of Column
        One for every column of the table, in order.
    named : bool
        Whether the table had names. Tables without names are matched by position.
    binary : bool
        Whether the table was all 0/1; later tables must be, too.
    encoder : EncoderParameters or None
        The parameters of the encoder that chose the tests; None for a 0/1 matrix that was used
        without one.
    """

    columns: Sequence[Column]
    named: bool = True
    binary: bool = False
    encoder: EncoderParameters | None = EncoderParameters()

    @property
    def takes_missing(self) -> bool:
        """Whether later tables may have missing values: not where there was no encoder."""
        return self.encoder is not None

    @classmethod
    def of_matrix(
        cls, n_columns: int, names: Names | None = None, unused: Collection[int] = ()
    ) -> Schema:
        """Return the schema of a 0/1 matrix that is used without an encoder: one test per column.

        Columns that are ``unused`` have none.

        >>> [column.name for column in Schema.of_matrix(2).columns]
        ['x0', 'x1']
        """
        columns: Sequence[Column] = BinaryColumns(n_columns, names, dtype="")
        if unused:
            columns = tuple(
                Column.unused(column.name) if j in unused else column
                for j, column in enumerate(columns)
            )
        return cls(columns, names is not None, binary=True, encoder=None)

    @cached_property
    def tests(self) -> Sequence[Test]:
        """All tests, column by column. A tree refers to tests by their position here."""
        return _TestsOfTable(self)

    @cached_property
    def first_tests(self) -> Sequence[int]:
        """The position of each column's first test, and behind the last the number of all tests."""
        if isinstance(self.columns, BinaryColumns):
            return range(len(self.columns) + 1)
        return tuple(accumulate((len(column.tests) for column in self.columns), initial=0))

    @cached_property
    def column_of_test(self) -> Sequence[int]:
        """The position of the column that each test uses."""
        return _ColumnOfTest(self.first_tests)

    def columns_of(self, tests: NDArray[np.integer]) -> NDArray[np.intp]:
        """Return the positions of the columns that some tests use.

        >>> age = Column("age", "number", "int64", thresholds=(30.5, 45.5, 60.0))
        >>> Schema((age, replace(age, name="size"))).columns_of(np.array([2, 3]))
        array([0, 1])
        """
        return np.searchsorted(np.array(self.first_tests), tests, side="right") - 1

    @cached_property
    def tested(self) -> tuple[int, ...]:
        """The positions of the columns that have a test."""
        if isinstance(self.columns, BinaryColumns):
            return tuple(range(len(self.columns)))
        return tuple(j for j, column in enumerate(self.columns) if column.tests)

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    @property
    def n_unread(self) -> int:
        """Number of columns that a time limit left without tests."""
        return 0 if self.binary else sum(column.kind == "unread" for column in self.columns)

    def with_decimal(self, decimal: str) -> Schema:
        """Return the same schema for text with another decimal mark."""
        columns = (
            replace(column, writing=replace(column.writing, decimal=decimal))
            if isinstance(column.writing, NumberWriting)
            else column
            for column in self.columns
        )
        return replace(self, columns=tuple(columns))

    def renamed(self, names: Sequence[str]) -> Schema:
        """Return the same schema with other names.

        >>> Schema.of_matrix(2).renamed(["member", "smoker"]).names
        ['member', 'smoker']
        """
        renamed = (
            replace(column, name=str(name))
            for column, name in zip(self.columns, names, strict=True)
        )
        return replace(self, columns=tuple(renamed))


class _TestsOfTable(OnDemand[Test]):
    """The tests of all columns."""

    def __init__(self, schema: Schema) -> None:
        self._columns = schema.columns
        self._first = schema.first_tests

    def __len__(self) -> int:
        return self._first[-1]

    def _block(self, start: int, stop: int) -> list[Test]:
        tests: list[Test] = []
        while start < stop:
            j = bisect_right(self._first, start) - 1
            first, end = self._first[j], min(stop, self._first[j + 1])
            tests += self._columns[j].tests[start - first : end - first]
            start = end
        return tests


class _ColumnOfTest(OnDemand[int]):
    """The position of the column that each test uses."""

    def __init__(self, first: Sequence[int]) -> None:
        self._first = first

    def __len__(self) -> int:
        return self._first[-1]

    def _block(self, start: int, stop: int) -> list[int]:
        return [bisect_right(self._first, test) - 1 for test in range(start, stop)]
