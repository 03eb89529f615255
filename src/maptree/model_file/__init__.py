"""Fitted models as JSON files.

``writing`` writes them and ``reading`` reads them; ``labels`` converts the classes for both,
``outcome`` what trees of numbers and counts predict, ``average`` the trees of a sampler.
docs/model-file.md describes the format, field by field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from maptree.trees.fitted import FittedTree

FORMAT = "maptree model"
# 2: training.seen. 3: the weights of columns and tests. 4: thresholds that are not in the file.
# 5: sets of categories. 6: columns that come first or are not tested; ROC AUC and baselines of
# held-out rows. 7: the trees of a sampler; limits on leaves; patience. 8: numbers and counts. Files
# of earlier versions are read, too.
VERSION = 8
# Of files with classes, so that maptree 0.2.0 reads them.
VERSION_OF_CLASSES = 7
# The parameters of an estimator that a file holds, by what found its trees. A callback is code, so
# it is not among them.
SHARED = (
    "alpha",
    "beta",
    "column_weights",
    "encoder",
    "n_jobs",
    "random_state",
    "rho",
    "split_prior",
    "time_limit",
    "verbose",
)
LIMITS = (
    "max_depth",
    "max_expansions",
    "max_leaf_nodes",
    "memory_limit",
    "min_samples_leaf",
    "patience",
)
CHAINS = ("burn_in", "n_chains", "n_samples", "thin")
PARTICLES = ("ess_threshold", "growth", "n_islands", "n_particles", "proposal", "resampling")
WISHES = ("first_columns", "without_columns")
OF_LEAVES = ("kappa", "likelihood", "noise", "nu", "shape")  # for numbers and counts
PARAMETERS = {
    "search": (*SHARED, *LIMITS, *WISHES),
    "measured": (*(n for n in SHARED if n != "rho"), *OF_LEAVES, *LIMITS, *WISHES),
    "chains": (*SHARED, *CHAINS, "initial_tree"),
    "particles": (*SHARED, *PARTICLES),
}


@dataclass(frozen=True)
class StoredModel:
    """What a model file holds: fitted trees, and the parameters of their estimator."""

    fitted: FittedTree
    parameters: Mapping[str, Any]

    @property
    def found_by(self) -> str:
        """What found the trees: a key of ``PARAMETERS``."""
        return found_by(self.fitted)


def found_by(fitted: FittedTree) -> str:
    """Return what found the trees of a model: a key of ``PARAMETERS``.

    It is "search", "chains" or "particles" for classes, and "measured", which is a search as well,
    for numbers and counts.
    """
    from maptree.trees.average import Chains

    if fitted.measured is not None:
        return "measured"
    if fitted.average is None:
        return "search"
    return "chains" if isinstance(fitted.average.origin, Chains) else "particles"
