"""Tables beyond the paper: how soon a good tree is there, and what is proved about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from experiments.curves import LABELS, best, long_run, published, reaches, sets_of
from experiments.figures.sheet import Sheet
from experiments.markdown import number, seconds, table
from experiments.results import Results, Rows
from experiments.settings import SEARCHES

NEAR = 0.01  # of the cost


def sheets(results: Results) -> list[Sheet]:
    """Return both tables."""
    rows = results.of("speed")
    run = f"{results.budget.long_run:g} s"
    return [
        Sheet(
            name="time-to-quality",
            title="Seconds until a tree is good",
            caption=(
                "Cost is the negative log posterior, lower is better. Best: of all runs of all "
                "systems here. For each system the seconds until its tree costs at most 1% more, "
                "and until it is as good as the best (a dash: never). MAPTree by the trace of its "
                f"{run} run or a shorter run; the samplers by the whole runs (mean seconds) of the "
                "shortest setting whose mean over seeds is as good, so theirs are later than "
                "their trees. Published: the published code's cost after 60 s on such "
                "a machine, and when MAPTree was as good."
            ),
            picture=None,
            tables=[_time_to_quality(rows)],
        ),
        Sheet(
            name="certificates",
            title="What is proved",
            caption=(
                f"Of the runs by time, {run} at most and without a limit of expansions; s is when "
                "they ended, which is the proof where the status is optimal. Gap: cost minus "
                "lower bound on the cost of every tree, in nats. Depth: no tree of this depth or "
                "less costs less; paper mode does not say. MB: growth of the process. Published: "
                "the published code after 60 s."
            ),
            picture=None,
            tables=[_certificates(rows)],
        ),
    ]


def _time_to_quality(rows: Rows) -> str:
    header = ["set", "best cost"]
    for label in LABELS.values():
        header += [f"{label}: to 1%", "to best"]
    header += ["published cost", "MAPTree: to that"]
    lines = []
    for name in sets_of(rows):
        top = best(rows, name)
        if top is None:
            lines.append([name, *["-"] * (len(header) - 1)])
            continue
        line = [name, number(-top, 3)]
        for system in LABELS:
            for value in (top - NEAR * abs(top), top):
                line.append(seconds(reaches(rows, system, name, value)))
        theirs = published(name).get("published_cost")
        # It is known to four decimals.
        at = None if theirs is None else reaches(rows, "maptree", name, -theirs - 1e-4)
        lines.append([*line, number(theirs, 3), seconds(at)])
    return table(header, lines)


def _certificates(rows: Rows) -> str:
    header = ["set", "search", "status", "cost", "lower bound", "gap", "depth", "s"]
    header += ["expansions", "MB", "published cost", "published bound"]
    lines = []
    for name in sets_of(rows):
        known = published(name)
        for system, label in SEARCHES.items():
            run = long_run(rows, system, name)
            line = [name, label, *(_certificate(run) if run else ["no result", *["-"] * 7])]
            line += [number(known.get("published_cost"), 3)]
            lines.append([*line, number(known.get("published_lower_bound"), 2)])
    return table(header, lines, words=3)


def _certificate(run: Mapping[str, Any]) -> list[str]:
    cost, bound, extra = -run["log_posterior"], run["bound"], run["extra"] or {}
    optimal = run["status"] == "optimal"
    lower = None if bound is None else -bound
    megabytes = None if run["peak_bytes"] is None else run["peak_bytes"] / 1e6
    return [
        str(run["status"]).replace("_", " "),
        number(cost, 3),
        number(lower, 2),
        number(None if lower is None else 0.0 if optimal else cost - lower, 2),
        "any" if optimal else number(extra.get("proved_depth"), 0),
        seconds(run["seconds"]),
        number(extra.get("expansions"), 0),
        number(megabytes, 0),
    ]
