"""Large tables: what fitting them takes in memory and time before the search begins."""

from __future__ import annotations

import time

import numpy as np
import pytest

from maptree import MAPTreeClassifier, log_posterior
from maptree.tables.labels import read_labels
from measured import MEMORY, fit_in_time, printed

ROWS, COLUMNS = 300_000, 100
PACKED = ROWS * COLUMNS // 8

# Prints by how much the process has grown at most when the search begins.
SCRIPT = f"""
import ctypes
import gc
import sys
import numpy as np
from maptree import MAPTreeClassifier, _core
{MEMORY}
def spy(*arguments):
    print(memory("VmHWM") - before)
    sys.exit()

rng = np.random.default_rng(0)
X = rng.integers(0, 2, ({ROWS}, {COLUMNS}), dtype=np.uint8)
%s
MAPTreeClassifier(max_expansions=5).fit(X[:50], y[:50])  # what is loaded late is loaded now
gc.collect()
if hasattr(ctypes.CDLL(None), "malloc_trim"):
    ctypes.CDLL(None).malloc_trim(0)  # or what was freed before would be used again unseen
before = start_of_peak()
_core.search = spy
MAPTreeClassifier(time_limit=None).fit(X, y)
"""

INTEGERS = "y = rng.integers(0, 2, len(X))"
KINDS = {
    "uint8": INTEGERS,
    "bool": f"X = X.astype(bool); {INTEGERS}",
    "int64": f"X = X.astype(np.int64); {INTEGERS}",
    "float64": f"X = X.astype(np.float64); {INTEGERS}",
    "Fortran order": f"X = np.asfortranarray(X, dtype=np.float64); {INTEGERS}",
    "every other column": f"X = np.repeat(X, 2, axis=1)[:, ::2]; {INTEGERS}",
    "from the end": f"X = X[::-1]; {INTEGERS}",
    "float labels": f"{INTEGERS}.astype(np.float64)",
    "pandas frame": f"import pandas; X = pandas.DataFrame(X); {INTEGERS}",
    "labels of text": "y = np.where(X[:, 0] == 1, 'yes', 'no')",
}


@pytest.mark.alone
@pytest.mark.parametrize("kind", KINDS)
def test_packing_makes_no_dense_copy(kind):
    """Twice the packed size, and a few bytes a row for the labels; a copy is at least eight times
    the packed size."""
    growth = int(printed(SCRIPT % KINDS[kind]))
    # The two layouts are held by then: less would mean that this measures nothing.
    assert 2 * PACKED <= growth <= 2 * PACKED + 2 * ROWS + 2**20


@pytest.fixture(scope="module")
def million():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (1_000_000, 100), dtype=np.uint8)
    y = (X[:, 0] & X[:, 1]) ^ (rng.random(len(X)) < 0.1)
    return X, y


@pytest.mark.alone
@pytest.mark.parametrize("seconds", [0.1, 0.3, 0.5, 1.0])
def test_time_limit_is_kept_on_a_million_rows(million, seconds):
    fit_in_time(seconds, *million)


@pytest.mark.alone
def test_a_million_rows_get_a_good_tree_within_two_seconds(million):
    X, y = million
    for _ in range(5):  # the machine may be busy: the best of five
        model = MAPTreeClassifier(time_limit=2.0).fit(X, y)
        if model.tree_.n_leaves == 3:
            break
    assert model.tree_.n_leaves == 3
    assert (model.predict(X[:1000]) == (X[:1000, 0] & X[:1000, 1])).all()


@pytest.mark.alone
def test_ten_thousand_columns_work_within_limits():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (1000, 10_000), dtype=np.uint8)
    y = (X[:, 4321] & X[:, 1234]) ^ (rng.random(1000) < 0.1)
    for _ in range(5):  # the machine may be busy: the best of five
        started = time.perf_counter()
        model = MAPTreeClassifier(time_limit=3.0, memory_limit="100MB").fit(X, y)
        if time.perf_counter() - started < 3.1:
            break
    assert time.perf_counter() - started < 3.1
    assert model.certificate_.peak_bytes <= 100_000_000
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
    model = MAPTreeClassifier(time_limit=1, rho=0.1).fit(X, y)
    assert model.tree_.counts[0].tolist() == [3] * 300
