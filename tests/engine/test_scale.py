"""Large tables: what is asked for before the search begins."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest

from maptree import MAPTreeClassifier, TargetWarning, _core, log_posterior
from maptree.tables.labels import read_labels

KINDS = {
    "uint8": lambda X: X,
    "bool": lambda X: X.astype(bool),
    "int64": lambda X: X.astype(np.int64),
    "float64": lambda X: X.astype(np.float64),
    "Fortran order": lambda X: np.asfortranarray(X, dtype=np.float64),
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "from the end": lambda X: X[::-1],
    "pandas frame": pd.DataFrame,
}
LABELS = {
    "integers": lambda y: y,
    "floats": lambda y: y.astype(np.float64),
    "text": lambda y: np.where(y == 1, "yes", "no"),
}


@pytest.mark.parametrize(
    ("kind", "labels"), [*((kind, "integers") for kind in KINDS), *(("uint8", k) for k in LABELS)]
)
def test_packing_makes_no_dense_copy(kind, labels, monkeypatch):
    """The core holds two layouts in bits, and Python a few bytes a row for the labels."""
    rng = np.random.default_rng(0)
    rows, columns = 60_000, 100
    X = KINDS[kind](rng.integers(0, 2, (rows, columns), dtype=np.uint8))
    y = LABELS[labels](rng.integers(0, 2, rows))
    held = {}
    few = np.eye(4, dtype=np.uint8)
    MAPTreeClassifier(max_expansions=1).fit(KINDS[kind](few), [0, 1, 0, 1])  # imports take memory

    def search(dataset, *_):
        held["core"], held["python"] = dataset.n_bytes, tracemalloc.get_traced_memory()[1]
        raise KeyboardInterrupt

    monkeypatch.setattr(_core, "search", search)
    tracemalloc.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            MAPTreeClassifier().fit(X, y)
    finally:
        tracemalloc.stop()
    packed = rows * columns / 8
    assert 2 * packed <= held["core"] <= 2 * packed + 2 * rows
    assert rows <= held["python"] <= 2 * rows + 2**20  # of a copy: at least 100 bytes a row


def test_many_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (500, 5000), dtype=np.uint8)
    y = (X[:, 4321] & X[:, 1234]) ^ (rng.random(500) < 0.1)
    limits = {"max_expansions": 1, "memory_limit": "30MB"}
    model = MAPTreeClassifier(time_limit=None, **limits).fit(X, y)
    assert model.certificate_.peak_bytes <= 30_000_000
    assert set(model.tree_.feature) >= {4321, 1234}


@pytest.mark.parametrize("varies", [True, False])
def test_a_table_that_time_does_not_reach_gives_the_lone_leaf(varies):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2 if varies else 1, (5000, 20))
    y = rng.integers(0, 3, 5000)
    model = MAPTreeClassifier(time_limit=1e-9).fit(X, y)
    assert model.tree_.n_leaves == 1
    assert model.tree_.counts[0].tolist() == np.bincount(y).tolist()
    expected = log_posterior(model.tree_, X, y)
    assert model.certificate_.log_posterior == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("n_classes", [2, 256, 257, 3000])
def test_labels_are_read_in_blocks(n_classes):
    rng = np.random.default_rng(0)
    numbers = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, 100_000)])
    for labels in (3 * numbers - 5, numbers.astype(np.float64), np.char.mod("c%d", numbers)):
        classes, codes = read_labels(labels, len(labels))
        expected_classes, expected = np.unique(labels, return_inverse=True)
        assert np.array_equal(classes, expected_classes)
        assert np.array_equal(codes, expected)
        assert codes.dtype == (np.uint8 if n_classes <= 256 else np.int32)


def test_many_classes_are_fitted():
    y = np.repeat(np.arange(300), 3)
    X = (y[:, np.newaxis] >> np.arange(9)) & 1
    search = MAPTreeClassifier(time_limit=None, max_expansions=50, rho=0.1)
    with pytest.warns(TargetWarning, match="300 different numbers in 900 rows"):
        model = search.fit(X, y)
    assert model.tree_.counts[0].tolist() == [3] * 300
