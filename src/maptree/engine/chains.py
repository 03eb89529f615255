"""Runs of Markov chains: where they start, and how long they are if nobody says."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from maptree import _core
from maptree.engine.diagnostics import Diagnostics, diagnose
from maptree.engine.initial_tree import Arrays, Start
from maptree.engine.sampling import Drawn, Steering
from maptree.parameters.sampling import Lengths

# Expansions of the search for the tree that chains start from. They take a fraction of a second on
# tables of up to 30,000 rows, and find a tree that is rarely far below that of a long search.
_EXPANSIONS = 100
_SEARCH_SHARE = 0.25  # of the time that is left, at most

# Lengths by measurement (bench/averages.py). Iterations of a chain that are kept, in the first
# round and at most; how much more than the warning asks for ends the rounds, so that luck does not.
_FIRST, _MOST = 30_000, 600_000
_MARGIN = 2.0
# What all chains of a round may take, in iterations times rows. Every iteration costs as much as
# some rows more. About five seconds.
_WORK, _ROWS = 1.6e10, 1_700
_LEAST_GROWTH, _MOST_GROWTH = 1.5, 8.0


def draw_chains(
    dataset: _core.Dataset,
    prior: _core.Prior,
    steering: Steering,
    *,
    lengths: Lengths,
    start: Start,
    seed: int,
) -> Drawn[_core.McmcSamples]:
    """Draw trees by chains that start from a tree, from a single leaf, or from a short search.

    The chains of a later round repeat those of the round before and continue them: they have the
    same start and the same seed.
    """
    initial = _found(dataset, prior, steering) if start == "search" else start
    if lengths.thin is not None:
        return _round(dataset, prior, steering, lengths, initial, seed)
    most = _most_kept(lengths, dataset.n_distinct_rows if dataset.complete else 1)
    now, last = lengths.of(min(_FIRST, most)), None
    while True:
        began = steering.seconds
        drawn = _round(dataset, prior, steering, now, initial, seed)
        if drawn.status != "complete":  # the last complete round has more samples than this one
            return drawn if last is None else replace(last, status=drawn.status)
        factor = _growth(diagnose_chains(drawn.samples), now, most)
        if not math.isinf(steering.left):
            # Not more than there is time for: a round that is cut off is of no use.
            factor = min(factor, 0.8 * steering.left / max(steering.seconds - began, 1e-9))
        if factor < _LEAST_GROWTH:
            return drawn
        steering.add(now.iterations)
        last, now = drawn, lengths.of(now.kept_from * factor)


def diagnose_chains(samples: _core.McmcSamples) -> Diagnostics:
    """Return the diagnostics of the trees that chains kept."""
    n_draws = int((samples.sample >= 0).sum(axis=1).min())
    return diagnose(samples.log_posterior[samples.sample[:, :n_draws]])


def _growth(found: Diagnostics, now: Lengths, most: float) -> float:
    """Return how much longer the next round should be; 1: it need not be."""
    short = found.shortfall * _MARGIN
    if math.isnan(short) or short <= 1:
        return 1.0
    return min(most / now.kept_from, max(_LEAST_GROWTH, min(_MOST_GROWTH, short)))


def _most_kept(lengths: Lengths, n_rows: int) -> float:
    """Return the most iterations that trees are kept from: two of three, without those burnt."""
    iterations = _WORK / (n_rows + _ROWS) / lengths.n_chains
    kept = iterations / 1.5 if lengths.burn_in is None else iterations - lengths.burn_in
    return max(float(lengths.n_samples), min(kept, _MOST))


def _round(
    dataset: _core.Dataset,
    prior: _core.Prior,
    steering: Steering,
    lengths: Lengths,
    initial: Arrays | None,
    seed: int,
) -> Drawn[_core.McmcSamples]:
    samples = _core.sample_mcmc(
        dataset,
        prior,
        n_samples=lengths.n_samples,
        burn_in=lengths.burnt,
        thin=lengths.thin or 1,
        n_chains=lengths.n_chains,
        initial=initial,
        seed=seed,
        limits=steering.limits(),
        on_progress=steering.monitor,
    )
    return Drawn(samples, samples.status, steering.earlier_seconds, steering.earlier_steps, lengths)


def _found(dataset: _core.Dataset, prior: _core.Prior, steering: Steering) -> Arrays | None:
    """Return a good tree; None, which is a single leaf, if there is no time to look for one."""
    if not dataset.complete:
        return None
    limits = _core.Limits(seconds=steering.left * _SEARCH_SHARE, max_expansions=_EXPANSIONS)
    # On one thread: results do not depend on the number of threads.
    found = _core.search(
        dataset, prior, _core.Options(), limits, lambda _: steering.interrupt.arrived()
    )
    return (
        found.feature.astype(np.int32),
        found.left.astype(np.int32),
        found.right.astype(np.int32),
    )
