"""A fitted encoder as JSON values, and back. What is read is checked, and nothing is executed.

Thresholds of numbers are JSON numbers; infinities are the strings "inf" and "-inf", decimal numbers
``{"decimal": "0.125"}``. Thresholds of dates and times are ISO 8601 text, in UTC if there is a time
zone; thresholds of ordered columns and sets are positions among the categories. Categories are
strings, numbers or booleans. What later versions added is left out where it says nothing: the
levels of thresholds, how a text column is written, how an encoder reads text. Of a column with all
its thresholds a model file has those that its tree tests, and in ``kept`` where they are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, replace
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Any

from maptree.files.json_values import (
    boolean,
    fields,
    items,
    refuse_equal_hashes,
    show,
    text,
    whole,
)
from maptree.schema.columns import (
    IN_ORDER,
    KINDS,
    THRESHOLDS,
    Column,
    EncoderParameters,
    Schema,
    Threshold,
)
from maptree.schema.kept_thresholds import Kept, KeptLevels
from maptree.tables.clock import (
    DAY,
    date_text,
    datetime_text,
    is_zone,
    iso_duration,
    read_date,
    read_datetime,
    read_duration,
    read_time,
    time_text,
)
from maptree.tables.values import Category
from maptree.tables.writing import Writing
from maptree.tables.written_dates import CLOCK, FORMS, ORDERS, DateWriting
from maptree.tables.written_numbers import MARKS, NumberWriting, is_unit

# Comparisons are exact, so a decimal such as 1e999999999 would fill the memory with digits.
_MOST_DIGITS = 10_000
_COUNT = 2**62
_MOST_LEVELS = 64
_MOST_TESTS = 2**31 - 1

_FIELDS = ("name", "kind", "dtype", "thresholds", "categories", "missing", "zone", "note")
_READING = {"dates": ORDERS, "decimal": MARKS}  # parameters of an encoder, and their values


def write_schema(schema: Schema) -> dict[str, Any]:
    """Return JSON values for the columns of an encoder and its parameters."""
    assert schema.encoder is not None
    return {
        "columns": [_write_column(column) for column in schema.columns],
        "passthrough": schema.binary,
        "named": schema.named,
        "parameters": dict(sorted(without_none(asdict(schema.encoder)).items())),
    }


def read_schema(values: object) -> Schema:
    """Read and check what ``write_schema`` wrote; a ValueError says what is wrong, and where."""
    given = fields(values, "encoder", ("columns", "passthrough", "named", "parameters"))
    columns = items(given["columns"], "columns")
    if not columns:
        raise ValueError("columns is empty: there must be at least one column.")
    read = tuple(_read_column(value, f"columns[{j}]") for j, value in enumerate(columns))
    binary = boolean(given["passthrough"], "passthrough")
    if binary:
        for j, column in enumerate(read):
            if column.kind not in ("boolean", "unused") or column.has_missing:
                raise ValueError(
                    f"columns[{j}] is of kind {column.kind!r}, but passthrough is true: columns "
                    "of a 0/1 table must be boolean without missing values."
                )
    n_tests = sum(len(column.tests) for column in read)
    if n_tests > _MOST_TESTS:
        raise ValueError(f"columns have {n_tests:,} tests: there may be at most {_MOST_TESTS:,}.")
    parameters = read_encoder_parameters(given["parameters"], "parameters")
    named = boolean(given["named"], "named")
    return Schema(read, named, binary, parameters)


def without_none(values: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of an encoder as they are written: those that say something.

    That ``max_thresholds`` is None says something.
    """
    some = values.items()
    return {name: v for name, v in some if v is not None or name == "max_thresholds"}


