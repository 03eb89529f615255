"""The core under a clock that the test turns: when it reads it, and that it then stops."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from maptree import _core


class TurnedClock:
    """Stands still for some readings; then it is past every limit."""

    def __init__(self, late_from: float) -> None:
        self.late_from = late_from
        self.n_read = 0
        self._lock = threading.Lock()  # every thread of the core reads it

    def __call__(self) -> float:
        with self._lock:
            self.n_read += 1
            return 0.0 if self.n_read <= self.late_from else 1e9


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
