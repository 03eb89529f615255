"""The rows behind figures and claims: one for every cell of a budget.

A cell without a row gets one that says "not run", so that nothing is left out silently; rows of
other budgets in the same store are ignored.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from experiments.budgets import BUDGETS, Budget
from experiments.cells import Row
from experiments.families import FAMILIES, cells
from experiments.settings import Setting
from maptree.datasets import CP4IM_SETS

NOT_RUN = "not run"
Rows = list[dict[str, Any]]


@dataclasses.dataclass(frozen=True)
class Results:
    """The rows of a budget, by family."""

    budget: Budget
    sets: list[str]
    families: dict[str, Rows]  # a family of which nothing was run has no rows

    def of(self, family: str, setting: Setting | None = None) -> Rows:
        """Return the rows of a family, or of one setting in it."""
        rows = self.families[family]
        return rows if setting is None else [row for row in rows if setting.is_of(row)]


def select(
    rows: Iterable[Mapping[str, Any]], budget: str = "quick", sets: Sequence[str] | None = None
) -> Results:
    """Match rows with the cells of a budget; the sets are those of the rows if none are given."""
    found = {row["key"]: dict(row) for row in rows}
    if sets is None:
        seen = {row["set"] for row in found.values()}
        sets = [known.name for known in CP4IM_SETS if known.name in seen]
    families: dict[str, Rows] = {}
    for family in FAMILIES:
        wanted = cells(family, budget, sets)
        if not any(cell.key in found for cell in wanted):
            families[family] = []
            continue
        families[family] = [
            found.get(cell.key)
            or dataclasses.asdict(Row.of(cell, "missing")) | {"outcome": NOT_RUN}
            for cell in wanted
        ]
    return Results(BUDGETS[budget], list(sets), families)


def ok(rows: Iterable[Mapping[str, Any]]) -> Rows:
    """Return the rows that have a result."""
    return [dict(row) for row in rows if row["outcome"] == "ok"]


def shortfall(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return how many rows have no result and why; empty if all have one.

    >>> fine, slow = {"outcome": "ok", "reason": None}, {"outcome": "timeout", "reason": "12 s"}
    >>> shortfall([fine, slow, slow])
    '2 of 3 timeout'
    >>> shortfall([{"outcome": "missing", "reason": "No module named 'gosdt'"}])
    "1 of 1 missing (No module named 'gosdt')"
    """
    outcomes = Counter(row["outcome"] for row in rows if row["outcome"] != "ok")
    parts = []
    for outcome, count in outcomes.most_common():
        why = Counter(row["reason"] for row in rows if row["outcome"] == outcome and row["reason"])
        told = outcome in ("missing", "error", "crash") and why
        reason = f" ({_short(why.most_common(1)[0][0])})" if told else ""
        parts.append(f"{count} of {len(rows)} {outcome}{reason}")
    return ", ".join(parts)


def _short(reason: str, most: int = 48) -> str:
    line = reason.strip().splitlines()[-1]
    return line if len(line) <= most else line[: most - 3].rstrip() + "..."
