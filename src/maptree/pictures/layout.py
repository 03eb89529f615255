"""Placing the nodes of a tree: levels from left to right, subtrees as close as possible.

This is the tidy layout of Reingold and Tilford for binary trees: the outlines of two subtrees are
pushed together until they touch, and the parent is placed halfway between its children.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from maptree.pictures.short_text import text_width

# Sizes of a node, in pixels at zoom 1. Boxes are as wide as their titles need, within limits.
BOX_HEIGHT = 63.0
LEAST_WIDTH, GREATEST_WIDTH = 180.0, 300.0
COLUMN_GAP, ROW_GAP = 80.0, 10.0
MARGIN = 10.0
# Inside a box: the left edge of its content, and the height of each line.
INSET = 11.0
TITLE_BASELINE, BAR_TOP, BAR_HEIGHT, WHISKER, SMALL_BASELINE = 18.5, 26.0, 8.0, 38.5, 55.0
# Where a box has a shape instead of a bar: its height, and the line below.
SHAPE_TOP, SHAPE_BASE, SHAPE_WHISKER = 22.5, 35.5, 39.5
TITLE_SIZE, SMALL_SIZE = 14.0, 12.5
# Regular letters are narrower than the bold ones that text_width assumes.
SMALL_ROOM = 1.1

# The children of a node: where the test is true, and where it is false. None at a leaf.
Children = tuple[int, int] | None


@dataclass(frozen=True)
class Places:
    """The upper left corner of every box, their width, and the total size."""

    box: float
    x: list[float]
    y: list[float]
    width: float
    height: float

    @property
    def bar(self) -> float:
        """The length of a bar."""
        return self.box - 2 * INSET


def tidy(children: Sequence[Children]) -> list[float]:
    """Return the row of every node; nodes of a level are at least 1 apart, the first row is 0.

    Children come after their parents.

    >>> tidy([(1, 2), (3, 4), None, None, None])
    [1.0, 0.5, 1.5, 0.0, 1.0]
    """
    n = len(children)
    offset = [0.0] * n  # from the parent
    # By node: the first and last row of each level below it, relative to its own.
    tops: list[list[float]] = [[] for _ in range(n)]
    bottoms: list[list[float]] = [[] for _ in range(n)]
    for node in reversed(range(n)):
        pair = children[node]
        if pair is None:
            tops[node], bottoms[node] = [0.0], [0.0]
            continue
        upper, lower = pair
        apart = 1.0 + max(
            bottom - top for bottom, top in zip(bottoms[upper], tops[lower], strict=False)
        )
        offset[upper], offset[lower] = -apart / 2, apart / 2
        tops[node] = _outline(tops[upper], tops[lower], apart)
        bottoms[node] = [
            -row for row in _outline(_flip(bottoms[lower]), _flip(bottoms[upper]), apart)
        ]
        tops[upper] = tops[lower] = bottoms[upper] = bottoms[lower] = []
    rows = [0.0] * n
    for node, pair in enumerate(children):
        for child in pair or ():
            rows[child] = rows[node] + offset[child]
    least = min(rows)
    return [row - least for row in rows]


def _outline(near: list[float], far: list[float], apart: float) -> list[float]:
    """Return a parent's outline on one child's side, continued by the other child if deeper."""
    ours = [row - apart / 2 for row in near]
    return [0.0, *ours, *(row + apart / 2 for row in far[len(near) :])]


def _flip(rows: list[float]) -> list[float]:
    return [-row for row in rows]


def place(
    children: Sequence[Children],
    depths: Sequence[int],
    titles: Iterable[str],
    small: Iterable[str] = (),
) -> Places:
    """Return the positions of the boxes, with a margin around them.

    ``titles`` and ``small`` are the two lines of text that the boxes should have space for.
    """
    bold = max(map(text_width, titles)) * TITLE_SIZE
    plain = max(map(text_width, small), default=0.0) * SMALL_SIZE / SMALL_ROOM
    box = min(max(bold, plain) + 2 * INSET, GREATEST_WIDTH)
    box = max(box, LEAST_WIDTH)
    rows = tidy(children)
    x = [MARGIN + depth * (box + COLUMN_GAP) for depth in depths]
    y = [MARGIN + row * (BOX_HEIGHT + ROW_GAP) for row in rows]
    return Places(box, x, y, max(x) + box + MARGIN, max(y) + BOX_HEIGHT + MARGIN)
