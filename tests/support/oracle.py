"""The MAP tree of tiny data by brute force: every tree, in floats, straight from the definition.

The cost of a tree is -log P(T, Y | X) in nats:

    inner node of depth d    -log p_split(d) - log w_j + log W(I)   p_split(d) = alpha (1 + d)^-beta
    leaf of depth d          stop(d, I) - log B(c + rho) / B(rho)
                             stop(d, I) = 0 if V(I) is empty, else -log(1 - p_split(d))

I is the set of rows that reach the node, c its class counts, and V(I) the columns that are not
constant on I: all of them, copies and complements included. w_j is the weight of the column that is
tested, 1 unless given, and W(I) the sum of the weights of V(I), so |V(I)| unless given.

`max_depth`, `min_samples_leaf`, `first` (columns that the root may test) and `without` (columns
that no node may test) take trees away and leave V(I) and stop as they are.

Three views of the same definition check one another: `tree_cost` scores one tree, `all_trees`
lists them all, `optimum` takes the minimum with a cache. They share nothing with the core, so that
a mistake there cannot hide here; that is also why there is no cleverness in this file.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

Rows: TypeAlias = frozenset[int]
Tree: TypeAlias = "tuple[()] | tuple[int, Tree, Tree]"
"""A leaf is (); an inner node is (column, tree where it is 0, tree where it is 1)."""

LEAF: Tree = ()


@dataclass(frozen=True)
class Posterior:
    """The cost of one node, and which splits a tree may make there."""

    X: tuple[tuple[int, ...], ...]
    y: tuple[int, ...]
    weights: tuple[int, ...]
    rho: tuple[float, ...]
    alpha: float
    beta: float
    max_depth: float
    min_samples_leaf: int
    test_weights: tuple[float, ...]
    first: frozenset[int] | None = None
    without: frozenset[int] = frozenset()

    @classmethod
    def of(
        cls,
        X: Iterable[Iterable[int]],
        y: Iterable[int],
        weights: Iterable[int] | None = None,
        *,
        n_classes: int,
        alpha: float = 0.95,
        beta: float = 0.5,
        rho: float | Sequence[float] | None = None,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        test_weights: Iterable[float] | None = None,
        first: Iterable[int] | None = None,
        without: Iterable[int] = (),
    ) -> Posterior:
        """Read a problem. rho: one number, one per class, or None for 5 / n_classes.

        A weight is the number of times a row occurs; a row of weight 0 is not there. The weight of
        a test is how probable it is compared with others; None: all are 1.
        """
        table = tuple(tuple(int(value) for value in row) for row in X)
        labels = tuple(int(label) for label in y)
        if rho is None:
            rho = 5 / n_classes
        return cls(
            X=table,
            y=labels,
            weights=(1,) * len(labels) if weights is None else tuple(int(w) for w in weights),
            rho=(rho,) * n_classes if isinstance(rho, (int, float)) else tuple(rho),
            alpha=alpha,
            beta=beta,
            max_depth=math.inf if max_depth is None else max_depth,
            min_samples_leaf=min_samples_leaf,
            test_weights=(1,) * len(table[0]) if test_weights is None else tuple(test_weights),
            first=None if first is None else frozenset(first),
            without=frozenset(without),
        )

    @property
    def root(self) -> Rows:
        return frozenset(row for row, weight in enumerate(self.weights) if weight > 0)

    def varying(self, rows: Rows) -> list[int]:
        """V(I)."""
        n_features = len(self.X[0])
        return [f for f in range(n_features) if len({self.X[row][f] for row in rows}) == 2]

    def counts(self, rows: Rows) -> list[int]:
        counts = [0] * len(self.rho)
        for row in rows:
            counts[self.y[row]] += self.weights[row]
        return counts

    def p_split(self, depth: int) -> float:
        return self.alpha * math.pow(1 + depth, -self.beta)

    def inner_cost(self, rows: Rows, depth: int, feature: int) -> float:
        weight = sum(self.test_weights[f] for f in self.varying(rows))
        choice = math.log(weight) - math.log(self.test_weights[feature])
        return -math.log(self.p_split(depth)) + choice

    def leaf_cost(self, rows: Rows, depth: int) -> float:
        counts = self.counts(rows)
        stop = -math.log1p(-self.p_split(depth)) if self.varying(rows) else 0.0
        seen = [count + rho for count, rho in zip(counts, self.rho, strict=True)]
        return stop + log_beta(self.rho) - log_beta(seen)

    def splits(self, rows: Rows, depth: int) -> Iterator[tuple[int, Rows, Rows]]:
        """The splits that a tree may make: (column, rows where it is 0, rows where it is 1).

        A split is refused when a side is too light to be a leaf: its subtrees' leaves would be
        lighter still. The root is nobody's side, so a lone leaf is always allowed.
        """
        if depth >= self.max_depth:
            return
        for feature in self.varying(rows):
            if feature in self.without:
                continue
            if depth == 0 and self.first is not None and feature not in self.first:
                continue
            ones = frozenset(row for row in rows if self.X[row][feature])
            zeros = rows - ones
            if min(sum(self.counts(zeros)), sum(self.counts(ones))) >= self.min_samples_leaf:
                yield feature, zeros, ones


def log_beta(a: Sequence[float]) -> float:
    """The logarithm of the multivariate Beta function."""
    return sum(math.lgamma(x) for x in a) - math.lgamma(sum(a))


def tree_cost(
    tree: Tree,
    X: Iterable[Iterable[int]],
    y: Iterable[int],
    weights: Iterable[int] | None = None,
    **model: Any,
) -> float:
    """The cost of one tree; infinite where it makes a split that it may not make.

    Keywords as in `Posterior.of`.

    >>> round(tree_cost((0, (), ()), [[0], [0], [1], [1]], [0, 0, 1, 1], n_classes=2), 4)
    2.5156
    >>> tree_cost((0, (0, (), ()), ()), [[0], [0], [1], [1]], [0, 0, 1, 1], n_classes=2)
    inf
    """
    posterior = Posterior.of(X, y, weights, **model)

    def cost(tree: Tree, rows: Rows, depth: int) -> float:
        if not tree:
            return posterior.leaf_cost(rows, depth)
        feature, left, right = tree
        for allowed, zeros, ones in posterior.splits(rows, depth):
            if allowed == feature:
                below = cost(left, zeros, depth + 1) + cost(right, ones, depth + 1)
                return posterior.inner_cost(rows, depth, feature) + below
        return math.inf

    return cost(tree, posterior.root, 0)


def all_trees(
    X: Iterable[Iterable[int]],
    y: Iterable[int],
    weights: Iterable[int] | None = None,
    **model: Any,
) -> Iterator[tuple[Tree, float]]:
    """Every tree once, with its cost; splits on equal columns are different trees.

    exp(-cost) is the unnormalised posterior probability. Keywords as in `Posterior.of`. The number
    of trees on all 2^F rows is t(F) = 1 + F t(F-1)^2: 1, 2, 9, 244, 238145, ...

    >>> [tree for tree, _ in all_trees([[0, 0], [0, 1]], [0, 1], n_classes=2)]
    [(), (1, (), ())]
    """
    posterior = Posterior.of(X, y, weights, **model)

    def grow(rows: Rows, depth: int) -> Iterator[tuple[Tree, float]]:
        yield LEAF, posterior.leaf_cost(rows, depth)
        for feature, zeros, ones in posterior.splits(rows, depth):
            inner = posterior.inner_cost(rows, depth, feature)
            for left, left_cost in grow(zeros, depth + 1):
                for right, right_cost in grow(ones, depth + 1):
                    yield (feature, left, right), inner + left_cost + right_cost

    return grow(posterior.root, 0)


def all_partitions(
    X: Iterable[Iterable[int]],
    y: Iterable[int],
    weights: Iterable[int] | None = None,
    **model: Any,
) -> list[tuple[float, frozenset[Rows]]]:
    """Every way to part the rows by a tree, as the rows of each leaf, with the cost of the cheapest
    tree that does; the cheapest first. Keywords as in `Posterior.of`.

    >>> [len(parts) for _, parts in all_partitions([[0], [0], [1], [1]], [0, 0, 1, 1], n_classes=2)]
    [2, 1]
    """
    table = [list(row) for row in X]
    there = Posterior.of(table, y, weights, **model).root
    least: dict[frozenset[Rows], float] = {}
    for tree, cost in all_trees(table, y, weights, **model):
        parts = frozenset(leaves_of(tree, table, there))
        least[parts] = min(cost, least.get(parts, math.inf))
    return sorted(((cost, parts) for parts, cost in least.items()), key=lambda found: found[0])


def leaves_of(tree: Tree, X: Sequence[Sequence[int]], rows: Rows) -> Iterator[Rows]:
    """The rows of each leaf of a tree."""
    if not tree:
        yield rows
        return
    feature, left, right = tree
    ones = frozenset(row for row in rows if X[row][feature])
    yield from leaves_of(left, X, rows - ones)
    yield from leaves_of(right, X, ones)


def distribution(
    X: Iterable[Iterable[int]],
    y: Iterable[int],
    weights: Iterable[int] | None = None,
    **model: Any,
) -> tuple[dict[Tree, float], float]:
    """The posterior probability of every tree, and the log evidence log P(Y | X): the sum over all.

    With one class the labels say nothing, so that this is the prior. Keywords as in `Posterior.of`.

    >>> posterior, log_evidence = distribution([[0], [1]], [0, 1], n_classes=2)
    >>> {tree: round(probability, 4) for tree, probability in posterior.items()}
    {(): 0.042, (0, (), ()): 0.958}
    >>> {tree: round(p, 4) for tree, p in distribution([[0], [1]], [0, 0], n_classes=1)[0].items()}
    {(): 0.05, (0, (), ()): 0.95}
    """
    costs = dict(all_trees(X, y, weights, **model))
    evidence = math.fsum(math.exp(-cost) for cost in costs.values())
    return {tree: math.exp(-cost) / evidence for tree, cost in costs.items()}, math.log(evidence)


def optimum(
    X: Iterable[Iterable[int]],
    y: Iterable[int],
    weights: Iterable[int] | None = None,
    **model: Any,
) -> tuple[float, Tree]:
    """The least cost of a tree, and a tree that has it. Keywords as in `Posterior.of`.

    >>> cost, tree = optimum([[0, 1], [0, 0], [1, 1], [1, 0]] * 5, [0, 0, 1, 1] * 5, n_classes=2)
    >>> round(cost, 4), tree
    (10.0994, (0, (), ()))
    """
    posterior = Posterior.of(X, y, weights, **model)

    # The exact set of rows is the key: no hash of it is ever taken for the set itself.
    @cache
    def best(rows: Rows, depth: int) -> tuple[float, Tree]:
        found: tuple[float, Tree] = posterior.leaf_cost(rows, depth), LEAF
        for feature, zeros, ones in posterior.splits(rows, depth):
            left_cost, left = best(zeros, depth + 1)
            right_cost, right = best(ones, depth + 1)
            cost = posterior.inner_cost(rows, depth, feature) + left_cost + right_cost
            if cost < found[0]:
                found = cost, (feature, left, right)
        return found

    return best(posterior.root, 0)


def best_of_size(
    X: Iterable[Iterable[int]],
    y: Iterable[int],
    weights: Iterable[int] | None = None,
    *,
    leaves: int,
    **model: Any,
) -> tuple[float, Tree]:
    """The least cost of a tree of at most so many leaves, and a tree that has it.

    >>> X, y = [[0, 1], [0, 0], [1, 1], [1, 0]] * 9, [0, 1, 1, 0] * 9
    >>> [best_of_size(X, y, leaves=k, n_classes=2)[1] for k in (1, 3, 4)]
    [(), (0, (), (1, (), ())), (0, (1, (), ()), (1, (), ()))]
    """
    posterior = Posterior.of(X, y, weights, **model)

    @cache
    def best(rows: Rows, depth: int, leaves: int) -> tuple[float, Tree]:
        found: tuple[float, Tree] = posterior.leaf_cost(rows, depth), LEAF
        for feature, zeros, ones in posterior.splits(rows, depth):
            inner = posterior.inner_cost(rows, depth, feature)
            for share in range(1, leaves):
                left_cost, left = best(zeros, depth + 1, share)
                right_cost, right = best(ones, depth + 1, leaves - share)
                if inner + left_cost + right_cost < found[0]:
                    found = inner + left_cost + right_cost, (feature, left, right)
        return found

    return best(posterior.root, 0, leaves)
