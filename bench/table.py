"""The benchmark's tables in Markdown, and conclusions from them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from maptree.parameters.limits import memory_limit
from marks import marks_within
from report import facts, megabytes, number, table

Row = dict[str, Any]

COSTS = 1e-4  # costs are published to four decimals, lower bounds to two
BOUNDS = 1e-2
ARITHMETIC = 1e-6  # between the search's fixed point and the floats of log_posterior


def markdown(document: dict[str, Any]) -> str:
    """Return the whole report."""
    rows, limit = document["rows"], document["settings"]["limit"]
    memory = memory_limit(document["settings"]["memory limit"])
    unfinished = document["sets"] - len(rows)
    parts = [
        f"# maptree, {limit:g} s a set",
        f"Not finished: {unfinished} of {document['sets']} sets are missing." if unfinished else "",
        facts(document["environment"]),
        _settings(document["settings"]),
        _CAPTION,
        "## Cost",
        _CAPTION_COST,
        cost_table(rows, limit),
        "## Lower bound",
        "On the cost of every tree. Published: after 60 s.",
        bound_table(rows, limit),
        "## Proof and work",
        _CAPTION_WORK,
        work_table(rows),
        "## Counts",
        "\n".join(f"- {line}" for line in counts(rows, limit, memory)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _settings(settings: dict[str, Any]) -> str:
    given = [f"limit {settings['limit']:g} s"]
    given += [f"{name} {settings[name]}" for name in ("memory limit", "jobs") if settings[name]]
    return f"Settings: {', '.join(given)}."


_CAPTION = (
    "Cost is the negative log posterior in nats, at alpha 0.95, beta 0.5, rho 5/K; lower is "
    "better. Seconds are wall-clock time from the beginning of `fit`, reading and packing the "
    "table included, after a first fit of eight rows in the same process. Values at a time are "
    "those of the last entry of `trace_` until then, in one run of the full limit. The trace has "
    "every better tree, and a better bound after every 2% more expansions."
)
_CAPTION_COST = (
    "Published: the published C++ code after 60 s. Best known: the best of everything tried, `*` "
    "proved. CART: scikit-learn's tree, fully grown, then pruned to the least cost; seconds for "
    "gini and entropy together."
)
_CAPTION_WORK = (
    "Depth: no tree of this depth or less costs less than the one found. Counted MB: "
    "`certificate_.peak_bytes`. Resident MB: the peak that the system saw; its growth is over the "
    "level just before `fit`. MB are millions of bytes."
)


def cost_table(rows: list[Row], limit: float) -> str:
    """Costs at the marks and at the end, with those of other systems."""
    header = ["set", "rows", "columns"]
    header += [f"{mark:g} s" for mark in marks_within(limit)]
    header += ["end", "published", "best known", "CART gini", "CART entropy", "CART s"]
    lines = []
    for row in rows:
        anchor, cart = row.get("anchor") or {}, row.get("cart") or []
        star = "*" if anchor.get("best_known_is_proved") else ""
        by_criterion = {line["criterion"]: line["cost"] for line in cart}
        lines.append(
            [
                row["set"],
                number(row.get("rows"), 0),
                number(row.get("columns"), 0),
                *_at_marks(row, "cost", limit, 4),
                _end(row, "cost", 4),
                number(anchor.get("published_cost")),
                number(anchor.get("best_known")) + star,
                number(by_criterion.get("gini")),
                number(by_criterion.get("entropy")),
                number(sum(line["seconds"] for line in cart) if cart else None, 3),
            ]
        )
    return table(header, lines)


def bound_table(rows: list[Row], limit: float) -> str:
    """Lower bounds at the marks and at the end, with the published one."""
    header = ["set", *(f"{mark:g} s" for mark in marks_within(limit)), "end", "gap", "published"]
    lines = []
    for row in rows:
        gap = row["cost"] - row["lower_bound"] if "cost" in row else None
        lines.append(
            [
                row["set"],
                *_at_marks(row, "lower_bound", limit, 2),
                _end(row, "lower_bound", 2),
                number(gap, 2),
                number((row.get("anchor") or {}).get("published_lower_bound"), 2),
            ]
        )
    return table(header, lines)


def work_table(rows: list[Row]) -> str:
    """How far the proof came, and what it took."""
    header = ["set", "status", "depth", "s to proof", "s in fit", "expansions", "a second"]
    header += ["counted MB", "resident growth MB", "resident peak MB"]
    lines = []
    for row in rows:
        depth = row.get("proved_depth")
        lines.append(
            [
                row["set"],
                _status(row),
                "any" if depth == "inf" else number(depth, 0),
                number(row.get("seconds_to_proof"), 2),
                number(row.get("fit_seconds"), 2),
                number(row.get("expansions"), 0),
                number(row.get("expansions_per_second"), 0),
                megabytes(row.get("peak_bytes")),
                megabytes(row.get("resident_growth_bytes")),
                megabytes(row.get("resident_peak_bytes")),
            ]
        )
    return table(header, lines)


def _at_marks(row: Row, what: str, limit: float, decimals: int) -> list[str]:
    return [number(_at(row, what, mark), decimals) for mark in marks_within(limit)]


def _at(row: Row, what: str, mark: float) -> float | None:
    return next((at[what] for at in row.get("marks", []) if at["seconds"] == mark), None)


def _end(row: Row, what: str, decimals: int) -> str:
    return number(row[what], decimals) if what in row else _status(row)


def _status(row: Row) -> str:
    if row["outcome"] != "measured":
        return str(row["outcome"])
    return str(row["status"]).replace("_", " ")


_GOALS = (
    (1.0, "the published after 60 s", "published_cost"),
    (10.0, "the best known", "best_known"),
)


def counts(rows: list[Row], limit: float, memory: int = -1) -> list[str]:
    """Return the conclusions of the tables, one sentence each; sets that failed count as misses."""
    anchored = [row for row in rows if row.get("anchor")]
    lines = []
    for mark, goal, what in _GOALS:
        if limit >= mark and anchored:
            lines.append(
                _count(
                    f"cost at {mark:g} s no worse than {goal}",
                    anchored,
                    lambda row, mark=mark, what=what: _no_worse(
                        _at(row, "cost", mark), row["anchor"][what]
                    ),
                )
            )
    lines.append(_count("proved outright", rows, _proved))
    if anchored:
        lines.append(
            _count(
                "lower bound at the end above the published, or proved",
                anchored,
                lambda row: (
                    _proved(row)
                    or row.get("lower_bound", 0) > row["anchor"]["published_lower_bound"] + BOUNDS
                ),
            )
        )
    for depth in (4, 5):
        lines.append(
            _count(
                f"proved depth of {depth} or more",
                rows,
                lambda row, depth=depth: float(row.get("proved_depth", -1)) >= depth,
            )
        )
    lines.append(
        _count(
            "cost at the end no worse than pruned CART's",
            rows,
            lambda row: all(
                _no_worse(row.get("cost"), line["cost"])
                for line in row.get("cart") or [{"cost": -1}]
            ),
        )
    )
    if memory >= 0:
        lines.append(
            _count(
                "resident growth within the memory limit",
                rows,
                lambda row: (row.get("resident_growth_bytes") or math.inf) <= memory,
            )
        )
    better = [row["set"] for row in anchored if _below(row, row["anchor"]["best_known"])]
    if better:
        lines.append(f"cost at the end below the best known: {', '.join(better)}")
    return [*lines, *(f"**wrong**: {line}" for line in contradictions(rows))]


def _count(what: str, rows: list[Row], holds: Callable[[Row], bool]) -> str:
    misses = [row["set"] for row in rows if not holds(row)]
    but = f" (not: {', '.join(misses)})" if misses else ""
    return f"{what}: {len(rows) - len(misses)} of {len(rows)}{but}"


def _proved(row: Row) -> bool:
    return row.get("status") == "optimal"


def _no_worse(cost: float | None, other: float) -> bool:
    return cost is not None and cost <= other + COSTS


def _below(row: Row, other: float) -> bool:
    return "cost" in row and row["cost"] < other - COSTS


def contradictions(rows: list[Row]) -> list[str]:
    """Return contradictions, one sentence each: each is a bug in the search or in a bound."""
    found = []
    for row in (row for row in rows if "cost" in row):
        anchor, lower = row.get("anchor") or {}, row["lower_bound"]
        if lower > row["cost"]:
            found.append(f"{row['set']}: the lower bound is above the cost")
        if row["scorer_difference"] > ARITHMETIC:
            found.append(f"{row['set']}: the scorer gives the tree another cost")
        for line in row.get("cart") or []:
            if line["cost"] < lower - ARITHMETIC:
                found.append(f"{row['set']}: CART's tree costs less than the lower bound")
        if anchor and lower > anchor["best_known"] + COSTS:
            found.append(f"{row['set']}: a known tree costs less than the lower bound")
        if anchor.get("best_known_is_proved") and _below(row, anchor["best_known"]):
            found.append(f"{row['set']}: the cost is below the proved optimum")
    return found


def failures(rows: list[Row]) -> list[str]:
    """Return the sets whose process failed."""
    return [f"{row['set']}: {row['outcome']}" for row in rows if row["outcome"] != "measured"]
