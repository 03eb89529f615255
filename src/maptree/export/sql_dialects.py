"""How SQL dialects write values and the tests of columns.

Every condition is true exactly where the test is true. Elsewhere it is false or NULL, which CASE
treats alike.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any, ClassVar

from maptree.export.plain_tree import short
from maptree.export.thresholds import MICROSECOND, day_text, iso_end, moment_text, nearest_float
from maptree.schema.columns import IN_ORDER, Column, Test, Threshold
from maptree.tables.clock import DAY, time_text

_EXACT = 2**53  # whole numbers up to this are exact as floats
_FLOAT_TYPES = ("float", "double")
_COMPARED = ("number", "date", "datetime", "time", "duration")


class Ansi:
    """Standard SQL, which has neither NaN nor infinities."""

    title = "standard SQL"
    folds_case: ClassVar[bool] = False  # whether names that differ only in case are one column
    name_bytes: ClassVar[int | None] = None  # longer names are cut
    boolean_is_number: ClassVar[bool] = False  # TRUE = 1

    # Names and values

    def name(self, name: str) -> str:
        """Quote the name of a column or table."""
        self._check(name, "name")
        if self.name_bytes is not None and len(name.encode()) > self.name_bytes:
            raise ValueError(
                f"The name {short(name)!r} is longer than {self.name_bytes} bytes, the limit of "
                f"{self.title}: pass feature_names as the columns are called there."
            )
        if not name:
            raise ValueError(f"A name is empty, which {self.title} rejects: pass feature_names.")
        doubled = name.replace('"', '""')
        return f'"{doubled}"'

    def text(self, text: str) -> str:
        """Quote a text."""
        self._check(text, "text")
        doubled = text.replace("'", "''")
        return f"'{doubled}'"

    def _check(self, text: str, what: str) -> None:
        try:
            usable = "\0" not in text and bool(text.encode() or True)
        except UnicodeEncodeError:
            usable = False
        if not usable:
            raise ValueError(
                f"The {what} {short(text)!r} has a character that {self.title} cannot hold (NUL, "
                "or half of a surrogate pair): replace it before fit."
            )

    def boolean(self, value: bool) -> str:
        """Write true or false."""
        return "TRUE" if value else "FALSE"

    def real(self, value: float) -> str:
        """Write a float so that the database compares with exactly this value."""
        if math.isinf(value):
            raise ValueError(f"{self.title} has no infinity: pass the dialect of a database.")
        text = repr(value)
        return text if "e" in text else f"{text}e0"

    def decimal(self, column: Column, value: Decimal) -> str:
        """Write a decimal number."""
        return format(value, "f")

    def value(self, value: Any) -> str:
        """Write a category or a label."""
        if isinstance(value, bool):
            return self.boolean(value)
        if isinstance(value, str):
            return self.text(value)
        return self.real(value) if isinstance(value, float) else str(value)

    def probability(self, value: float) -> str:
        """Write a probability, or a number that is predicted."""
        return self.real(value)

    def as_real(self, table: str, name: str) -> str:
        """Select a column of floats that were listed among VALUES."""
        return f"{table}.{name}"

    def times(self, table: str, name: str, x: str) -> str:
        """Select such a column times a number above 0; NULL where it is another or missing."""
        return f"CASE WHEN {x} > 0 THEN {table}.{name} * {x} END AS {name}"

    # Tests

    def condition(self, column: Column, test: Test) -> str:
        """Write a test of a column of the table ``data``."""
        x = f"data.{self.name(column.name)}"
        if test.asks == "missing":
            return self.missing(column, x)
        if column.kind in _COMPARED:
            return self.at_most(column, x, test.value)
        if column.kind in IN_ORDER:
            inside, categories = column.categories_of(test)
            return self.one_of(x, categories) if inside else self.none_of(x, categories)
        if column.kind == "boolean" and not column.dtype and not self.boolean_is_number:
            x = f"CAST({x} AS INTEGER)"  # fitted without an encoder: a boolean or a number
        return self.one_of(x, (test.value,))

    def not_true(self, condition: str) -> str:
        """Write that a condition is false or NULL."""
        return f"({condition}) IS NOT TRUE"

    def is_unread(self, column: Column) -> str | None:
        """Write the test for text where numbers, dates or times are needed.

        None: a category, or the types of this database exclude it.
        """
        return None

    def missing(self, column: Column, x: str) -> str:
        """Write the test for missing values."""
        return f"{x} IS NULL"

    def one_of(self, x: str, values: tuple[Any, ...]) -> str:
        """Write the test for a category."""
        if len({isinstance(value, str) for value in values}) > 1:
            raise ValueError(
                f"Column {x.removeprefix('data.')} has both text and numbers as categories, which "
                "a database column cannot hold: convert them to text before fit."
            )
        x = self.as_text(x) if isinstance(values[0], str) else x
        listed = ", ".join(self.value(value) for value in values)
        return f"{x} = {listed}" if len(values) == 1 else f"{x} IN ({listed})"

    def none_of(self, x: str, values: tuple[Any, ...]) -> str:
        """Write the test for text that is no category of a set; NULL where it is missing."""
        listed = ", ".join(self.value(value) for value in values)
        return f"{self.as_text(x)} NOT IN ({listed})"

    def as_text(self, x: str) -> str:
        """Return text in a form that is compared character by character."""
        return x

    def at_most(self, column: Column, x: str, threshold: Any) -> str:
        """Write the test of a threshold."""
        if column.kind == "number":
            sign = "<" if threshold == math.inf else "<="
            return f"{x} {sign} {self.number(column, threshold)}"
        if column.kind == "date":  # all times of a day come before the next day
            return f"{x} < DATE {self.text(day_text(column, threshold + 1))}"
        write = {"datetime": self.moment, "time": self.time, "duration": self.duration}
        return f"{x} <= {write[column.kind](column, threshold)}"

    def number(self, column: Column, threshold: Threshold) -> str:
        """Write the threshold of a number."""
        if isinstance(threshold, Decimal):
            return self.decimal(column, threshold)
        return self.real(threshold) if isinstance(threshold, float) else str(threshold)

    def moment(self, column: Column, nanoseconds: int) -> str:
        """Write a point in time. Some databases ignore a zone in a literal of type TIMESTAMP."""
        text = moment_text(column, nanoseconds // MICROSECOND * MICROSECOND)
        if column.zone is not None:
            return f"CAST('{text}+00:00' AS TIMESTAMP WITH TIME ZONE)"
        return f"TIMESTAMP '{text}'"

    def time(self, column: Column, nanoseconds: int) -> str:
        """Write a time of day."""
        return f"TIME '{time_text(nanoseconds // MICROSECOND * MICROSECOND, seconds=True)}'"

    def duration(self, column: Column, nanoseconds: int) -> str:
        """Write a duration."""
        sign = "-" if nanoseconds < 0 else ""
        days, rest = divmod(abs(nanoseconds // MICROSECOND * MICROSECOND), DAY)
        return f"INTERVAL {sign}'{days} {time_text(rest, seconds=True)}' DAY TO SECOND"


class PostgreSQL(Ansi):
    """PostgreSQL. NaN is greater than all numbers there, so it is above every threshold."""

    title = "PostgreSQL"
    name_bytes = 63

    def text(self, text: str) -> str:
        """Quote text; text with backslashes in a form that does not depend on settings."""
        quoted = super().text(text)
        return quoted if "\\" not in text else "E" + quoted.replace("\\", "\\\\")

    def real(self, value: float) -> str:
        """Write a float. It is read as numeric, and rounded to the float for a float column."""
        if math.isinf(value):
            return f"CAST('{'' if value > 0 else '-'}Infinity' AS double precision)"
        return repr(value)

    def as_real(self, table: str, name: str) -> str:
        """Select a column of floats, which are numeric among VALUES."""
        return f"CAST({table}.{name} AS double precision) AS {name}"

    def times(self, table: str, name: str, x: str) -> str:
        """Multiply as floats, whatever type the number has."""
        rate = f"CAST({table}.{name} AS double precision)"
        return f"CASE WHEN {x} > 0 THEN {rate} * CAST({x} AS double precision) END AS {name}"

    def missing(self, column: Column, x: str) -> str:
        """Write the test for missing values, NaN included."""
        if not _may_be_nan(column):
            return f"{x} IS NULL"
        return f"({x} IS NULL OR {x} = CAST('NaN' AS double precision))"

    def as_text(self, x: str) -> str:
        """Compare bytes: citext, char(n) and some collations treat different strings as equal."""
        return f'CAST({x} AS text) COLLATE "C"'

    def duration(self, column: Column, nanoseconds: int) -> str:
        """Write a duration; a sign before the days would not apply to the time after them."""
        sign = "-" if nanoseconds < 0 else ""
        days, rest = divmod(abs(nanoseconds // MICROSECOND), DAY // MICROSECOND)
        return f"INTERVAL '{sign}{days} days {sign}{rest} microseconds'"


class DuckDB(Ansi):
    """DuckDB. NaN is greater than all numbers there, so it is above every threshold."""

    title = "DuckDB"
    folds_case = True
    boolean_is_number = True

    def real(self, value: float) -> str:
        """Write a float with an exponent: without one, it would be a decimal number."""
        if math.isinf(value):
            return f"CAST('{'' if value > 0 else '-'}Infinity' AS DOUBLE)"
        return super().real(value)

    def missing(self, column: Column, x: str) -> str:
        """Write the test for missing values, NaN included."""
        return f"({x} IS NULL OR isnan({x}))" if _may_be_nan(column) else f"{x} IS NULL"

    def moment(self, column: Column, nanoseconds: int) -> str:
        """Write a point in time, to the nanosecond if microseconds are not enough."""
        if column.zone is not None or nanoseconds % MICROSECOND == 0:
            return super().moment(column, nanoseconds)
        return f"TIMESTAMP_NS '{moment_text(column, nanoseconds)}'"

    def time(self, column: Column, nanoseconds: int) -> str:
        """Write a time of day without a type: it takes the type of the column, and is cut to it.

        TIME and TIME_NS cannot be compared with each other, and older versions have only TIME.
        """
        return f"'{time_text(nanoseconds, seconds=True)}'"

    def duration(self, column: Column, nanoseconds: int) -> str:
        """Write a duration in microseconds, DuckDB's unit."""
        return f"to_microseconds({nanoseconds // MICROSECOND})"


