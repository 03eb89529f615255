"""What a tree predicts: classes, numbers or counts; and what its leaves know about them.

``FittedTree.outcome`` is one of these values. Predictions, words and exports ask it, and it needs
only what a node holds: the number of rows and their sums. docs/design/outcomes.md has the
definitions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maptree.parameters.outcomes import (
    LEAST_NOISE,
    MOST_NOISE,
    STEPS,
    CountPrior,
    NumberPrior,
    WantedNumberPrior,
)
from maptree.tables.numbers import refuse_many_events
from maptree.tables.standard_units import Exposures, standardise
from maptree.trees.predictive import Floats, NegativeBinomial, StudentT
from maptree.trees.tree import Tree

OfRows = NDArray[np.int64]  # (rows, 2): what a row adds to the sums of its leaf
Weights = NDArray[np.int64] | None


@dataclass(frozen=True, eq=False)
class Classes:
    """Labels, with Dirichlet(rho) probabilities in every leaf."""

    labels: NDArray[Any]
    rho: NDArray[np.float64]

    name = "classes"


@dataclass(frozen=True)
class Numbers:
    """Numbers, with a normal distribution in every leaf, whose mean and variance are its own.

    Attributes
    ----------
    mean, sd : float
        Of y in the training rows, counted with their weights; ``sd`` is 0 if y is constant.
    prior : NumberPrior
        Of the mean and the variance of a leaf.
    """

    mean: float
    sd: float
    prior: NumberPrior

    name = "numbers"

    @classmethod
    def of(cls, y: Floats, weights: Weights, prior: NumberPrior) -> tuple[Numbers, OfRows]:
        """Return the outcome of a table, and what its rows add to sums: z and z^2."""
        found = standardise(y, weights)
        amounts = np.stack([found.z, found.z * found.z], axis=1)
        return cls(found.mean, found.sd, prior), amounts

    def predictive(self, tree: Tree) -> StudentT:
        """Return the distribution of a new row in each node.

        >>> tree = Tree([-1], [-1], [-1], [[2]], [[512, 131072]])
        >>> found = Numbers(10.0, 3.0, NumberPrior(kappa=2, nu=2, noise=0.5)).predictive(tree)
        >>> found.df, found.loc, found.scale
        (array([4.]), array([11.5]), array([2.37170825]))
        """
        prior, (n, total, q) = self.prior, self._sums(tree)
        freedom = prior.nu + n
        variance = (prior.nu * prior.noise + q) / freedom * (1 + 1 / (n + prior.kappa))
        location = self.mean + self.sd * (total / (n + prior.kappa))
        return StudentT(freedom, location, self.sd * np.sqrt(variance))

    def evidence(self, rows: Floats, sums: Floats) -> Floats:
        """Return the log density of the rows of leaves, of which there are this many with these
        sums."""
        from scipy.special import gammaln  # slow to import, and predictions do not need it

        prior, freedom = self.prior, self.prior.nu + rows
        total, spread = sums[:, 0] / STEPS, prior.nu * prior.noise
        q = np.maximum(sums[:, 1] / STEPS**2 - total**2 / (rows + prior.kappa), 0.0)
        logs: Floats = gammaln(freedom / 2) - gammaln(prior.nu / 2)
        logs -= rows / 2 * np.log(np.pi * spread) + np.log1p(rows / prior.kappa) / 2
        return logs - freedom / 2 * np.log1p(q / spread)

    def means(self, rows: Floats, sums: Floats, smoothing: float) -> Floats:
        """Return standardised means, as if each had some more rows with the mean of all."""
        return sums[:, 0] / STEPS / (rows + smoothing)

    @staticmethod
    def noise_within(tree: Tree) -> float:
        """Return the share of the variance of y that is left within the leaves of a tree.

        >>> Numbers.noise_within(Tree([-1], [-1], [-1], [[3]], [[0, 131072]]))
        1.0
        """
        leaves = tree.feature < 0
        n, total, squares = tree.rows[leaves], tree.sums[leaves, 0], tree.sums[leaves, 1]
        within = float((squares - total.astype(np.float64) ** 2 / n).sum())
        free = int(n.sum()) - int(leaves.sum())
        return max(within, 0.0) / (STEPS * STEPS * free) if free > 0 else 0.0

    def observed(self, tree: Tree) -> tuple[Floats, Floats]:
        """Return the mean and the standard deviation of the training rows in each node."""
        n, means = tree.rows, tree.sums[:, 0] / (STEPS * tree.rows)
        squares = tree.sums[:, 1] / (STEPS * STEPS * n) - means**2
        return self.mean + self.sd * means, self.sd * np.sqrt(np.maximum(squares, 0.0))

    def _sums(self, tree: Tree) -> tuple[Floats, Floats, Floats]:
        """Return n, S, and q of the definition, for each node."""
        n = tree.rows.astype(np.float64)
        total = tree.sums[:, 0] / STEPS
        return n, total, tree.sums[:, 1] / STEPS**2 - total**2 / (n + self.prior.kappa)


@dataclass(frozen=True)
class Counts:
    """Counts, with a Poisson distribution in every leaf, whose rate is its own.

    Attributes
    ----------
    rate : float
        Events per mean exposure in the training rows; that of a single event if there are none.
    exposure : float
        The mean exposure of the training rows; 1 if none was given.
    units : int
        Units of exposure in the mean exposure, of which a node holds the sum.
    exposed : bool
        Whether ``fit`` was given an exposure.
    prior : CountPrior
        Of the rate of a leaf.
    """

    rate: float
    exposure: float
    units: int
    exposed: bool
    prior: CountPrior

    name = "counts"

    @classmethod
    def of(
        cls,
        y: NDArray[np.int64],
        exposures: Exposures,
        weights: Weights,
        exposed: bool,
        prior: CountPrior,
    ) -> tuple[Counts, OfRows]:
        """Return the outcome of a table, and what its rows add to sums: events and exposure."""
        n_rows = len(y) if weights is None else int(weights.sum())
        rate = max(1, refuse_many_events(y, weights)) / n_rows
        outcome = cls(rate, exposures.mean, exposures.per_mean, exposed, prior)
        return outcome, np.stack([y, exposures.units], axis=1)

    @property
    def prior_exposure(self) -> float:
        """The exposure that the prior is worth, in multiples of the mean exposure."""
        return self.prior.shape / self.rate

    def predictive(
        self, tree: Tree, nodes: NDArray[np.intp] | None = None, exposure: Floats | None = None
    ) -> NegativeBinomial:
        """Return the distribution of a new row in each node, or in some, with an exposure each.

        >>> tree = Tree([-1], [-1], [-1], [[4]], [[11, 4]])
        >>> found = Counts(2.75, 1.0, 1, False, CountPrior(1.0)).predictive(tree)
        >>> found.n, found.mean
        (array([12.]), array([2.75]))
        """
        size, seen = self.posterior(tree)
        if nodes is not None:
            size, seen = size.take(nodes), seen.take(nodes)
        new = np.ones(len(size)) if exposure is None else exposure
        return NegativeBinomial(size, seen / (seen + new / self.exposure))

    def evidence(self, rows: Floats, sums: Floats) -> Floats:
        """Return the log probability of the rows of leaves with these sums, up to a term by row."""
        from scipy.special import gammaln  # slow to import, and predictions do not need it

        shape, before = self.prior.shape, self.prior_exposure
        events, exposure = sums[:, 0], sums[:, 1] / self.units
        logs: Floats = gammaln(shape + events) - gammaln(shape) - events * np.log(before)
        return logs - (shape + events) * np.log1p(exposure / before)

    def means(self, rows: Floats, sums: Floats, smoothing: float) -> Floats:
        """Return rates less that of all rows, as if each had some more exposure with that."""
        seen = sums[:, 1] / self.units + smoothing
        return (sums[:, 0] + smoothing * self.rate) / seen - self.rate

    def rates(self, tree: Tree) -> Floats:
        """Return the mean of the rate in each node, per unit of exposure."""
        size, seen = self.posterior(tree)
        return size / seen / self.exposure

    def rate_quantile(self, tree: Tree, q: float) -> Floats:
        """Return a quantile of the rate in each node, per unit of exposure."""
        from scipy.special import gammaincinv  # slow to import, and means do not need it

        size, seen = self.posterior(tree)
        quantiles: Floats = gammaincinv(size, q) / seen / self.exposure
        return quantiles

    def observed(self, tree: Tree) -> tuple[NDArray[np.int64], Floats]:
        """Return the events and the exposure of the training rows in each node."""
        return tree.sums[:, 0], tree.sums[:, 1] / self.units * self.exposure

    def posterior(self, tree: Tree) -> tuple[Floats, Floats]:
        """Return shape and rate of the gamma distribution of each node's rate."""
        events, exposure = tree.sums[:, 0].astype(np.float64), tree.sums[:, 1] / self.units
        return self.prior.shape + events, self.prior_exposure + exposure


