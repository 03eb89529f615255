"""One run of a sampler: from a problem to weighted trees, and how the run went."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from maptree import _core
from maptree.engine.interrupts import Noted
from maptree.engine.problem import Problem
from maptree.engine.progress import Monitor, ProgressLine, SamplerProgress
from maptree.trees.forest import Trees, WeightedTrees
from maptree.trees.tree import Tree

_TRACE = np.dtype([("seconds", np.float64), ("steps", np.int64), ("log_posterior", np.float64)])

# What the core lets chains and the class counts of their trees take.
_MOST_BYTES = 1 << 28
# Samples weighed at a time.
_PIECE = 1 << 16

Samples = TypeVar("Samples", _core.McmcSamples, _core.SmcSamples)


@dataclass(frozen=True)
class Run(Generic[Samples]):
    """What a sampler returned, with times counted from the start of ``fit``."""

    samples: Samples
    status: str
    best: Tree
    log_posterior: float  # of the best tree
    trace: NDArray[Any]
    stopped_by_callback: bool


def run_sampler(
    problem: Problem,
    sampler: Callable[..., Samples],
    seconds: float,
    threads: int,
    callback: Callable[[SamplerProgress], object] | None,
    line: ProgressLine | None,
    started: float,
    interrupt: Noted,
) -> Run[Samples]:
    """Run one of the core's samplers within what is left of a time limit since ``started``.

    An interrupt ends the sampling; before it, the interrupt is raised.
    """
    # Identical columns are different tests, so trees that differ in them are different draws.
    dataset = problem.dataset(started + seconds, fold_columns=False)
    if interrupt.arrived():
        raise KeyboardInterrupt
    spent = time.perf_counter() - started
    monitor: Monitor[_core.SampleProgress, SamplerProgress] = Monitor(
        callback, line, lambda now: SamplerProgress.of(now, spent), interrupt
    )
    samples = sampler(
        dataset,
        problem.core_prior(),
        limits=_core.Limits(seconds=max(0.0, seconds - spent), threads=threads),
        on_progress=monitor,
    )
    trace = np.empty(len(samples.trace), dtype=_TRACE)
    trace["seconds"] = samples.trace[:, 0] + spent
    trace["steps"] = samples.trace[:, 1]
    trace["log_posterior"] = samples.trace[:, 2]
    run = Run(
        samples,
        _status(samples, len(problem.prior.rho)),
        _trees(samples)[samples.best],
        float(samples.log_posterior[samples.best]),
        trace,
        monitor.stopped_by_callback,
    )
    if line is not None:
        end = run.status.replace("_", " ")
        line.close(
            f"{time.perf_counter() - started:6.1f} s | {trace['steps'][-1]:,} steps | "
            f"best {run.log_posterior:.4f} | {end}"
        )
    return run


def _status(samples: _core.McmcSamples | _core.SmcSamples, n_classes: int) -> str:
    """Return how a run ended; not by the memory of its chains, if most of it is class counts."""
    if samples.status != "memory_limit":
        return samples.status
    counted = len(samples.feature) * n_classes * samples.counts.itemsize
    return "class_limit" if counted > _MOST_BYTES // 2 else "memory_limit"


def weigh(
    samples: _core.McmcSamples | _core.SmcSamples, weights: NDArray[np.float64] | None = None
) -> WeightedTrees:
    """Add up the weights of equal trees; trees without weight are left out.

    Without weights every sample has weight 1. This comes after the time limit, and there may be
    millions of samples: they are read in pieces, and copied once.
    """
    of_tree = np.zeros(len(samples.log_posterior))
    drawn = samples.sample.reshape(-1)
    for start in range(0, len(drawn), _PIECE):
        piece = slice(start, start + _PIECE)
        reached = drawn[piece] >= 0
        added = 1.0 if weights is None else weights.reshape(-1)[piece][reached]
        # In order, like one sum over all: trees that were drawn equally often stay equal.
        np.add.at(of_tree, drawn[piece][reached].astype(np.intp), added)
    # Ties in weight go to the more probable tree, then to the one drawn first.
    order = np.lexsort([-samples.log_posterior, -of_tree])
    order = order[of_tree[order] > 0]
    place = np.full(len(of_tree) + 1, -1, dtype=np.int32)  # and -1 for what was not reached
    place[order] = np.arange(len(order))
    return WeightedTrees(
        _trees(samples).take(order),
        of_tree[order] / of_tree.sum(),
        samples.log_posterior[order],
        place[samples.sample],
    )


def _trees(samples: _core.McmcSamples | _core.SmcSamples) -> Trees:
    return Trees(
        samples.offsets[:-1],
        np.diff(samples.offsets),
        samples.feature,
        samples.left,
        samples.right,
        samples.counts,
    )
