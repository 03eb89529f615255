"""The thresholds of a column with ordered values.

``choose_gaps`` chooses gaps between neighbouring values. A threshold is then placed in each gap,
near the middle and so that its text is short and exact: for floats (``float_thresholds``), for
decimal numbers and whole numbers too large for floats (``exact_threshold``), for days
(``day_threshold``) and for times (``time_threshold``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maptree.encoding.levels import levels
from maptree.encoding.ranking import rank
from maptree.schema.columns import Column, Threshold
from maptree.tables.clock import DAY, SECOND, zone_offset
from maptree.tables.labels import Codes
from maptree.tables.values import Category, Values
from maptree.words.column_report import ROW_NUMBERS
from maptree.words.values import threshold_text

# Every whole number up to this one is exact as a float.
_FLOATS = 2**53
# Fewer whole numbers than this may all differ without being identifiers.
_FEW_NUMBERS = 20
# With this many classes or fewer, one pass per class over all rows makes sorting faster.
_FEW_CLASSES = 16
# Nanoseconds in a day, an hour, a minute, a second, and so on down to one.
_ROUND_TIMES = (DAY, 3_600 * SECOND, 60 * SECOND, SECOND, 10**6, 10**3, 1)


@dataclass(frozen=True)
class ChosenThresholds:
    """The thresholds of a column, and what kind of column it turned out to be."""

    kind: str
    thresholds: tuple[Threshold, ...] = ()
    levels: tuple[int, ...] = ()
    categories: tuple[Category, ...] = ()
    note: str = ""
    only: str | None = None  # the text of the only value, in a constant column


def choose_thresholds(
    values: Values, codes: Codes | None, weights: NDArray[np.int64] | None, limit: int
) -> ChosenThresholds:
    """Choose at most ``limit`` thresholds for values without missing ones.

    >>> values = Values("number", "int64", np.array([30, 45, 46]))
    >>> choose_thresholds(values, None, None, 16).thresholds
    (37.5, 45.5)
    """
    values = _by_day(values)
    data, distinct = np.ascontiguousarray(values.data), None
    if data.dtype.kind == "O":
        # No array type holds these numbers: gaps are chosen among their ranks.
        distinct, data = rank(data.tolist())
    gaps = choose_gaps(data, codes, weights, limit)
    low, high, ends = (
        _exact(side, distinct, values.per_unit) for side in (gaps.low, gaps.high, gaps.ends)
    )
    categories = tuple(values.categories) if values.kind == "ordered" else ()
    if gaps.n_values == 1:
        column = Column("", values.kind, "", categories=categories, zone=values.zone)
        return ChosenThresholds(values.kind, only=threshold_text(column, ends[0]))
    if values.kind == "number" and gaps.n_values == 2 and ends == [0, 1]:
        return ChosenThresholds("boolean", categories=(0, 1))
    return ChosenThresholds(
        values.kind,
        _place(values, low, high),
        tuple(levels(gaps.below, gaps.n_rows).tolist()),
        categories,
        _note(values, gaps, weights),
    )


def _by_day(values: Values) -> Values:
    """Turn datetimes without a time zone into dates, if all of them are at midnight."""
    if values.kind != "datetime" or values.zone is not None:
        return values
    if (DAY * values.per_unit).denominator != 1:
        return values  # a day is not a multiple of the unit, such as seven hours
    day = int(DAY * values.per_unit)
    if (values.data[:1000] % day).any():  # saves most columns the division of all rows
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


def _note(values: Values, gaps: Gaps, weights: NDArray[np.int64] | None) -> str:
    notes = []
    if len(gaps.low) < gaps.n_useful:
        notes.append(f"{len(gaps.low):,} of {gaps.n_useful:,} thresholds, by quantile")
    if (
        values.kind == "number"
        and values.data.dtype.kind in "iuf"
        and weights is None
        and gaps.n_values == len(values) >= _FEW_NUMBERS
        and values.per_unit == 1
    ):
        course = _course(values.data)
        if course:
            notes.append(
                f"{ROW_NUMBERS} {course} with the rows, like an identifier: drop the column if it "
                "only numbers them"
            )
        elif values.data.dtype.kind in "iu":
            notes.append("all values differ: drop it if it is an identifier")
    return "; ".join(notes)


def _course(numbers: NDArray[Any]) -> str:
    """Return whether whole numbers that all differ rise or fall with the rows.

    >>> _course(np.array([3, 4, 7])), _course(np.array([3.0, 1.0])), _course(np.array([3, 4, 1]))
    ('rise', 'fall', '')
    """
    if numbers.dtype.kind == "f" and (numbers != np.floor(numbers)).any():
        return ""
    rises = numbers[1:] > numbers[:-1]
    return "rise" if rises.all() else "" if rises.any() else "fall"


# Choosing gaps


@dataclass(frozen=True)
class Gaps:
    """Gaps between neighbouring values of a column; each gets a threshold."""

    low: NDArray[Any]  # the value below each chosen gap, in the type of the column
    high: NDArray[Any]  # the value above
    ends: NDArray[Any]  # the smallest and the largest value of the column
    below: NDArray[np.int64]  # rows below each chosen gap, counted with their weights
    n_rows: int  # counted with their weights
    n_values: int  # distinct values
    n_useful: int  # gaps where the class can change, from which the chosen ones were taken


def choose_gaps(
    values: NDArray[Any],
    codes: Codes | None,
    weights: NDArray[np.int64] | None,
    limit: int,
) -> Gaps:
    """Choose at most ``limit`` gaps of a column without missing values.

    See ``BinaryEncoder`` for which gaps are kept. Rows of weight 0 are ignored.

    >>> gaps = choose_gaps(np.array([3.0, 1.0, 2.0, 2.0]), None, None, 16)
    >>> gaps.low, gaps.high
    (array([1., 2.]), array([2., 3.]))
    >>> choose_gaps(np.array([3.0, 1.0, 2.0, 2.0]), np.array([1, 0, 0, 0], np.int32), None, 16).low
    array([2.])
    """
    if weights is not None and not weights.all():
        kept = weights > 0
        values, weights = values[kept], weights[kept]
        codes = None if codes is None else codes[kept]
    ordered, codes, weights = _sort(values, codes, weights)
    gaps = ordered[1:] != ordered[:-1]  # between a row and the next
    n_values = int(np.count_nonzero(gaps)) + 1
    if codes is not None:
        gaps = _where_class_can_change(codes, gaps)
    starts = np.flatnonzero(gaps) + 1  # the first row above each gap
    n_useful = len(starts)
    below = starts if weights is None else np.cumsum(weights)[starts - 1]
    n_rows = len(ordered) if weights is None else int(weights.sum())
    if n_useful > limit:
        chosen = _by_quantile(below, n_rows, limit)
        starts, below = starts[chosen], below[chosen]
    low, high, ends = ordered[starts - 1], ordered[starts], ordered[[0, -1]]
    return Gaps(low, high, ends, below, n_rows, n_values, n_useful)


def _sort(
    values: NDArray[Any], codes: Codes | None, weights: NDArray[np.int64] | None
) -> tuple[NDArray[Any], Codes | None, NDArray[np.int64] | None]:
    """Return the values in order, with their class numbers and weights.

    The order of rows with equal values does not matter.
    """
    if codes is None and weights is None:
        return np.sort(values), None, None
    counts = np.zeros(0, dtype=np.intp) if codes is None else np.bincount(codes)
    if codes is None or weights is not None or len(counts) > _FEW_CLASSES:
        order = np.argsort(values)
        by_value = None if codes is None else codes[order]
        return values[order], by_value, None if weights is None else weights[order]
    # Sorting is several times as fast as argsort. So each class is sorted separately, and argsort
    # only has to merge sorted runs, which a stable sort does in one pass.
    runs = np.empty_like(values)
    ends = np.cumsum(counts)
    for code, end in enumerate(ends.tolist()):
        run = runs[end - counts[code] : end]
        run[:] = values[codes == code]
        run.sort()
    order = np.argsort(runs, kind="stable")
    classes: Codes = np.repeat(np.arange(len(counts)).astype(codes.dtype), counts)
    return runs[order], classes[order], None


def _where_class_can_change(codes: Codes, gaps: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the gaps without those whose neighbouring values are pure in the same class.

    A threshold inside a run of values that are pure in one class separates no classes that a
    threshold at an end of the run does not (Fayyad and Irani 1992), and would use up the limit.
    """
    changes = codes[1:] != codes[:-1]
    useful: NDArray[np.bool_] = gaps & changes
    # A value that is not pure contains a change of class; the gaps on both sides of it are kept.
    places = np.flatnonzero(gaps)
    mixed = np.zeros(len(places) + 1, dtype=bool)  # by value
    mixed[np.searchsorted(places, np.flatnonzero(changes & ~gaps))] = True
    useful[places[mixed[1:]]] = True
    useful[places[mixed[:-1]]] = True
    return useful


