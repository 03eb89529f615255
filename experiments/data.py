"""The data of a cell: CP4IM sets, whole or by folds, and synthetic trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from experiments import synthetic
from maptree.datasets import CP4IM_SETS, DatasetNotFoundError, load_cp4im

FOLDS = 10
FOLD_SEED = 84


@dataclass(frozen=True)
class Split:
    """Training rows and test rows; there are no test rows if a set is used whole."""

    X_train: NDArray[np.uint8]
    y_train: NDArray[np.int64]
    X_test: NDArray[np.uint8] | None = None
    y_test: NDArray[np.int64] | None = None


def load(data: Mapping[str, Any]) -> Split:
    """Return the data that a cell names.

    >>> split = load({"kind": "cp4im", "name": "tic-tac-toe", "fold": 0})
    >>> split.X_train.shape, split.X_test.shape
    ((862, 27), (96, 27))
    """
    if data["kind"] == "cp4im":
        return _cp4im(data["name"], data.get("fold"))
    if data["kind"] == "synthetic":
        made = synthetic.sample(data["tree"], data["rows"], data["noise"])
        return Split(made.X_train, made.y_train, made.X_test, made.y_test)
    raise ValueError(f"no such kind of data: {data['kind']!r}")


def available() -> tuple[list[str], dict[str, str]]:
    """Return the names of the CP4IM sets that can be loaded, and for each other one why not.

    Sets that are not on this machine are downloaded. After the first failure no others are tried,
    so that a machine without a connection does not wait for every set.
    """
    present: list[str] = []
    absent: dict[str, str] = {}
    for known in CP4IM_SETS:
        try:
            load_cp4im(known.name, download=not absent)
        except DatasetNotFoundError as error:
            absent[known.name] = str(error)
        else:
            present.append(known.name)
    return present, absent


# Cells of one set come one after the other, so a few sets are enough.
@lru_cache(maxsize=4)
def _table(name: str) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    loaded = load_cp4im(name)
    return loaded.data, loaded.target


@lru_cache(maxsize=4)
def _folds(name: str) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    X, y = _table(name)
    folds = StratifiedKFold(n_splits=FOLDS, shuffle=True, random_state=FOLD_SEED)
    return list(folds.split(X, y))


def _cp4im(name: str, fold: int | None) -> Split:
    X, y = _table(name)
    if fold is None:
        return Split(X, y)
    train, test = _folds(name)[fold]
    return Split(X[train], y[train], X[test], y[test])
