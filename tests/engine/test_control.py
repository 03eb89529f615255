"""Ctrl-C, callbacks, threads, progress: a fit under control."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import warnings
from itertools import pairwise
from pathlib import Path
from unittest.mock import Mock

import pytest

import control
from control import (
    HANGS,
    Clock,
    Terminal,
    ctrl_c_inside,
    press_ctrl_c,
    turns_where_the_lock_is_free,
)
from maptree import InterruptedWarning, MAPTreeClassifier, _core
from maptree.engine.progress import Progress, ProgressLine
from samples import hard


def snapshot(model):
    return dict(model.__dict__)


# Ctrl-C


def check_interrupted(model, caught, X):
    """The best tree is kept, and one warning says so."""
    assert model.certificate_.status == "interrupted"
    assert model.predict(X).shape == (len(X),)
    [warning] = caught
    assert warning.category is InterruptedWarning
    assert str(warning.message) == (
        f"The search was interrupted. The best tree so far was kept. {model.certificate_.headline}."
    )


@pytest.mark.parametrize("how", [{}, {"n_jobs": 2}, {"callback": print}, {"verbose": 1}])
def test_ctrl_c_keeps_the_best_tree(how):
    X, y = hard()
    model = MAPTreeClassifier(time_limit=HANGS, **how)
    with ctrl_c_inside("search"), pytest.warns() as caught:
        model.fit(X, y)
    check_interrupted(model, caught, X)


def test_ctrl_c_that_arrives_in_the_callback():
    X, y = hard()
    with ctrl_c_inside(), pytest.warns() as caught:
        model = MAPTreeClassifier(time_limit=HANGS, callback=press_ctrl_c).fit(X, y)
    check_interrupted(model, caught, X)


@pytest.mark.skipif(os.name == "nt", reason="SIGINT cannot be sent to one process on Windows")
def test_ctrl_c_from_outside():
    """A program of its own, which is sent a signal."""
    script = """
import signal, warnings
signal.signal(signal.SIGINT, signal.default_int_handler)  # background programs ignore it
from maptree import MAPTreeClassifier
from samples import hard
warnings.simplefilter("ignore")
X, y = hard()
tell = lambda progress: print("searching", flush=True)
print(MAPTreeClassifier(time_limit=None, callback=tell).fit(X, y).certificate_.status)
"""
    child = subprocess.Popen(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONPATH": str(Path(control.__file__).parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout.readline() == "searching\n"
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=HANGS)
    assert (child.returncode, err) == (0, "")
    assert out.splitlines()[-1] == "interrupted"


def test_ctrl_c_before_the_search_is_an_ordinary_interrupt(monkeypatch):
    def pressed(*_, **__):
        raise KeyboardInterrupt

    X, y = hard()
    model = MAPTreeClassifier(max_expansions=5).fit(X, y)
    before = snapshot(model)
    monkeypatch.setattr("maptree.estimators.tree_classifier.read_labels", pressed)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, 1 - y)
    assert snapshot(model) == before


def test_a_warning_made_an_error_comes_after_the_tree_is_kept():
    X, y = hard()
    model = MAPTreeClassifier(time_limit=HANGS)
    with ctrl_c_inside("search"), warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InterruptedWarning, match="best tree so far was kept"):
            model.fit(X, y)
    assert model.certificate_.status == "interrupted"
    assert model.predict(X).shape == (500,)


# Callback


def test_callback_sees_progress_and_stops(monkeypatch):
    X, y = hard()
    limits = _core.Limits
    # A hundredth of a second passes at every reading of the core's clock.
    monkeypatch.setattr(_core, "Limits", lambda **given: limits(**given, clock=Clock(step=0.01)))
    seen = []

    def stop_at_the_third(progress):
        seen.append(progress)
        return len(seen) == 3

    with warnings.catch_warnings():
        warnings.simplefilter("error")  # asked for, so no warning
        model = MAPTreeClassifier(time_limit=HANGS, callback=stop_at_the_third).fit(X, y)
    assert model.certificate_.status == "interrupted"
    assert len(seen) == 3
    for progress in seen:
        assert isinstance(progress, Progress)
        assert progress.log_posterior <= progress.log_posterior_bound
        assert progress.gap == pytest.approx(progress.log_posterior_bound - progress.log_posterior)
        assert progress.bytes >= X.size / 8
        assert progress.proved_depth >= 0
    for earlier, later in pairwise(seen):
        assert later.seconds - earlier.seconds == pytest.approx(0.07)  # 5 readings, 2 of the call
        assert earlier.expansions <= later.expansions
        assert earlier.subproblems <= later.subproblems
        assert earlier.log_posterior <= later.log_posterior
    assert model.certificate_.log_posterior >= seen[-1].log_posterior
    with pytest.raises(AttributeError):
        seen[0].seconds = 0.0


def test_an_exception_in_the_callback_ends_the_fit():
    X, y = hard()
    model = MAPTreeClassifier(max_expansions=5).fit(X, y)
    before = snapshot(model)

    def fail(progress):
        raise ZeroDivisionError("in the callback")

    model.set_params(callback=fail, max_expansions=None, time_limit=HANGS)
    before = snapshot(model)
    with pytest.raises(ZeroDivisionError, match="in the callback"):
        model.fit(X, 1 - y)
    assert snapshot(model) == before


# Threads


def test_other_threads_run_during_a_fit():
    """A search that kept the interpreter's lock would not hear that it is to stop."""
    X, y = hard()
    searching, stop = threading.Event(), threading.Event()
    model = MAPTreeClassifier(
        time_limit=HANGS, callback=lambda progress: searching.set() or stop.is_set()
    )
    fit = threading.Thread(target=model.fit, args=(X, y))
    with turns_where_the_lock_is_free():
        fit.start()
        searching.wait()
        stop.set()
        fit.join()
    assert model.certificate_.status == "interrupted"