class SQLite(Ansi):
    """SQLite. It has only numbers and text; dates and times are ISO 8601 text."""

    title = "SQLite"
    folds_case = True
    boolean_is_number = True

    def is_unread(self, column: Column) -> str | None:
        """Write the test for text that SQLite would compare in silence.

        Any column may hold it, and those of a table that ``.import`` makes hold nothing else.
        """
        x = f"data.{self.name(column.name)}"
        if column.kind in ("number", "boolean", "duration"):
            return f"typeof({x}) = 'text'"
        if column.kind not in _COMPARED:
            return None
        day = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*"
        return f"{x} NOT GLOB '{'[0-9][0-9]:[0-9][0-9]*' if column.kind == 'time' else day}'"

    def boolean(self, value: bool) -> str:
        """Write 1 or 0: TRUE is no keyword, but names a column of that name if there is one."""
        return str(int(value))

    def not_true(self, condition: str) -> str:
        """Write that a condition is 0 or NULL, without TRUE."""
        return f"({condition}) IS NOT 1"

    def real(self, value: float) -> str:
        """Write a float. SQLite misreads some numbers with many digits, so these are computed."""
        if math.isinf(value):
            return "9e999" if value > 0 else "-9e999"
        return exact_quotient(value)

    def probability(self, value: float) -> str:
        """Write a prediction in plain digits: the last bit is not worth a quotient."""
        return repr(value)

    def times(self, table: str, name: str, x: str) -> str:
        """Multiply by numbers only: text would be above 0, and count as 0."""
        known = f"typeof({x}) <> 'text' AND {x} > 0"
        return f"CASE WHEN {known} THEN {table}.{name} * {x} END AS {name}"

    def decimal(self, column: Column, value: Decimal) -> str:
        """Write a decimal number as the float that SQLite stores for it."""
        return self.real(nearest_float(column, value, self.title))

    def as_text(self, x: str) -> str:
        """Compare bytes, whatever collation the column has."""
        return f"{x} COLLATE BINARY"

    def at_most(self, column: Column, x: str, threshold: Any) -> str:
        """Write the test of a threshold."""
        if column.kind == "number":
            return super().at_most(column, x, threshold)
        if column.kind == "duration":
            return f"{x} <= {threshold}"
        text = f"replace({x}, 'T', ' ')" if column.kind == "datetime" else x
        return f"{text} < {self.text(iso_end(column, threshold))}"


