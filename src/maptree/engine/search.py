"""One search: from a packed table to a tree, what is proved about it, and how the search went."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from maptree import _core
from maptree.engine.interrupts import Noted
from maptree.engine.problem import Problem
from maptree.engine.progress import Monitor, Progress, ProgressLine, depth_of
from maptree.parameters.budget import Budget
from maptree.trees.certificate import Certificate
from maptree.trees.fitted import TRACE
from maptree.trees.outcomes import Measured
from maptree.trees.tree import Tree

# Part of a memory limit, in bytes, that is reserved for the interpreter's own small objects.
OWN_BYTES = 1 << 19
# Of the time that is left, what a first tree may take that a prior is found from.
FOR_PRIOR = 0.4


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
    measured: Measured | None = None  # with the prior that was used; None: classes


@dataclass(frozen=True)
class Opened:
    """A dataset that is ready to be searched, perhaps several times, and what is left for it."""

    problem: Problem
    dataset: _core.Dataset
    budget: Budget
    memory: int
    ordered_bytes: int
    started: float
    spent: float  # seconds until it was open

    @classmethod
    def of(cls, problem: Problem, budget: Budget, started: float, interrupt: Noted) -> Self:
        """Hand a problem to the core; an interrupt before the search is raised."""
        memory = -1 if budget.memory < 0 else max(0, budget.memory - problem.n_bytes - OWN_BYTES)
        ordered = problem.n_bytes_of_ordered  # held while the dataset is made
        dataset = problem.dataset(
            started + budget.seconds,
            memory_limit=memory if memory < 0 else max(0, memory - ordered),
        )
        if interrupt.arrived():
            raise KeyboardInterrupt
        seconds = max(0.0, FOR_PRIOR * (budget.seconds - (time.perf_counter() - started)))
        first_tree = _core.Limits(seconds=seconds, max_expansions=0, memory=memory)
        problem = problem.settled(dataset, first_tree)
        if interrupt.arrived():
            raise KeyboardInterrupt
        spent = time.perf_counter() - started
        return cls(problem, dataset, budget, memory, ordered, started, spent)

    @property
    def seconds_left(self) -> float:
        """Seconds that a search may take from now on."""
        ordered = self.problem.ordered
        after = 0.0 if ordered is None else ordered.seconds_after(len(self.problem.codes))
        return max(0.0, self.budget.seconds - (time.perf_counter() - self.started) - after)

    def options(self, max_leaves: int | None) -> _core.Options:
        """Return the constraints as the core takes them."""
        constraints = self.budget.constraints
        return _core.Options(
            max_depth=-1 if constraints.max_depth is None else constraints.max_depth,
            min_samples_leaf=constraints.min_samples_leaf,
            max_leaves=-1 if max_leaves is None else max_leaves,
        )

    def limits(self, seconds: float, expansions: int, patience: float = math.inf) -> _core.Limits:
        """Return the limits of one search, which may have less patience than all of it."""
        return _core.Limits(
            seconds=seconds,
            max_expansions=expansions,
            memory=self.memory,
            threads=self.budget.threads,
            patience=min(patience, self.budget.patience),
        )

    def monitor(
        self,
        callback: Callable[[Progress], object] | None,
        line: ProgressLine | None,
        interrupt: Noted,
    ) -> Monitor[_core.Progress, Progress]:
        """Return what a search reports its progress to."""
        return Monitor(
            callback,
            line,
            lambda now: Progress.of(now, self.spent, self.problem.n_bytes, self.problem.constant),
            interrupt,
        )

    def outcome(self, result: _core.Result, seconds: float, stopped_by_callback: bool) -> Outcome:
        """Return what a search found, in terms of the problem's tests."""
        # Without a limit, memory only ends a search where the class counts of a tree are too many.
        unlimited = result.status == "memory_limit" and self.budget.memory < 0
        peak = max(self.dataset.peak_bytes + self.ordered_bytes, result.peak_bytes)
        certificate = Certificate(
            status="class_limit" if unlimited else result.status,
            optimal=result.status == "optimal",
            log_posterior=0.0 - result.upper - self.problem.constant,
            log_posterior_bound=0.0 - result.lower - self.problem.constant,  # not -0.0
            gap=max(0.0, result.upper - result.lower),
            proved_depth=depth_of(result.proved_depth),
            expansions=result.expansions,
            subproblems=result.subproblems,
            seconds=seconds,
            peak_bytes=peak + self.problem.n_bytes,
        )
        tree = self.problem.tree(result.feature, result.left, result.right, result.counts)
        gain = result.gain
        beside: dict[int, tuple[int, int]] = {}
        if self.problem.ordered is not None:
            beside = self.problem.ordered.rows_beside(self.dataset, tree)
            tree, nodes = self.problem.ordered.tree(tree)
            gain = gain[nodes]
        return Outcome(
            tree,
            certificate,
            _trace(result, self.spent, self.problem.constant),
            gain,
            beside,
            stopped_by_callback,
            None if self.problem.amounts is None else self.problem.amounts.outcome,
        )


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
    opened = Opened.of(problem, budget, started, interrupt)
    monitor = opened.monitor(callback, line, interrupt)
    result = _core.search(
        opened.dataset,
        opened.problem.core_prior(),
        opened.options(budget.constraints.max_leaf_nodes),
        opened.limits(opened.seconds_left, budget.expansions),
        monitor,
    )
    seconds = time.perf_counter() - started
    if line is not None:
        line.close(_last_line(result, seconds, problem.constant))
    return opened.outcome(result, seconds, monitor.stopped_by_callback)


def _trace(result: _core.Result, earlier_seconds: float, constant: float) -> NDArray[Any]:
    trace = np.empty(len(result.trace), dtype=TRACE)
    trace["seconds"] = result.trace[:, 0] + earlier_seconds
    trace["expansions"] = result.trace[:, 1]
    trace["log_posterior"] = 0.0 - result.trace[:, 3] - constant
    trace["log_posterior_bound"] = 0.0 - result.trace[:, 2] - constant
    return trace


def _last_line(result: _core.Result, seconds: float, constant: float) -> str:
    end = "proved" if result.status == "optimal" else result.status.replace("_", " ")
    return (
        f"{seconds:6.1f} s | {result.expansions:,} expansions | "
        f"best {-result.upper - constant:.4f} | gap {result.upper - result.lower:.4f} | {end}"
    )
