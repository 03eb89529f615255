"""The trees of a sampler in words: how they were drawn, and what they share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maptree.trees.average import Average, Chains
from maptree.trees.fitted import FittedTree
from maptree.words.posterior_summary import PosteriorSummary, summarise
from maptree.words.values import count

if TYPE_CHECKING:
    from maptree.engine.diagnostics import Diagnostics

_ENDED_BY = {
    "time_limit": "by the time limit",
    "memory_limit": "because the trees take too much memory",
    "class_limit": "because the class counts of the trees take too much memory",
    "interrupted": "by an interruption",
}


def average_sentences(average: Average, found: Diagnostics | None = None) -> list[str]:
    """Return how trees were drawn and whether these are enough, as a list of sentences.

    ``found`` are the diagnostics of chains.
    """
    n_trees, origin = len(average.weighted.trees), average.origin
    if isinstance(origin, Chains):
        n_chains, n_samples = average.weighted.sample.shape
        iterations = origin.burn_in + n_samples * origin.thin
        drawn_by = f"{count(n_chains, 'Markov chain')} of {iterations:,} iterations"
    else:
        drawn_by = count(len(origin.log_evidences), "particle filter")
    sentences = [
        f"Predictions are averaged over {count(n_trees, 'tree')} drawn from the posterior by "
        f"{drawn_by}."
    ]
    if average.status in _ENDED_BY:
        sentences.append(f"Sampling was stopped {_ENDED_BY[average.status]}.")
    if found is not None:
        sentences.append(found.doubt.replace("\n", " ") or str(found))
    return sentences


def shared_by(fitted: FittedTree, n_trees: int = 0) -> PosteriorSummary:
    """Return what the trees of an averaged model share."""
    assert fitted.average is not None
    return summarise(fitted.average.weighted, fitted.schema, n_trees)


def average_document(fitted: FittedTree, found: Diagnostics | None = None) -> dict[str, Any] | None:
    """Return what is known about the trees of a sampler for ``--json``; None for a single tree."""
    average = fitted.average
    if average is None:
        return None
    shared = shared_by(fitted)
    return {
        "sampler": "chains" if isinstance(average.origin, Chains) else "particles",
        "status": average.status,
        "trees": len(average.weighted.trees),
        "r_hat": None if found is None else _number(found.r_hat),
        "effective_sample_size": None if found is None else _number(found.ess),
        "mixed": None if found is None else found.mixed,
        "leaves": shared.leaves,
        "columns": [column._asdict() for column in shared.columns],
        "first_splits": [first._asdict() for first in shared.first_splits],
    }


def _number(value: float) -> float | None:
    """Return a number; None for NaN."""
    return value if value == value else None
