"""What a weighted set of trees says about the posterior, in terms of the table's columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
_MOST_CHAINS = 64  # that are compared with each other
_LINES = 10  # the most columns, and the most trees, that the text shows


class SplitFrequency(NamedTuple):
    """How often trees split on a column, or on one of its tests."""

    name: str
    probability: float  # that a tree does
    expected_splits: float  # of a tree
    low: float  # the least and the greatest probability by a single chain
    high: float


class FirstSplit(NamedTuple):
    """How often trees split on a column first, and on which of its tests most often."""

    name: str
    probability: float
    test: str
    test_probability: float


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
        it, the expected number of splits, and the least and greatest of these probabilities by a
        single chain (of particles: the probability): where they differ widely, the chains have not
        seen enough trees to tell. The most probable come first.
    tests : tuple of SplitFrequency
        The same for every binary test; a column of numbers has several.
    first_splits : tuple of FirstSplit
        For every column that some tree splits on at the root: its name, the probability of that,
        and the most probable of its tests there. The most probable come first.
    leaves, depth : dict
        From a number of leaves (a depth) to its probability, in ascending order.
    trees : tuple of FrequentTree
        The trees with the largest weights, with weight and log posterior.
    n_trees : int
        Number of distinct trees that were sampled.
    """

    columns: tuple[SplitFrequency, ...]
    tests: tuple[SplitFrequency, ...]
    first_splits: tuple[FirstSplit, ...]
    leaves: dict[int, float]
    depth: dict[int, float]
    trees: tuple[FrequentTree, ...]
    n_trees: int

    def __str__(self) -> str:
        lines = [
            *_distribution("Leaves", self.leaves),
            *_distribution("Depth", self.depth),
            "",
        ]
        listed = self.columns[:_LINES]
        by_chain = any(column.low < column.high for column in listed)
        name_width = _NAME - 15 * by_chain
        lines.append(
            f"{'Column':<{name_width}}  {'P(used)':>8}  "
            + ("     by chain  " if by_chain else "")
            + f"{'splits':>8}"
        )
        shares = probability_texts((_clean(column.probability) for column in listed), 3)
        for column, share in zip(listed, shares, strict=True):
            between = f"{column.low:5.2f} to {column.high:4.2f}  " if by_chain else ""
            lines.append(
                f"{cut(column.name, name_width):<{name_width}}  {share:>8}  {between}"
                f"{column.expected_splits:8.3f}"
            )
        if not self.columns:
            lines.append("none: every tree is a single leaf")
        if len(self.columns) > _LINES:
            lines.append(f"and {len(self.columns) - _LINES:,} more")
        if self.first_splits:
            lines += ["", f"{'First split, and the most frequent':<{_NAME}}  {'P(first)':>8}"]
        firsts = self.first_splits[:_LINES]
        of_firsts = probability_texts((_clean(first.probability) for first in firsts), 3)
        of_tests = probability_texts((_clean(first.test_probability) for first in firsts), 3)
        for first, share, of_test in zip(firsts, of_firsts, of_tests, strict=True):
            lines.append(f"{cut(first.name):<{_NAME}}  {share:>8}")
            if first.test != first.name:
                lines.append(f"  {cut(first.test, _NAME - 2):<{_NAME - 2}}  {of_test:>8}")
        if not self.trees:
            return "\n".join(lines)
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

    def _repr_html_(self) -> str:
        """Return the same as tables, for a notebook."""
        from maptree.words.posterior_summary_html import summary_html

        return summary_html(self)


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
    First split, and the most frequent                        P(first)
    age                                                          0.750
      age <= 45.5                                                0.750
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
        columns=_frequencies(schema.columns_of(tests), tree, weighted, schema.names.__getitem__),
        tests=_frequencies(tests, tree, weighted, words.test),
        first_splits=_first_splits(weighted, schema, words.test),
        leaves=_probabilities(trees.n_leaves(), weights),
        depth=_probabilities(trees.depths(), weights),
        trees=tuple(FrequentTree(t, float(w), float(p)) for t, w, p in heaviest),
        n_trees=len(trees),
    )


def _frequencies(
    what: NDArray[np.integer],
    tree: NDArray[np.intp],
    weighted: WeightedTrees,
    name: Callable[[int], str],
) -> tuple[SplitFrequency, ...]:
    """Return how often trees use each column or test, given those of the inner nodes of trees."""
    weights = weighted.weights
    those, what = np.unique(what, return_inverse=True)
    splits = np.bincount(what, weights[tree], minlength=len(those))
    once = np.unique(np.stack([tree, what]), axis=1)  # once per tree, however often it is used
    used = np.bincount(once[1], weights[once[0]], minlength=len(those))
    low, high = used.copy(), used.copy()
    if 1 < len(weighted.sample) <= _MOST_CHAINS:
        by_chain = [
            np.bincount(once[1], shares[once[0]], minlength=len(those))
            for shares in _shares_by_chain(weighted)
        ]
        low, high = np.min(by_chain, axis=0), np.max(by_chain, axis=0)
    order = np.lexsort([-splits, -used])
    return tuple(
        SplitFrequency(
            name(int(those[i])), float(used[i]), float(splits[i]), float(low[i]), float(high[i])
        )
        for i in order.tolist()
        if used[i] > 0
    )


def _shares_by_chain(weighted: WeightedTrees) -> Iterator[NDArray[np.float64]]:
    """Yield the share of each tree among the samples of each chain."""
    for samples in weighted.sample:
        kept = samples[samples >= 0]
        yield np.bincount(kept, minlength=len(weighted.trees)) / len(kept)


def _first_splits(
    weighted: WeightedTrees, schema: Schema, name: Callable[[int], str]
) -> tuple[FirstSplit, ...]:
    roots = weighted.trees.feature[weighted.trees.starts]
    split = roots >= 0
    tests, place = np.unique(roots[split], return_inverse=True)
    shares = np.bincount(place, weighted.weights[split], minlength=len(tests))
    columns, of_test = np.unique(schema.columns_of(tests), return_inverse=True)
    sums = np.bincount(of_test, shares, minlength=len(columns))
    found = []
    for c in np.argsort(-sums, kind="stable").tolist():
        most = max(np.flatnonzero(of_test == c).tolist(), key=lambda t: shares[t])
        column = schema.names[int(columns[c])]
        found.append(
            FirstSplit(column, float(sums[c]), name(int(tests[most])), float(shares[most]))
        )
    return tuple(found)


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


def cut(name: str, most: int = _NAME) -> str:
    """Shorten a name in the middle: long names often differ at the end."""
    if len(name) <= most:
        return name
    tail = most // 2 - 3
    return f"{name[: most - tail - 3]}...{name[-tail:]}"
