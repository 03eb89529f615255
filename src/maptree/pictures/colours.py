"""Colours of classes and of numbers that readers with any kind of colour vision can tell apart."""

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

# From low to high numbers: viridis (van der Walt and Smith 2015) without its ends, which are hard
# to see on a dark or on a white page. Lightness rises with every step, so it works in grey, too.
RAMP = (
    "#3b528b",
    "#31688e",
    "#277f8e",
    "#21918c",
    "#20a486",
    "#35b779",
    "#5ec962",
    "#90d743",
    "#c8e020",
)

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


def shade(value: float, low: float, high: float) -> int:
    """Return the position in the ramp of a number between the least and the greatest.

    >>> shade(1.0, 1.0, 9.0), shade(5.0, 1.0, 9.0), shade(9.5, 1.0, 9.0), shade(3.0, 3.0, 3.0)
    (0, 4, 8, 4)
    """
    if not low < high:
        return len(RAMP) // 2
    share = (value / 2 - low / 2) / (high / 2 - low / 2)  # halves: the difference may be infinite
    return round(min(max(share, 0.0), 1.0) * (len(RAMP) - 1))
