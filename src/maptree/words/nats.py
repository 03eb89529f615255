"""Nats in words: what a difference of log posteriors says to a reader, and where it says nothing.

One place for the limits, so that the report, the command line and notebooks agree:

- Up to a factor of a thousand (6.9 nats), odds are written in digits: one in a
  thousand is familiar.
- Up to a million (13.8 nats), they are rounded to one digit. "About 20,000 times" can be imagined,
  and a second digit changes nobody's mind.
- Beyond that no number is written. A known difference is "more than a million times". A gap, which
  is only what a proof has left open, is "no useful bound yet".
- Beyond 50 nats that proof is also "far from done": at 1.4 times the work for every 4 nats, as on
  heart-cleveland (docs/design/search.md), it would take 70 times what was done, or more.
"""

from __future__ import annotations

import math

THOUSAND = math.log(1e3)
MILLION = math.log(1e6)
FAR = 50.0

# Said wherever nats are printed.
NAT = "A nat is a factor: 1 nat = 2.7 times as probable, 3 nats = 20 times, 7 nats = 1,100 times."
NOT_THE_TREE = (
    "That is about the proof, not about the tree: a large gap does not mean that the tree is bad."
)


def gap_text(gap: float, digits: int) -> str:
    """Write a gap, with enough digits that it does not read 0 unless it is.

    >>> gap_text(12.34, 1), gap_text(0.0004, 1), gap_text(0.0, 1), gap_text(1e-9, 4)
    ('12.3', '0.0004', '0.0', '1e-09')
    """
    texts = [f"{gap:,.{d}f}" for d in range(digits, 7)]
    return texts[0] if gap == 0 else next((t for t in texts if t.strip("0.,")), f"{gap:.0g}")


def is_useful(gap: float) -> bool:
    """Return whether a gap says something: whether its odds can be imagined.

    >>> is_useful(13.0), is_useful(3681.0)
    (True, False)
    """
    return gap < MILLION


def times_text(nats: float) -> str:
    """Return how many times as probable a tree is as one that many nats below it.

    >>> times_text(0.0), times_text(0.25), times_text(4.0), times_text(9.9), times_text(30)
    ('1.00', '1.28', '55', 'about 20,000', 'more than a million')
    >>> times_text(0.0004)
    '1.0004'
    """
    return _written(nats, up=False)


def at_most_text(nats: float) -> str:
    """Return the same for an upper bound: the last digit is rounded up.

    >>> at_most_text(0.4), at_most_text(4.0), at_most_text(9.9), at_most_text(0.0004)
    ('1.5', '55', '20,000', '1.0005')
    """
    return _written(nats, up=True)


def odds_text(nats: float) -> str:
    """Return the odds of a tree that many nats below the best, for a table.

    >>> odds_text(0.0), odds_text(0.25), odds_text(9.9), odds_text(30)
    ('1', '1 : 1.28', '1 : 20,000', '1 : >10^6')
    """
    if nats == 0:
        return "1"
    return "1 : >10^6" if nats >= MILLION else f"1 : {times_text(nats).removeprefix('about ')}"


def _written(nats: float, up: bool) -> str:
    if nats >= MILLION:
        return "more than a million"
    times = math.exp(nats)
    if nats >= THOUSAND:
        unit = 10.0 ** math.floor(math.log10(times))
        rounded = (math.ceil(times / unit) if up else round(times / unit)) * unit
        return f"{rounded:,.0f}" if up else f"about {rounded:,.0f}"
    if times >= 10:
        return f"{math.ceil(times) if up else times:,.0f}"
    # Enough digits that it does not read 1 unless it is.
    digits = 1 if up else 2
    while nats > 0 and digits < 6 and times - 1 < 10.0**-digits:
        digits += 1
    if up:
        times = math.ceil(times * 10**digits - 1e-9) / 10**digits
    return f"{times:.{digits}f}"
