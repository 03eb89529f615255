"""Charts of the report as SVG: the course of the search, and calibration."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from maptree.pictures.report.held_out import Group
from maptree.pictures.report.markup import text
from maptree.pictures.search_view import SearchView

_WIDTH, _HEIGHT = 520.0, 300.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 76.0, 14.0, 14.0, 46.0

Scale = Callable[[float], float]


def search_chart(view: SearchView, label: str) -> str:
    """Draw the log posterior of the best tree and its upper bound against time."""
    bounds = view.best if view.bound is None else view.bound
    low, high = float(view.best.min()), float(bounds.max())
    pad = 0.06 * (high - low) or 1.0
    start, end = float(view.seconds[0]), float(view.seconds[-1])
    if end <= start:  # leave some space around a single point
        start, end = start / 2, end * 1.5
    across = _log if view.log_time else float
    x = _scale(across(start), across(end), _LEFT, _WIDTH - _RIGHT)
    y = _scale(low - pad, high + pad, _HEIGHT - _BOTTOM, _TOP)
    times = _decades(start, end) if view.log_time else _ticks(start, end)
    parts = _axes(
        [(x(across(t)), f"{t:g}") for t in times],
        [(y(v), f"{v:g}") for v in _ticks(low - pad, high + pad)],
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
    return _svg(parts, label)


def calibration_chart(groups: Sequence[Group], label: str) -> str:
    """Draw the share of correct predictions against their predicted probability."""
    low = min(min(group.low, group.predicted) for group in groups)
    low = max(0.0, math.floor(low * 10 - 0.2) / 10)
    x = _scale(low, 1.0, _LEFT, _WIDTH - _RIGHT)
    y = _scale(low, 1.0, _HEIGHT - _BOTTOM, _TOP)
    shares = _ticks(low, 1.0)
    parts = _axes(
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
    return _svg(parts, label)


def _svg(parts: Sequence[str], label: str) -> str:
    return (
        f'<svg class="chart" xmlns="http://www.w3.org/2000/svg" role="img" '
        f'aria-label="{text(label)}" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}">{"".join(parts)}</svg>'
    )


def _axes(
    across: Sequence[tuple[float, str]],
    up: Sequence[tuple[float, str]],
    x_name: str,
    y_name: str,
) -> list[str]:
    bottom, middle = _HEIGHT - _BOTTOM, (_TOP + _HEIGHT - _BOTTOM) / 2
    parts = [
        f'<path class="grid" d="M{_LEFT:g} {y:.1f}H{_WIDTH - _RIGHT:g}"/>'
        f'<text class="tick up" x="{_LEFT - 8:g}" y="{y + 4:.1f}">{words}</text>'
        for y, words in up
    ]
    parts += [
        f'<path class="grid" d="M{x:.1f} {_TOP:g}V{bottom:g}"/>'
        f'<text class="tick" x="{x:.1f}" y="{bottom + 18:g}">{words}</text>'
        for x, words in across
    ]
    return [
        *parts,
        f'<text class="tick" x="{(_LEFT + _WIDTH) / 2:g}" y="{_HEIGHT - 6:g}">{x_name}</text>',
        f'<text class="tick" transform="translate(14 {middle:g})rotate(-90)">{y_name}</text>',
    ]


def _scale(low: float, high: float, start: float, end: float) -> Scale:
    per_unit = (end - start) / (high - low)
    return lambda value: start + (value - low) * per_unit


def _log(value: float) -> float:
    return math.log10(value)


def _ticks(low: float, high: float) -> list[float]:
    """Return three to eight round numbers.

    >>> _ticks(0.4, 1.0)
    [0.4, 0.6, 0.8, 1.0]
    """
    rough = (high - low) / 4
    unit = 10 ** math.floor(math.log10(rough))
    step = next(s * unit for s in (1, 2, 5, 10) if s * unit >= rough * 0.7)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(number * step, 12) + 0.0 for number in range(first, last + 1)]


def _decades(low: float, high: float) -> list[float]:
    exponents = range(math.ceil(_log(low)), math.floor(_log(high)) + 1)
    return [10.0**exponent for exponent in exponents]


def _steps(x: Sequence[float], y: Sequence[float]) -> list[tuple[float, float]]:
    """Return the corners of a step function: a value lasts until the next."""
    corners = [(x[0], y[0])]
    for i in range(1, len(x)):
        corners += [(x[i], y[i - 1]), (x[i], y[i])]
    return corners


def _path(corners: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in corners)
