"""What a weighted set of trees says about the posterior, in terms of the table's columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maptree.schema.columns import Schema
from maptree.trees.forest import WeightedTrees
from maptree.trees.tree import Tree
from maptree.words.numbers import probability_text, probability_texts
from maptree.words.tests import TestWords

_WIDTH = 79
_NAME = 56  # characters of a column or test; longer ones are shortened
_LINES = 10  # the most columns, and the most trees, that the text shows


class SplitFrequency(NamedTuple):
    """How often trees split on a column, or on one of its tests."""

    name: str
    probability: float  # that a tree does
    expected_splits: float  # of a tree


class FrequentTree(NamedTuple):
    """A tree, its weight, and its log posterior."""

    tree: Tree
    weight: float
    log_posterior: float


@dataclass(frozen=True)
class PosteriorSummary:
    """The posterior over trees, as estimated by a sampler.

    Attributes
    ----------
    columns : tuple of SplitFrequency
        For every column that some tree splits on: its name, the probability that a tree splits on
        it, and the expected number of splits. The most probable come first.
    tests : tuple of SplitFrequency
        The same for every binary test; a column of numbers has several.
    leaves, depth : dict
        From a number of leaves (a depth) to its probability, in ascending order.
    trees : tuple of FrequentTree
        The trees with the largest weights, with weight and log posterior.
    n_trees : int
        Number of distinct trees that were sampled.
    """

    columns: tuple[SplitFrequency, ...]
    tests: tuple[SplitFrequency, ...]
    leaves: dict[int, float]
    depth: dict[int, float]
    trees: tuple[FrequentTree, ...]
    n_trees: int

    def __str__(self) -> str:
        lines = [
            *_distribution("Leaves", self.leaves),
            *_distribution("Depth", self.depth),
            "",
            f"{'Column':<{_NAME}}  {'P(used)':>8}  {'splits':>8}",
        ]
        listed = self.columns[:_LINES]
        shares = probability_texts((_clean(column.probability) for column in listed), 3)
        for (name, _, splits), share in zip(listed, shares, strict=True):
            lines.append(f"{_cut(name):<{_NAME}}  {share:>8}  {splits:8.3f}")
        if not self.columns:
            lines.append("none: every tree is a single leaf")
        if len(self.columns) > _LINES:
            lines.append(f"and {len(self.columns) - _LINES:,} more")
        lines += ["", f"{'Tree':<10}  {'weight':>8}  {'log posterior':>16}  leaves  depth"]
        weights = probability_texts((_clean(tree.weight) for tree in self.trees[:_LINES]), 4)
        for number, (tree, _, log_posterior) in enumerate(self.trees[:_LINES], start=1):
            lines.append(
                f"{number:<10}  {weights[number - 1]:>8}  {log_posterior:16.4f}  "
                f"{tree.n_leaves:6d}  {tree.depth:5d}"
            )
        if self.n_trees > len(self.trees[:_LINES]):
            lines.append(f"of {self.n_trees:,} distinct trees")
        return "\n".join(lines)


def summarise(weighted: WeightedTrees, schema: Schema, n_trees: int) -> PosteriorSummary:
    """Summarise weighted trees; the ``n_trees`` with the largest weights are listed.

    >>> from maptree.schema.columns import Column
    >>> from maptree.trees.forest import Trees
    >>> trees = Trees(
    ...     starts=np.array([0, 3]), sizes=np.array([3, 1]), feature=np.array([0, -1, -1, -1]),
    ...     left=np.array([1, -1, -1, -1]), right=np.array([2, -1, -1, -1]),
    ...     counts=np.array([[5, 5], [5, 0], [0, 5], [5, 5]]))
    >>> weighted = WeightedTrees(
    ...     trees, np.array([0.75, 0.25]), np.array([-6.4, -7.5]), np.array([[0, 0, 0, 1]]))
    >>> age = Column("age", "number", "int64", thresholds=(45.5,))
    >>> print(summarise(weighted, Schema((age,)), 2))
    Leaves  1: 0.250  2: 0.750
    Depth   0: 0.250  1: 0.750
    <BLANKLINE>
    Column                                                     P(used)    splits
    age                                                          0.750     0.750
    <BLANKLINE>
    Tree          weight     log posterior  leaves  depth
    1             0.7500           -6.4000       2      1
    2             0.2500           -7.5000       1      0
    """
    trees, weights = weighted.trees, weighted.weights
    tests, tree = trees.splits()
    words = TestWords(schema)
    heaviest = zip(trees[:n_trees], weights, weighted.log_posteriors, strict=False)
    return PosteriorSummary(
        columns=_frequencies(schema.columns_of(tests), tree, weights, schema.names.__getitem__),
        tests=_frequencies(tests, tree, weights, words.test),
        leaves=_probabilities(trees.n_leaves(), weights),
        depth=_probabilities(trees.depths(), weights),
        trees=tuple(FrequentTree(t, float(w), float(p)) for t, w, p in heaviest),
        n_trees=len(trees),
    )


def _frequencies(
    what: NDArray[np.integer],
    tree: NDArray[np.intp],
    weights: NDArray[np.float64],
    name: Callable[[int], str],
) -> tuple[SplitFrequency, ...]:
    """Return how often trees use each column or test, given those of the inner nodes of trees."""
    those, what = np.unique(what, return_inverse=True)
    splits = np.bincount(what, weights[tree], minlength=len(those))
    once = np.unique(np.stack([tree, what]), axis=1)  # once per tree, however often it is used
    used = np.bincount(once[1], weights[once[0]], minlength=len(those))
    order = np.lexsort([-splits, -used])
    return tuple(
        SplitFrequency(name(int(those[i])), float(used[i]), float(splits[i]))
        for i in order.tolist()
        if used[i] > 0
    )


def _probabilities(values: NDArray[np.intp], weights: NDArray[np.float64]) -> dict[int, float]:
    sums = np.bincount(values, weights)
    return {value: float(sums[value]) for value in np.flatnonzero(sums).tolist()}


def _distribution(title: str, probabilities: dict[int, float]) -> list[str]:
    """Write a distribution on as many lines as it needs."""
    lines, line = [], f"{title:<6}"
    for value, probability in probabilities.items():
        part = f"  {value}: {probability_text(_clean(probability), 3)}"
        if len(line) + len(part) > _WIDTH:
            lines.append(line)
            line = " " * 6
        line += part
    return [*lines, line]


def _clean(probability: float) -> float:
    """Remove the rounding error of a sum of weights: what is 1 is written as 1."""
    return round(probability, 12)


def _cut(name: str) -> str:
    """Shorten a name in the middle: long names often differ at the end."""
    if len(name) <= _NAME:
        return name
    tail = _NAME // 2 - 3
    return f"{name[: _NAME - tail - 3]}...{name[-tail:]}"
