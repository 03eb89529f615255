"""MAPTree as the paper writes it: five algorithms, nothing added, for any number of classes.

It is the yardstick of the core's paper mode: the same bounds after every expansion and the same
number of expansions. For that, "LB = UB" and ties must mean the same on both sides, so costs are
whole numbers of 2^-32 nats, rounded once in the tables and exact from then on. No tolerance is
needed anywhere.

Two things are not the paper's. Tests may have weights: then the choice of one costs the logarithm
of the sum of those that vary, minus that of its own, both rounded; where all are 1 this is the
paper's. And a node is found by its exact set of rows and its depth, where the paper trusts a hash
of the rows. Give that as `subset_hash` to see what comes of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from oracle import LEAF, Tree

UNITS_PER_NAT = 2**32


class Result(NamedTuple):
    """Bounds in nats; `upper` is infinite, and the tree a lone leaf, before any expansion."""

    lower: float
    upper: float
    tree: Tree
    expansions: int


@dataclass(eq=False)
class Node:
    """An OR node (I, d). Its AND children are `children`, by column, in column order."""

    rows: frozenset[int]
    depth: int
    lower: float
    upper: float = math.inf
    expanded: bool = False
    leaf_cost: float = math.inf
    split_cost: dict[int, int] = field(default_factory=dict)
    children: dict[int, tuple[Node, Node]] = field(default_factory=dict)
    parents: list[Node] = field(default_factory=list)

    def splits_lower(self) -> dict[int, float]:
        """Every split's lower bound, from its children as they are now."""
        return {f: self.split_cost[f] + a.lower + b.lower for f, (a, b) in self.children.items()}

    def splits_upper(self) -> dict[int, float]:
        return {f: self.split_cost[f] + a.upper + b.upper for f, (a, b) in self.children.items()}


def maptree(
    X: Iterable[Iterable[int]],
    y: Iterable[int],
    *,
    n_classes: int,
    alpha: float = 0.95,
    beta: float = 0.5,
    rho: float | Sequence[float] | None = None,
    test_weights: Iterable[int] | None = None,
    max_expansions: float = math.inf,
    on_step: Callable[[float, float], object] | None = None,
    subset_hash: Callable[[frozenset[int]], Hashable] = lambda rows: rows,
) -> Result:
    """Search until the root is solved or `max_expansions` nodes are expanded.

    `on_step` is given the root's bounds before the first expansion and after each.
    """
    cost = Costs(X, y, n_classes, alpha, beta, rho, test_weights)
    cache: dict[tuple[Hashable, int], Node] = {}

    def node(rows: frozenset[int], depth: int) -> Node:
        key = subset_hash(rows), depth
        if key not in cache:
            cache[key] = Node(rows, depth, lower=cost.perfect_split(rows, depth))
        return cache[key]

    def expand(o: Node) -> None:
        o.expanded = True
        o.leaf_cost = cost.leaf(o.rows, o.depth)
        varying = cost.varying(o.rows)
        for feature in varying:
            o.split_cost[feature] = cost.split(o.depth) + cost.choice(feature, varying)
            ones = frozenset(row for row in o.rows if cost.X[row][feature])
            o.children[feature] = node(o.rows - ones, o.depth + 1), node(ones, o.depth + 1)
            for child in o.children[feature]:
                if o not in child.parents:
                    child.parents.append(o)

    root = node(frozenset(range(len(cost.y))), 0)
    expansions = 0
    while True:
        if on_step is not None:
            on_step(root.lower / UNITS_PER_NAT, root.upper / UNITS_PER_NAT)
        if root.lower >= root.upper or expansions >= max_expansions:
            break
        o = find(root)
        expand(o)
        update_lower(o)
        update_upper(o)
        expansions += 1
    bounds = root.lower / UNITS_PER_NAT, root.upper / UNITS_PER_NAT
    return Result(*bounds, solution(root), expansions)


def find(o: Node) -> Node:
    """The unexpanded node to expand next: least lower bound, then the wider child."""
    while o.expanded:
        lower = o.splits_lower()
        zeros, ones = o.children[min(lower, key=lower.__getitem__)]  # the first of equal columns
        o = zeros if zeros.upper - zeros.lower > ones.upper - ones.lower else ones
    return o


