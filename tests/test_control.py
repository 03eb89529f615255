"""Ctrl-C, callbacks, threads, progress: a fit under control."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from itertools import pairwise

import pytest

from maptree import MAPTreeClassifier
from maptree.engine.progress import Progress, ProgressLine
from samples import HARD, hard


def snapshot(model):
    return dict(model.__dict__)


# Ctrl-C


def interrupt(script, when, wait=0.0):
    """Run a script, send it SIGINT when it has printed ``when``, and read what it prints last."""
    child = subprocess.Popen(
        [sys.executable, "-u", "-c", HARD + script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in child.stdout:
        if line.strip() == when:
            break
    time.sleep(wait)
    child.send_signal(signal.SIGINT)
    sent = time.perf_counter()
    out, err = child.communicate(timeout=60)
    assert child.returncode == 0, err
    return json.loads(out.splitlines()[-1]), time.perf_counter() - sent


REPORT = """
print(json.dumps({
    "status": model.certificate_.status,
    "warnings": [[w.category.__name__, str(w.message)] for w in caught],
    "log_posterior": model.certificate_.log_posterior,
    "predicted": len(model.predict(X)),
}))
"""


@pytest.mark.skipif(os.name == "nt", reason="SIGINT cannot be sent to one process on Windows")
@pytest.mark.parametrize(
    ("how", "when", "wait"),
    [
        ("callback=tell", "searching", 0.0),
        ("callback=tell, n_jobs=2", "searching", 0.5),
        # Nothing tells when the search has begun: long enough for a busy machine.
        ("callback=None", "fitting", 3.0),
        ("callback=None, verbose=1", "fitting", 3.0),
    ],
)
def test_ctrl_c_keeps_the_best_tree(how, when, wait):
    script = f"""
def tell(progress):
    print("searching")
print("fitting")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model = MAPTreeClassifier(time_limit=50, {how}).fit(X, y)
{REPORT}
"""
    report, seconds = interrupt(script, when, wait)
    assert report["status"] == "interrupted"
    assert seconds < 10
    assert report["predicted"] == 500
    [(category, message)] = report["warnings"]
    assert category == "InterruptedWarning"
    assert f"{report['log_posterior']:.4f}" in message


@pytest.mark.skipif(os.name == "nt", reason="SIGINT cannot be sent to one process on Windows")
def test_ctrl_c_that_arrives_in_the_callback():
    script = f"""
import time
def slow(progress):
    print("in the callback")
    time.sleep(30)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model = MAPTreeClassifier(time_limit=50, callback=slow).fit(X, y)
{REPORT}
"""
    report, seconds = interrupt(script, "in the callback", 0.2)
    assert report["status"] == "interrupted"
    assert seconds < 10
    assert report["warnings"][0][0] == "InterruptedWarning"


def test_ctrl_c_before_the_search_is_an_ordinary_interrupt(monkeypatch):
    def pressed(*_, **__):
        raise KeyboardInterrupt

    X, y = hard()
    model = MAPTreeClassifier(max_expansions=5).fit(X, y)
    before = snapshot(model)
    monkeypatch.setattr("maptree.estimators.base.read_labels", pressed)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, 1 - y)
    assert snapshot(model) == before


def test_a_warning_made_an_error_comes_after_the_tree_is_kept():
    X, y = hard()
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("Ctrl-C reaches the main thread only")
    model = MAPTreeClassifier(time_limit=30)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(2.0, signal.raise_signal, [signal.SIGINT]).start()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(UserWarning, match="best tree so far was kept"):
                model.fit(X, y)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert model.certificate_.status == "interrupted"
    assert model.predict(X).shape == (500,)


# Callback


def test_callback_sees_progress_and_stops():
    X, y = hard()
    seen = []

    def stop_at_the_third(progress):
        seen.append(progress)
        return len(seen) == 3

    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # asked for, so no warning
        model = MAPTreeClassifier(time_limit=30, callback=stop_at_the_third).fit(X, y)
    assert time.perf_counter() - started < 10
    assert model.certificate_.status == "interrupted"
    assert len(seen) == 3
    for progress in seen:
        assert isinstance(progress, Progress)
        assert progress.log_posterior <= progress.log_posterior_bound
        assert progress.gap == pytest.approx(progress.log_posterior_bound - progress.log_posterior)
        assert progress.bytes >= X.size / 8
        assert progress.proved_depth >= 0
    for earlier, later in pairwise(seen):
        assert earlier.seconds < later.seconds
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

    model.set_params(callback=fail, max_expansions=None, time_limit=30)
    before = snapshot(model)
    with pytest.raises(ZeroDivisionError, match="in the callback"):
        model.fit(X, 1 - y)
    assert snapshot(model) == before


# Threads


def cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def cores_used(work):
    """Run work(0) and work(1) in two threads; return how many cores they had on average."""
    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    cpu, wall = time.process_time(), time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return (time.process_time() - cpu) / (time.perf_counter() - wall)


def hash_for_a_while(_):
    """Keep a core busy in code that is known to release the interpreter's lock."""
    end, block = time.perf_counter() + 0.5, bytes(1 << 20)
    while time.perf_counter() < end:
        hashlib.sha256(block)