def _by_quantile(below: NDArray[np.int64], total: int, limit: int) -> NDArray[np.intp]:
    """Choose ``limit`` of the gaps so that the groups of rows between them are about equal.

    A stretch between two gaps with more than an equal share is a group of its own, and the other
    rows are divided among the remaining groups. So a column with one very frequent value still gets
    all its thresholds where the other rows are.
    """
    ends = np.concatenate([[0.0], below, [total]])
    stretches = ends[1:] - ends[:-1]
    groups = limit + 1
    share = total / groups
    while True:
        heavy = stretches > share
        fair = stretches[~heavy].sum() / (groups - heavy.sum())
        if fair >= share:
            break
        share = fair
    levelled = np.cumsum(np.minimum(stretches, share))[:-1]
    targets = np.arange(1, groups) * share
    right = np.clip(np.searchsorted(levelled, targets), 1, len(levelled) - 1)
    nearest = np.where(targets - levelled[right - 1] <= levelled[right] - targets, right - 1, right)
    # No stretch exceeds a share, so two targets choose the same gap only if equally near to it.
    steps = np.arange(limit)
    distinct = np.maximum.accumulate(nearest - steps) + steps
    chosen: NDArray[np.intp] = np.minimum(distinct, len(below) - limit + steps)
    return chosen


