"""The most probable trees in order: from a packed table to trees, and what is proved about them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maptree import _core
from maptree.engine.interrupts import Noted
from maptree.engine.problem import Problem
from maptree.engine.progress import AlternativesProgress, Monitor, ProgressLine
from maptree.engine.search import OWN_BYTES
from maptree.parameters.budget import Budget
from maptree.trees.tree import Tree


@dataclass(frozen=True)
class Rival:
    """One of the trees that were found."""

    rank: int  # among all trees examined
    tree: Tree
    log_posterior: float
    gain: NDArray[np.float64]  # by node: what the log posterior would lose if it were a leaf
    beside: dict[int, tuple[int, int]]  # as in ``engine.search.Outcome``


@dataclass(frozen=True)
class Rivals:
    """The most probable trees, in order, and what is proved about all others."""

    rivals: list[Rival]
    status: str  # "complete": all that was asked for; else what stopped it
    best: float  # the log posterior of the most probable tree; nan if that was not proved
    # No tree that parts the rows in another way than these exceeds it; -inf: there is none.
    log_posterior_bound: float
    examined: int
    expansions: int
    seconds: float
    peak_bytes: int
    stopped_by_callback: bool


def find_rivals(
    problem: Problem,
    budget: Budget,
    n: int,
    within: float,
    accept: Callable[[Tree], bool] | None,
    callback: Callable[[AlternativesProgress], object] | None,
    line: ProgressLine | None,
    started: float,
    interrupt: Noted,
) -> Rivals:
    """List trees within what is left of a budget since ``started``.

    Trees that part the rows alike are one: the most probable of them is listed. With ``accept``,
    only trees for which it returns true. An interrupt ends the search; before, it is raised.
    """
    constraints = budget.constraints
    memory = -1 if budget.memory < 0 else max(0, budget.memory - problem.n_bytes - OWN_BYTES)
    ordered = problem.n_bytes_of_ordered  # held while the dataset is made
    dataset = problem.dataset(
        started + budget.seconds, memory_limit=memory if memory < 0 else max(0, memory - ordered)
    )
    if interrupt.arrived():
        raise KeyboardInterrupt
    spent = time.perf_counter() - started
    after = 0.0 if problem.ordered is None else problem.ordered.seconds_after(len(problem.codes))
    monitor: Monitor[_core.RivalProgress, AlternativesProgress] = Monitor(
        callback,
        line,
        lambda now: AlternativesProgress.of(now, spent, problem.n_bytes, problem.constant),
        interrupt,
    )

    ranks: list[int] = []  # of those that were accepted
    examined = 0

    def rival(found: _core.Rival, rank: int = 0) -> Rival:
        cost, feature, left, right, counts, gain = found
        tree, beside = problem.tree(feature, left, right, counts), {}
        if problem.ordered is not None:
            beside = problem.ordered.rows_beside(dataset, tree)
            tree, nodes = problem.ordered.tree(tree)
            gain = gain[nodes]
        return Rival(rank, tree, 0.0 - cost - problem.constant, gain, beside)

    def accepted(found: _core.Rival) -> bool:
        nonlocal examined
        examined += 1
        if accept is not None and not accept(rival(found).tree):
            return False
        ranks.append(examined)
        return True

    result = _core.rivals(
        dataset,
        problem.core_prior(),
        _core.Options(
            max_depth=-1 if constraints.max_depth is None else constraints.max_depth,
            min_samples_leaf=constraints.min_samples_leaf,
            max_leaves=-1 if constraints.max_leaf_nodes is None else constraints.max_leaf_nodes,
        ),
        n,
        within,
        _core.Limits(
            seconds=max(0.0, budget.seconds - spent - after),
            max_expansions=budget.expansions,
            memory=memory,
        ),
        monitor,
        None if accept is None else accepted,
    )
    seconds = time.perf_counter() - started
    if line is not None:
        end = "complete" if result.status == "optimal" else result.status.replace("_", " ")
        line.close(
            f"{seconds:6.1f} s | {result.expansions:,} expansions | "
            f"{len(result.trees):,} trees | {end}"
        )
    return Rivals(
        [
            rival(found, rank)
            for found, rank in zip(
                result.trees, ranks or range(1, len(result.trees) + 1), strict=True
            )
        ],
        "complete" if result.status == "optimal" else result.status,
        0.0 - result.best - problem.constant if math.isfinite(result.best) else math.nan,
        0.0 - result.complete - problem.constant,
        result.examined,
        result.expansions,
        seconds,
        max(dataset.peak_bytes + ordered, result.peak_bytes) + problem.n_bytes,
        monitor.stopped_by_callback,
    )
