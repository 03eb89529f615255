"""A claim of the paper, and whether it holds here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from experiments.intervals import Mean, mean_interval

HOLDS = "holds"
PARTLY = "holds in part"
FAILS = "does not hold"
OPEN = "cannot be judged"

BETTER, EQUAL, WORSE = "better", "no difference shown", "worse"
LEAST_SETS = 8  # a mean over fewer says little


@dataclass(frozen=True)
class Claim:
    """What the paper says, what came of it here, and the numbers."""

    title: str
    verdict: str
    finding: str  # a sentence or two, with numbers
    rule: str  # how it was judged
    detail: str = ""  # Markdown tables


def compare(differences: Sequence[float], higher_is_better: bool = True) -> tuple[str, Mean | None]:
    """Tell whether differences are in favour, by the 95% interval of their mean.

    >>> compare([0.1, 0.2, 0.1, 0.3])[0], compare([0.1, -0.1])[0], compare([0.1], False)[0]
    ('better', 'no difference shown', 'worse')
    >>> compare([])
    ('no result', None)
    """
    if not differences:
        return "no result", None
    mean = mean_interval(differences)
    if mean.low <= 0 <= mean.high:
        return EQUAL, mean
    return (BETTER if (mean.value > 0) == higher_is_better else WORSE), mean


def no_rows(title: str, rule: str, family: str) -> Claim:
    """Return the claim as it is where its family was not run."""
    return Claim(title, OPEN, f"The family {family} was not run.", rule)