# Placing a threshold in a gap


def _place(values: Values, low: list[Any], high: list[Any]) -> tuple[Threshold, ...]:
    pairs = zip(low, high, strict=True)
    if values.kind == "number":
        floats = all(isinstance(value, float) for value in low + high)
        small = all(isinstance(value, int) and abs(value) <= _FLOATS for value in low + high)
        if floats or small:
            return tuple(float_thresholds(np.array(low, float), np.array(high, float)).tolist())
        return tuple(exact_threshold(a, b) for a, b in pairs)
    if values.kind in ("datetime", "time", "duration"):
        offset = zone_offset(values.zone)
        return tuple(time_threshold(a, b, offset) for a, b in pairs)
    return tuple(day_threshold(a, b) for a, b in pairs)  # or a position among ordered categories


def float_thresholds(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return thresholds t with low <= t < high: the middle, in as few digits as are needed.

    Below infinity it is infinity, which stands for the test "is less than infinity".

    >>> float_thresholds(np.array([45.0, 0.0]), np.array([46.0, 1 / 3]))
    array([45.5  ,  0.167])
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        # Half of each, not half of the sum or the difference: those overflow for huge values.
        middle = low / 2 + high / 2
        gap = high - low
        digits = np.ceil(-np.log10(gap * 0.02))
        scale = 10.0 ** np.abs(digits)
        short = np.where(
            digits > 0, np.rint(middle * scale) / scale, np.rint(middle / scale) * scale
        )
        # Beyond 2**53 the scaled number has no fraction to round; 10**22 is the last exact power.
        exact = (np.abs(middle * scale) < 2.0**53) & (np.abs(digits) <= 22)
        short = np.where(exact & (np.abs(short - middle) <= gap * 0.01), short, middle)
    threshold = np.where((low <= short) & (short < high), short, middle)
    # Between neighbouring floats the middle rounds to one of them; it must not be the upper one.
    result: NDArray[np.float64] = np.where((low <= threshold) & (threshold < high), threshold, low)
    # Next to an infinity there is no middle: the threshold separates the infinity from all other
    # numbers, and the two infinities by their sign.
    result = np.where(np.isinf(high), np.where(np.isinf(low), 0.0, np.inf), result)
    return result + 0.0  # not -0.0


def exact_threshold(low: Threshold, high: Threshold) -> Threshold:
    """Return a threshold t with low <= t < high, near the middle and of few digits.

    >>> exact_threshold(2**60, 2**60 + 1), exact_threshold(10**20, 3 * 10**20)
    (1152921504606846976, 200000000000000000000)
    >>> exact_threshold(Decimal("0.10"), Decimal("0.15"))
    Decimal('0.125')
    """
    if low == float("-inf"):
        return 0.0 if high == float("inf") else float("-inf")
    if high == float("inf"):
        return float("inf")
    bottom, top = Fraction(low), Fraction(high)
    gap, middle = top - bottom, (bottom + top) / 2
    whole = isinstance(low, int) and isinstance(high, int)
    # The largest power of ten with a multiple near enough to the middle.
    power = len(str(int(gap))) if gap >= 1 else 0
    while True:
        unit = Fraction(10) ** power
        rounded = round(middle / unit) * unit
        if abs(rounded - middle) <= gap / 100 and bottom <= rounded < top:
            break
        if whole and power == 0:
            return math.floor(middle)
        power -= 1
    if rounded.denominator == 1:
        return int(rounded)
    digits = int(rounded / unit)
    return Decimal(f"{digits}E{power}")


def day_threshold(low: int, high: int) -> int:
    """Return a day d with low <= d < high, in the middle."""
    return low + (high - low) // 2


def time_threshold(low: int, high: int, offset: Callable[[int], int] = lambda _: 0) -> int:
    """Return a time t with low <= t < high, in nanoseconds, near the middle and round.

    ``offset`` gives the zone's offset from UTC, which determines what is round.

    >>> hour = 3_600_000_000_000
    >>> time_threshold(9 * hour + 1, 17 * hour + 5) / hour
    13.0
    """
    gap, middle = high - low, low + (high - low) // 2
    ahead = offset(middle)
    for unit in _ROUND_TIMES:
        rounded = (middle + ahead + unit // 2) // unit * unit - ahead
        if 100 * abs(rounded - middle) <= gap and low <= rounded < high:
            return rounded
    return middle
