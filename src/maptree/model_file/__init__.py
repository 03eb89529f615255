"""Fitted models as JSON files.

``writing`` writes them and ``reading`` reads them; ``labels`` converts the classes for both.
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
# 5: sets of categories. Files of earlier versions are read, too.
VERSION = 5
# The parameters of a classifier that a file holds. A callback is code, so it is not among them.
PARAMETERS = (
    "alpha",
    "beta",
    "column_weights",
    "encoder",
    "max_depth",
    "max_expansions",
    "memory_limit",
    "min_samples_leaf",
    "n_jobs",
    "random_state",
    "rho",
    "split_prior",
    "time_limit",
    "verbose",
)


@dataclass(frozen=True)
class StoredModel:
    """What a model file holds: a fitted tree, and the parameters of its classifier."""

    fitted: FittedTree
    parameters: Mapping[str, Any]