def read_encoder_parameters(values: object, where: str) -> EncoderParameters:
    """Read and check the parameters of an encoder."""
    optional = (*_READING, "category_sets")
    given = fields(values, where, ("max_thresholds", "max_categories"), optional)
    read: dict[str, Any] = {"category_sets": False}  # there were none in earlier versions
    for name, value in given.items():
        if name == "max_thresholds" and value is None:
            read[name] = None
        elif name == "category_sets":
            read[name] = boolean(value, f"{where}.{name}")
        elif name not in _READING:
            read[name] = whole(value, f"{where}.{name}", 1, _COUNT)
        elif value in _READING[name]:
            read[name] = value
        else:
            one_of = " or ".join(_READING[name])
            raise ValueError(f"{where}.{name} is {show(value)}: it must be {one_of}.")
    return EncoderParameters(**read)


def _write_column(column: Column) -> dict[str, Any]:
    write = _WRITE.get(column.kind, int)
    more: dict[str, Any] = {}
    thresholds, levels = column.thresholds, column.levels
    if isinstance(thresholds, Kept) and isinstance(levels, KeptLevels):
        more["kept"] = {
            "of": len(thresholds),
            "positions": list(thresholds.positions),
            "level_sizes": list(levels.sizes),
        }
        thresholds, levels = thresholds.items, levels.items
    if levels:
        more["levels"] = list(levels)
    if column.others is not None:
        more["others"] = [_write_category(category) for category in column.others]
    if column.writing is not None:
        more["writing"] = asdict(column.writing)
    if column.unknown is not None:
        more["unknown"] = column.unknown
    return {
        "name": column.name,
        "kind": column.kind,
        "dtype": column.dtype,
        "thresholds": [write(threshold) for threshold in thresholds],
        "categories": [_write_category(category) for category in column.categories],
        "missing": column.has_missing,
        "zone": column.zone,
        "note": column.note,
        **more,
    }


def _read_column(values: object, where: str) -> Column:
    given = fields(values, where, _FIELDS, ("kept", "levels", "others", "unknown", "writing"))
    kind = text(given["kind"], f"{where}.kind")
    if kind not in KINDS:
        raise ValueError(f"{where}.kind is {kind!r}: it must be one of {', '.join(KINDS)}.")
    zone = given["zone"]
    if zone is not None:
        text(zone, f"{where}.zone")
        if kind != "datetime":
            raise ValueError(f"{where}.zone is {zone!r}, but only datetimes have a time zone.")
        if not is_zone(zone):
            raise ValueError(
                f"{where}.zone is {show(zone)}, which this machine does not know as a time zone. "
                "If the name is right, pip install --upgrade tzdata."
            )
    column = Column(
        name=text(given["name"], f"{where}.name"),
        kind=kind,
        dtype=text(given["dtype"], f"{where}.dtype"),
        thresholds=_read_thresholds(given["thresholds"], kind, f"{where}.thresholds"),
        categories=_read_categories(given["categories"], f"{where}.categories"),
        has_missing=boolean(given["missing"], f"{where}.missing"),
        zone=zone,
        note=text(given["note"], f"{where}.note"),
        others=_read_others(given.get("others"), f"{where}.others"),
        writing=_read_writing(given["writing"], f"{where}.writing") if "writing" in given else None,
        levels=_read_levels(given.get("levels", []), f"{where}.levels"),
        unknown=whole(given["unknown"], f"{where}.unknown", 0, _COUNT)
        if "unknown" in given
        else None,
    )
    _check_column(column, where)
    if "kept" in given:
        return _with_kept(column, given["kept"], f"{where}.kept")
    if set(column.levels) != set(range(len(set(column.levels)))):
        raise ValueError(f"{where}.levels must have every number from 0 to its largest.")
    return column


