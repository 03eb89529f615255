"""Where to cut a column whose values have an order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maptree.encoding.cuts import cut_days, cut_numbers, cut_times
from maptree.encoding.schema import Column, Threshold
from maptree.encoding.thresholds import Gaps, choose_gaps, place_cuts
from maptree.encoding.value_text import threshold_text
from maptree.tables.clock import DAY, zone_offset
from maptree.tables.labels import Codes
from maptree.tables.values import Category, Values

# Whole numbers up to this are floats, too.
_FLOATS = 2**53

# That fewer whole numbers than this all differ says nothing about what they are.
_FEW = 20


@dataclass(frozen=True)
class CutPoints:
    """The thresholds of a column, and what kind of column it turned out to be."""

    kind: str
    thresholds: tuple[Threshold, ...] = ()
    categories: tuple[Category, ...] = ()
    note: str = ""
    only: str | None = None  # the only value there is


def choose_cut_points(
    values: Values, codes: Codes | None, weights: NDArray[np.int64] | None, most: int
) -> CutPoints:
    """Choose thresholds for values of which none is missing."""
    values = _by_day(values)
    data, distinct = np.ascontiguousarray(values.data), None
    if data.dtype.kind == "O":
        # Numbers that no array type holds: cuts are chosen among their ranks.
        distinct = sorted(set(data.tolist()))
        rank = {value: i for i, value in enumerate(distinct)}
        data = np.array([rank[value] for value in data.tolist()])
    gaps = choose_gaps(data, codes, weights, most)
    low, high, ends = (
        _exact(side, distinct, values.per_unit) for side in (gaps.low, gaps.high, gaps.ends)
    )
    categories = tuple(values.categories) if values.kind == "ordered" else ()
    if gaps.n_values == 1:
        column = Column("", values.kind, "", categories=categories, zone=values.zone)
        return CutPoints(values.kind, only=threshold_text(column, ends[0]))
    if values.kind == "number" and gaps.n_values == 2 and ends == [0, 1]:
        return CutPoints("boolean", categories=(0, 1))
    note = _note(values, gaps, weights)
    if values.kind == "number":
        return CutPoints("number", _cut_numbers(low, high), note=note)
    pairs = zip(low, high, strict=True)
    if values.kind in ("datetime", "time", "duration"):
        ahead = zone_offset(values.zone)
        thresholds = tuple(cut_times(a, b, ahead) for a, b in pairs)
    else:  # dates, and positions of ordered categories
        thresholds = tuple(cut_days(a, b) for a, b in pairs)
    return CutPoints(values.kind, thresholds, categories, note)


def _by_day(values: Values) -> Values:
    """Turn datetimes without a time zone into dates, if all of them are at midnight."""
    if values.kind != "datetime" or values.zone is not None:
        return values
    if (DAY * values.per_unit).denominator != 1:
        return values  # a unit of which a day is no multiple, such as seven hours
    day = int(DAY * values.per_unit)
    if (values.data[:1000] % day).any():  # spares most columns a division of all rows
        return values
    days, rest = np.divmod(values.data, day)
    if rest.any():
        return values
    return replace(values, kind="date", data=days, per_unit=Fraction(1))


def _exact(side: NDArray[Any], distinct: list[Any] | None, per_unit: Fraction) -> list[Any]:
    """Return values as Python numbers in their unit: ints, floats or Decimals."""
    numbers: list[Any] = side.tolist()
    if distinct is not None:
        return [distinct[number] for number in numbers]
    if per_unit == 1:
        return numbers
    if per_unit < 1:  # days, seconds and so on: whole nanoseconds
        return [number * per_unit.denominator for number in numbers]
    places = len(str(per_unit.numerator)) - 1
    return [Decimal(f"{number}E-{places}") for number in numbers]


def _cut_numbers(low: list[Any], high: list[Any]) -> tuple[Threshold, ...]:
    floats = all(isinstance(value, float) for value in low + high)
    small = all(isinstance(value, int) and abs(value) <= _FLOATS for value in low + high)
    if floats or small:
        cuts = place_cuts(np.array(low, dtype=np.float64), np.array(high, dtype=np.float64))
        return tuple(cuts.tolist())
    return tuple(cut_numbers(a, b) for a, b in zip(low, high, strict=True))


def _note(values: Values, gaps: Gaps, weights: NDArray[np.int64] | None) -> str:
    notes = []
    if len(gaps.low) < gaps.n_useful:
        notes.append(f"{len(gaps.low):,} of {gaps.n_useful:,} cut points, by quantile")
    if (
        values.kind == "number"
        and values.data.dtype.kind in "iu"
        and weights is None
        and gaps.n_values == len(values) >= _FEW
    ):
        notes.append("every value differs: drop it if it is an identifier")
    return "; ".join(notes)