def exact_quotient(value: float) -> str:
    """Write a float as SQL that computes exactly it, in any version of SQLite.

    SQLite reads some decimals with an error in the last bit. Up to three decimals are safe, because
    even a quotient that is rounded twice is right. Other numbers are written as a division of two
    whole numbers, which is rounded once.

    >>> exact_quotient(45.5), exact_quotient(0.8125), exact_quotient(1e300 / 3)[:25]
    ('45.5', '(8125 / 10000.0)', '(8966497460329680 * 1.0 *')
    """
    digits, places = Decimal(repr(value)).as_tuple()[1:]
    assert isinstance(places, int)
    whole = int("".join(map(str, digits))) * 10 ** max(places, 0)
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    if whole <= _EXACT and places >= -3:
        return f"{value:.{max(-places, 1)}f}"
    if whole <= _EXACT and places >= -22:
        return f"({sign}{whole} / {10**-places}.0)"
    fraction, exponent = math.frexp(abs(value))
    factor = int(fraction * 2**53)
    steps, operator = abs(exponent - 53), "*" if exponent > 53 else "/"
    powers = [2 ** min(30, steps - start) for start in range(0, steps, 30)]
    return f"({sign}{factor} * 1.0" + "".join(f" {operator} {p}.0" for p in powers) + ")"


def _may_be_nan(column: Column) -> bool:
    return column.kind == "number" or any(name in column.dtype.lower() for name in _FLOAT_TYPES)


DIALECTS: dict[str, type[Ansi]] = {
    "ansi": Ansi,
    "duckdb": DuckDB,
    "postgresql": PostgreSQL,
    "sqlite": SQLite,
}
