"""Time limits, Ctrl-C, callbacks, threads, progress: samplers under control."""

from __future__ import annotations

import os
import sys
import threading
import time
import warnings
from itertools import pairwise

import numpy as np
import pytest

from maptree import MCMCTreeClassifier, SamplerProgress, SMCTreeClassifier, TimeLimitWarning
from maptree.encoding import choosing
from maptree.estimators import base
from samples import hard
from test_control import Terminal, interrupt

# They would run for minutes or more.
LONG = {
    "MCMCTreeClassifier": {"n_samples": 10**8, "thin": 100},
    "SMCTreeClassifier": {"n_particles": 1000, "n_islands": 1000},
}
KINDS = {kind.__name__: kind for kind in (MCMCTreeClassifier, SMCTreeClassifier)}
both = pytest.mark.parametrize("name", LONG)


def long(name, **params):
    return KINDS[name](random_state=0, **LONG[name] | params)


def short(name, **params):
    few = {"n_samples": 50} if name == "MCMCTreeClassifier" else {"n_particles": 50}
    return KINDS[name](random_state=0, **few | params)


def check_usable(model, X):
    assert model.weights_.sum() == pytest.approx(1)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.log_posterior_ >= model.tree_log_posteriors_.max()
    assert model.posterior_summary().n_trees == len(model.trees_)
    if isinstance(model, MCMCTreeClassifier):
        assert model.diagnostics().n_draws >= 1
    else:
        assert np.isfinite(model.log_evidence_)


# Time


@pytest.mark.alone
@pytest.mark.parametrize("jobs", [1, 2])
@both
def test_time_limits_are_kept(name, jobs):
    X, y = hard()
    seconds, overshoot = 0.5, []
    for _ in range(5):  # other programs may have the machine for the moment
        model = long(name, time_limit=seconds, n_jobs=jobs)
        started = time.perf_counter()
        model.fit(X, y)
        overshoot.append(time.perf_counter() - started - seconds)
        if overshoot[-1] < 0.1:
            break
    assert model.status_ == "time_limit"
    assert -0.05 < min(overshoot) < 0.1
    assert seconds - 0.1 < model.trace_["seconds"][-1] < seconds + 0.1
    check_usable(model, X[:20])


@both
def test_time_that_was_up_before_the_first_step(name):
    X, y = hard()
    model = long(name, time_limit=1e-9).fit(X, y)
    assert model.status_ == "time_limit"
    assert model.tree_.counts[0].sum() == len(y)
    check_usable(model, X)


@both
def test_preparation_counts_towards_the_limit(name, monkeypatch):
    read_labels = base.read_labels

    def slow(*args):
        time.sleep(0.8)
        return read_labels(*args)

    monkeypatch.setattr(base, "read_labels", slow)
    X, y = hard()
    started = time.perf_counter()
    model = long(name, time_limit=1.0).fit(X, y)
    assert time.perf_counter() - started < 1.6
    assert (model.trace_["seconds"] > 0.8).all()


@both
def test_columns_that_time_does_not_reach(name, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 50))
    choose = choosing.choose_column

    def slow(*arguments):
        time.sleep(0.02)
        return choose(*arguments)

    monkeypatch.setattr(choosing, "choose_column", slow)
    with pytest.warns(TimeLimitWarning, match="of 50 columns got no tests"):
        model = short(name, time_limit=0.5).fit(X, X[:, 0] > 0)
    assert model.status_ == "time_limit"
    assert model.score(X, X[:, 0] > 0) > 0.9


# Ctrl-C