def _with_kept(column: Column, values: object, where: str) -> Column:
    """Return a column that has only some of its thresholds."""
    given = fields(values, where, ("of", "positions", "level_sizes"))
    if column.kind not in THRESHOLDS:
        raise ValueError(f"{where} is given, but a {column.kind} column has no thresholds.")
    n, size = len(column.thresholds), whole(given["of"], f"{where}.of", 1, _MOST_TESTS)
    entries = enumerate(items(given["positions"], f"{where}.positions", n))
    positions = [whole(value, f"{where}.positions[{i}]", 0, size - 1) for i, value in entries]
    if any(low >= high for low, high in pairwise(positions)):
        raise ValueError(f"{where}.positions must increase.")
    entries = enumerate(items(given["level_sizes"], f"{where}.level_sizes"))
    sizes = [whole(value, f"{where}.level_sizes[{i}]", 1, size) for i, value in entries]
    if sum(sizes) != size or len(sizes) > _MOST_LEVELS:
        raise ValueError(f"{where}.level_sizes do not sum to {where}.of, {size:,}.")
    if len(column.levels) != n:
        raise ValueError(f"{where} is given, so every threshold must have a level.")
    found = Counter(column.levels)
    if any(level >= len(sizes) or found[level] > sizes[level] for level in found):
        raise ValueError(f"{where}.level_sizes has fewer thresholds of a level than there are.")
    return replace(
        column,
        thresholds=Kept(size, positions, column.thresholds),
        levels=KeptLevels(size, positions, column.levels, sizes),
    )


def _check_column(column: Column, where: str) -> None:
    """Check what must hold between the parts of a column."""
    kind, categories = column.kind, column.categories
    if column.thresholds and kind not in THRESHOLDS:
        raise ValueError(f"{where}.thresholds is not empty, but a {kind} column has none.")
    for low, high in pairwise(column.thresholds):
        if not low < high:
            raise ValueError(f"{where}.thresholds must increase, but {low} comes before {high}.")
    if categories and kind not in ("category", "boolean", *IN_ORDER):
        raise ValueError(f"{where}.categories is not empty, but a {kind} column has none.")
    if len(set(categories)) < len(categories):
        raise ValueError(f"{where}.categories has a category twice.")
    if column.others is not None and kind != "category":
        raise ValueError(f"{where}.others is not null, but a {kind} column has none.")
    if column.others is not None and len({*categories, *column.others}) < (
        len(categories) + len(column.others)
    ):
        raise ValueError(f"{where}.others has a category twice, or one with a test.")
    if kind == "category" and not categories:
        raise ValueError(f"{where}.categories is empty: a category column must have some.")
    if kind == "boolean" and categories not in ((False, True), (0, 1)):
        raise ValueError(f"{where}.categories is {show(categories)}, not [false, true] or [0, 1].")
    if (column.unknown is None) == (kind == "sets"):
        raise ValueError(f"{where}.unknown must be given for sets, and only for them.")
    if column.unknown is not None and column.unknown >= len(categories):
        raise ValueError(f"{where}.unknown is {column.unknown}, which is no category's position.")
    if kind == "sets" and not all(isinstance(category, str) for category in categories):
        raise ValueError(f"{where}.categories of sets must be text.")
    if kind in IN_ORDER:
        for position in column.thresholds:
            if not 0 <= position < len(categories) - 1:
                raise ValueError(
                    f"{where}.thresholds has {position}, which is not a position before the last "
                    f"of {len(categories)} categories."
                )
    if kind == "unused" and column.has_missing:
        raise ValueError(f"{where}.missing is true, but an unused column has no test.")
    if kind == "time" and not all(0 <= t < DAY for t in column.thresholds):
        raise ValueError(f"{where}.thresholds has a time outside the day.")
    if column.writing is not None and kind not in _written_kinds(column.writing):
        raise ValueError(f"{where}.writing is not how a {kind} column is written.")
    if column.levels and len(column.levels) != len(column.thresholds):
        raise ValueError(
            f"{where}.levels has {len(column.levels)} entries: it must have one per threshold."
        )


# How a text column is written


