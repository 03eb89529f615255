"""Probabilities, intervals and scores in digits: none reads as 0 or 1 unless it is."""

from __future__ import annotations

from collections.abc import Iterable

# More digits than this are not written; a probability that needs more is said to be below or above.
_MOST = 6


def probability_texts(values: Iterable[float], digits: int = 2) -> list[str]:
    """Write probabilities or scores with the same number of digits, so that they line up.

    >>> probability_texts([0.5, 0.25]), probability_texts([0.5, 0.99983]), probability_texts([1.0])
    (['0.50', '0.25'], ['0.5000', '0.9998'], ['1.00'])
    >>> probability_texts([1e-9])
    ['<0.000001']
    """
    numbers = list(values)
    digits = max([digits, *(min(_needed(value, digits), _MOST) for value in numbers)])
    return [_written(value, digits) for value in numbers]


def probability_text(value: float, digits: int = 2) -> str:
    """Write one probability or score.

    >>> probability_text(0.5), probability_text(0.9997, 3), probability_text(0.0)
    ('0.50', '0.9997', '0.00')
    """
    return probability_texts([value], digits)[0]


def estimate_texts(mean: float, low: float, high: float, digits: int = 2) -> tuple[str, str, str]:
    """Write a probability and its interval with the same number of digits.

    An end gets one digit more than the probability needs, if that keeps it from reading 0 or 1;
    otherwise it is said to be below or above.

    >>> estimate_texts(0.9991, 0.9975, 0.99982), estimate_texts(0.7, 0.4, 0.9)
    (('0.9991', '0.9975', '0.9998'), ('0.70', '0.40', '0.90'))
    >>> estimate_texts(0.02, 1e-7, 0.1)
    ('0.02', '<0.01', '0.10')
    """
    least = max(digits, min(_needed(mean, digits), _MOST))
    ends = [_needed(end, digits) for end in (low, high)]
    most = max(least, *(needed for needed in ends if needed <= min(least + 1, _MOST)), digits)
    return _written(mean, most), _written(low, most), _written(high, most)


def estimate_text(mean: float, low: float, high: float) -> str:
    """Write a probability with its interval.

    >>> estimate_text(0.9991, 0.9975, 0.99982)
    '0.9991 [0.9975, 0.9998]'
    """
    mean_text, low_text, high_text = estimate_texts(mean, low, high)
    return f"{mean_text} [{low_text}, {high_text}]"


def _needed(value: float, digits: int) -> int:
    """Return the least number of digits, at least ``digits``, with which a value is not 0 or 1."""
    if value in (0.0, 1.0):
        return digits
    while digits <= _MOST and float(f"{value:.{digits}f}") in (0.0, 1.0):
        digits += 1
    return digits


def _written(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    if value in (0.0, 1.0) or float(text) not in (0.0, 1.0):
        return text
    least = 10.0**-digits
    if float(text) == 0.0:
        return f"<{least:.{digits}f}"
    return f">{1 - least:.{digits}f}" if value < 1 else f">{1:.{digits}f}"
