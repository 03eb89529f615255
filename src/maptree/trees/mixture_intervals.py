"""Quantiles of mixtures of Beta distributions: class probabilities where the tree is uncertain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

# A quantile is found when its probability is this close, or when its bracket is this narrow.
_CLOSE = 1e-13
_NARROW = 1e-15
_MOST_STEPS = 200  # a third of them halve the bracket


@dataclass(frozen=True, eq=False)
class Mixtures:
    """Weights of distributions in each of several mixtures, as the rows of a sparse matrix.

    Attributes
    ----------
    first : int64 array (mixtures,)
        Where the entries of each mixture begin; each has one or more.
    number : int64 array (entries,)
        The number of the distribution.
    weight : float64 array (entries,)
        They sum to 1 in each mixture.
    """

    first: Whole
    number: Whole
    weight: Floats

    @classmethod
    def of(cls, numbers: Whole, weights: Floats) -> Self:
        """Add up the weights of equal numbers in each row of a matrix; one weight per column.

        >>> mixtures = Mixtures.of(np.array([[3, 5, 3], [5, 5, 5]]), np.array([0.5, 0.25, 0.25]))
        >>> mixtures.first.tolist(), mixtures.number.tolist(), mixtures.weight.tolist()
        ([0, 2], [3, 5, 5], [0.75, 0.25, 1.0])
        """
        order = np.argsort(numbers, axis=1, kind="stable")
        ordered = np.take_along_axis(numbers, order, axis=1)
        new = np.ones(numbers.shape, dtype=bool)
        new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
        starts = np.flatnonzero(new)
        first = np.zeros(len(numbers), dtype=np.int64)
        first[1:] = np.cumsum(new.sum(axis=1))[:-1]
        summed = np.add.reduceat(weights[order].reshape(-1), starts)
        return cls(first, ordered.reshape(-1)[starts].astype(np.int64), summed)

    def quantiles(self, a: Floats, b: Floats, probability: float) -> Floats:
        """Return the quantile of each mixture of Beta(a, b), by distribution number.

        The quantile of a mixture lies between the least and the greatest of its parts. Newton's
        method finds it, and where that leaves the bracket or is slow, bisection does.

        >>> one = Mixtures.of(np.array([[0, 1]]), np.array([0.5, 0.5]))
        >>> one.quantiles(np.array([1.0, 1.0]), np.array([1.0, 1.0]), 0.25)
        array([0.25])
        """
        from scipy.special import betaincinv, betaln

        of_parts = betaincinv(a, b, probability)
        low = np.minimum.reduceat(of_parts[self.number], self.first)
        high = np.maximum.reduceat(of_parts[self.number], self.first)
        # Weights are rounded, so the mean of parts that are all the same may miss their bracket.
        found = np.add.reduceat(self.weight * of_parts[self.number], self.first).clip(low, high)
        constants = betaln(a, b)
        open_, rest = np.arange(len(found)), self
        for step in range(_MOST_STEPS):
            still = high[open_] - low[open_] > _NARROW
            if not still.all():
                rest, open_ = rest._keep(still), open_[still]
            if not len(open_):
                break
            x = found[open_]
            excess = rest._cdf(a, b, x) - probability
            low[open_] = np.where(excess < 0, x, low[open_])
            high[open_] = np.where(excess > 0, x, high[open_])
            exact = np.abs(excess) < _CLOSE
            low[open_[exact]] = high[open_[exact]] = x[exact]
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                newton = x - excess / rest._density(a, b, constants, x)
            width = high[open_] - low[open_]
            inside = (newton > low[open_]) & (newton < high[open_])
            # Newton's steps may all be short and from one side: every third halves the bracket.
            inside &= step % 3 != 2
            found[open_] = np.where(inside, newton, low[open_] + width / 2)
        return found.clip(low, high)

    def _cdf(self, a: Floats, b: Floats, x: Floats) -> Floats:
        from scipy.special import betainc

        at = np.repeat(x, self._sizes())
        parts = betainc(a[self.number], b[self.number], at)
        summed: Floats = np.add.reduceat(self.weight * parts, self.first)
        return summed

    def _density(self, a: Floats, b: Floats, constants: Floats, x: Floats) -> Floats:
        sizes = self._sizes()
        logs = (a[self.number] - 1) * np.repeat(np.log(x), sizes)
        logs += (b[self.number] - 1) * np.repeat(np.log1p(-x), sizes)
        parts = np.exp(logs - constants[self.number])
        summed: Floats = np.add.reduceat(self.weight * parts, self.first)
        return summed

    def _sizes(self) -> Whole:
        return np.diff(self.first, append=len(self.number))

    def _keep(self, which: NDArray[np.bool_]) -> Mixtures:
        """Return some of the mixtures."""
        sizes = self._sizes()
        entries = np.repeat(which, sizes)
        kept = sizes[which]
        return Mixtures(np.cumsum(kept) - kept, self.number[entries], self.weight[entries])
