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
from maptree.parameters.sampling import Lengths
from maptree.trees.fitted import SAMPLER_TRACE
from maptree.trees.forest import Trees, WeightedTrees
from maptree.trees.tree import Tree

# What the core lets chains and the class counts of their trees take.
_MOST_BYTES = 1 << 28
# Samples weighed at a time.
_PIECE = 1 << 16

Samples = TypeVar("Samples", _core.McmcSamples, _core.SmcSamples)


@dataclass(frozen=True)
class Drawn(Generic[Samples]):
    """What a sampler drew, how it ended, and what came before in ``fit``."""

    samples: Samples
    status: str
    earlier_seconds: float
    earlier_steps: int = 0
    lengths: Lengths | None = None  # of chains


@dataclass
class Steering:
    """What a sampler runs under: limits, the monitor, interrupts, and what came before."""

    started: float  # of ``fit``, by ``time.perf_counter``
    limit: float  # in seconds since then
    threads: int
    interrupt: Noted
    monitor: Callable[[_core.SampleProgress], bool] = lambda _: False
    earlier_seconds: float = 0.0  # before this round of sampling
    earlier_steps: int = 0

    @property
    def seconds(self) -> float:
        """Seconds since ``fit`` began."""
        return time.perf_counter() - self.started

    @property
    def left(self) -> float:
        """Seconds until the limit; infinity without one."""
        return max(0.0, self.limit - self.seconds)

    def limits(self) -> _core.Limits:
        """Return the limits of a round that begins now."""
        self.earlier_seconds = self.seconds
        return _core.Limits(seconds=max(0.0, self.limit - self.earlier_seconds),
                            threads=self.threads)  # fmt: skip

    def add(self, steps: int) -> None:
        """Note the steps of a round that ended."""
        self.earlier_steps += steps


@dataclass(frozen=True)
class Run(Generic[Samples]):
    """What a sampler returned, with times counted from the start of ``fit``."""

    drawn: Drawn[Samples]
    status: str
    best: Tree
    log_posterior: float  # of the best tree
    trace: NDArray[Any]
    stopped_by_callback: bool


def run_sampler(
    problem: Problem,
    sampler: Callable[[_core.Dataset, _core.Prior, Steering], Drawn[Samples]],
    seconds: float,
    threads: int,
    callback: Callable[[SamplerProgress], object] | None,
    line: ProgressLine | None,
    started: float,
    interrupt: Noted,
) -> Run[Samples]:
    """Run one of the samplers within what is left of a time limit since ``started``.

    An interrupt ends the sampling; before it, the interrupt is raised.
    """
    # Identical columns are different tests, so trees that differ in them are different draws.
    dataset = problem.dataset(started + seconds, fold_columns=False)
    if interrupt.arrived():
        raise KeyboardInterrupt

    steering = Steering(started, seconds, threads, interrupt)
    monitor: Monitor[_core.SampleProgress, SamplerProgress] = Monitor(
        callback,
        line,
        lambda now: SamplerProgress.of(now, steering.earlier_seconds, steering.earlier_steps),
        interrupt,
    )
    steering.monitor = monitor
    drawn = sampler(dataset, problem.core_prior(), steering)
    samples = drawn.samples
    trace = np.empty(len(samples.trace), dtype=SAMPLER_TRACE)
    trace["seconds"] = samples.trace[:, 0] + drawn.earlier_seconds
    trace["steps"] = samples.trace[:, 1] + drawn.earlier_steps
    trace["log_posterior"] = samples.trace[:, 2]
    run = Run(
        drawn,
        _status(samples, drawn.status, len(problem.prior.rho)),
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


def _status(samples: _core.McmcSamples | _core.SmcSamples, status: str, n_classes: int) -> str:
    """Return how a run ended; not by the memory of its chains, if most of it is class counts."""
    if status != "memory_limit":
        return status
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