def _read_writing(values: object, where: str) -> Writing:
    if isinstance(values, dict) and "form" in values:
        form = text(fields(values, where, ("form",))["form"], f"{where}.form")
        if form not in FORMS:
            raise ValueError(f"{where}.form is {show(form)}: it must be one of {', '.join(FORMS)}.")
        return DateWriting(form)
    given = fields(values, where, ("decimal", "unit", "unit_first"))
    decimal, unit = text(given["decimal"], f"{where}.decimal"), text(given["unit"], f"{where}.unit")
    if decimal not in MARKS:
        raise ValueError(f"{where}.decimal is {show(decimal)}: it must be a point or a comma.")
    if not is_unit(unit):
        raise ValueError(f"{where}.unit is {show(unit)}: it must be a currency, % or empty.")
    return NumberWriting(decimal, unit, boolean(given["unit_first"], f"{where}.unit_first"))


def _written_kinds(writing: Writing) -> tuple[str, ...]:
    if isinstance(writing, NumberWriting):
        return "number", "boolean"
    return ("time",) if writing.form == CLOCK else ("date", "datetime")


# Thresholds


def _write_number(threshold: Threshold) -> Any:
    if isinstance(threshold, Decimal):
        return {"decimal": str(threshold)}
    if isinstance(threshold, float) and math.isinf(threshold):
        return "inf" if threshold > 0 else "-inf"
    return threshold


def _read_number(value: object) -> Threshold:
    if isinstance(value, str) and value in ("inf", "-inf"):
        return float(value)
    if isinstance(value, dict) and list(value) == ["decimal"]:
        try:
            decimal = Decimal(value["decimal"])
        except (InvalidOperation, TypeError, ValueError):
            decimal = Decimal("nan")
        if isinstance(value["decimal"], str) and decimal.is_finite():
            if max(abs(decimal.adjusted()), len(value["decimal"])) > _MOST_DIGITS:
                raise ValueError(f"{show(value)} has too many digits")
            return decimal
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise ValueError(f"{show(value)} is not a number")


def _read_position(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ValueError(f"{show(value)} is not a whole number")


_WRITE: dict[str, Callable[[Any], Any]] = {
    "number": _write_number,
    "date": date_text,
    "datetime": lambda t: datetime_text(t, None, "T"),
    "time": time_text,
    "duration": iso_duration,
}
_READ_TEXT: dict[str, Callable[[str], int]] = {
    "date": read_date,
    "datetime": read_datetime,
    "time": read_time,
    "duration": read_duration,
}


def _read_thresholds(values: object, kind: str, where: str) -> tuple[Threshold, ...]:
    thresholds: list[Threshold] = []
    for i, value in enumerate(items(values, where)):
        try:
            if kind in _READ_TEXT:
                if not isinstance(value, str):
                    raise ValueError(f"{show(value)} is not text")
                thresholds.append(_READ_TEXT[kind](value))
            else:
                thresholds.append((_read_position if kind in IN_ORDER else _read_number)(value))
        except (ValueError, OverflowError) as error:
            raise ValueError(f"{where}[{i}]: {error}.") from None
    return tuple(thresholds)


def _read_levels(values: object, where: str) -> tuple[int, ...]:
    entries = enumerate(items(values, where))
    return tuple(whole(value, f"{where}[{i}]", 0, _MOST_LEVELS) for i, value in entries)


# Categories


def _write_category(category: Category) -> Any:
    if isinstance(category, float) and not math.isfinite(category):
        return {"float": str(category)}
    return category


def _read_others(values: object, where: str) -> tuple[Category, ...] | None:
    return None if values is None else _read_categories(values, where)


def _read_categories(values: object, where: str) -> tuple[Category, ...]:
    categories: list[Category] = []
    for i, value in enumerate(items(values, where)):
        if value == {"float": "inf"} or value == {"float": "-inf"}:
            categories.append(float(value["float"]))
        elif isinstance(value, (str, bool, int)) or (
            isinstance(value, float) and math.isfinite(value)
        ):
            categories.append(value)
        else:
            raise ValueError(f"{where}[{i}]: {show(value)} is not a text, number or boolean.")
    refuse_equal_hashes(categories, where)
    return tuple(categories)
