"""Which tests to make of a column."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from maptree.encoding.categories import Chosen, choose_categories
from maptree.encoding.cut_points import CutPoints, choose_cut_points
from maptree.encoding.schema import Column
from maptree.encoding.value_text import category_text
from maptree.tables.clock import is_zone
from maptree.tables.labels import Codes
from maptree.tables.values import Values


@dataclass(frozen=True)
class Rows:
    """What is known of the rows: class numbers, and how often each counts; None: once."""

    codes: Codes | None = None
    weights: NDArray[np.int64] | None = None

    def keep(self, mask: NDArray[np.bool_] | None) -> Rows:
        """Return some of the rows; None: all of them."""
        if mask is None:
            return self
        codes = None if self.codes is None else self.codes[mask]
        return Rows(codes, None if self.weights is None else self.weights[mask])


@dataclass(frozen=True)
class Most:
    """Most tests of a column: thresholds, and categories."""

    thresholds: int
    categories: int


def choose_column(name: str, values: Values, rows: Rows, most: Most) -> Column:
    """Choose the tests of a column.

    >>> values = Values("number", "int64", np.array([30, 45, 46]))
    >>> rows = Rows(np.array([0, 0, 1], np.uint8))
    >>> choose_column("age", values, rows, Most(16, 32)).thresholds
    (45.5,)
    """
    counted = None if rows.weights is None or rows.weights.all() else rows.weights > 0
    there = values.present(counted)
    n_counted = len(values) if counted is None else int(np.count_nonzero(counted))
    n_there = len(values) if there is None else int(np.count_nonzero(there))
    # A zone without a name that others could look up, such as tzlocal(), is written as UTC.
    zone = values.zone if values.zone is None or is_zone(values.zone) else "UTC"
    column = Column(name, values.kind, values.dtype, zone=zone)
    if n_there == 0:
        return replace(column, kind="constant", zone=None, note="every value is missing: no test")
    column = replace(column, has_missing=n_there < n_counted)
    values, rows = values.keep(there), rows.keep(there)
    if values.kind == "category":
        chosen = choose_categories(values, rows.weights, most.categories)
        return _with_categories(column, chosen)
    if values.kind == "boolean":
        if values.data.all() or not values.data.any():
            return _constant(column, str(bool(values.data[0])))
        return replace(column, categories=(False, True))
    cuts = choose_cut_points(values, rows.codes, rows.weights, most.thresholds)
    return _with_cuts(column, cuts)


def _with_categories(column: Column, chosen: Chosen) -> Column:
    if len(chosen.categories) == 1 and chosen.n_seen == 1:
        return _constant(column, category_text(chosen.categories[0]))
    if chosen.identifier:
        what = f"{chosen.n_seen:,} different values in {chosen.n_rows:,} rows, like an identifier"
        note = "; ".join(filter(None, (f"{what}: {_what_is_left(column)}", chosen.note)))
        return replace(column, kind="identifier", note=note)
    return replace(column, categories=chosen.categories, note=chosen.note)


def _with_cuts(column: Column, cuts: CutPoints) -> Column:
    if cuts.only is not None:
        return _constant(column, cuts.only)
    return replace(
        column,
        kind=cuts.kind,
        thresholds=cuts.thresholds,
        categories=cuts.categories,
        note=cuts.note,
    )


def _constant(column: Column, value: str) -> Column:
    note = f"every value is {value}: {_what_is_left(column)}"
    return replace(column, kind="constant", zone=None, note=note)


def _what_is_left(column: Column) -> str:
    return "only a test for missing values" if column.has_missing else "no test"
