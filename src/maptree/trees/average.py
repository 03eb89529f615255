"""``Average``: trees drawn from the posterior, and what they predict together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from maptree.trees.forest import WeightedTrees
from maptree.trees.leaf_probabilities import posterior_mean, read_level
from maptree.trees.mixture_intervals import Mixtures

MOVES = ("grow", "prune", "change", "swap")
# How sampling can end.
ENDED_BY = ("complete", "time_limit", "memory_limit", "class_limit", "interrupted")

# Probabilities computed at a time.
_ENTRIES = 1 << 24
# Leaves, of all rows in all trees, that intervals are computed from at a time.
_LEAVES = 1 << 21


class Rows(Protocol):
    """The answers of a table's rows to tests."""

    n_rows: int

    def __call__(self, test: int, rows: NDArray[np.intp]) -> NDArray[np.bool_]: ...


class Acceptance(NamedTuple):
    """How often a move was proposed and accepted, and the acceptance rate."""

    proposed: int
    accepted: int
    rate: float

    @classmethod
    def of(cls, proposed: int, accepted: int) -> Acceptance:
        """Compute the rate; it is 0 where nothing was proposed."""
        return cls(proposed, accepted, accepted / proposed if proposed else 0.0)


@dataclass(frozen=True)
class Chains:
    """What is known about Markov chains in addition to their trees."""

    acceptance: Mapping[str, Acceptance]  # by move
    burn_in: int  # iterations before the first tree was kept
    thin: int  # and from one to the next


@dataclass(frozen=True, eq=False)
class Particles:
    """What is known about particle filters in addition to their trees."""

    log_evidences: NDArray[np.float64]  # by island; NaN where one was not begun
    resamplings: NDArray[np.int64]  # by island


@dataclass(frozen=True, eq=False)
class Average:
    """Weighted trees whose predictions are averaged.

    Attributes
    ----------
    weighted : WeightedTrees
        The distinct trees in order of decreasing weight. Of chains, ``sample`` has a row for each;
        of particles it is empty.
    log_posterior : float
        Of the most probable tree that was seen.
    status : str
        How sampling ended: one of ``ENDED_BY``.
    origin : Chains or Particles
        What drew the trees.
    """

    weighted: WeightedTrees
    log_posterior: float
    status: str
    origin: Chains | Particles

    @property
    def used_tests(self) -> list[int]:
        """The tests of all trees, in the order of the schema."""
        tests: list[int] = np.unique(self.weighted.trees.splits()[0]).tolist()
        return tests

    @property
    def draws(self) -> NDArray[np.float64]:
        """The log posterior of each chain's samples, as many as all chains have."""
        sample = self.weighted.sample
        n_draws = int((sample >= 0).sum(axis=1).min())
        return self.weighted.log_posteriors[sample[:, :n_draws]]

    def probabilities(self, rho: NDArray[np.float64], rows: Rows) -> NDArray[np.float64]:
        """Return the class probabilities of rows, averaged over the trees."""
        blocks = list(self.blocks(rho, rows))
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks, axis=1)

    def blocks(self, rho: NDArray[np.float64], rows: Rows) -> Iterator[NDArray[np.float64]]:
        """Yield the averaged probabilities, some classes at a time.

        With many classes and many trees, those of all nodes would take more memory than the trees.
        """
        trees, weights = self.weighted.trees, self.weighted.weights
        nodes, tree = trees.nodes()
        shares = np.zeros((len(trees.feature), 1))
        shares[nodes, 0] = weights[tree]
        counts = trees.counts
        step = max(1, _ENTRIES // max(len(counts), rows.n_rows, 1))
        if step < len(rho):
            shares /= (counts.sum(axis=1) + rho.sum())[:, np.newaxis]
        for first in range(0, len(rho), step):
            some = slice(first, first + step)
            means = posterior_mean(counts, rho) if step >= len(rho) else counts[:, some] + rho[some]
            yield trees.sum_at_leaves(shares * means, rows.n_rows, rows)

    def intervals(self, rho: NDArray[np.float64], rows: Rows, level: float) -> NDArray[np.float64]:
        """Return the central credible interval of each class probability, (rows, classes, 2).

        The posterior of a class probability is a mixture over the trees: in each the Beta marginal
        of the Dirichlet in the row's leaf, with the tree's weight. The ends are its quantiles.
        """
        tail = (1.0 - read_level(level)) / 2.0
        ends = np.ones((rows.n_rows, len(rho), 2))
        if len(rho) == 1:
            return ends
        trees = self.weighted.trees
        leaves = np.flatnonzero(trees.feature < 0)
        distinct, number = np.unique(trees.counts[leaves], axis=0, return_inverse=True)
        numbers = np.zeros(len(trees.feature), dtype=np.int64)
        numbers[leaves] = number.reshape(-1)
        step = max(1, _LEAVES // len(trees))
        for first in range(0, rows.n_rows, step):
            block = np.arange(first, min(first + step, rows.n_rows), dtype=np.intp)
            reached = numbers[trees.leaves(block, rows)]
            mixtures = Mixtures.of(reached, self.weighted.weights)
            # Of two classes, the second has what the first has not.
            for k in range(1 if len(rho) == 2 else len(rho)):
                ours = distinct[:, k] + rho[k]
                others = distinct.sum(axis=1) + rho.sum() - ours
                for side, probability in enumerate((tail, 1.0 - tail)):
                    ends[block, k, side] = mixtures.quantiles(ours, others, probability)
        if len(rho) == 2:
            ends[:, 1] = 1.0 - ends[:, 0, ::-1]
        return ends


def mean_evidence(log_evidences: NDArray[np.float64]) -> tuple[float, float]:
    """Return the logarithm of the mean of estimates, and its standard error.

    The error on the logarithmic scale is the error of the mean divided by the mean, as long as it
    is small.

    >>> [round(value, 4) for value in mean_evidence(np.log([0.9, 1.0, 1.1]))]
    [0.0, 0.0577]
    """
    log_evidences = log_evidences[~np.isnan(log_evidences)]  # of islands that were started
    n, largest = len(log_evidences), log_evidences.max()
    log_mean = float(largest + np.log(np.exp(log_evidences - largest).sum()) - math.log(n))
    if n == 1:
        return log_mean, math.nan
    return log_mean, float(np.exp(log_evidences - log_mean).std(ddof=1) / math.sqrt(n))
