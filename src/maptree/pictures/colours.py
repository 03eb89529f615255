"""Class colours that readers with any kind of colour vision can tell apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# Okabe and Ito 2008, without black, which is the colour of text. The last one is for classes
# without a colour of their own: more colours could not be told apart, so nodes name their class.
PALETTE = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#F0E442",
    "#BBBBBB",
)
OTHERS = len(PALETTE) - 1

# Parts of a bar that are narrower than this join the grey rest.
_LEAST = 0.02


def class_colours(counts: NDArray[np.int64]) -> list[int]:
    """Return for each class a position in the palette, from the counts of the classes.

    With more classes than colours, the most frequent get one and the others are grey.

    >>> class_colours(np.array([5, 9, 7]))
    [0, 1, 2]
    >>> class_colours(np.array([1, 2, 3, 4, 5, 6, 7, 8, 9]))
    [7, 7, 0, 1, 2, 3, 4, 5, 6]
    """
    frequent = sorted(np.argsort(-counts, kind="stable")[:OTHERS].tolist())
    colours = [OTHERS] * len(counts)
    for colour, k in enumerate(frequent):
        colours[k] = colour
    return colours


def bar(
    mean: NDArray[np.float64], best: int, colours: Sequence[int]
) -> list[tuple[int, float, float]]:
    """Return the parts of a bar from 0 to 1: colour, start, end. The most probable class is first.

    So its probability and interval can be read from the left end.

    >>> bar(np.array([0.25, 0.75]), 1, [0, 1])
    [(1, 0.0, 0.75), (0, 0.75, 1.0)]
    """
    parts = [(colours[best], float(mean[best]))]
    rest = np.zeros(len(PALETTE))
    for k, share in enumerate(mean):
        if k != best:
            rest[colours[k] if share >= _LEAST else OTHERS] += share
    parts += [(colour, float(share)) for colour, share in enumerate(rest) if share > 0]
    ends = np.cumsum([share for _, share in parts]).clip(max=1.0)
    starts = [0.0, *ends[:-1]]
    return [
        (colour, float(start), float(end))
        for (colour, _), start, end in zip(parts, starts, ends, strict=True)
    ]