@pytest.mark.skipif(os.name == "nt", reason="SIGINT cannot be sent to one process on Windows")
@pytest.mark.parametrize(
    ("name", "how", "when", "wait"),
    [
        ("MCMCTreeClassifier", "callback=tell, n_jobs=2", "sampling", 0.2),
        ("SMCTreeClassifier", "callback=tell, n_jobs=2", "sampling", 0.2),
        # Nothing tells when the sampling has begun: long enough for a busy machine.
        ("MCMCTreeClassifier", "callback=None, verbose=1", "fitting", 2.0),
    ],
)
def test_ctrl_c_keeps_what_there_is(name, how, when, wait):
    script = f"""
from maptree import {name}
def tell(progress):
    print("sampling")
print("fitting")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model = {name}(random_state=0, **{LONG[name]}, time_limit=50, {how}).fit(X, y)
print()  # Ctrl-C may have come between the words of a callback and the end of their line
print(json.dumps({{
    "status": model.status_,
    "warnings": [[w.category.__name__, str(w.message)] for w in caught],
    "log_posterior": model.log_posterior_,
    "predicted": len(model.predict(X[:20])),
}}))
"""
    report, seconds = interrupt(script, when, wait)
    assert report["status"] == "interrupted"
    assert seconds < 10
    assert report["predicted"] == 20
    [(category, message)] = report["warnings"]
    assert category == "InterruptedWarning"
    assert f"{report['log_posterior']:.4f}" in message


@both
def test_ctrl_c_before_sampling_is_an_ordinary_interrupt(name, monkeypatch):
    def pressed(*_, **__):
        raise KeyboardInterrupt

    X, y = hard()
    model = short(name).fit(X, y)
    before = dict(model.__dict__)
    monkeypatch.setattr(base, "read_labels", pressed)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, 1 - y)
    assert model.__dict__ == before


# Callback


@both
def test_callback_sees_progress_and_stops(name):
    X, y = hard()
    seen = []

    def stop_at_the_third(progress):
        seen.append(progress)
        return len(seen) == 3

    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # asked for, so no warning
        model = long(name, callback=stop_at_the_third, time_limit=30).fit(X, y)
    assert time.perf_counter() - started < 10
    assert model.status_ == "interrupted"
    assert len(seen) == 3
    check_usable(model, X[:20])
    for progress in seen:
        assert isinstance(progress, SamplerProgress)
        if name == "MCMCTreeClassifier":
            assert progress.total_steps == 4 * (1000 + 10**8 * 100)
    for earlier, later in pairwise(seen):
        assert earlier.seconds < later.seconds
        assert earlier.steps < later.steps
        assert earlier.log_posterior <= later.log_posterior
    assert model.log_posterior_ >= seen[-1].log_posterior
    with pytest.raises(AttributeError):
        seen[0].seconds = 0.0


@both
def test_an_exception_in_the_callback_ends_the_fit(name):
    X, y = hard()
    model = short(name).fit(X, y)

    def fail(progress):
        raise ZeroDivisionError("in the callback")

    model.set_params(callback=fail, time_limit=30, **LONG[name])
    before = dict(model.__dict__)
    with pytest.raises(ZeroDivisionError, match="in the callback"):
        model.fit(X, 1 - y)
    assert model.__dict__ == before


# Threads


@both
def test_other_threads_run_during_a_fit(name):
    """However busy the machine is: a sampler that kept the lock would stop this thread."""
    X, y = hard()
    fit = threading.Thread(target=long(name, time_limit=1.0).fit, args=(X, y))
    fit.start()
    longest, last = 0.0, time.perf_counter()
    while fit.is_alive():
        time.sleep(0.001)
        longest, last = max(longest, time.perf_counter() - last), time.perf_counter()
    assert longest < 0.7


# Progress line


@both
def test_verbose_writes_to_stderr_only(name, capsys, monkeypatch):
    X, y = hard()
    long(name, time_limit=0.3, verbose=1).fit(X, y)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "steps | best -" in captured.err
    assert captured.err.endswith("| time limit\n")
    short(name, verbose=1).fit(X, y)
    assert capsys.readouterr().err.endswith("| complete\n")
    short(name).fit(X, y)
    captured = capsys.readouterr()
    assert captured.out + captured.err == ""
    monkeypatch.setattr(sys, "stderr", Terminal())
    long(name, time_limit=0.5, verbose=1).fit(X, y)
    shown = sys.stderr.text.split("\r")
    assert len(shown) > 3
    assert all("best" in text and len(text.rstrip()) < 80 for text in shown[1:])
    assert sys.stderr.text.count("\n") == 1
