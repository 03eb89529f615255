"""Limits on time, expansions and memory. What they cost in seconds is for ``make bench-limits``."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pytest

from control import SlowLabels
from maptree import MAPTreeClassifier, TimeLimitWarning
from maptree.encoding import choosing
from maptree.tables.table import Matrix
from samples import hard

# Time


def test_time_that_was_up_before_the_search_gives_a_valid_tree():
    X, y = hard()
    model = MAPTreeClassifier(time_limit=1e-9).fit(X, y)
    assert model.certificate_.status == "time_limit"
    assert model.certificate_.log_posterior <= model.certificate_.log_posterior_bound
    assert model.tree_.counts[0].sum() == len(y)
    assert model.predict(X).shape == (500,)


def test_preparation_counts_towards_the_limit(clock, core_seconds):
    X, y = hard()
    model = MAPTreeClassifier(time_limit=1.0, max_expansions=5)
    model.fit(X, SlowLabels(y, clock, 0.75))
    assert core_seconds == {"Dataset": 0.25, "Limits": 0.25}
    assert model.certificate_.seconds == 0.75
    assert (model.trace_["seconds"] >= 0.75).all()


def test_preparation_that_takes_all_of_the_time(clock, core_seconds):
    X, y = hard()
    model = MAPTreeClassifier(time_limit=1.0).fit(X, SlowLabels(y, clock, 3.0))
    assert core_seconds == {"Dataset": -2.0, "Limits": 0.0}
    assert model.certificate_.status == "time_limit"
    assert model.certificate_.seconds == 3.0


def test_without_a_limit_there_is_time_for_ever(core_seconds):
    X, y = hard()
    MAPTreeClassifier(time_limit=None, max_expansions=5).fit(X, y)
    assert core_seconds == {"Dataset": np.inf, "Limits": np.inf}


def test_expansions_repeat():
    X, y = hard()
    one, other = (MAPTreeClassifier(time_limit=None, max_expansions=50).fit(X, y) for _ in range(2))
    assert one.certificate_.status == "expansion_limit"
    assert one.tree_ == other.tree_
    for name in ("log_posterior", "log_posterior_bound", "expansions", "subproblems"):
        assert getattr(one.certificate_, name) == getattr(other.certificate_, name)


# What may take a second a column, and how many of them a minute is enough for. The core
# works half as long after choosing tests as that took; reading takes no time later.
each_slow_step = pytest.mark.parametrize(
    ("owner", "name", "n_read"), [(choosing, "choose_with_ranks", 36), (Matrix, "read", 53)]
)


@each_slow_step
def test_columns_that_time_does_not_reach(owner, name, n_read, core_seconds, slowed):
    """Preparing a table is cut short too, and says so; what was prepared is used."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 80))
    y = X[:, 0] > 0
    slowed(owner, name, 1.0)
    with pytest.warns(TimeLimitWarning, match=f"the last {80 - n_read} of 80 columns got no tests"):
        model = MAPTreeClassifier(time_limit=60).fit(X, y)
    assert model.encoder_.n_columns_read_ == n_read
    assert model.encoder_.test_columns_.max() < n_read
    assert core_seconds["Limits"] == 60 - n_read
    assert model.score(X, y) == 1
    # No tree over the other columns was searched.
    assert model.certificate_.status == "time_limit"
    assert not model.certificate_.optimal
    assert model.certificate_.log_posterior_bound == 0


@each_slow_step
def test_columns_that_time_reaches_are_read(owner, name, n_read, core_seconds, slowed):
    """However much of the limit it takes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, n_read))
    slowed(owner, name, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MAPTreeClassifier(time_limit=60, max_expansions=5).fit(X, X[:, 0] > 0)
    assert model.encoder_.n_columns_read_ == n_read
    assert core_seconds["Limits"] == 60 - n_read


# Memory: what Python asks for, and what the core counts


def held(X, y, weights=None, **params):
    """Fit; return the certificate and the bytes that Python asked for at most, beyond the data."""
    model = MAPTreeClassifier(time_limit=None, **params)
    tracemalloc.start()
    try:
        model.fit(X, y, weights)
        return model.certificate_, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_that_is_full_is_used_again():
    """The search goes on in less than it would hold."""
    X, y = hard()
    ample = MAPTreeClassifier(time_limit=None, max_expansions=2000).fit(X, y).certificate_
    limit = int(0.7 * ample.peak_bytes)
    within, python = held(X, y, max_expansions=2000, memory_limit=limit)
    assert ample.status == within.status == "expansion_limit"
    assert within.peak_bytes <= limit
    assert python < 2**19


def test_memory_limit_counts_the_table():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (5000, 400), dtype=np.uint8), rng.integers(0, 2, 5000)
    certificate, python = held(X, y, memory_limit="4MiB", max_expansions=100)
    assert certificate.peak_bytes >= 2 * X.size // 8
    assert certificate.peak_bytes + python <= 4 * 2**20


def test_numbers_are_packed_without_a_dense_matrix():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5000, 100)), rng.integers(0, 2, 5000)
    # 3,200 tests: 16 MB as bytes, 2 MB packed.
    _, python = held(X, y, max_expansions=5)
    assert 2 * 10**6 <= python <= 3 * 10**6


def test_a_limit_below_the_table_itself_is_refused():
    X, y = hard()
    with pytest.raises(ValueError, match="memory_limit is too small for this table"):
        MAPTreeClassifier(memory_limit=1, time_limit=None).fit(X, y)


def test_a_limit_just_above_the_table_gives_a_valid_tree():
    X, y = hard()
    model = MAPTreeClassifier(memory_limit="640KiB", time_limit=None).fit(X, y)
    assert model.certificate_.status == "memory_limit"
    assert model.certificate_.peak_bytes <= 640 * 1024
    assert model.predict(X).shape == (500,)


def test_memory_limit_is_kept_with_many_patterns():
    """A thousand different weights: each makes rows of a pattern of their own."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (1000, 1000), dtype=np.uint8), rng.integers(0, 2, 1000)
    certificate, _ = held(
        X, y, rng.integers(1, 30_000, 1000), memory_limit="24MiB", max_expansions=500
    )
    assert certificate.peak_bytes <= 24 * 2**20


def heavy(weight):
    """Three rows: the tables of the posterior take 24 bytes for each of their repetitions."""
    return [[0, 0], [1, 0], [1, 1]], [0, 1, 0], [weight, weight, 1]


def test_memory_limit_is_kept_by_the_tables():
    """Those of 32 million would take 768 MB."""
    certificate, _ = held(*heavy(16_000_000), memory_limit="20MiB")
    assert certificate.status == "memory_limit"
    assert certificate.peak_bytes <= 20 * 2**20


def test_a_time_limit_ends_filling_the_tables():
    model = MAPTreeClassifier(time_limit=1e-9).fit(*heavy(1_600_000))
    assert model.certificate_.status == "time_limit"
    assert model.certificate_.log_posterior_bound == 0
    proved = MAPTreeClassifier(time_limit=None).fit(*heavy(1_600_000))
    assert proved.certificate_.optimal
    assert model.certificate_.log_posterior < proved.certificate_.log_posterior
