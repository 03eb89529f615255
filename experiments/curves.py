"""The speed rows as curves: how good a tree each system has after how much time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean, median
from typing import Any

from experiments.intervals import Mean, mean_interval
from experiments.results import Rows, ok
from experiments.settings import DRAWS, EXPANSIONS, SAMPLERS, SEARCHES

LABELS = SEARCHES | {name: label for name, (label, _) in SAMPLERS.items()}
TOLERANCE = 1e-6  # nats; between the search's arithmetic and the scorer's


@dataclass(frozen=True)
class Point:
    """All runs of a system with one setting on one set."""

    setting: int | None  # expansions, iterations or particles; None: the run by time
    rows: Rows
    seconds: float | None  # mean of the runs with a result
    value: Mean | None  # log posterior of the best tree

    @property
    def median_seconds(self) -> float:
        """Of the runs with a result: a hiccup of the machine in one of ten does not move it."""
        return median(row["seconds"] for row in ok(self.rows))

    @property
    def tree_seconds(self) -> float | None:
        """Mean over the runs of when each had its best tree, by its trace; None without traces."""
        times = [trace_reaches(row, row["log_posterior"]) for row in ok(self.rows)]
        known = [at for at in times if at is not None]
        return fmean(known) if known else None

    @property
    def count(self) -> int:
        """Runs with a result."""
        return len(ok(self.rows))


def curve(rows: Rows, system: str, name: str) -> list[Point]:
    """Return the points of a system on a set, by setting."""
    of_system = [row for row in rows if row["system"] == system and row["set"] == name]
    what = SAMPLERS[system][1] if system in SAMPLERS else "max_expansions"
    settings = DRAWS if system in SAMPLERS else (*EXPANSIONS, None)
    points = []
    for setting in settings:
        runs = [row for row in of_system if row["params"].get(what) == setting]
        done = [row for row in ok(runs) if row["log_posterior"] is not None]
        if done:
            mean_seconds = sum(row["seconds"] for row in done) / len(done)
            value = mean_interval([row["log_posterior"] for row in done])
            points.append(Point(setting, runs, mean_seconds, value))
        else:
            points.append(Point(setting, runs, None, None))
    return points


def long_run(rows: Rows, system: str, name: str) -> dict[str, Any] | None:
    """Return the run by time of a search on a set; None if it has no result."""
    runs = [row for row in curve(rows, system, name)[-1].rows if row["outcome"] == "ok"]
    return runs[0] if runs else None


def best(rows: Rows, name: str) -> float | None:
    """Return the highest log posterior that any run of any system found on a set."""
    found = [
        row["log_posterior"]
        for row in ok(rows)
        if row["set"] == name and row["log_posterior"] is not None
    ]
    return max(found) if found else None


def trace_reaches(run: Mapping[str, Any], value: float) -> float | None:
    """Return the seconds after which a run had a tree as good as this, by its trace."""
    for at, _, log_posterior, _ in run["trace"] or []:
        if log_posterior is not None and log_posterior >= value - TOLERANCE:
            return float(at)
    return None


def search_reaches(rows: Rows, system: str, name: str, value: float) -> float | None:
    """Return the seconds after which a search had a tree as good as this; None: never.

    By its long run's trace, which has every better tree; or by the fastest run that got there.
    """
    times = [
        point.seconds
        for point in curve(rows, system, name)
        if point.seconds is not None and point.value.value >= value - TOLERANCE
    ]
    run = long_run(rows, system, name)
    at = None if run is None else trace_reaches(run, value)
    return min(times if at is None else [*times, at], default=None)


def sampler_reaches(rows: Rows, system: str, name: str, value: float) -> float | None:
    """Return the mean seconds of the shortest setting whose mean is as good as this."""
    times = [
        point.seconds
        for point in curve(rows, system, name)
        if point.value is not None and point.value.value >= value - TOLERANCE
    ]
    return min(times, default=None)


def reaches(rows: Rows, system: str, name: str, value: float) -> float | None:
    """Return when a system has a tree as good as this; None: never."""
    how = sampler_reaches if system in SAMPLERS else search_reaches
    return how(rows, system, name, value)


@cache
def _anchors() -> Mapping[str, Any]:
    path = Path(__file__).resolve().parents[1] / "bench" / "anchors.json"
    known: Mapping[str, Any] = json.loads(path.read_text())["sets"]
    return known


def published(name: str) -> Mapping[str, Any]:
    """Return what the published code came to on a set; empty if that is not known."""
    return _anchors().get(name, {})


def sets_of(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the names of the sets, in the order of the rows."""
    return list(dict.fromkeys(str(row["set"]) for row in rows))
