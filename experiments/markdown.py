"""Markdown tables and numbers in them."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.intervals import Mean

NOTHING = "-"


def table(header: Sequence[str], lines: Sequence[Sequence[str]], words: int = 1) -> str:
    """Return a table; the first columns hold words, the others numbers.

    >>> print(table(["set", "cost"], [["vote", "84.46"]]))
    | set | cost |
    |---|---:|
    | vote | 84.46 |
    """
    rule = "|" + "---|" * words + "---:|" * (len(header) - words)
    text = [f"| {' | '.join(line)} |" for line in (header, *lines)]
    return "\n".join([text[0], rule, *text[1:]])


def number(value: float | None, decimals: int = 2, sign: bool = False) -> str:
    """Return a number; a dash where there is none.

    >>> number(1234.5, 1), number(0.25, 2, sign=True), number(None)
    ('1,234.5', '+0.25', '-')
    """
    if value is None:
        return NOTHING
    return f"{value:{'+' if sign else ''},.{decimals}f}"


def seconds(value: float | None) -> str:
    """Return a time with three significant digits.

    >>> seconds(0.00123), seconds(1.2345), seconds(61.5), seconds(599.9)
    ('0.0012', '1.23', '61.5', '600')
    """
    if value is None:
        return NOTHING
    if value < 0.1:
        return f"{value:.2g}"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def interval(mean: Mean | None, decimals: int = 3, sign: bool = False) -> str:
    """Return a mean with its interval.

    >>> interval(Mean(0.5, 0.25, 0.75, 3), 2)
    '0.50 [0.25, 0.75]'
    """
    if mean is None:
        return NOTHING
    low, high = number(mean.low, decimals, sign), number(mean.high, decimals, sign)
    return f"{number(mean.value, decimals, sign)} [{low}, {high}]"
