"""Scores of each setting on each set, averaged over folds, and differences from CART 4."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from experiments.results import Rows, ok
from experiments.settings import CART_4, Setting

# What is measured, and how figures call it.
MEASURES = {
    "test_accuracy": "test accuracy",
    "ll_marginal": "test log likelihood a row,\npublished: marginal, fresh prior",
    "ll_predictive": "test log likelihood a row,\nposterior predictive",
    "ll_own": "test log likelihood a row, leaf frequencies clipped at 0.001",
    "nodes": "nodes",
}


@dataclass(frozen=True)
class OnSet:
    """A setting on a set: means over the folds with a result."""

    name: str
    folds: int  # with a result
    wanted: int
    values: dict[str, float]
    differences: dict[str, float]  # from CART 4, on the folds that both have


@dataclass(frozen=True)
class Standing:
    """A setting on all sets."""

    setting: Setting
    rows: Rows
    sets: list[OnSet]  # those with a result

    def values(self, measure: str) -> list[float]:
        """One a set."""
        return [on.values[measure] for on in self.sets if measure in on.values]

    def differences(self, measure: str) -> list[float]:
        """One a set, from CART 4."""
        return [on.differences[measure] for on in self.sets if measure in on.differences]


def standing(rows: Rows, setting: Setting, sets: Sequence[str], base: Rows) -> Standing:
    """Measure a setting on each set; ``base`` are the rows of CART 4."""
    own = [row for row in rows if setting.is_of(row)]
    base_by_fold = {(row["set"], row["fold"]): row for row in ok(base)}
    found = []
    for name in sets:
        wanted = [row for row in own if row["set"] == name]
        done = ok(wanted)
        if not done:
            continue
        pairs = [
            (row, base_by_fold[name, row["fold"]])
            for row in done
            if (name, row["fold"]) in base_by_fold
        ]
        values, differences = {}, {}
        for measure in MEASURES:
            values[measure] = fmean(row[measure] for row in done)
            if pairs:
                differences[measure] = fmean(row[measure] - by[measure] for row, by in pairs)
        found.append(OnSet(name, len(done), len(wanted), values, differences))
    return Standing(setting, own, found)


def standings(rows: Rows, settings: Sequence[Setting], sets: Sequence[str]) -> list[Standing]:
    """Measure all settings that occur in the rows."""
    base = [row for row in rows if CART_4.is_of(row)]
    measured = [standing(rows, setting, sets, base) for setting in settings]
    return [one for one in measured if one.rows]


def paired(one: Standing, other: Standing, measure: str) -> list[float]:
    """Return one minus the other, set by set, on the folds that both have."""
    theirs = {(row["set"], row["fold"]): row[measure] for row in ok(other.rows)}
    by_set: dict[str, list[float]] = {}
    for row in ok(one.rows):
        key = row["set"], row["fold"]
        if key in theirs:
            by_set.setdefault(row["set"], []).append(row[measure] - theirs[key])
    return [fmean(values) for values in by_set.values()]
