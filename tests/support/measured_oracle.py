"""The MAP tree for numbers or counts on tiny data, by brute force, straight from the definition.

The cost of a tree is that of `oracle.py`, except in the leaves: there it is minus the log of the
probability, or density, of the rows, one after the other, each predicted from those before it. So
this file has no formula for a leaf as a whole. It shares nothing with the core or the package.

Numbers are in steps of 1/256 of their standard deviation, exposures in multiples of their mean,
rounded to 2^-16 of it; both in decimals of 60 digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from functools import cache
from typing import TypeAlias

Rows: TypeAlias = frozenset[int]
Tree: TypeAlias = "tuple[()] | tuple[int, Tree, Tree]"


def steps(y: Sequence[float], weights: Sequence[int] | None = None) -> list[int]:
    """The numbers of a table in steps from their mean.

    >>> steps([1.0, 2.0, 3.0])
    [-314, 0, 314]
    """
    times = [1] * len(y) if weights is None else list(weights)
    with localcontext() as context:
        context.prec = 700  # enough for 1e300 next to 1
        exact = [Decimal(value) for value in y]
        n = Decimal(sum(times))
        mean = sum(w * v for w, v in zip(times, exact, strict=True)) / n
        variance = sum(w * (v - mean) ** 2 for w, v in zip(times, exact, strict=True)) / n
        if variance == 0:
            return [0] * len(y)
        step = variance.sqrt() / 256
        found = [((v - mean) / step).to_integral_value(ROUND_HALF_EVEN) for v in exact]
    return [int(z) if w else 0 for z, w in zip(found, times, strict=True)]


def exposures(given: Sequence[float], weights: Sequence[int] | None = None) -> list[float]:
    """Exposures in multiples of their mean; 1 each if all are equal.

    >>> exposures([1.0, 3.0]), exposures([2.0, 2.0])
    ([0.5, 1.5], [1.0, 1.0])
    """
    times = [1] * len(given) if weights is None else list(weights)
    if len({e for e, w in zip(given, times, strict=True) if w}) == 1:
        return [1.0] * len(given)
    with localcontext() as context:
        context.prec = 700
        exact = [Decimal(value) for value in given]
        mean = sum(w * e for w, e in zip(times, exact, strict=True)) / Decimal(sum(times))
        units = [max(1, int((e / mean * 65536).to_integral_value(ROUND_HALF_EVEN))) for e in exact]
    return [unit / 65536 for unit in units]


def normal_cost(u: Sequence[float], kappa: float, nu: float, noise: float) -> float:
    """Minus the log density of numbers in one leaf, as a product of Student's t densities."""
    mean, certainty, a, b, cost = 0.0, kappa, nu / 2, nu * noise / 2, 0.0
    for value in u:
        freedom, scale2 = 2 * a, b * (certainty + 1) / (a * certainty)
        away = (value - mean) ** 2 / (freedom * scale2)
        cost += math.lgamma(freedom / 2) - math.lgamma((freedom + 1) / 2)
        cost += 0.5 * math.log(freedom * math.pi * scale2) + (freedom + 1) / 2 * math.log1p(away)
        b += certainty * (value - mean) ** 2 / (2 * (certainty + 1))
        mean += (value - mean) / (certainty + 1)
        certainty += 1
        a += 0.5
    return cost


def poisson_cost(y: Sequence[int], e: Sequence[float], shape: float, rate: float) -> float:
    """Minus the log probability of counts in one leaf, as a product of negative binomial ones."""
    a, b, cost = shape, rate, 0.0
    for count, exposure in zip(y, e, strict=True):
        cost -= math.lgamma(a + count) - math.lgamma(a) - math.lgamma(count + 1)
        cost -= a * math.log(b / (b + exposure)) + count * math.log(exposure / (b + exposure))
        a += count
        b += exposure
    return cost


@dataclass(frozen=True)
class Table:
    """Answers to tests, an outcome, and the prior of trees and leaves."""

    X: tuple[tuple[int, ...], ...]
    y: tuple[float, ...]
    likelihood: str
    weights: tuple[int, ...]
    exposure: tuple[float, ...]
    prior: tuple[float, ...]  # kappa, nu, noise; or shape
    alpha: float = 0.95
    beta: float = 0.5
    max_depth: float = math.inf
    min_samples_leaf: int = 1
    test_weights: tuple[float, ...] = ()

    @property
    def root(self) -> Rows:
        return frozenset(row for row, weight in enumerate(self.weights) if weight > 0)

    @property
    def measured(self) -> list[float]:
        """Standardised numbers, or exposures."""
        if self.likelihood == "normal":
            return [z / 256 for z in steps(self.y, self.weights)]
        return exposures(self.exposure, self.weights)

    def likelihood_cost(self, rows: Rows) -> float:
        repeated = [row for row in sorted(rows) for _ in range(self.weights[row])]
        found = self.measured
        if self.likelihood == "normal":
            return normal_cost([found[row] for row in repeated], *self.prior)
        (shape,) = self.prior
        events = sum(w * int(y) for w, y in zip(self.weights, self.y, strict=True))
        rate = shape * sum(self.weights) / max(1, events)
        y = [int(self.y[row]) for row in repeated]
        return poisson_cost(y, [found[row] for row in repeated], shape, rate)

    def varying(self, rows: Rows) -> list[int]:
        return [f for f in range(len(self.X[0])) if len({self.X[row][f] for row in rows}) == 2]

    def p_split(self, depth: int) -> float:
        return self.alpha * (1 + depth) ** -self.beta

    def leaf_cost(self, rows: Rows, depth: int) -> float:
        stop = -math.log1p(-self.p_split(depth)) if self.varying(rows) else 0.0
        return stop + self.likelihood_cost(rows)

    def weight(self, test: int) -> float:
        return self.test_weights[test] if self.test_weights else 1

    def inner_cost(self, rows: Rows, depth: int, test: int) -> float:
        total = sum(self.weight(f) for f in self.varying(rows))
        return -math.log(self.p_split(depth)) + math.log(total / self.weight(test))

    def splits(self, rows: Rows, depth: int) -> Iterator[tuple[int, Rows, Rows]]:
        for test in self.varying(rows) if depth < self.max_depth else ():
            ones = frozenset(row for row in rows if self.X[row][test])
            sides = rows - ones, ones
            if min(sum(self.weights[i] for i in side) for side in sides) >= self.min_samples_leaf:
                yield test, *sides


def all_trees(table: Table) -> Iterator[tuple[Tree, float]]:
    """Every tree once, with its cost."""

    def grow(rows: Rows, depth: int) -> Iterator[tuple[Tree, float]]:
        yield (), table.leaf_cost(rows, depth)
        for test, zeros, ones in table.splits(rows, depth):
            inner = table.inner_cost(rows, depth, test)
            for left, left_cost in grow(zeros, depth + 1):
                for right, right_cost in grow(ones, depth + 1):
                    yield (test, left, right), inner + left_cost + right_cost

    return grow(table.root, 0)


def optimum(table: Table) -> tuple[float, Tree]:
    """The least cost of a tree, and a tree that has it."""

    @cache
    def best(rows: Rows, depth: int) -> tuple[float, Tree]:
        found: tuple[float, Tree] = table.leaf_cost(rows, depth), ()
        for test, zeros, ones in table.splits(rows, depth):
            left_cost, left = best(zeros, depth + 1)
            right_cost, right = best(ones, depth + 1)
            cost = table.inner_cost(rows, depth, test) + left_cost + right_cost
            if cost < found[0]:
                found = cost, (test, left, right)
        return found

    return best(table.root, 0)
