"""Scores of numbers and counts in words and digits."""

from __future__ import annotations

import math
from collections.abc import Sequence

from maptree.trees.measured_scores import Estimate, MeasuredBaseline, MeasuredScores
from maptree.words.numbers import probability_text

_DIGITS = 3  # of a number that has no error
_LARGE = 1e15


def short_number(value: float) -> str:
    """Write a number to four digits, or to the whole number.

    >>> short_number(152.1335), short_number(123456.7), short_number(0.000123456), short_number(7.0)
    ('152.1', '123,457', '0.0001235', '7')
    >>> short_number(1e300)
    '1e+300'
    """
    if 1000 <= abs(value) < _LARGE:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def estimate_with_error(found: Estimate) -> str:
    """Write a score and its standard error, to two digits of that.

    >>> estimate_with_error(Estimate(54.1234, 1.8765)), estimate_with_error(Estimate(0.481, 0.034))
    ('54.1 +- 1.9', '0.481 +- 0.034')
    >>> estimate_with_error(Estimate(81234.5, 2345.6)), estimate_with_error(Estimate(3.5))
    ('81,200 +- 2,300', '3.5')
    """
    value, error = found.value, found.error
    if not error or not math.isfinite(error):
        return short_number(value)
    unit = math.floor(math.log10(error)) - 1
    if abs(value) >= _LARGE or unit < -9:
        return f"{value:.4g} +- {error:.2g}"
    decimals = max(0, -unit)
    return " +- ".join(f"{round(one, -unit) + 0.0:,.{decimals}f}" for one in (value, error))


def measured_sentences(scores: MeasuredScores) -> list[str]:
    """Return scores in sentences.

    >>> scores = MeasuredScores(99, Estimate(54.1234, 1.88), Estimate(0.48123, 0.034),
    ...                         Estimate(-5.41, 0.03), 0.9, Estimate(0.9091, 0.029), 178.2)
    >>> print(*measured_sentences(scores), sep="\\n")
    RMSE 54.1 +- 1.9, R^2 0.481 +- 0.034, log score -5.410 +- 0.030 nats.
    The 90% intervals hold 0.909 +- 0.029 of the rows, and are 178.2 wide on average.
    """
    parts = [f"RMSE {estimate_with_error(scores.rmse)}"]
    if scores.r2 is not None:
        parts.append(f"R^2 {estimate_with_error(scores.r2)}")
    if scores.log_score is not None:
        parts.append(f"log score {estimate_with_error(scores.log_score)} nats")
    cover = scores.cover
    held = estimate_with_error(cover) if cover.error else probability_text(cover.value, _DIGITS)
    return [
        f"{', '.join(parts)}.",
        f"The {100 * scores.level:g}% intervals hold {held} of the rows, and are "
        f"{short_number(scores.width)} wide on average.",
    ]


ABOUT_ERRORS = "After +-: the standard error over the rows."


def measured_cells(
    tree: MeasuredBaseline, baselines: Sequence[MeasuredBaseline]
) -> list[list[str]]:
    """Return a table of scores, the tree first.

    >>> tree = MeasuredBaseline("this tree", 54.0, 0.4812, -5.41)
    >>> measured_cells(tree, [MeasuredBaseline("one leaf", 77.123, -1e-9, None)])[1:]
    [['this tree', '54.00', '0.481', '-5.410'], ['one leaf', '77.12', '0.000', '-']]
    """
    each = [tree, *baselines]
    errors = _with_equal_decimals([one.rmse for one in each])
    rows = [["", "RMSE", "R^2", "log score"]]
    for one, rmse in zip(each, errors, strict=True):
        others = (one.r2, one.log_score)
        texts = ("-" if x is None else f"{round(x, _DIGITS) + 0.0:.{_DIGITS}f}" for x in others)
        rows.append([one.name, rmse, *texts])
    return rows


def _with_equal_decimals(values: list[float]) -> list[str]:
    """Write the numbers of a column with as many decimals as give the first four digits."""
    if not 1e-6 < values[0] < _LARGE or max(values) >= _LARGE:
        return [f"{value:.4g}" for value in values]
    decimals = max(0, 3 - math.floor(math.log10(values[0])))
    return [f"{value:,.{decimals}f}" for value in values]
