"""Rows that a tree is not fitted on, to see how well it does on new ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit

from maptree.cli.refusal import Refusal
from maptree.map_classifier import MAPTreeClassifier
from maptree.scoring import Scores, score

Rows = NDArray[np.intp]
# Fits on some rows of the table.
Fit = Callable[[Rows], MAPTreeClassifier]


def split(labels: NDArray[Any], fraction: float, seed: int) -> tuple[Rows, Rows]:
    """Return the rows to fit on and the rows to hold out, with the same share of each class."""
    held_out = round(len(labels) * fraction)
    _, counts = np.unique(labels, return_counts=True)
    if not 1 <= held_out < len(labels):
        raise Refusal(
            f"--test-fraction {fraction:g} of {len(labels)} rows leaves none to fit on, or none "
            "to test on: pass another fraction, or --cv."
        )
    even = counts.min() >= 2 and min(held_out, len(labels) - held_out) >= len(counts)
    kind = StratifiedShuffleSplit if even else ShuffleSplit
    splitter = kind(n_splits=1, test_size=held_out, random_state=seed)
    fit_on, test_on = next(splitter.split(labels, labels))
    return np.sort(fit_on), np.sort(test_on)


def cross_validate(
    fit: Fit,
    table: Any,
    labels: NDArray[Any],
    n_folds: int,
    seed: int,
) -> Scores | None:
    """Return the scores of all rows, each predicted by a tree fitted on other folds.

    None: Ctrl-C ended it.
    """
    classes, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    kind = StratifiedKFold if counts.min() >= n_folds else KFold
    splitter = kind(n_splits=n_folds, shuffle=True, random_state=seed)
    probabilities = np.zeros((len(labels), len(classes)))
    for fit_on, test_on in splitter.split(labels, labels):
        model = fit(fit_on)
        if model.certificate_.status == "interrupted":
            return None
        known = np.searchsorted(classes, model.classes_)
        probabilities[np.ix_(test_on, known)] = model.predict_proba(table.take(test_on))
    return score(probabilities, codes)
