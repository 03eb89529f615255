"""Time limits, Ctrl-C, callbacks, threads, progress: samplers under control."""

from __future__ import annotations

import sys
import threading
import warnings
from itertools import pairwise

import numpy as np
import pytest

from control import (
    HANGS,
    SlowLabels,
    Terminal,
    ctrl_c_inside,
    press_ctrl_c,
    turns_where_the_lock_is_free,
)
from maptree import (
    InterruptedWarning,
    MCMCTreeClassifier,
    SamplerProgress,
    SMCTreeClassifier,
    TimeLimitWarning,
)
from maptree.encoding import choosing
from maptree.estimators import tree_classifier
from samples import hard

# They would run for minutes or more.
LONG = {
    "MCMCTreeClassifier": {"n_samples": 10**8, "burn_in": 1000, "thin": 100},
    "SMCTreeClassifier": {"n_particles": 1000, "n_islands": 1000},
}
KINDS = {kind.__name__: kind for kind in (MCMCTreeClassifier, SMCTreeClassifier)}
both = pytest.mark.parametrize("name", LONG)


def long(name, **params):
    return KINDS[name](random_state=0, **LONG[name] | params)


def short(name, **params):
    few = (
        {"n_samples": 50, "burn_in": 1000, "thin": 1}
        if name == "MCMCTreeClassifier"
        else {"n_particles": 50}
    )
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


@both
def test_time_that_was_up_before_the_first_step(name):
    X, y = hard()
    model = long(name, time_limit=1e-9).fit(X, y)
    assert model.status_ == "time_limit"
    assert model.tree_.counts[0].sum() == len(y)
    check_usable(model, X)


@both
def test_preparation_counts_towards_the_limit(name, clock, core_seconds):
    X, y = hard()
    model = short(name, time_limit=1.0).fit(X, SlowLabels(y, clock, 0.75))
    assert core_seconds == {"Dataset": 0.25, "Limits": 0.25}
    assert model.status_ == "complete"
    assert (model.trace_["seconds"] >= 0.75).all()
    model = short(name, time_limit=1.0).fit(X, SlowLabels(y, clock, 3.0))
    assert core_seconds == {"Dataset": -2.0, "Limits": 0.0}
    assert model.status_ == "time_limit"


@both
def test_columns_that_time_does_not_reach(name, core_seconds, slowed):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 50))
    slowed(choosing, "choose_with_ranks", 1.0)  # and half as long after it
    with pytest.warns(TimeLimitWarning, match="the last 14 of 50 columns got no tests"):
        model = short(name, time_limit=60).fit(X, X[:, 0] > 0)
    assert core_seconds["Limits"] == 60 - 36
    assert model.status_ == "time_limit"
    assert model.score(X, X[:, 0] > 0) > 0.9


# Ctrl-C


@pytest.mark.parametrize("how", [{}, {"n_jobs": 2}, {"verbose": 1}, {"callback": press_ctrl_c}])
@both
def test_ctrl_c_keeps_what_there_is(name, how):
    X, y = hard()
    inside = () if "callback" in how else ("sample_mcmc", "sample_smc")
    with ctrl_c_inside(*inside), pytest.warns() as caught:
        model = long(name, time_limit=HANGS, **how).fit(X, y)
    assert model.status_ == "interrupted"
    check_usable(model, X[:20])
    [warning] = caught
    assert warning.category is InterruptedWarning
    assert f"{model.log_posterior_:.4f}" in str(warning.message)


@both
def test_ctrl_c_before_sampling_is_an_ordinary_interrupt(name, monkeypatch):
    def pressed(*_, **__):
        raise KeyboardInterrupt

    X, y = hard()
    model = short(name).fit(X, y)
    before = dict(model.__dict__)
    monkeypatch.setattr(tree_classifier, "read_labels", pressed)
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

    with warnings.catch_warnings():
        warnings.simplefilter("error")  # asked for, so no warning
        model = long(name, callback=stop_at_the_third, time_limit=HANGS).fit(X, y)
    assert model.status_ == "interrupted"
    assert len(seen) == 3
    check_usable(model, X[:20])
    for progress in seen:
        assert isinstance(progress, SamplerProgress)
        if name == "MCMCTreeClassifier":
            assert progress.total_steps == 4 * (1000 + 10**8 * 100)
    for earlier, later in pairwise(seen):
        assert earlier.seconds < later.seconds
        assert earlier.steps <= later.steps  # islands count them round by round
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

    model.set_params(callback=fail, time_limit=HANGS, **LONG[name])
    before = dict(model.__dict__)
    with pytest.raises(ZeroDivisionError, match="in the callback"):
        model.fit(X, 1 - y)
    assert model.__dict__ == before


# Threads


@both
def test_other_threads_run_during_a_fit(name):
    """A sampler that kept the interpreter's lock would not hear that it is to stop."""
    X, y = hard()
    sampling, stop = threading.Event(), threading.Event()
    model = long(name, time_limit=HANGS, callback=lambda _: sampling.set() or stop.is_set())
    fit = threading.Thread(target=model.fit, args=(X, y))
    with turns_where_the_lock_is_free():
        fit.start()
        sampling.wait()
        stop.set()
        fit.join()
    assert model.status_ == "interrupted"


# Progress line


@both
def test_verbose_writes_to_stderr_only(name, capsys):
    X, y = hard()
    long(name, time_limit=1e-9, verbose=1).fit(X, y)
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


@both
def test_verbose_on_a_terminal_writes_over_its_line(name, monkeypatch):
    X, y = hard()
    monkeypatch.setattr(sys, "stderr", Terminal())
    seen = []

    def stop_at_the_third(progress):
        seen.append(progress)
        return len(seen) == 3

    long(name, time_limit=HANGS, verbose=1, callback=stop_at_the_third).fit(X, y)
    shown = sys.stderr.text.split("\r")
    assert len(shown) == 1 + 3 + 1
    assert all("best" in text and len(text.rstrip()) < 80 for text in shown[1:])
    assert sys.stderr.text.count("\n") == 1
