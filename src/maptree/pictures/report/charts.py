"""Charts of the report as SVG: the course of the search, and calibration."""

from __future__ import annotations

import math
from collections.abc import Sequence

from maptree.pictures.report.axes import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    axes,
    decades,
    log,
    scale,
    svg,
    ticks,
)
from maptree.pictures.report.held_out import Group
from maptree.pictures.search_view import SearchView


def search_chart(view: SearchView, label: str) -> str:
    """Draw the log posterior of the best tree and its upper bound against time."""
    bounds = view.best if view.bound is None else view.bound
    low, high = float(view.best.min()), float(bounds.max())
    pad = 0.06 * (high - low) or 1.0
    start, end = float(view.seconds[0]), float(view.seconds[-1])
    if end <= start:  # leave some space around a single point
        start, end = start / 2, end * 1.5
    across = log if view.log_time else float
    x = scale(across(start), across(end), LEFT, WIDTH - RIGHT)
    y = scale(low - pad, high + pad, HEIGHT - BOTTOM, TOP)
    times = decades(start, end) if view.log_time else ticks(start, end)
    parts = axes(
        [(x(across(t)), f"{t:g}") for t in times],
        [(y(v), f"{v:g}") for v in ticks(low - pad, high + pad)],
        "seconds",
        "log posterior (nats)",
    )
    along = [x(across(float(t))) for t in view.seconds]
    best = _steps(along, [y(float(v)) for v in view.best])
    if view.bound is not None:
        above = _steps(along, [y(float(v)) for v in view.bound])
        back = " ".join(f"L{px:.1f} {py:.1f}" for px, py in reversed(best))
        parts.append(f'<path class="gap" d="{_path(above)} {back}Z"/>')
        parts.append(f'<path class="bound" d="{_path(above)}"/>')
    parts.append(f'<path class="best" d="{_path(best)}"/>')
    return svg(parts, label)


def calibration_chart(groups: Sequence[Group], label: str) -> str:
    """Draw the share of correct predictions against their predicted probability."""
    low = min(min(group.low, group.predicted) for group in groups)
    low = max(0.0, math.floor(low * 10 - 0.2) / 10)
    x = scale(low, 1.0, LEFT, WIDTH - RIGHT)
    y = scale(low, 1.0, HEIGHT - BOTTOM, TOP)
    shares = ticks(low, 1.0)
    parts = axes(
        [(x(share), f"{share:g}") for share in shares],
        [(y(share), f"{share:g}") for share in shares],
        "predicted probability",
        "share correct",
    )
    parts.append(f'<path class="even" d="M{x(low):.1f} {y(low):.1f}L{x(1):.1f} {y(1):.1f}"/>')
    most = max(group.n for group in groups)
    for group in groups:
        px, size = x(group.predicted), 2.5 + 4.5 * math.sqrt(group.n / most)
        parts.append(
            f'<path class="range" d="M{px:.1f} {y(group.low):.1f}V{y(group.high):.1f}"/>'
            f'<circle class="dot" cx="{px:.1f}" cy="{y(group.right):.1f}" r="{size:.1f}"/>'
        )
    return svg(parts, label)


def _steps(x: Sequence[float], y: Sequence[float]) -> list[tuple[float, float]]:
    """Return the corners of a step function: a value lasts until the next."""
    corners = [(x[0], y[0])]
    for i in range(1, len(x)):
        corners += [(x[i], y[i - 1]), (x[i], y[i])]
    return corners


def _path(corners: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in corners)