Measured = Numbers | Counts
Outcome = Classes | Numbers | Counts


@dataclass(frozen=True)
class Amounts:
    """What the rows of a table add to the sums of a leaf, where they have numbers or counts."""

    of_rows: OfRows
    outcome: Measured
    constant: float = 0.0  # what the table adds to the cost of every tree
    # The prior of numbers, where some of it is to be found from a first tree.
    wanted: WantedNumberPrior | None = None

    def keep(self, mask: NDArray[np.bool_]) -> Amounts:
        """Return those of some rows."""
        return replace(self, of_rows=self.of_rows[mask])

    def with_noise(self, noise: float) -> Amounts:
        """Return them with the prior that the variance within leaves gives."""
        assert isinstance(self.outcome, Numbers)
        assert self.wanted is not None
        prior = self.wanted.known(min(max(noise, LEAST_NOISE), MOST_NOISE))
        return replace(self, outcome=replace(self.outcome, prior=prior), wanted=None)

    def of_the_prior_of(self, measured: Measured) -> Amounts:
        """Return them with the prior of a fitted tree."""
        if not isinstance(self.outcome, Numbers) or not isinstance(measured, Numbers):
            return self
        return replace(self, outcome=replace(self.outcome, prior=measured.prior), wanted=None)


def constant_of_counts(y: NDArray[np.int64], exposures: Exposures, weights: Weights) -> float:
    """Return what a table of counts adds to the cost of every tree."""
    from scipy.special import gammaln

    terms: Floats = gammaln(y + 1.0) - y * np.log(exposures.in_means)
    return float(terms.sum() if weights is None else terms @ weights)
