"""The frame of a chart: axes with round numbers, and the way from numbers to places."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from maptree.pictures.report.markup import text

WIDTH, HEIGHT = 520.0, 300.0
LEFT, RIGHT, TOP, BOTTOM = 76.0, 14.0, 14.0, 46.0

Scale = Callable[[float], float]


def svg(parts: Sequence[str], label: str) -> str:
    """Return a chart of parts that are SVG; the label says in words what it shows."""
    return (
        f'<svg class="chart" xmlns="http://www.w3.org/2000/svg" role="img" '
        f'aria-label="{text(label)}" viewBox="0 0 {WIDTH:g} {HEIGHT:g}">{"".join(parts)}</svg>'
    )


def axes(
    across: Sequence[tuple[float, str]],
    up: Sequence[tuple[float, str]],
    x_name: str,
    y_name: str,
) -> list[str]:
    """Return lines across and up at places with words, and the names of both axes."""
    bottom, middle = HEIGHT - BOTTOM, (TOP + HEIGHT - BOTTOM) / 2
    parts = [
        f'<path class="grid" d="M{LEFT:g} {y:.1f}H{WIDTH - RIGHT:g}"/>'
        f'<text class="tick up" x="{LEFT - 8:g}" y="{y + 4:.1f}">{words}</text>'
        for y, words in up
    ]
    parts += [
        f'<path class="grid" d="M{x:.1f} {TOP:g}V{bottom:g}"/>'
        f'<text class="tick" x="{x:.1f}" y="{bottom + 18:g}">{words}</text>'
        for x, words in across
    ]
    return [
        *parts,
        f'<text class="tick" x="{(LEFT + WIDTH) / 2:g}" y="{HEIGHT - 6:g}">{x_name}</text>',
        f'<text class="tick" transform="translate(14 {middle:g})rotate(-90)">{y_name}</text>',
    ]


def scale(low: float, high: float, start: float, end: float) -> Scale:
    """Return a function that gives the place of a number."""
    per_unit = (end - start) / (high - low)
    return lambda value: start + (value - low) * per_unit


def log(value: float) -> float:
    """Return the logarithm to base 10."""
    return math.log10(value)


def ticks(low: float, high: float) -> list[float]:
    """Return three to eight round numbers.

    >>> ticks(0.4, 1.0)
    [0.4, 0.6, 0.8, 1.0]
    """
    rough = (high - low) / 4
    unit = 10 ** math.floor(math.log10(rough))
    step = next(s * unit for s in (1, 2, 5, 10) if s * unit >= rough * 0.7)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{number * step:.12g}") + 0.0 for number in range(first, last + 1)]


def tick_text(value: float) -> str:
    """Write a number of an axis in few characters.

    >>> tick_text(0.25), tick_text(1500.0), tick_text(250_000.0), tick_text(-1.5e7), tick_text(1e99)
    ('0.25', '1,500', '250k', '-15M', '1e+99')
    """
    size = abs(value)
    if size >= 1e12:
        return f"{value:g}"
    unit, letter = (1e6, "M") if size >= 1e6 else (1e3, "k") if size >= 1e4 else (1.0, "")
    return f"{value / unit:,.6g}{letter}"


def decades(low: float, high: float) -> list[float]:
    """Return the powers of ten in a range."""
    exponents = range(math.ceil(log(low)), math.floor(log(high)) + 1)
    return [10.0**exponent for exponent in exponents]
