"""What leaves predict of numbers and counts, in words and sensible digits."""

from __future__ import annotations

import math

from maptree.trees.fitted import FittedTree
from maptree.trees.leaf_probabilities import LEVEL
from maptree.trees.outcomes import Measured, Numbers
from maptree.words.values import count, name_text

# Numbers from here on, and those of more than this many decimals, are written with an exponent.
_LARGE = 15
_DECIMALS = 9


def measured_texts(mean: float, low: float, high: float) -> tuple[str, str, str]:
    """Write a number and its interval to two digits of the width of the interval.

    >>> measured_texts(737.2, 611.3, 877.1), measured_texts(2.4321, 2.1012, 2.8)
    (('740', '610', '880'), ('2.43', '2.10', '2.80'))
    >>> measured_texts(5.0, 5.0, 5.0), measured_texts(1e300, 0.9e300, 1.1e300)
    (('5', '5', '5'), ('1.00e+300', '9.00e+299', '1.10e+300'))
    """
    width, largest = high - low, max(abs(low), abs(high), abs(mean))
    if not 0 < width < math.inf:
        return _plain(mean), _plain(low), _plain(high)
    unit = math.floor(math.log10(width)) - 1  # the power of ten that numbers are rounded to
    top = math.floor(math.log10(largest))
    if top >= _LARGE or unit < -_DECIMALS:
        digits = min(max(top - unit, 0), 16)
        texts = [f"{value:.{digits}e}" for value in (mean, low, high)]
    else:
        decimals = max(0, -unit)
        texts = [f"{round(value, -unit) + 0.0:,.{decimals}f}" for value in (mean, low, high)]
    return texts[0], texts[1], texts[2]


def _plain(value: float) -> str:
    return f"{value:,.6g}"


class LeafWords:
    """Says what the nodes of a tree of numbers or counts predict, and which rows they hold.

    ``target`` is the name of y, ``name`` that of what is predicted; ``mean``, ``low`` and ``high``
    have a number for each node.
    """

    def __init__(self, fitted: FittedTree, measured: Measured) -> None:
        tree, tail = fitted.tree, (1 - LEVEL) / 2
        self._rows = tree.rows
        self.target = name_text(fitted.training.target or "y")
        if isinstance(measured, Numbers):
            self.name = self.target
            found = measured.predictive(tree)
            self.mean = found.mean
            self.low, self.high = found.quantile(tail), found.quantile(1 - tail)
            self._held = list(zip(*measured.observed(tree), strict=True))
        else:
            self.name = f"rate of {self.target}"
            self.mean = measured.rates(tree)
            self.low, self.high = (measured.rate_quantile(tree, q) for q in (tail, 1 - tail))
            self._held = list(zip(*measured.observed(tree), strict=True))
        self._numbers = isinstance(measured, Numbers)
        self._exposed = not isinstance(measured, Numbers) and measured.exposed

    def predicted(self, node: int) -> str:
        """Return the mean of a node, and its interval.

        That is the 95% interval of a new row's number, or the credible interval of the rate.
        """
        mean, low, high = self.texts(node)
        return f"{self.name} {mean} [{low}, {high}], n = {self._rows[node]:,}"

    def texts(self, node: int) -> tuple[str, str, str]:
        """Return the mean of a node and the ends of its interval."""
        return measured_texts(float(self.mean[node]), float(self.low[node]), float(self.high[node]))

    def held(self, node: int) -> str:
        """Return what the training rows of a node have."""
        first, second = self._held[node]
        if self._numbers:
            mean = measured_texts(first, first - second, first + second)[0]
            sd = measured_texts(second, 0.0, 2 * second)[0]
            return f"mean {mean}, sd {sd}"
        events = count(int(first), "event")
        return f"{events}, exposure {second:,.4g}" if self._exposed else events
