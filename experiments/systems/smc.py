"""Bayesian CART by a particle filter with one island and the one-step optimal proposal."""

from __future__ import annotations

from typing import Any

from experiments.systems.fitted import Fitted
from experiments.systems.sampler import fit_sampler
from maptree import SMCTreeClassifier

PACKAGES = ("maptree",)
WARM_UP: dict[str, Any] = {"particles": 10}


def fit(X: Any, y: Any, params: dict[str, Any], seed: int | None, limit: float | None) -> Fitted:
    """Sample; ``params`` are the prior and particles."""
    prior = dict(params)
    particles = prior.pop("particles")
    model = SMCTreeClassifier(
        **prior,
        n_particles=particles,
        n_islands=1,
        encoder=None,
        n_jobs=1,
        random_state=seed,
        time_limit=limit,
    )
    return fit_sampler(model, X, y)
