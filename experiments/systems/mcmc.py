"""Bayesian CART by Markov chains: one chain from the lone leaf, every iteration kept."""

from __future__ import annotations

from typing import Any

from experiments.systems.fitted import Fitted
from experiments.systems.sampler import fit_sampler
from maptree import MCMCTreeClassifier

PACKAGES = ("maptree",)
WARM_UP: dict[str, Any] = {"iterations": 10}


def fit(X: Any, y: Any, params: dict[str, Any], seed: int | None, limit: float | None) -> Fitted:
    """Sample; ``params`` are the prior and iterations."""
    prior = dict(params)
    iterations = prior.pop("iterations")
    model = MCMCTreeClassifier(
        **prior,
        n_samples=iterations,
        burn_in=0,
        thin=1,
        n_chains=1,
        initial_tree=None,  # as the paper's chains: from the single leaf
        encoder=None,
        n_jobs=1,
        random_state=seed,
        time_limit=limit,
    )
    return fit_sampler(model, X, y)
