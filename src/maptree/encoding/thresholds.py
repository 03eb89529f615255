"""The thresholds of a column with ordered values.

``choose_gaps`` chooses gaps between neighbouring values, in each of which a threshold is placed
(``schema/placing.py``). Without a limit there is one in every gap, and the values become ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maptree.encoding.levels import levels
from maptree.encoding.ranking import Ranking, rank
from maptree.schema.columns import IN_ORDER, Column, Threshold
from maptree.schema.on_demand import WholeNumbers
from maptree.schema.placing import EveryThreshold, fit_floats, in_units, place
from maptree.tables.clock import DAY
from maptree.tables.labels import Codes
from maptree.tables.values import Category, Values
from maptree.words.column_report import ROW_NUMBERS
from maptree.words.values import threshold_text

# Fewer whole numbers than this may all differ without being identifiers.
_FEW_NUMBERS = 20
# With this many classes or fewer, one pass per class over all rows makes sorting faster.
_FEW_CLASSES = 16


@dataclass(frozen=True)
class ChosenThresholds:
    """The thresholds of a column, and what kind of column it turned out to be."""

    kind: str
    thresholds: Sequence[Threshold] = ()
    levels: Sequence[int] = ()
    categories: tuple[Category, ...] = ()
    note: str = ""
    only: str | None = None  # the text of the only value, in a constant column
    # Without a limit: for each row, the number of thresholds below its value.
    ranks: NDArray[np.uint32] | None = None


def choose_thresholds(
    values: Values, codes: Codes | None, weights: NDArray[np.int64] | None, limit: int | None
) -> ChosenThresholds:
    """Choose at most ``limit`` thresholds for values without missing ones; None: all there are.

    >>> values = Values("number", "int64", np.array([30, 45, 46]))
    >>> choose_thresholds(values, None, None, 16).thresholds
    (37.5, 45.5)
    """
    values = _by_day(values)
    data, distinct = np.ascontiguousarray(values.data), None
    if data.dtype.kind == "O":
        # No array type holds these numbers: gaps are chosen among their ranks.
        numbers, data = rank(data.tolist())
        distinct = np.fromiter(numbers, dtype=object, count=len(numbers))
        values = replace(values, per_unit=Fraction(1))
    if limit is None:
        return _every_threshold(values, data, distinct, weights)
    gaps = choose_gaps(data, codes, weights, limit)
    low, high, ends = (
        in_units(side if distinct is None else distinct[side], values.per_unit)
        for side in (gaps.low, gaps.high, gaps.ends)
    )
    if (chosen := _few_values(values, gaps.n_values, ends)) is not None:
        return chosen
    notes = _notes(values, gaps.n_values, weights)
    if len(gaps.low) < gaps.n_useful:
        notes.insert(0, f"{len(gaps.low):,} of {gaps.n_useful:,} thresholds, by quantile")
    return ChosenThresholds(
        values.kind,
        place(values.kind, values.zone, low, high, fit_floats(low + high)),
        tuple(levels(gaps.below, gaps.n_rows).tolist()),
        _categories(values),
        "; ".join(notes),
    )


def _every_threshold(
    values: Values,
    data: NDArray[Any],
    distinct: NDArray[np.object_] | None,
    weights: NDArray[np.int64] | None,
) -> ChosenThresholds:
    """Return a threshold for every gap; ``data`` are positions in ``distinct``, unless None."""
    ranking = Ranking.of(data, weights)
    found = ranking.values if distinct is None else distinct[ranking.values]
    ends = in_units(found[[0, -1]], values.per_unit)
    if (chosen := _few_values(values, len(found), ends)) is not None:
        return chosen
    return ChosenThresholds(
        values.kind,
        EveryThreshold(values.kind, found, values.per_unit, values.zone),
        WholeNumbers(levels(ranking.at_most[:-1], int(ranking.at_most[-1]))),
        _categories(values),
        "; ".join(_notes(values, len(found), weights)),
        ranks=ranking.ranks,
    )


def _few_values(values: Values, n_values: int, ends: list[Any]) -> ChosenThresholds | None:
    """Return what becomes of a column with one value, or with 0 and 1; None of any other."""
    if n_values == 1:
        column = Column("", values.kind, "", categories=_categories(values), zone=values.zone)
        return ChosenThresholds(values.kind, only=threshold_text(column, ends[0]))
    if values.kind == "number" and n_values == 2 and ends == [0, 1]:
        return ChosenThresholds("boolean", categories=(0, 1))
    return None


def _categories(values: Values) -> tuple[Category, ...]:
    return tuple(values.categories) if values.kind in IN_ORDER else ()


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


def _notes(values: Values, n_values: int, weights: NDArray[np.int64] | None) -> list[str]:
    """Return what is remarkable about the values."""
    if (
        values.kind != "number"
        or values.data.dtype.kind not in "iuf"
        or weights is not None
        or not n_values == len(values) >= _FEW_NUMBERS
        or values.per_unit != 1
    ):
        return []
    course = _course(values.data)
    if course:
        like = "like an identifier: drop the column if it only numbers them"
        return [f"{ROW_NUMBERS} {course} with the rows, {like}"]
    if values.data.dtype.kind in "iu":
        return ["all values differ: drop it if it is an identifier"]
    return []


def _course(numbers: NDArray[Any]) -> str:
    """Return whether whole numbers that all differ rise or fall with the rows.

    >>> _course(np.array([3, 4, 7])), _course(np.array([3.0, 1.0])), _course(np.array([3, 4, 1]))
    ('rise', 'fall', '')
    """
    # The first rows save most columns the look at all.
    for some in (numbers[:1000], numbers):
        if some.dtype.kind == "f" and (some != np.floor(some)).any():
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
