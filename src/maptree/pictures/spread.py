"""The distribution of y in the nodes of a tree, as shapes on one scale of y.

The shape of a node is that of a new row's distribution: Student's t for numbers, negative binomial
for counts, at the mean exposure. Every shape is as high as any other: its width says how much is
known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maptree.trees.leaf_probabilities import LEVEL
from maptree.trees.outcomes import Counts, Measured, Numbers
from maptree.trees.predictive import Floats
from maptree.trees.tree import Tree

Corner = tuple[float, float]

# Corners of a curve. Counts up to this are steps, one for each; more are a curve.
_CORNERS, _STEPS = 23, 30
# What a curve leaves out on each side; steps lower than this part of the highest are left out.
_TAIL, _LEAST = 0.005, 0.01
# Around the shapes, as a share of the scale.
_PAD = 0.03


@dataclass(frozen=True)
class Scale:
    """From where to where y goes in all pictures of a tree."""

    low: float
    high: float

    def place(self, value: float) -> float:
        """Return where a number is, from 0 to 1; numbers outside are at the ends.

        >>> Scale(10.0, 20.0).place(12.5), Scale(-1e308, 1e308).place(0.0)
        (0.25, 0.5)
        """
        share = (value / 2 - self.low / 2) / (self.high / 2 - self.low / 2)
        return min(max(share, 0.0), 1.0)


@dataclass(frozen=True)
class Spread:
    """The scale of a tree, and the shape of each node: corners from left to right, 0 to 1."""

    scale: Scale
    shapes: Sequence[Sequence[Corner]]


def spread_of(measured: Measured, tree: Tree) -> Spread:
    """Return the shapes of all nodes.

    >>> from maptree.parameters.outcomes import CountPrior
    >>> tree = Tree([-1], [-1], [-1], [[4]], [[2, 4]])
    >>> spread_of(Counts(0.5, 1.0, 1, False, CountPrior(1.0)), tree).scale
    Scale(low=-0.5, high=2.5)
    """
    leaves = np.flatnonzero(tree.feature < 0)
    if isinstance(measured, Numbers):
        return _of_numbers(measured, tree, leaves)
    return _of_counts(measured, tree, leaves)


def _of_numbers(measured: Numbers, tree: Tree, leaves: NDArray[np.intp]) -> Spread:
    found = measured.predictive(tree)
    tail = (1 - LEVEL) / 2
    low = float(found.quantile(tail)[leaves].min())
    high = float(found.quantile(1 - tail)[leaves].max())
    scale = _padded(low, high)
    widths = found.quantile(1 - _TAIL) - found.loc
    shapes = [
        _bell(scale, *node)
        for node in zip(
            found.df.tolist(),
            found.loc.tolist(),
            found.scale.tolist(),
            widths.tolist(),
            strict=True,
        )
    ]
    return Spread(scale, shapes)


def _padded(low: float, high: float) -> Scale:
    """Return a scale with some space around two numbers, which may be equal."""
    pad = _PAD * (high - low) or abs(low) / 10 or 1.0
    return Scale(low - pad, high + pad)


def _bell(scale: Scale, df: float, loc: float, width: float, half: float) -> list[Corner]:
    """Return Student's t distribution, cut where the scale ends."""
    if not half > 0:
        x = scale.place(loc)
        return [(x, 0.0), (x, 1.0), (x, 0.0)]
    start, end = max(loc - half, scale.low), min(loc + half, scale.high)
    if not start < end:  # beyond the scale
        x = scale.place(loc)
        return [(x, 0.0), (x, 0.0)]
    numbers = np.linspace(start, end, _CORNERS)
    heights = np.exp(-(df + 1) / 2 * np.log1p(((numbers - loc) / width) ** 2 / df))
    return _closed([scale.place(number) for number in numbers.tolist()], heights)


def _of_counts(measured: Counts, tree: Tree, leaves: NDArray[np.intp]) -> Spread:
    usual = np.full(tree.node_count, measured.exposure)
    found = measured.predictive(tree, np.arange(tree.node_count), usual)
    tail = (1 - LEVEL) / 2
    first, last = found.quantile(tail), found.quantile(1 - tail)
    low, high = float(first[leaves].min()), max(float(last[leaves].max()), 1.0)
    few = high <= _STEPS
    scale = Scale(-0.5, high + 0.5) if few else _padded(0.0 if low < high / 3 else low, high)
    starts, ends = found.quantile(_TAIL), found.quantile(1 - _TAIL)
    shapes = []
    for node in range(tree.node_count):
        size, p = float(found.n[node]), float(found.p[node])
        if few:
            shapes.append(_stairs(scale, size, p, round(high)))
        else:
            start, end = max(float(starts[node]), scale.low), min(float(ends[node]), scale.high)
            counts = np.unique(np.rint(np.linspace(start, max(start, end), _CORNERS)))
            places = [scale.place(count) for count in counts.tolist()]
            shapes.append(_closed(places, _relative(counts, size, p)))
    return Spread(scale, shapes)


def _stairs(scale: Scale, size: float, p: float, last: int) -> list[Corner]:
    """Return the probability of each count, as a step that is as wide as a count."""
    heights = _relative(np.arange(last + 1.0), size, p)
    kept = np.flatnonzero(heights >= _LEAST)
    if len(kept) == 0:
        return [(1.0, 0.0), (1.0, 0.0)]
    corners: list[Corner] = []
    for count in range(int(kept[0]), int(kept[-1]) + 1):
        height = float(heights[count])
        corners += [(scale.place(count - 0.5), height), (scale.place(count + 0.5), height)]
    return [(corners[0][0], 0.0), *corners, (corners[-1][0], 0.0)]


def _relative(counts: Floats, size: float, p: float) -> Floats:
    """Return negative binomial probabilities as shares of the greatest."""
    from scipy.special import gammaln  # slow to import, and trees of numbers do not need it

    most = np.floor(max(0.0, (size - 1) * (1 - p) / p))
    each = np.append(counts, most)
    logs = gammaln(each + size) - gammaln(each + 1.0) + each * np.log1p(-p)
    shares: Floats = np.exp(logs[:-1] - logs[-1])
    return shares


def _closed(places: Sequence[float], heights: Floats) -> list[Corner]:
    corners = [*zip(places, heights.tolist(), strict=True)]
    return [(places[0], 0.0), *corners, (places[-1], 0.0)]
