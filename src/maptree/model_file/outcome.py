"""What a tree of numbers or counts predicts, as JSON values, and back.

The sums of a tree's nodes say nothing without it, and are checked against it: no rows that ``fit``
takes add up to others.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from maptree.files.json_values import boolean, fields, number, show, whole
from maptree.parameters.limits import MAX_TOTAL_WEIGHT
from maptree.parameters.outcomes import (
    EXPOSURE_UNITS,
    STEPS,
    read_count_prior,
    read_number_prior,
)
from maptree.trees.leaf_probabilities import LEVEL
from maptree.trees.outcomes import Counts, Measured, Numbers
from maptree.trees.predictive import MOST_MEAN
from maptree.trees.tree import Tree

MOST_SUM = 1 << 50  # more than any sum that passes the checks, and far from overflow
_LARGEST = 2.0**1020  # of y and of exposures
_SMALLEST = sys.float_info.min
_KINDS = {
    Numbers.name: ("mean", "sd", "kappa", "nu", "noise"),
    Counts.name: ("exposure", "units", "exposed", "shape"),
}


def write_outcome(outcome: Measured) -> dict[str, Any]:
    """Return JSON values for what a tree predicts.

    >>> from maptree.parameters.outcomes import NumberPrior
    >>> write_outcome(Numbers(10.0, 3.0, NumberPrior()))
    {'kind': 'numbers', 'mean': 10.0, 'sd': 3.0, 'kappa': 0.1, 'nu': 3.0, 'noise': 0.1}
    """
    holders = (outcome, outcome.prior)
    values = {
        name: next(getattr(holder, name) for holder in holders if hasattr(holder, name))
        for name in _KINDS[outcome.name]
    }
    return {"kind": outcome.name} | values


def read_outcome(value: object, tree: Tree) -> Measured | None:
    """Return what ``write_outcome`` wrote, checked against the tree; None for classes."""
    if value is None:
        return None
    where = "outcome"
    kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ValueError(f"{where}.kind is {show(kind)}: it must be {' or '.join(_KINDS)}.")
    given = fields(value, where, ("kind", *_KINDS[kind]))
    try:
        outcome = _read_numbers(given, tree) if kind == Numbers.name else _read_counts(given, tree)
    except TypeError as error:  # of the prior
        raise ValueError(f"{where}: {error}") from None
    _refuse_overflow(outcome, tree)
    return outcome


def _read_numbers(given: dict[str, Any], tree: Tree) -> Numbers:
    wanted = read_number_prior(given["kappa"], given["nu"], given["noise"])
    if wanted.kappa is None or wanted.noise is None:
        raise ValueError("outcome.kappa and outcome.noise must be numbers.")
    prior = wanted.known()
    mean = number(given["mean"], "outcome.mean", -_LARGEST, _LARGEST)
    sd = number(given["sd"], "outcome.sd", 0.0, _LARGEST)
    if 0 < sd < _SMALLEST:
        raise ValueError(f"outcome.sd is {sd}: it must be 0, or at least {_SMALLEST:g}.")
    # In Python's whole numbers: squares of sums are beyond 64 bits.
    for node, (rows, (total, squares)) in enumerate(
        zip(tree.rows.tolist(), tree.sums.tolist(), strict=True)
    ):
        if squares < 0 or rows * squares < total * total or (sd == 0 and squares > 0):
            raise ValueError(f"tree.sums[{node}] is not what {rows} numbers can add up to.")
    rows, (total, squares) = int(tree.rows[0]), tree.sums[0].tolist()
    # Numbers that are standardised, and then rounded, have sums close to these.
    if sd > 0 and (abs(total) > rows or abs(squares - STEPS**2 * rows) > (STEPS + 1) * rows):
        raise ValueError("tree.sums[0] is not that of numbers with mean 0 and deviation 1.")
    return Numbers(mean, sd, prior)


def _read_counts(given: dict[str, Any], tree: Tree) -> Counts:
    prior = read_count_prior(given["shape"])
    exposure = number(given["exposure"], "outcome.exposure", _SMALLEST, _LARGEST)
    units = whole(given["units"], "outcome.units", 1, EXPOSURE_UNITS)
    exposed = boolean(given["exposed"], "outcome.exposed")
    if units not in (1, EXPOSURE_UNITS):
        raise ValueError(f"outcome.units is {units}: it must be 1 or {EXPOSURE_UNITS}.")
    if not exposed and (units, exposure) != (1, 1.0):
        raise ValueError("outcome: without exposure, exposure and units must be 1.")
    rows, events, exposures = tree.rows, tree.sums[:, 0], tree.sums[:, 1]
    wrong = (events < 0) | ((exposures != rows) if units == 1 else (exposures < rows))
    if wrong.any():
        node = int(np.argmax(wrong))
        raise ValueError(f"tree.sums[{node}] is not what {rows[node]} counts can add up to.")
    n_rows, n_events = int(rows[0]), int(events[0])
    if n_events > MAX_TOTAL_WEIGHT:
        raise ValueError(f"tree.sums[0] has {n_events:,} events: at most {MAX_TOTAL_WEIGHT:,}.")
    if abs(int(exposures[0]) - n_rows * units) > n_rows:
        raise ValueError("tree.sums[0] is not that of exposures with mean 1.")
    return Counts(max(1, n_events) / n_rows, exposure, units, exposed, prior)


def _refuse_overflow(outcome: Measured, tree: Tree) -> None:
    """Refuse predictions that are no floats, or counts whose quantiles cannot be found."""
    tail = (1 - LEVEL) / 2
    with np.errstate(all="ignore"):
        if isinstance(outcome, Numbers):
            found = outcome.predictive(tree)
            ends = [found.quantile(tail), found.quantile(1 - tail)]
            usable = np.isfinite(ends).all(axis=0)
        else:
            rates = outcome.rates(tree)
            usable = (rates >= _SMALLEST) & (rates <= MOST_MEAN)
            usable &= outcome.predictive(tree).mean <= MOST_MEAN
    if not usable.all():
        raise ValueError(
            f"outcome: what node {int(np.argmin(usable))} predicts is too large or too small for a "
            "float. In another unit of y, or of the exposure, it is not."
        )
