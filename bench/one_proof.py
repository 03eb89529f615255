"""One fit of one system over all thresholds, as a program: it prints one line of JSON.

It runs in the environment of the system, so it imports nothing else. `thresholds.py` starts it with
the settings as JSON.
"""

from __future__ import annotations

import json
import signal
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

Settings = dict[str, Any]
Found = dict[str, Any]


def maptree(X: Any, y: Any, settings: Settings) -> Found:
    from maptree import BinaryEncoder, MAPTreeClassifier, _core

    if settings["by_processor"]:
        from envelopes import go_by_processor_time

        go_by_processor_time()
    spent: dict[str, float] = {}
    search = _core.search

    def spy(*arguments: Any) -> Any:
        with Stopwatch() as core:
            found = search(*arguments)
        spent["core_seconds"], spent["core_processor_seconds"] = core.wall, core.processor
        return found

    _core.search = spy
    small = MAPTreeClassifier(encoder=BinaryEncoder(max_thresholds=None), max_expansions=5)
    small.fit(X[:50], y[:50])  # lazy imports happen now
    model = MAPTreeClassifier(
        max_depth=settings["depth"],
        time_limit=settings["limit"],
        n_jobs=1,
        split_prior=settings["split_prior"],
        encoder=BinaryEncoder(max_thresholds=None),
    )
    with Stopwatch(settings) as fit:
        model.fit(X, y)
    certificate, trace = model.certificate_, model.trace_
    best = trace["log_posterior"] >= trace["log_posterior"][-1]
    depth = certificate.proved_depth
    return fit.times() | {
        "proved": certificate.optimal,
        "errors": int((model.predict(X) != y).sum()),
        "leaves": model.tree_.n_leaves,
        "tree_seconds": float(trace["seconds"][np.argmax(best)]),
        "proved_depth": None if np.isinf(depth) else int(depth),
        "log_posterior": certificate.log_posterior,
        "gap": certificate.gap,
        "expansions": certificate.expansions,
        "counted_bytes": certificate.peak_bytes,
        **spent,
    }


def contree(X: Any, y: Any, settings: Settings) -> Found:
    from pycontree import ConTree

    ConTree(max_depth=1).fit(X[:50], y[:50])
    model = ConTree(max_depth=settings["depth"], time_limit=settings["peer_limit"])
    with warnings.catch_warnings(record=True) as warned, Stopwatch(settings) as fit:
        warnings.simplefilter("always")
        model.fit(X, y)
    late = any("time limit" in str(warning.message) for warning in warned)
    return fit.times() | {
        "proved": not late,
        "errors": int((model.predict(X) != y).sum()),
        "leaves": int(model.get_num_leaf_nodes()),
    }


def streed(X: Any, y: Any, settings: Settings) -> Found:
    from pystreed import STreeDClassifier

    tests = answers(X, settings["cap"])
    given = (
        {"optimization_task": "accuracy-flex", "accuracy_objective": "bayes"}
        if settings["objective"] == "bayes"
        else {"optimization_task": "accuracy"}
    )
    model = STreeDClassifier(
        max_depth=settings["depth"], time_limit=settings["peer_limit"], **given
    )
    with Stopwatch(settings) as fit:
        model.fit(tests, y)
    return fit.times() | {
        "proved": bool(model.fit_result.is_optimal()),
        "errors": int((model.predict(tests) != y).sum()),
        "tests": tests.shape[1],
    }


def answers(X: Any, cap: int | None) -> Any:
    """Return a 0/1 column for every threshold, or for ``cap`` of a column by quantile."""
    columns = []
    for values in X.T:
        distinct = np.unique(values)
        thresholds = distinct[:-1] + np.diff(distinct) / 2
        if cap is not None and len(thresholds) > cap:
            shares = np.arange(1, cap + 1) / (cap + 1)
            nearest = np.searchsorted(thresholds, np.quantile(values, shares))
            thresholds = thresholds[np.unique(np.minimum(nearest, len(thresholds) - 1))]
        columns.append(values[:, np.newaxis] <= thresholds)
    return np.hstack(columns).astype(np.uint8)


class Stopwatch:
    """Seconds by the clock and of this process, between entering and leaving.

    With settings, a signal ends the process some time after their limit: not every system keeps it.
    Well after it, because this timer counts ticks, which may be too many on a busy machine.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings

    def __enter__(self) -> Stopwatch:
        if self.settings is not None:
            by_processor = self.settings["by_processor"]
            timer = signal.ITIMER_PROF if by_processor else signal.ITIMER_REAL
            signal.setitimer(timer, 1.25 * self.settings["limit"] + 2)
        self.wall, self.processor = time.monotonic(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall = time.monotonic() - self.wall
        self.processor = time.process_time() - self.processor
        if self.settings is not None:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)

    def times(self) -> Found:
        return {"seconds": self.wall, "processor_seconds": self.processor}


SYSTEMS: dict[str, Callable[[Any, Any, Settings], Found]] = {
    "maptree": maptree,
    "contree": contree,
    "streed": streed,
}


def main() -> None:
    warnings.simplefilter("ignore")
    settings = json.loads(sys.argv[1])
    with np.load(settings["file"]) as file:
        X, y = file["X"], file["y"]
    print(json.dumps(SYSTEMS[settings["package"]](X, y, settings), allow_nan=False))


if __name__ == "__main__":
    main()