@pytest.mark.alone
@pytest.mark.skipif(cores() < 2, reason="one core only")
def test_two_fits_in_two_threads_use_two_cores():
    models = {}

    def fit(seed):
        models[seed] = MAPTreeClassifier(time_limit=0.5).fit(*hard(seed=seed))

    possible = 0.0
    for _ in range(5):  # other programs may have the cores for the moment
        if cores_used(fit) > 1.2:  # fits that took turns would use one
            break
        possible = max(possible, cores_used(hash_for_a_while))
    else:
        if possible < 1.4:
            pytest.skip(f"the machine is busy: two threads get {possible:.1f} cores")
        pytest.fail(f"two fits never use 1.2 cores, where others get {possible:.1f}")
    assert {model.certificate_.status for model in models.values()} == {"time_limit"}


def test_other_threads_run_during_a_fit():
    """However busy the machine is: a search that kept the lock would stop this thread."""
    X, y = hard()
    search = threading.Thread(target=MAPTreeClassifier(time_limit=1.0).fit, args=(X, y))
    search.start()
    longest, last = 0.0, time.perf_counter()
    while search.is_alive():
        time.sleep(0.001)
        longest, last = max(longest, time.perf_counter() - last), time.perf_counter()
    assert longest < 0.7


# Progress line


class Terminal:
    """A stream that says it is a terminal."""

    def __init__(self):
        self.text = ""

    def isatty(self):
        return True

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def test_a_terminal_shows_one_line_that_is_written_over():
    terminal = Terminal()
    line = ProgressLine(terminal)
    line.show("a long line")
    line.show("short")
    line.close("done")
    assert terminal.text == "\ra long line\rshort      \rdone \n"


def test_elsewhere_a_line_every_few_seconds(capsys, monkeypatch):
    clock = iter([0.0, 1.0, 6.0, 6.0, 7.0])
    monkeypatch.setattr("maptree.engine.progress.time.monotonic", lambda: next(clock))
    line = ProgressLine()
    for second in ("one", "six", "seven"):
        line.show(second)
    line.close("done")
    assert capsys.readouterr().err == "six\ndone\n"


def test_verbose_writes_to_stderr_only(capsys, monkeypatch):
    X, y = hard()
    MAPTreeClassifier(time_limit=0.3, verbose=1).fit(X, y)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "time limit" in captured.err
    assert "expansions" in captured.err
    MAPTreeClassifier(time_limit=0.3).fit(X, y)
    captured = capsys.readouterr()
    assert captured.out + captured.err == ""
    monkeypatch.setattr(sys, "stderr", Terminal())
    MAPTreeClassifier(time_limit=0.5, verbose=1).fit(X, y)
    shown = sys.stderr.text.split("\r")
    assert len(shown) > 3
    assert all("gap" in text and len(text.rstrip()) < 80 for text in shown[1:])
    assert sys.stderr.text.count("\n") == 1


def test_progress_tells_the_size_of_the_tree():
    X, noise = hard()
    y = X[:, 0] ^ X[:, 1]
    y[::8] = noise[::8]
    seen = []

    def stop_later(now):
        seen.append(now.n_leaves)
        return len(seen) > 5

    model = MAPTreeClassifier(time_limit=None, callback=stop_later).fit(X, y)
    assert model.certificate_.status == "interrupted"
    assert model.tree_.n_leaves == seen[-1] > 1
