"""Do Markov chains agree, and how many independent draws are theirs worth?

The rank-normalised split R-hat and the bulk effective sample size of Vehtari, Gelman, Simpson,
Carpenter and Buerkner, "Rank-normalization, folding, and localization: an improved R-hat for
assessing convergence of MCMC", Bayesian Analysis 16(2), 2021. Through arviz where that is
installed; the functions of this module give the same numbers without it.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import rankdata

Draws = NDArray[np.float64]  # (chains, draws)

_FEWEST = 4  # draws of a chain: its halves need two each


@dataclass(frozen=True)
class Diagnostics:
    """How far the chains of a sampler can be trusted, by one number that they all draw.

    Attributes
    ----------
    r_hat : float
        Rank-normalised split R-hat: near 1 if chains agree with one another and with themselves
        over time; above 1.01 they have not mixed. NaN if there are fewer than 4 draws or all are
        the same.
    ess : float
        Bulk effective sample size: as many independent draws would tell as much. NaN as above.
    n_chains, n_draws : int
        The chains, and the draws of each.

    Examples
    --------
    >>> print(diagnose(np.random.default_rng(0).normal(size=(4, 500))))
    R-hat 1.001, effective sample size 2,003 of 2,000 draws (4 chains).
    """

    r_hat: float
    ess: float
    n_chains: int
    n_draws: int

    def __str__(self) -> str:
        chains = "1 chain" if self.n_chains == 1 else f"{self.n_chains} chains"
        if math.isnan(self.r_hat):
            draws = f"{self.n_chains * self.n_draws:,} draws ({chains})"
            return f"Nothing can be told from {draws}: too few, or all the same."
        return (
            f"R-hat {self.r_hat:.3f}, effective sample size {self.ess:,.0f} of "
            f"{self.n_chains * self.n_draws:,} draws ({chains})."
        )


def diagnose(draws: Draws) -> Diagnostics:
    """Return the diagnostics of (chains, draws)."""
    n_chains, n_draws = draws.shape
    if n_draws < _FEWEST or np.ptp(draws) == 0:
        return Diagnostics(math.nan, math.nan, n_chains, n_draws)
    # arviz says nothing about a single chain, whose halves can be compared all the same.
    arviz = _arviz() if n_chains > 1 else None
    if arviz is None:
        return Diagnostics(split_r_hat(draws), bulk_ess(draws), n_chains, n_draws)
    with np.errstate(divide="ignore", invalid="ignore"):  # chains that stand still
        r_hat, ess = float(arviz.rhat(draws)), float(arviz.ess(draws))
    if not np.ptp(draws, axis=1).any():
        r_hat = math.inf  # of which rounding may leave a large number
    return Diagnostics(r_hat, ess, n_chains, n_draws)


def split_r_hat(draws: Draws) -> float:
    """Return the rank-normalised split R-hat: the larger of that of the draws, and that of their
    distances from the median, which sees chains of one place but different widths.

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

    # Geyer's initial sequences: sums of neighbours are positive and fall in theory, so what comes
    # after the first that is not positive is noise, and so is a rise.
    n_pairs = max(1, (n - 1) // 2)
    pairs = correlation[: 2 * n_pairs].reshape(n_pairs, 2).sum(axis=1)
    stop = int(np.argmax(pairs <= 0)) if (pairs <= 0).any() else n_pairs - 1
    kept = np.minimum.accumulate(pairs[:stop])
    time = -1.0 + 2.0 * kept.sum() + max(0.0, correlation[2 * stop])
    size = n_chains * n
    # Chains that swing to and fro are worth more than their number, but not without limit.
    return float(size / max(time, 1.0 / math.log10(size)))


def _halves(draws: Draws) -> Draws:
    """Split each chain in two; of an odd number of draws the middle one is left out."""
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, -half:]])


def _normal_scores(draws: Draws) -> Draws:
    """Replace the draws by what a normal distribution would have at their ranks."""
    ranks = rankdata(draws).reshape(draws.shape)
    scores: Draws = ndtri((ranks - 0.375) / (draws.size + 0.25))
    return scores


def _r_hat(chains: Draws) -> float:
    n = chains.shape[1]
    within = chains.var(axis=1, ddof=1).mean()
    between = chains.mean(axis=1).var(ddof=1)
    if within == 0:
        return math.inf if between > 0 else math.nan
    return math.sqrt((n - 1) / n + between / within)


def _autocovariance(chains: Draws) -> Draws:
    """Return the autocovariance of each chain at all lags, by the Fourier transform."""
    n = chains.shape[1]
    centred = chains - chains.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, n=2 * n)  # zeros behind, so that the ends do not meet
    covariance: Draws = np.fft.irfft(np.abs(spectrum) ** 2, n=2 * n)[:, :n] / n
    return covariance


def _arviz() -> Any:
    """Return arviz, or None where it is not installed."""
    if importlib.util.find_spec("arviz") is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some versions announce their successor when imported
        return importlib.import_module("arviz")
