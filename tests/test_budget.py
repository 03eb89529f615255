"""Limits on time, expansions and memory, measured."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest

import maptree.estimators.base
from maptree import MAPTreeClassifier
from maptree.encoding import choosing
from maptree.estimators.base import TimeLimitWarning
from measured import MEMORY, fit_in_time, printed
from samples import HARD, hard

# Time


@pytest.mark.alone
@pytest.mark.parametrize("seconds", [0.2, 1.0])
def test_time_limit_is_kept(seconds):
    X, y = hard()
    model, over = fit_in_time(seconds, X, y)
    assert model.certificate_.seconds == pytest.approx(seconds, abs=0.5)
    assert over > -0.05


def test_time_that_was_up_before_the_search_gives_a_valid_tree():
    X, y = hard()
    model = MAPTreeClassifier(time_limit=1e-9).fit(X, y)
    assert model.certificate_.status == "time_limit"
    assert model.certificate_.log_posterior <= model.certificate_.log_posterior_bound
    assert model.tree_.counts[0].sum() == len(y)
    assert model.predict(X).shape == (500,)


def test_preparation_counts_towards_the_limit(monkeypatch):
    read_labels = maptree.estimators.base.read_labels

    def slow(*args):
        time.sleep(0.8)
        return read_labels(*args)

    monkeypatch.setattr(maptree.estimators.base, "read_labels", slow)
    X, y = hard()
    started = time.perf_counter()
    model = MAPTreeClassifier(time_limit=1.0).fit(X, y)
    elapsed = time.perf_counter() - started
    assert elapsed < 1.6
    assert 0.8 < model.certificate_.seconds <= elapsed
    assert (model.trace_["seconds"] > 0.8).all()


def test_expansions_repeat():
    X, y = hard()
    one, other = (MAPTreeClassifier(time_limit=None, max_expansions=50).fit(X, y) for _ in range(2))
    assert one.certificate_.status == "expansion_limit"
    assert one.tree_ == other.tree_
    for name in ("log_posterior", "log_posterior_bound", "expansions", "subproblems"):
        assert getattr(one.certificate_, name) == getattr(other.certificate_, name)


@pytest.mark.alone
def test_columns_that_time_does_not_reach(monkeypatch):
    """Preparing a table is cut short too, and says so; what was prepared is used."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 50))
    y = X[:, 0] > 0
    choose = choosing.choose_column

    def slow(*arguments):
        time.sleep(0.02)
        return choose(*arguments)

    monkeypatch.setattr(choosing, "choose_column", slow)
    started = time.perf_counter()
    with pytest.warns(TimeLimitWarning, match="of 50 columns got no tests"):
        model = MAPTreeClassifier(time_limit=0.5).fit(X, y)
    assert time.perf_counter() - started < 0.9  # all 50 columns would take a second
    assert 0 < model.encoder_.n_columns_read_ < 50
    assert model.encoder_.test_columns_.max() < model.encoder_.n_columns_read_
    assert model.score(X, y) == 1
    # Trees over the other columns were not looked at.
    assert model.certificate_.status == "time_limit"
    assert not model.certificate_.optimal
    assert model.certificate_.log_posterior_bound == 0


# Memory


def grown(problem, limit, more=""):
    """Fit in a fresh process; return the certificate and by how much the process grew."""
    script = f"""{HARD}{MEMORY}
MAPTreeClassifier(max_expansions=5).fit(X[:50], y[:50])  # what is loaded late is loaded now
{problem}
before = start_of_peak()
model = MAPTreeClassifier(time_limit=30, memory_limit={limit!r}).fit(X, y, {more})
print(json.dumps([model.certificate_.status, model.certificate_.peak_bytes,
                  memory("VmHWM") - before]))
"""
    return json.loads(printed(script))


@pytest.mark.alone
def test_memory_limit_is_kept():
    status, peak, growth = grown("", "48MiB")
    assert status == "time_limit"  # what is full is used again
    assert peak <= 48 * 2**20
    assert growth <= 48 * 2**20


@pytest.mark.alone
def test_memory_limit_counts_the_table():
    problem = (
        "X = rng.integers(0, 2, (20_000, 400), dtype=np.uint8); y = rng.integers(0, 2, 20_000)"
    )
    status, peak, growth = grown(problem, "32MiB")
    assert status in ("memory_limit", "time_limit")
    assert peak <= 32 * 2**20
    assert growth <= 32 * 2**20


@pytest.mark.alone
def test_numbers_are_packed_without_a_dense_matrix():
    problem = "X = rng.normal(size=(20_000, 100)); y = rng.integers(0, 2, 20_000)"
    # 1600 tests: 32 MB as bytes, 4 MB packed.
    status, _, growth = grown(problem, "24MiB")
    assert status in ("memory_limit", "time_limit")
    assert growth <= 24 * 2**20


def test_a_limit_below_the_table_itself_is_refused():
    X, y = hard()
    with pytest.raises(ValueError, match="memory_limit is too small for this table"):
        MAPTreeClassifier(memory_limit=1, time_limit=30).fit(X, y)


def test_a_limit_just_above_the_table_gives_a_valid_tree():
    X, y = hard()
    model = MAPTreeClassifier(memory_limit="640KiB", time_limit=30).fit(X, y)
    assert model.certificate_.status == "memory_limit"
    assert model.certificate_.peak_bytes <= 640 * 1024
    assert model.predict(X).shape == (500,)


@pytest.mark.alone
@pytest.mark.parametrize("limit", ["70MiB", "90MiB"])
def test_memory_limit_is_kept_with_many_patterns(limit):
    """A thousand different weights: each makes rows of a pattern of their own."""
    problem = (
        "X = rng.integers(0, 2, (1000, 3000), dtype=np.uint8); y = rng.integers(0, 2, 1000);"
        "weights = rng.integers(1, 30_000, 1000)"
    )
    _, peak, growth = grown(problem, limit, "sample_weight=weights")
    assert max(peak, growth) <= int(limit[:2]) * 2**20


HEAVY = "X, y, weights = [[0, 0], [1, 0], [1, 1]], [0, 1, 0], [16_000_000, 16_000_000, 1]"


@pytest.mark.alone
def test_memory_limit_is_kept_by_the_tables():
    """Three rows that count 32 million: the tables of the posterior alone would take 768 MB."""
    status, _, growth = grown(HEAVY, "20MiB", "sample_weight=weights")
    assert status == "memory_limit"
    assert growth <= 20 * 2**20


@pytest.mark.alone
def test_time_limit_is_kept_while_tables_are_filled():
    scope = {}
    exec(HEAVY, scope)
    data = scope["X"], scope["y"], scope["weights"]
    model, _ = fit_in_time(0.1, *data)
    assert model.certificate_.log_posterior_bound == 0
    proved = MAPTreeClassifier(time_limit=60).fit(*data)
    assert model.certificate_.log_posterior < proved.certificate_.log_posterior
