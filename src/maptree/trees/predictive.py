"""The distribution of a new row's number or count, one for every row or leaf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Of counts. SciPy may look for quantiles of far larger ones forever.
MOST_MEAN = 2.0**50


@dataclass(frozen=True, eq=False)
class StudentT:
    """Student's t distributions, as ``predict_dist`` returns them for numbers.

    The fields are named as ``scipy.stats.t`` names its parameters; ``to_scipy`` makes one of them.

    Attributes
    ----------
    df, loc, scale : float64 arrays
        Degrees of freedom, the centre, and the scale in the unit of y; 0 where y was constant.

    Examples
    --------
    >>> one = StudentT(np.array([5.0]), np.array([740.0]), np.array([60.0]))
    >>> one.mean, one.quantile(0.975).round(1)
    (array([740.]), array([894.2]))
    >>> one.to_scipy().ppf(0.975).round(1)
    array([894.2])
    """

    df: Floats
    loc: Floats
    scale: Floats

    @property
    def mean(self) -> Floats:
        """The mean of each."""
        return self.loc

    def quantile(self, q: float) -> Floats:
        """Return the number below which each has a share ``q`` of its probability."""
        from scipy.special import stdtrit  # slow to import, and means do not need it

        quantiles: Floats = self.loc + self.scale * stdtrit(self.df, q)
        return quantiles

    def log_density(self, y: Floats) -> Floats:
        """Return the log density of one number in each."""
        from scipy.special import gammaln

        half = (self.df + 1) / 2
        away = (y - self.loc) / self.scale
        logs: Floats = gammaln(half) - gammaln(self.df / 2)
        logs -= np.log(self.df * np.pi) / 2 + np.log(self.scale)
        return logs - half * np.log1p(away**2 / self.df)

    def take(self, places: NDArray[np.intp]) -> StudentT:
        """Return those at these places, as often as they are named."""
        return StudentT(self.df.take(places), self.loc.take(places), self.scale.take(places))

    def to_scipy(self) -> Any:
        """Return a distribution of ``scipy.stats``."""
        from scipy.stats import t

        return t(df=self.df, loc=self.loc, scale=self.scale)


@dataclass(frozen=True, eq=False)
class NegativeBinomial:
    """Negative binomial distributions, as ``predict_dist`` returns them for counts.

    The fields are named as ``scipy.stats.nbinom`` names its parameters; ``to_scipy`` makes one of
    them.

    Attributes
    ----------
    n, p : float64 arrays
        The size, and the probability: the mean is n (1 - p) / p.

    Examples
    --------
    >>> one = NegativeBinomial(np.array([4.0]), np.array([0.5]))
    >>> one.mean, one.quantile(0.95), one.to_scipy().mean()
    (array([4.]), array([9.]), array([4.]))
    """

    n: Floats
    p: Floats

    @property
    def mean(self) -> Floats:
        """The mean of each."""
        return self.n * (1 - self.p) / self.p

    def quantile(self, q: float) -> Floats:
        """Return the least count up to which each has a share ``q`` of its probability."""
        quantiles: Floats = self.to_scipy().ppf(q)
        return quantiles

    def log_density(self, y: Floats) -> Floats:
        """Return the log probability of one count in each."""
        logs: Floats = self.to_scipy().logpmf(y)
        return logs

    def take(self, places: NDArray[np.intp]) -> NegativeBinomial:
        """Return those at these places, as often as they are named."""
        return NegativeBinomial(self.n.take(places), self.p.take(places))

    def to_scipy(self) -> Any:
        """Return a distribution of ``scipy.stats``."""
        from scipy.stats import nbinom

        return nbinom(n=self.n, p=self.p)


Predictive = StudentT | NegativeBinomial
