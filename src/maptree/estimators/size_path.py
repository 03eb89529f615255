"""``size_path``: the best tree of each number of leaves, and which size to choose."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import _safe_indexing

from maptree.engine.interrupts import Noted, raising
from maptree.engine.progress import ProgressLine
from maptree.engine.search import Outcome
from maptree.engine.sizes import find_sizes, sweep_sizes
from maptree.estimators.alternatives import TrainingTable
from maptree.estimators.base import FOR_READING, InterruptedWarning, Reading
from maptree.estimators.map_classifier import MAPTreeClassifier
from maptree.estimators.searched import SearchedTree, fitted_of
from maptree.parameters.budget import MOST_LEAVES, Budget
from maptree.parameters.limits import time_limit as read_time_limit
from maptree.parameters.numbers import bad_type, bad_value, whole_number
from maptree.tables.labels import numbers_among
from maptree.tables.parquet import ParquetTable
from maptree.trees.fitted import FittedTree
from maptree.words.size_path import SizeEntry, SizePath, Spread, find_elbow

_MOST = 16
_FITS = 3  # the time for all sizes, in that for one fit


def size_path(
    X: Any,
    y: Any,
    estimator: MAPTreeClassifier | None = None,
    *,
    max_leaf_nodes: int = _MOST,
    cv: int | None = 5,
    time_limit: float | None = None,
    sample_weight: ArrayLike | None = None,
) -> SizePath:
    """Find the best tree of each number of leaves, what is proved about it, and how it predicts.

    Ctrl-C ends it early and keeps what was found, with a warning.

    Parameters
    ----------
    X, y, sample_weight : as in ``MAPTreeClassifier.fit``
    estimator : MAPTreeClassifier, optional
        Its prior, encoder, constraints, limits, threads, callback and ``verbose`` are used.
    max_leaf_nodes : int, default=16
        The largest size, up to 128.
    cv : int or None, default=5
        Folds of the cross-validation. The trees of every size are searched for in every fold,
        for ``estimator.time_limit`` seconds at most, and nothing is proved about them. None: none.
    time_limit : float, optional
        Seconds for all sizes, cross-validation apart; by default three times
        ``estimator.time_limit``. A third at most is for finding trees, the rest for proofs.

    Returns
    -------
    SizePath
        ``choose_size(path)`` makes a classifier of one of its trees.

    Examples
    --------
    >>> from maptree import size_path
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> path = size_path(X, y, max_leaf_nodes=4, cv=None)
    >>> [entry.leaves for entry in path]
    [1, 2, 3, 4]
    >>> path[3].certificate.optimal
    True
    """
    started = time.perf_counter()
    model = MAPTreeClassifier() if estimator is None else clone(estimator)
    if not isinstance(model, MAPTreeClassifier):
        remedy = "pass a MAPTreeClassifier"
        fault = "does not search for one tree"
        if isinstance(model, SearchedTree):
            fault = "predicts numbers or counts, for which there is no path of sizes yet"
        raise bad_type("estimator", estimator, fault, remedy)
    remedy = f"pass 1 to {MOST_LEAVES}"
    most = whole_number("max_leaf_nodes", max_leaf_nodes, 1, MOST_LEAVES, remedy)
    n_folds = None if cv is None else whole_number("cv", cv, least=2)
    if n_folds is not None:
        _refuse_folds(n_folds, X, y)
    budget = model.set_params(max_leaf_nodes=None)._read_budget()
    limit = _FITS * budget.seconds if time_limit is None else read_time_limit(time_limit)
    whole = replace(budget, seconds=limit)
    deadline = started + FOR_READING * limit / _FITS  # as in a fit
    reading: Reading = raising(model._read, X, y, sample_weight, deadline)
    with Noted() as interrupt:
        line = ProgressLine() if model.verbose else None
        found = find_sizes(reading.problem, whole, most, model.callback, line, started, interrupt)
        fitted = [_fitted(reading, outcome, budget, y) for outcome in found]
        seconds = time.perf_counter() - started
        interrupted = interrupt.arrived()
    model._warn_of_columns(reading.schema)
    scores: dict[int, tuple[Spread | None, Spread | None]] = {}
    if n_folds is not None and not interrupted:
        sizes = [tree.tree.n_leaves for tree in fitted]
        try:
            scores = _cross_validate(
                model, budget, reading.classes, X, y, sample_weight, sizes, most, n_folds
            )
        except KeyboardInterrupt:
            interrupted = True
    entries = tuple(
        SizeEntry(tree, *scores.get(tree.tree.n_leaves, (None, None))) for tree in fitted
    )
    if interrupted:
        warnings.warn(
            "size_path was interrupted. What was found so far was kept.",
            InterruptedWarning,
            stacklevel=2,
        )
    return SizePath(
        entries,
        find_elbow(entries),
        n_folds if scores else None,
        most,
        seconds,
        model.get_params(deep=False) | {"callback": None},
        TrainingTable.of(reading, X, y, sample_weight),
    )


def choose_size(path: SizePath, leaves: int | None = None) -> MAPTreeClassifier:
    """Return a classifier fitted to a tree of the path: that of the elbow, or of ``leaves``.

    It has the parameters of the estimator of ``size_path``, apart from its callback;
    ``max_leaf_nodes`` becomes the number of leaves, which is what the certificate is about. Where
    the path has no tree of just ``leaves`` leaves, that is the best of fewer: none that was found
    is more probable. Sizes above ``max_leaf_nodes`` of the path are refused, as nothing is known
    about them.

    >>> from maptree import choose_size, size_path
    >>> path = size_path([[0], [1], [2]] * 9, [0, 1, 0] * 9, cv=None)
    >>> choose_size(path).get_n_leaves(), choose_size(path, 2).max_leaf_nodes
    (3, 2)
    """
    if not isinstance(path, SizePath):
        raise bad_type("path", path, "is not a path of sizes", "pass what size_path returned")
    most = path.max_leaf_nodes
    size = path.elbow if leaves is None else whole_number("leaves", leaves, least=1)
    if size > most:
        remedy = f"pass 1 to {most}, or a path with max_leaf_nodes={size}"
        raise bad_value("leaves", leaves, f"is more than the {most} of the path", remedy)
    entry = path[size]
    made: MAPTreeClassifier = clone(MAPTreeClassifier(**path.parameters))
    made.set_params(max_leaf_nodes=entry.leaves)
    made.keep_tree(entry.fitted, path.training_table)
    return made


def _fitted(reading: Reading, outcome: Outcome, budget: Budget, y: Any) -> FittedTree:
    constraints = replace(
        reading.constrained(budget.constraints), max_leaf_nodes=outcome.tree.n_leaves
    )
    return fitted_of(reading, outcome, constraints, y)


def _cross_validate(
    model: MAPTreeClassifier,
    budget: Budget,
    classes: NDArray[Any],
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None,
    sizes: list[int],
    most: int,
    n_folds: int,
) -> dict[int, tuple[Spread | None, Spread | None]]:
    """Return the held-out log loss and accuracy of each size; None if no row has any."""
    labels = np.asarray(y)
    codes = numbers_among(classes, labels, len(labels))
    X = X.tocsr() if issparse(X) else X  # of which rows can be taken
    _, counts = np.unique(labels.astype(str), return_counts=True)
    folds = StratifiedKFold if counts.min() >= n_folds else KFold
    weights = None if sample_weight is None else np.asarray(sample_weight)
    losses: dict[int, list[float]] = {size: [] for size in sizes}
    accuracies: dict[int, list[float]] = {size: [] for size in sizes}
    splits = folds(n_folds, shuffle=True, random_state=0).split(labels, labels.astype(str))
    for train, held in splits:
        started = time.perf_counter()
        some = None if weights is None else weights[train]
        part = _safe_indexing(X, train)
        # A class may be in the held-out rows alone.
        present = np.unique(codes[train] if some is None else codes[train][some > 0])
        present = present[present >= 0]
        if len(present) == 0:
            continue  # nothing to fit
        learner = model
        if model.rho is not None and np.ndim(model.rho) == 1:
            learner = clone(model).set_params(rho=np.asarray(model.rho)[present])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of columns: those of all rows were warned of
            reading: Reading = raising(
                learner._read, part, labels[train], some, started + FOR_READING * budget.seconds
            )
        with Noted() as interrupt:
            found = sweep_sizes(reading.problem, budget, most, started, interrupt)
            if interrupt.arrived():
                raise KeyboardInterrupt
        counted = np.ones(len(held)) if weights is None else weights[held].astype(np.float64)
        if not counted.any():
            continue  # as if these rows were not there
        rows = _safe_indexing(X, held)
        fitted = [_fitted(reading, outcome, budget, labels[train]) for outcome in found]
        probabilities = [_predict(model, tree, rows) for tree in fitted]
        in_fold = np.full(len(classes) + 1, -1)  # the last is that of unknown labels, -1
        in_fold[present] = np.arange(len(present))
        numbers = in_fold[codes[held]]
        for size in sizes:
            best = max(i for i, tree in enumerate(fitted) if tree.tree.n_leaves <= size)
            loss, accuracy = _scores(probabilities[best], numbers, counted)
            losses[size] += [] if loss is None else [loss]
            accuracies[size].append(accuracy)
    return {
        size: (
            Spread.of(losses[size]) if losses[size] else None,
            Spread.of(accuracies[size]) if accuracies[size] else None,
        )
        for size in sizes
    }


def _refuse_folds(n_folds: int, X: Any, y: Any) -> None:
    """Refuse what would fail only after the search."""
    if isinstance(X, ParquetTable):
        fault = "needs some rows of X, and a Parquet file is read column by column"
        remedy = "read the columns into a data frame, or pass cv=None"
        raise bad_value("cv", n_folds, fault, remedy)
    if n_folds > len(y):
        raise bad_value("cv", n_folds, f"is more than the {len(y):,} rows", "pass fewer folds")


def _scores(
    probabilities: NDArray[np.float64], labels: NDArray[np.intp], weights: NDArray[np.float64]
) -> tuple[float | None, float]:
    """Return log loss and accuracy, where a weight of w means w copies of the row.

    Rows of an unknown class, -1, count as wrong and are left out of the log loss, which is None if
    no row is left.
    """
    right = probabilities.argmax(axis=1) == labels
    accuracy = float(np.average(right, weights=weights))
    given = probabilities[np.arange(len(labels)), labels]
    usable = (labels >= 0) & (given > 0) & (weights > 0)
    if not usable.any():
        return None, accuracy
    return float(-np.average(np.log(given[usable]), weights=weights[usable])), accuracy


def _predict(model: MAPTreeClassifier, fitted: FittedTree, rows: Any) -> NDArray[np.float64]:
    made = clone(model)
    made.keep_tree(fitted)
    probabilities: NDArray[np.float64] = made.predict_proba(rows)
    return probabilities
