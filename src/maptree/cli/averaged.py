"""Averages over trees, as commands print them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from maptree.cli.screen import heading, say
from maptree.trees.average import Average, Chains
from maptree.trees.fitted import FittedTree
from maptree.words.average import average_document, average_sentences, shared_by

if TYPE_CHECKING:
    from maptree.engine.diagnostics import Diagnostics


def diagnosed(average: Average) -> Diagnostics | None:
    """Return the diagnostics of chains; None for particles."""
    from maptree.engine.diagnostics import diagnose

    return diagnose(average.draws) if isinstance(average.origin, Chains) else None


def say_average(fitted: FittedTree) -> None:
    """Print how the trees of an average were drawn, and what they share."""
    assert fitted.average is not None
    heading("The average")
    found = diagnosed(fitted.average)
    for sentence in average_sentences(fitted.average, found):
        say(sentence)
    if found is not None and not found.mixed:
        say(_advice(fitted.average, found))
    say()
    say(str(shared_by(fitted)))


def average_json(fitted: FittedTree) -> dict[str, Any] | None:
    """Return what is known about the average for ``--json``; None for a single tree."""
    average = fitted.average
    return average_document(fitted, None if average is None else diagnosed(average))


def alone(fitted: FittedTree) -> FittedTree:
    """Return the most probable tree without the others."""
    return replace(fitted, average=None)


def _advice(average: Average, found: Diagnostics) -> str:
    """Return what to do about chains that have not mixed."""
    assert isinstance(average.origin, Chains)
    kept_from = average.weighted.sample.shape[1] * average.origin.thin
    times = max(2, -int(-found.shortfall // 1))
    return (
        f"Fit again with longer chains, --average --iterations {times * kept_from}, or with fewer "
        "columns or thresholds."
    )
