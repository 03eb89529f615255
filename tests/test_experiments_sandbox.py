"""Cells in their processes: whatever a system does, its cell has a row and the next one runs."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

import faulty
from experiments import child as child_module
from experiments import sandbox as sandbox_module
from experiments.cells import Row
from experiments.child import Child
from experiments.sandbox import Sandbox, Sandboxes, StoppedError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes of POSIX")


@pytest.fixture(scope="module")
def sandbox():
    """One for all tests: each finds it as the one before has left it."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = faulty.path()
    sandbox = Sandbox(max_bytes=600_000_000)
    yield sandbox
    sandbox.close()
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


@pytest.fixture
def hasty(monkeypatch):
    monkeypatch.setattr(sandbox_module, "patience", lambda limit: 60.0 if limit is None else limit)


def works(sandbox) -> Row:
    row = sandbox.run(faulty.cell("nothing"))
    assert (row.outcome, row.reason) == ("ok", None)
    return row


def test_a_row_says_what_came_out_and_where(sandbox):
    row = works(sandbox)
    assert (row.family, row.system, row.set, row.fold) == ("speed", "faults", "tic-tac-toe", None)
    assert (row.status, row.seconds, row.nodes) == ("complete", 0.01, 1)
    assert row.train_accuracy == pytest.approx(626 / 958)
    assert row.log_posterior < -600
    assert {"python", "commit", "maptree", "numpy"} <= set(row.versions)
    assert "cores" in row.machine
    assert row.date


def test_one_process_serves_many_cells(sandbox):
    first = works(sandbox)
    started = time.perf_counter()
    assert {works(sandbox).extra["pid"] for _ in range(50)} == {first.extra["pid"]}
    assert time.perf_counter() - started < 5  # starting Python alone takes longer


@pytest.mark.parametrize(
    ("do", "outcome", "reason"),
    [
        ({"do": "exit"}, "crash", "exit code 3: these are my last words"),
        ({"do": "garble"}, "crash", "a garbled answer: nonsense"),
        ({"do": "no memory"}, "memory", "MemoryError: "),
    ],
)
def test_a_process_that_dies_is_replaced(sandbox, do, outcome, reason):
    before = works(sandbox).extra["pid"]
    row = sandbox.run(faulty.cell(**do))
    assert (row.outcome, row.reason) == (outcome, reason)
    assert works(sandbox).extra["pid"] != before


def test_one_that_overruns_is_killed(sandbox, hasty):
    before = works(sandbox).extra["pid"]
    row = sandbox.run(faulty.cell("sleep", seconds=60, limit=0.5))
    assert (row.outcome, row.reason) == ("timeout", "no answer after 0.5 s")
    assert 0.5 <= row.seconds < 5
    assert faulty.gone(before)
    works(sandbox)


def test_one_that_eats_memory_is_killed(sandbox):
    before = works(sandbox).extra["pid"]
    row = sandbox.run(faulty.cell("eat"))
    assert row.outcome == "memory"
    assert row.reason.endswith("GB of 0.6 allowed")
    assert 100_000_000 < row.peak_bytes < 600_000_000
    assert faulty.gone(before)
    works(sandbox)


def test_exceptions_and_noise_leave_the_process_alone(sandbox):
    before = works(sandbox).extra["pid"]
    row = sandbox.run(faulty.cell("raise"))
    assert row.outcome == "error"
    assert row.reason.startswith("ZeroDivisionError: so many words (faults.py:")
    assert sandbox.run(faulty.cell("print")).outcome == "ok"
    row = sandbox.run(faulty.cell("no tree"))
    assert (row.outcome, row.status) == ("timeout", "time_limit")
    assert works(sandbox).extra["pid"] == before


def test_what_is_not_there_is_missing(sandbox, monkeypatch, tmp_path):
    row = sandbox.run(replace(faulty.cell("nothing"), system="no_such_module"))
    assert (row.outcome, row.reason) == ("missing", "No module named 'no_such_module'")
    row = sandbox.run(replace(faulty.cell("nothing"), data={"kind": "cp4im", "name": "atlantis"}))
    assert row.outcome == "missing"
    assert "atlantis" in row.reason

    monkeypatch.setenv("MAPTREE_PEERS", str(tmp_path))
    peer = replace(faulty.cell("nothing"), system="dl85")
    row = sandbox.run(peer)
    assert (row.outcome, row.reason) == ("missing", "there is no environment for it: make peers")
    broken = tmp_path / "bin" / "python"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\necho out of order >&2; exit 1\n")
    broken.chmod(0o755)
    row = sandbox.run(peer)
    assert row.outcome == "missing"
    assert row.reason == "its environment does not start: exit code 1: out of order"
    works(sandbox)


