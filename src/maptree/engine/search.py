"""One search: from a packed table to a tree, what is proved about it, and how the search went."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maptree import _core
from maptree.engine.interrupts import Noted
from maptree.engine.problem import Problem
from maptree.engine.progress import Monitor, Progress, ProgressLine, depth_of
from maptree.parameters.budget import Budget
from maptree.trees.certificate import Certificate
from maptree.trees.fitted import TRACE
from maptree.trees.tree import Tree

# Part of a memory limit, in bytes, that is reserved for the interpreter's own small objects.
_OWN = 1 << 19


@dataclass(frozen=True)
class Outcome:
    """What a search found."""

    tree: Tree
    certificate: Certificate
    trace: NDArray[Any]
    gain: NDArray[np.float64]  # by node: what the log posterior would lose if it were a leaf
    # For thresholds of ordered columns, a row with the value below and one with that above.
    beside: dict[int, tuple[int, int]]
    stopped_by_callback: bool


def find_tree(
    problem: Problem,
    budget: Budget,
    callback: Callable[[Progress], object] | None,
    line: ProgressLine | None,
    started: float,
    interrupt: Noted,
) -> Outcome:
    """Search within what is left of a budget since ``started``.

    An interrupt ends the search; before the search it is raised.
    """
    constraints = budget.constraints
    memory = -1 if budget.memory < 0 else max(0, budget.memory - problem.n_bytes - _OWN)
    ordered = problem.n_bytes_of_ordered  # held while the dataset is made
    dataset = problem.dataset(
        started + budget.seconds, memory_limit=memory if memory < 0 else max(0, memory - ordered)
    )
    if interrupt.arrived():
        raise KeyboardInterrupt
    spent = time.perf_counter() - started
    after = 0.0 if problem.ordered is None else problem.ordered.seconds_after(len(problem.codes))
    monitor: Monitor[_core.Progress, Progress] = Monitor(
        callback, line, lambda now: Progress.of(now, spent, problem.n_bytes), interrupt
    )
    result = _core.search(
        dataset,
        problem.core_prior(),
        _core.Options(
            max_depth=-1 if constraints.max_depth is None else constraints.max_depth,
            min_samples_leaf=constraints.min_samples_leaf,
        ),
        _core.Limits(
            seconds=max(0.0, budget.seconds - spent - after),
            max_expansions=budget.expansions,
            memory=memory,
            threads=budget.threads,
        ),
        monitor,
    )
    seconds = time.perf_counter() - started
    if line is not None:
        line.close(_last_line(result, seconds))
    # Without a limit, memory only ends a search where the class counts of a tree are too many.
    unlimited = result.status == "memory_limit" and budget.memory < 0
    certificate = Certificate(
        status="class_limit" if unlimited else result.status,
        optimal=result.status == "optimal",
        log_posterior=0.0 - result.upper,
        log_posterior_bound=0.0 - result.lower,  # not -0.0
        gap=max(0.0, result.upper - result.lower),
        proved_depth=depth_of(result.proved_depth),
        expansions=result.expansions,
        subproblems=result.subproblems,
        seconds=seconds,
        peak_bytes=max(dataset.peak_bytes + ordered, result.peak_bytes) + problem.n_bytes,
    )
    result.counts.setflags(write=False)
    tree, gain = Tree(result.feature, result.left, result.right, result.counts), result.gain
    beside: dict[int, tuple[int, int]] = {}
    if problem.ordered is not None:
        beside = problem.ordered.rows_beside(dataset, tree)
        tree, nodes = problem.ordered.tree(tree)
        gain = gain[nodes]
    return Outcome(
        tree,
        certificate,
        _trace(result, spent),
        gain,
        beside,
        monitor.stopped_by_callback,
    )


def _trace(result: _core.Result, earlier_seconds: float) -> NDArray[Any]:
    trace = np.empty(len(result.trace), dtype=TRACE)
    trace["seconds"] = result.trace[:, 0] + earlier_seconds
    trace["expansions"] = result.trace[:, 1]
    trace["log_posterior"] = 0.0 - result.trace[:, 3]
    trace["log_posterior_bound"] = 0.0 - result.trace[:, 2]
    return trace


def _last_line(result: _core.Result, seconds: float) -> str:
    end = "proved" if result.status == "optimal" else result.status.replace("_", " ")
    return (
        f"{seconds:6.1f} s | {result.expansions:,} expansions | "
        f"best {-result.upper:.4f} | gap {result.upper - result.lower:.4f} | {end}"
    )
