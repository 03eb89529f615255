"""From a cell to its row: read the data, fit, score. Runs in a child of the sandbox."""

from __future__ import annotations

import math
import traceback
from functools import cache
from typing import Any

import numpy as np

from experiments import data, scores, systems
from experiments.cells import Cell, Row
from experiments.machine import versions
from experiments.memory import Growth

DEFAULT_PRIOR = {"alpha": 0.95, "beta": 0.5, "rho": None}


def evaluate(cell: Cell) -> Row:
    """Compute a cell. Failures of the system are rows, too."""
    try:
        system = systems.load(cell.system)
    except ImportError as error:
        return Row.of(cell, "missing", str(error))
    try:
        split = data.load(cell.data)
    except Exception as error:  # not the system's fault, and the data may be there next time
        return Row.of(cell, "missing", f"its data: {error}")
    try:
        return _fit_and_score(system, cell, split)
    except MemoryError as error:
        return Row.of(cell, "memory", f"MemoryError: {error}")
    except Exception as error:
        line = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{line.filename.rsplit('/', 1)[-1]}:{line.lineno}"
        return Row.of(cell, "error", f"{type(error).__name__}: {error} ({where})")


@cache
def _warm_up(system: Any) -> None:
    """Let a system do its lazy imports, which are not part of what is measured."""
    if hasattr(system, "WARM_UP"):
        X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 6, dtype=np.uint8)
        system.fit(X, X[:, 0].astype(np.int64), dict(system.WARM_UP), 0, 1.0)


def _fit_and_score(system: Any, cell: Cell, split: Any) -> Row:
    _warm_up(system)
    growth = Growth()
    fitted = system.fit(split.X_train, split.y_train, dict(cell.params), cell.seed, cell.limit)
    found = {
        "seconds": fitted.seconds,
        "peak_bytes": growth.peak(),
        "status": fitted.status,
        "claimed": fitted.log_posterior,
        "bound": fitted.bound,
        "trace": fitted.trace,
        "extra": fitted.extra,
        "versions": versions(getattr(system, "PACKAGES", ())),
    }
    if fitted.tree is None:
        return Row.of(cell, "timeout", "stopped at its limit without a tree", **found)
    prior = {name: cell.params.get(name, value) for name, value in DEFAULT_PRIOR.items()}
    scored = scores.score(fitted.tree, split, prior)
    says, really = fitted.log_posterior, scored["log_posterior"]
    if says is not None and (really is None or not math.isclose(says, really, abs_tol=1e-6)):
        raise ValueError(f"it reports a log posterior of {says}, but it is {really}")
    return Row.of(cell, "ok", **found, **scored)