PEER = replace(faulty.cell("nothing"), system="dl85")
STARTED = "No module named 'pydl85'"  # what the main Python says to a peer's cell


@pytest.fixture
def peers(monkeypatch, tmp_path):
    """A Python for the peers that runs a line of shell first, by the number of the start."""

    def make(line: str) -> Sandbox:
        python = tmp_path / "bin" / "python"
        python.parent.mkdir()
        python.write_text(
            f"#!/bin/sh\necho >> {tmp_path}/starts; start=$(wc -l < {tmp_path}/starts)\n"
            f'{line}\nexec {sys.executable} "$@"\n'
        )
        python.chmod(0o755)
        monkeypatch.setenv("MAPTREE_PEERS", str(tmp_path))
        monkeypatch.setenv("PYTHONPATH", faulty.path())
        made.append(Sandbox())
        return made[-1]

    made: list[Sandbox] = []
    yield make
    for sandbox in made:
        sandbox.close()


def starts(tmp_path) -> int:
    return len((tmp_path / "starts").read_text())


def test_a_child_killed_at_its_start_is_replaced(peers, tmp_path):
    sandbox = peers("[ $start -gt 1 ] || kill -KILL $$")
    assert sandbox.run(PEER).reason == STARTED
    assert sandbox.run(PEER).reason == STARTED
    assert starts(tmp_path) == 2


def test_two_starts_that_fail_cost_one_cell(peers, monkeypatch, tmp_path):
    monkeypatch.setattr(sandbox_module, "START_SECONDS", 5.0)
    sandbox = peers("case $start in 1) kill -KILL $$;; 2) exec sleep 60;; esac")
    row = sandbox.run(PEER)
    assert (row.outcome, row.reason) == (
        "missing",
        "its environment does not start: no answer after 5 s",
    )
    assert sandbox.run(PEER).reason == STARTED


def test_an_environment_is_given_up_after_three_starts_in_a_row(peers, tmp_path):
    sandbox = peers("kill -KILL $$")
    reasons = {sandbox.run(PEER).reason for _ in range(4)}
    assert reasons == {"its environment does not start: killed by SIGKILL"}
    assert starts(tmp_path) == 3


def test_an_environment_that_exits_by_itself_is_given_up_at_once(peers, tmp_path):
    sandbox = peers("exit 1")
    reasons = {sandbox.run(PEER).reason for _ in range(2)}
    assert reasons == {"its environment does not start: exit code 1"}
    assert starts(tmp_path) == 1


def test_a_process_that_died_while_idle_costs_no_cell(sandbox):
    pid = works(sandbox).extra["pid"]
    os.kill(pid, signal.SIGKILL)
    works(sandbox)


def test_a_pause_of_the_run_is_not_held_against_the_child(monkeypatch):
    """As when a machine is put to sleep, or someone stops all processes to measure alone."""
    child = Child(["sh", "-c", "sleep 0.5; echo awake"], dict(os.environ))
    jumps = itertools.count(0, 100)  # seconds from one look at the clock to the next
    monkeypatch.setattr(child_module, "time", SimpleNamespace(monotonic=lambda: next(jumps)))
    try:
        assert child.hear(60.0, 10**9) == b"awake"
    finally:
        child.close()


def test_closing_ends_cells_under_way(sandbox):
    """In another thread, as when a run is interrupted."""
    others = Sandboxes()
    pid = others.run(faulty.cell("nothing")).extra["pid"]
    errors = []

    def sleep():
        try:
            others.run(faulty.cell("sleep", seconds=60))
        except StoppedError as error:
            errors.append(error)

    thread = threading.Thread(target=sleep)
    thread.start()
    time.sleep(0.5)  # it is starting a process of its own, or sleeping in it
    started = time.perf_counter()
    others.close()
    thread.join(timeout=10)
    assert time.perf_counter() - started < 5
    assert len(errors) == 1
    assert faulty.gone(pid)
    with pytest.raises(StoppedError):
        others.run(faulty.cell("nothing"))


def test_a_child_does_not_outlive_its_sandbox():
    """Even if that is killed: nobody is left to set limits."""
    script = """
import os, faulty
from experiments.child import Child
from experiments.sandbox import Sandbox
sandbox = Sandbox()
print(sandbox.run(faulty.cell("nothing")).extra["pid"], flush=True)
sandbox.run(faulty.cell("sleep", seconds=60))
"""
    if sys.platform != "linux":
        pytest.skip("only Linux tells a child that its parent was killed")
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONPATH": faulty.path()},
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        pid = int(process.stdout.readline())
        assert not faulty.gone(pid)
        process.kill()
    deadline = time.monotonic() + 10
    while not faulty.gone(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert faulty.gone(pid)
