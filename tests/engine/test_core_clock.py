"""The core under a clock that the test turns: when it reads it, and that it then stops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from control import TurnedClock
from maptree import _core


def table(n_rows: int = 300, n_columns: int = 500) -> tuple[Any, Any]:
    rng = np.random.default_rng(5)
    X = rng.integers(0, 2, (n_rows, n_columns), dtype=np.uint8)
    return X, (X[:, 0] ^ (rng.random(n_rows) < 0.3)).astype(np.uint8)


def dataset(**changes: Any) -> _core.Dataset:
    X, y = table()
    return _core.Dataset(_core.pack(X), y, None, 2, fold_columns=False, **changes)


def prior() -> _core.Prior:
    return _core.Prior(0.95, 0.5, np.array([2.5, 2.5]))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("late_from", [1, 5, 200])
def test_a_search_stops_at_the_first_late_reading(late_from, threads):
    clock = TurnedClock(late_from)
    limits = _core.Limits(seconds=1, threads=threads, clock=clock)
    result = _core.search(dataset(), prior(), _core.Options(), limits)
    assert result.status == "time_limit"
    assert result.clock_readings < late_from + threads
    assert result.most_work < 500_000


def test_samplers_stop_at_the_first_late_reading():
    plan = {"n_samples": 10**6, "burn_in": 0, "thin": 1, "n_chains": 2, "seed": 1}
    limits = _core.Limits(seconds=1, clock=TurnedClock(50))
    samples = _core.sample_mcmc(dataset(), prior(), **plan, limits=limits)
    assert samples.status == "time_limit"
    assert 0 < samples.clock_readings <= 50
    assert samples.most_work < 500_000


def test_a_dataset_stops_too():
    assert dataset(seconds=1, clock=TurnedClock(10**9)).complete
    assert not dataset(seconds=1, clock=TurnedClock(2)).complete


def test_a_clock_that_fails_ends_the_search():
    def broken() -> float:
        raise ZeroDivisionError("no time")

    with pytest.raises(ZeroDivisionError, match="no time"):
        _core.search(dataset(), prior(), _core.Options(), _core.Limits(clock=broken))


def test_work_is_bounded_without_any_limit():
    limits = _core.Limits(max_expansions=20)
    result = _core.search(dataset(), prior(), _core.Options(), limits)
    assert result.status == "expansion_limit"
    assert result.clock_readings > 0
    assert result.most_work < 500_000


def small() -> _core.Dataset:
    return _core.Dataset(_core.pack(np.array([[0], [1]])), np.uint8([0, 1]), None, 2, True, False)


def test_chains_leave_time_for_their_samples():
    """The clock stands still; what the end of the run will take is counted."""
    plan = {"n_samples": 10**6, "burn_in": 0, "thin": 1, "n_chains": 1, "seed": 1}
    limits = _core.Limits(seconds=0.004, clock=TurnedClock(np.inf))
    samples = _core.sample_mcmc(small(), prior(), **plan, limits=limits)
    assert samples.status == "time_limit"
    assert 10_000 < samples.sample.size < 400_000


def test_islands_leave_time_for_their_particles():
    plan = {"n_particles": 1000, "n_islands": 1000, "ess_threshold": 0.5, "seed": 1}
    plan |= {"proposal": "optimal", "growth": "node", "resampling": "systematic"}
    limits = _core.Limits(seconds=0.004, clock=TurnedClock(np.inf))
    samples = _core.sample_smc(small(), prior(), **plan, limits=limits)
    assert samples.status == "time_limit"
    n_begun = int((~np.isnan(samples.log_evidence)).sum())
    assert 1 < n_begun < 50
    assert samples.sample.shape == samples.log_weights.shape == (n_begun, 1000)
    assert samples.log_evidence.shape == (1000,)
