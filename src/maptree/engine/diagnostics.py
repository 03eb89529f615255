"""Whether Markov chains agree, and how many independent draws they are worth.

The rank-normalised split R-hat and the bulk effective sample size of Vehtari, Gelman, Simpson,
Carpenter and Buerkner, "Rank-normalization, folding, and localization: an improved R-hat for
assessing convergence of MCMC", Bayesian Analysis 16(2), 2021. The tests compare the numbers with
those of arviz.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import rankdata

from maptree.words.html_parts import fragment, paragraphs, verdict

Draws = NDArray[np.float64]  # (chains, draws)

_FEWEST = 4  # draws per chain: each half needs two

# Beyond these chains have not mixed, and fit warns. The limit of R-hat is that of Gelman and Rubin;
# 50 independent trees know a probability to a seventh of its spread over trees. Within these limits
# another seed changes probabilities by 0.01 or so (bench/results/averages.md).
MOST_R_HAT = 1.1
LEAST_ESS = 50.0


@dataclass(frozen=True)
class Diagnostics:
    """How far the chains of a sampler can be trusted, judged by the log posterior of their trees.

    Attributes
    ----------
    r_hat : float
        Rank-normalised split R-hat: near 1 if chains agree with each other and over time; above
        1.1 they have not mixed. NaN if there are fewer than 4 draws or all are the same.
    ess : float
        Bulk effective sample size: the number of independent draws with the same information. NaN
        as above.
    n_chains, n_draws : int
        Number of chains, and of draws per chain.

    Examples
    --------
    >>> print(diagnose(np.random.default_rng(0).normal(size=(4, 500))))
    R-hat 1.001, effective sample size 2,003 of 2,000 draws (4 chains).
    """

    r_hat: float
    ess: float
    n_chains: int
    n_draws: int

    @property
    def mixed(self) -> bool:
        """Whether R-hat is at most 1.1 and the effective sample size at least 50.

        NaN counts as mixed: where all draws are the same, nothing is left to explore, and fewer
        than 4 draws say nothing.
        """
        return not self.shortfall > 1

    @property
    def shortfall(self) -> float:
        """How many times as long the chains should be; at most 1 if they have mixed; or NaN.

        R-hat - 1 and the effective sample size change in proportion to the length.
        """
        return max((self.r_hat - 1) / (MOST_R_HAT - 1), LEAST_ESS / self.ess)

    @property
    def doubt(self) -> str:
        """What it means that chains have not mixed; empty if they have.

        >>> print(Diagnostics(1.32, 11.0, 4, 250).doubt)  # doctest: +NORMALIZE_WHITESPACE
        The chains have not mixed: R-hat 1.320 (at most 1.1), effective sample size 11 (at least
        50).
        They have not seen enough trees: another run would predict somewhat differently.
        """
        if self.mixed:
            return ""
        return (
            f"The chains have not mixed: R-hat {self.r_hat:.3f} (at most {MOST_R_HAT}), effective "
            f"sample size {self.ess:,.0f} (at least {LEAST_ESS:g}).\n"
            "They have not seen enough trees: another run would predict somewhat differently."
        )

    def __str__(self) -> str:
        chains = "1 chain" if self.n_chains == 1 else f"{self.n_chains} chains"
        if math.isnan(self.r_hat):
            draws = f"{self.n_chains * self.n_draws:,} draws ({chains})"
            return f"No diagnostics from {draws}: too few, or all the same."
        return (
            f"R-hat {self.r_hat:.3f}, effective sample size {self.ess:,.0f} of "
            f"{self.n_chains * self.n_draws:,} draws ({chains})."
        )

    def _repr_html_(self) -> str:
        """Return the same for a notebook, and what it means."""
        mixed = "The chains have mixed: another run would predict nearly the same."
        meaning = mixed if self.mixed and not math.isnan(self.r_hat) else self.doubt
        return fragment(verdict(str(self), self.mixed), paragraphs(meaning.split("\n")))


def diagnose(draws: Draws) -> Diagnostics:
    """Return the diagnostics of (chains, draws)."""
    n_chains, n_draws = draws.shape
    if n_draws < _FEWEST or np.ptp(_halves(draws)) == 0:
        return Diagnostics(math.nan, math.nan, n_chains, n_draws)
    return Diagnostics(split_r_hat(draws), bulk_ess(draws), n_chains, n_draws)


def split_r_hat(draws: Draws) -> float:
    """Return the rank-normalised split R-hat.

    It is the larger of that of the draws, and that of their distances from the median, which
    detects chains with the same location but different widths.

    >>> chains = np.random.default_rng(0).normal(size=(4, 500))
    >>> round(split_r_hat(chains), 3), round(split_r_hat(chains + [[0], [0], [0], [1]]), 3)
    (1.001, 1.09)
    """
    halves = _halves(draws)
    folded = np.abs(halves - np.median(halves))
    return max(_r_hat(_normal_scores(halves)), _r_hat(_normal_scores(folded)))


def bulk_ess(draws: Draws) -> float:
    """Return the effective sample size of the draws' normal scores, chains split in halves.

    >>> independent = np.random.default_rng(0).normal(size=(4, 500))
    >>> round(bulk_ess(independent)), round(bulk_ess(np.repeat(independent, 5, axis=1)))
    (2003, 2020)
    """
    scores = _normal_scores(_halves(draws))
    n_chains, n = scores.shape
    covariance = _autocovariance(scores).mean(axis=0)
    within = covariance[0] * n / (n - 1)
    total = covariance[0] + scores.mean(axis=1).var(ddof=1)
    correlation = 1.0 - (within - covariance) / total
    correlation[0] = 1.0

    # Geyer's initial sequences: in theory, sums of neighbours are positive and decrease, so
    # everything after the first non-positive sum is noise, and so is an increase.
    n_pairs = max(1, (n - 1) // 2)
    pairs = correlation[: 2 * n_pairs].reshape(n_pairs, 2).sum(axis=1)
    stop = int(np.argmax(pairs <= 0)) if (pairs <= 0).any() else n_pairs - 1
    kept = np.minimum.accumulate(pairs[:stop])
    # Of the next pair its first term alone; if the sum is negative, only where the term is not.
    last = correlation[2 * stop] if pairs[stop] >= 0 else max(0.0, correlation[2 * stop])
    time = -1.0 + 2.0 * kept.sum() + last
    size = n_chains * n
    # Draws that alternate can be worth more than their number, but only up to a limit.
    return float(size / max(time, 1.0 / math.log10(size)))


def _halves(draws: Draws) -> Draws:
    """Split each chain in two; the middle one of an odd number of draws is left out."""
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, -half:]])


def _normal_scores(draws: Draws) -> Draws:
    """Replace the draws by the normal quantiles of their ranks."""
    ranks = rankdata(draws).reshape(draws.shape)
    scores: Draws = ndtri((ranks - 0.375) / (draws.size + 0.25))
    return scores


def _r_hat(chains: Draws) -> float:
    n = chains.shape[1]
    if not np.ptp(chains, axis=1).any():  # rounding could give constants a variance above 0
        return math.inf if np.ptp(chains) > 0 else math.nan
    within = chains.var(axis=1, ddof=1).mean()
    between = chains.mean(axis=1).var(ddof=1)
    return math.sqrt((n - 1) / n + between / within)


def _autocovariance(chains: Draws) -> Draws:
    """Return the autocovariance of each chain at all lags, by the Fourier transform."""
    n = chains.shape[1]
    centred = chains - chains.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, n=2 * n)  # padded with zeros, so that the ends do not meet
    covariance: Draws = np.fft.irfft(np.abs(spectrum) ** 2, n=2 * n)[:, :n] / n
    return covariance
