"""Random fits stay within their limits: by count, under a clock that the test controls.

The cases are those of `bench/envelopes.py`, which measures seconds and the memory of the process.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import maptree
from control import TurnedClock
from envelope_cases import CLASSES, COLUMNS, ESTIMATORS, Case, make
from maptree import _core
from problems import seeds

PER_READING = 100_000  # units of work, which is the default
MIB = 2**20


@dataclass
class Seen:
    """What the core was given and returned."""

    datasets: list[Any] = field(default_factory=list)
    results: list[Any] = field(default_factory=list)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give the package and its core a clock; return what the core does under it."""

    def watch(late_from: float) -> tuple[TurnedClock, Seen]:
        clock, seen = TurnedClock(late_from), Seen()
        limits, dataset = _core.Limits, _core.Dataset

        def make_limits(**given: Any) -> Any:
            return limits(**given, clock=clock, work_per_reading=PER_READING)

        def make_dataset(*given: Any, **named: Any) -> Any:
            seen.datasets.append(dataset(*given, **named, clock=clock))
            return seen.datasets[-1]

        def keep(function: Any) -> Any:
            def call(*given: Any, **named: Any) -> Any:
                seen.results.append(function(*given, **named))
                return seen.results[-1]

            return call

        monkeypatch.setattr(time, "perf_counter", clock)
        monkeypatch.setattr(_core, "Limits", make_limits)
        monkeypatch.setattr(_core, "Dataset", make_dataset)
        for name in ("search", "sample_mcmc", "sample_smc"):
            monkeypatch.setattr(_core, name, keep(getattr(_core, name)))
        return clock, seen

    return watch


def fit(case: Case) -> tuple[Any, int]:
    """Fit a case; return the model, or None if memory was too small, and the bytes of Python."""
    X, y, weights = case.table()
    # The clock stands still or is late, whatever the limit.
    model = case.model()
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y, sample_weight=weights)
        return model, tracemalloc.get_traced_memory()[1]
    except ValueError as error:
        if "memory_limit is too small" not in str(error):
            raise
        return None, 0
    finally:
        tracemalloc.stop()


def check(case: Case, late_from: int, watched: Any) -> None:
    clock, seen = watched(late_from)
    model, python_bytes = fit(case)
    if model is None:
        return
    # Chains may begin with a short search, of another dataset.
    data, result = seen.datasets[-1], seen.results[-1]
    # A piece of work at most after a reading was due, and some units per row.
    most = PER_READING + 300_000 + 64 * case.n_rows
    assert result.most_work <= (most if data.total_weight < 1 << 16 else most + 2_000_000)
    # Nobody goes on after the first late reading: a column that is left unread takes another one,
    # and the last ones date the end of the run.
    assert clock.n_read <= late_from + len(case.columns) + 20 + 2 * case.params["n_jobs"]

    # Memory is linear in rows times tests, and in rows and classes.
    cells = (case.n_rows + 64) * (data.n_features + 64)
    held = 100 * MIB + 100 * cells
    assert data.peak_bytes <= held
    nodes = len(result.feature)
    # Twice the labels and a column as objects, the answers, the column of each test, and the class
    # counts of the nodes.
    python = 4 * MIB + 1500 * case.n_rows + data.n_features * (100 + case.n_rows // 2)
    if case.estimator != "MAPTreeClassifier":
        python += 100 * result.sample.size  # of each sample: its tree, its weight
        python += 1000 * case.params.get("n_chains", 0)  # of each chain: what is told of it
    assert python_bytes <= python + 10 * nodes * data.n_classes * 8
    if case.estimator == "MAPTreeClassifier":
        certificate = model.certificate_
        assert data.peak_bytes <= certificate.peak_bytes <= held + 8 * nodes * data.n_classes
        if case.params["memory_limit"] is not None:
            limit = int(case.params["memory_limit"].removesuffix("MB")) * 10**6
            assert certificate.peak_bytes <= limit
    # The trees of a sampler have a count for every node and class.
    assert nodes * data.n_classes * 8 <= 2 * 2**28


@pytest.mark.parametrize("encoder", ["auto", None])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_no_python_is_called_for_every_column_of_a_binary_matrix(estimator, encoder):
    def n_calls(n_columns: int) -> int:
        X = np.random.default_rng(0).integers(0, 2, (40, n_columns), dtype=np.uint8)
        model = getattr(maptree, estimator)(encoder=encoder, time_limit=1e-9)
        calls: Counter[str] = Counter()
        sys.setprofile(lambda frame, event, argument: calls.update([event]))
        try:
            model.fit(X, X[:, 0])
        finally:
            sys.setprofile(None)
        return calls["call"]

    n_calls(10)  # what is imported on the first use
    assert n_calls(2_000) <= n_calls(20) + 500


@seeds(24)
def test_a_fit_keeps_within_its_limits(seed, watched):
    case = make(seed, most_cells=20_000)
    check(case, late_from=(1, 3, 30, 300)[seed % 4], watched=watched)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1000, 1120))
def test_a_larger_fit_keeps_within_its_limits(seed, watched):
    case = make(seed, most_cells=300_000)
    check(case, late_from=(1, 10, 100, 1000)[seed % 4], watched=watched)


def test_the_cases_are_of_all_kinds():
    cases = [make(seed) for seed in range(300)]
    assert {case.estimator for case in cases} == set(ESTIMATORS)
    assert {kind for case in cases for kind in case.columns} == set(COLUMNS)
    assert sum(case.n_classes >= case.n_rows // 2 and case.n_rows > 100 for case in cases) > 30
    assert max(len(case.columns) for case in cases) > 50_000
    assert sum(case.in_sets for case in cases) > 30
    assert len(CLASSES) == 6
    assert make(7) == make(7)