# Progress line


def test_a_terminal_shows_one_line_that_is_written_over():
    terminal = Terminal()
    line = ProgressLine(terminal)
    line.show("a long line")
    line.show("short")
    line.close("done")
    assert terminal.text == "\ra long line\rshort      \rdone \n"


def test_elsewhere_a_line_every_few_seconds(capsys, clock):
    line = ProgressLine()
    for seconds in (1, 5, 1, 5):
        clock.turn(seconds)
        line.show(f"{clock.now - 1000:.0f}")
    line.close("done")
    assert capsys.readouterr().err == "6\n12\ndone\n"


def test_verbose_writes_to_stderr_only(capsys):
    X, y = hard()
    MAPTreeClassifier(time_limit=None, max_expansions=5, verbose=1).fit(X, y)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "expansion limit" in captured.err
    assert "5 expansions" in captured.err
    MAPTreeClassifier(time_limit=None, max_expansions=5).fit(X, y)
    captured = capsys.readouterr()
    assert captured.out + captured.err == ""


def test_verbose_on_a_terminal_writes_over_its_line(monkeypatch):
    X, y = hard()
    monkeypatch.setattr(sys, "stderr", Terminal())
    seen = []

    def stop_at_the_third(progress):
        seen.append(progress)
        return len(seen) == 3

    MAPTreeClassifier(time_limit=HANGS, verbose=1, callback=stop_at_the_third).fit(X, y)
    shown = sys.stderr.text.split("\r")
    assert len(shown) == 1 + 3 + 1
    assert all("gap" in text and len(text.rstrip()) < 80 for text in shown[1:])
    assert sys.stderr.text.count("\n") == 1


def test_a_progress_line_that_cannot_be_written_ends_no_fit(monkeypatch):
    X, y = hard()
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    for fault in (OSError(5, "Input/output error"), ValueError("I/O operation on closed file")):
        terminal.write = Mock(side_effect=fault)
        model = MAPTreeClassifier(time_limit=None, max_expansions=5, verbose=1).fit(X, y)
        assert model.certificate_.expansions == 5
        assert terminal.write.called
    monkeypatch.setattr(sys, "stderr", None)
    MAPTreeClassifier(time_limit=None, max_expansions=5, verbose=1).fit(X, y)


def test_progress_tells_the_size_of_the_tree():
    X, noise = hard()
    y = X[:, 0] ^ X[:, 1]
    y[::8] = noise[::8]
    seen = []

    def stop_later(now):
        seen.append(now.n_leaves)
        return len(seen) > 5

    model = MAPTreeClassifier(time_limit=HANGS, callback=stop_later).fit(X, y)
    assert model.certificate_.status == "interrupted"
    assert model.tree_.n_leaves == seen[-1] > 1
