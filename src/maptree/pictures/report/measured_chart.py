"""Predicted and observed numbers as a chart whose size does not grow with the rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from maptree.pictures.report.axes import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Scale,
    axes,
    scale,
    svg,
    tick_text,
    ticks,
)
from maptree.pictures.report.measured_held_out import LeafRows, Observed

# Shades of cells, from few rows to many.
_SHADES = 5
# How thick the lines of cells are in page.css; they are stretched to the height of a cell.
_LINE = 8.0


def observed_chart(observed: Observed, leaves: Sequence[LeafRows], label: str) -> str:
    """Draw observed against predicted numbers: dots or cells, means of leaves, and a line."""
    x = scale(*observed.x, LEFT, WIDTH - RIGHT)
    y = scale(*observed.y, HEIGHT - BOTTOM, TOP)
    parts = axes(
        [(x(v), tick_text(v)) for v in ticks(*observed.x)],
        [(y(v), tick_text(v)) for v in ticks(*observed.y)],
        "predicted",
        "observed",
    )
    parts += _cells(observed)
    if len(observed.dots):
        dots = "".join(f"M{x(px):.1f} {y(py):.1f}h0" for px, py in observed.dots.tolist())
        parts.append(f'<path class="rows" d="{dots}"/>')
    parts.append(_line(observed, x, y))
    low, high = observed.y
    means = "".join(
        f"M{x(leaf.predicted):.1f} {y(leaf.observed):.1f}h0"
        for leaf in leaves
        if low <= leaf.observed <= high
    )
    parts.append(f'<path class="means" d="{means}"/>')
    return svg(parts, label)


def _line(observed: Observed, x: Scale, y: Scale) -> str:
    """Draw where both are equal, as far as both axes go."""
    start = max(observed.x[0], observed.y[0])
    end = min(observed.x[1], observed.y[1])
    if start >= end:
        return ""
    return f'<path class="even" d="M{x(start):.1f} {y(start):.1f}L{x(end):.1f} {y(end):.1f}"/>'


def _cells(observed: Observed) -> list[str]:
    """Draw the cells with rows, those of a shade as one path of thick lines."""
    if not len(observed.cells):
        return []
    columns, rows = observed.grid
    wide, high = (WIDTH - RIGHT - LEFT) / columns, (HEIGHT - BOTTOM - TOP) / rows
    taller = high / _LINE
    counts = observed.cells[:, 2]
    # Shares of the logarithm: most cells have few rows, some have very many.
    share = np.log(counts) / max(float(np.log(counts.max())), 1e-9)
    shades = np.minimum((share * _SHADES).astype(int), _SHADES - 1)
    parts = []
    for number in np.unique(shades).tolist():
        path = "".join(
            f"M{LEFT + column * wide:.1f} {(HEIGHT - BOTTOM - (row + 0.5) * high) / taller:.1f}"
            f"h{wide:.1f}"
            for column, row, _ in observed.cells[shades == number].tolist()
        )
        stretched = f' transform="scale(1 {taller:.4f})"'
        parts.append(f'<path class="cell heat{number}"{stretched} d="{path}"/>')
    return parts