def update_lower(o: Node) -> None:
    visit = {o}
    while visit:
        o = max(visit, key=lambda node: node.depth)
        visit.remove(o)
        v = min([o.leaf_cost, *o.splits_lower().values()])
        if v > o.lower:
            o.lower = v
            visit.update(o.parents)


def update_upper(o: Node) -> None:
    visit = {o}
    while visit:
        o = max(visit, key=lambda node: node.depth)
        visit.remove(o)
        v = min([o.leaf_cost, *o.splits_upper().values()])
        if v < o.upper:
            o.upper = v
            visit.update(o.parents)


def solution(o: Node) -> Tree:
    upper = o.splits_upper()
    if o.leaf_cost <= min(upper.values(), default=math.inf):
        return LEAF
    feature = min(upper, key=upper.__getitem__)
    zeros, ones = o.children[feature]
    return feature, solution(zeros), solution(ones)


class Costs:
    """The terms of the cost, in units.

    -log B(c + rho) / B(rho) is written with sums of logarithms, R the sum of rho:

        lik(c) = sum_k s_k(c_k) + G(n) - sum_k G(c_k)
        s_k(c) = sum over t < c of log((t + R) / (t + rho_k))
        G(n)   = sum over t < n of log(t + R)

    The terms of s_k fall and those of G rise, and rounding each keeps that, so that the rounded lik
    still obeys lik(c) >= sum_k lik(c_k alone) and lik(a + b alone) <= lik(a alone) + lik(b alone)
    exactly: the perfect split is admissible and consistent in units too.
    """

    def __init__(
        self,
        X: Iterable[Iterable[int]],
        y: Iterable[int],
        n_classes: int,
        alpha: float,
        beta: float,
        rho: float | Sequence[float] | None,
        test_weights: Iterable[int] | None = None,
    ) -> None:
        self.X = [[int(value) for value in row] for row in X]
        self.y = [int(label) for label in y]
        given = [1] * len(self.X[0]) if test_weights is None else [int(w) for w in test_weights]
        self.test_weights = [weight // math.gcd(*given) for weight in given]
        self.alpha = alpha
        self.beta = beta
        if rho is None:
            rho = 5 / n_classes
        rhos = [rho] * n_classes if isinstance(rho, (int, float)) else list(rho)
        total = sum(rhos)
        steps = range(len(self.y))
        self.alone = [
            list(accumulate((units(math.log((t + total) / (t + r))) for t in steps), initial=0))
            for r in rhos
        ]
        self.together = list(accumulate((units(math.log(t + total)) for t in steps), initial=0))

    def varying(self, rows: frozenset[int]) -> list[int]:
        features = range(len(self.X[0]))
        return [f for f in features if 0 < sum(self.X[row][f] for row in rows) < len(rows)]

    def counts(self, rows: frozenset[int]) -> list[int]:
        labels = [self.y[row] for row in rows]
        return [labels.count(k) for k in range(len(self.alone))]

    def split(self, depth: int) -> int:
        return units(-math.log(self.alpha * (1 + depth) ** -self.beta))

    def choice(self, feature: int, varying: list[int]) -> int:
        together = sum(self.test_weights[f] for f in varying)
        return units(math.log(together)) - units(math.log(self.test_weights[feature]))

    def pure(self, counts: list[int]) -> int:
        """What every class would cost in a leaf of its own."""
        return sum(table[count] for table, count in zip(self.alone, counts, strict=True))

    def likelihood(self, counts: list[int]) -> int:
        apart = sum(self.together[count] for count in counts)
        return self.pure(counts) + self.together[sum(counts)] - apart

    def leaf(self, rows: frozenset[int], depth: int) -> int:
        p_split = self.alpha * (1 + depth) ** -self.beta
        stop = units(-math.log1p(-p_split)) if self.varying(rows) else 0
        return stop + self.likelihood(self.counts(rows))

    def perfect_split(self, rows: frozenset[int], depth: int) -> int:
        """The heuristic h: one leaf, or one split that parts all classes and is free to choose."""
        counts = self.counts(rows)
        return min(self.likelihood(counts), self.split(depth) + self.pure(counts))


def units(nats: float) -> int:
    return round(nats * UNITS_PER_NAT)
