"""Cells in their processes: whatever a system does, its cell has a row and the next one runs."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from types import SimpleNamespace

import pytest

import faults
from control import HANGS, Clock, wait_until
from experiments import child as child_module
from experiments import memory
from experiments import sandbox as sandbox_module
from experiments.cells import Row
from experiments.child import Child
from experiments.sandbox import Sandbox, Sandboxes, StoppedError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes of POSIX")


@pytest.fixture(autouse=True)
def no_start_is_late(monkeypatch):
    """On a machine however busy."""
    monkeypatch.setattr(sandbox_module, "START_SECONDS", HANGS)


@pytest.fixture(scope="module")
def sandbox():
    """One for all tests: each finds it as the one before has left it."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = faults.path()
    sandbox = Sandbox(max_bytes=600_000_000)
    yield sandbox
    sandbox.close()
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


@pytest.fixture
def hasty(monkeypatch):
    monkeypatch.setattr(sandbox_module, "patience", lambda limit: HANGS if limit is None else limit)


def works(sandbox) -> Row:
    row = sandbox.run(faults.cell("nothing"))
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
    assert {works(sandbox).extra["pid"] for _ in range(5)} == {first.extra["pid"]}


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
    row = sandbox.run(faults.cell(**do))
    assert (row.outcome, row.reason) == (outcome, reason)
    assert works(sandbox).extra["pid"] != before


@pytest.fixture
def begun(tmp_path):
    """A file that a cell makes when it has begun."""
    return tmp_path / "begun"


def read_by(clock):
    """Replaces the module time where children are waited for."""
    return SimpleNamespace(monotonic=clock)


def test_one_that_overruns_is_killed(sandbox, hasty, begun, monkeypatch):
    before = works(sandbox).extra["pid"]
    with monkeypatch.context() as patch:
        patch.setattr(child_module, "time", read_by(Clock(step=1.0, runs=begun.exists)))
        row = sandbox.run(faults.cell("hang", begun=str(begun), limit=5))
    assert (row.outcome, row.reason) == ("timeout", "no answer after 5 s")
    assert row.seconds == 7  # readings: six are more than 5 s, and one dates the end
    assert faults.gone(before)
    works(sandbox)


def test_one_that_eats_memory_is_killed(sandbox, begun, monkeypatch):
    before = works(sandbox).extra["pid"]
    held = itertools.count(100_000_000, 200_000_000)
    with monkeypatch.context() as patch:
        patch.setattr(memory, "resident", lambda pid: next(held) if begun.exists() else 50_000_000)
        row = sandbox.run(faults.cell("hang", begun=str(begun)))
    assert (row.outcome, row.reason) == ("memory", "held 0.7 GB of 0.6 allowed")
    # Growth since the first look, which may come after the cell has begun to grow.
    assert row.peak_bytes in {
        700_000_000 - first for first in (50_000_000, *range(100_000_000, 700_000_000, 200_000_000))
    }
    assert faults.gone(before)
    works(sandbox)


def test_what_a_process_holds():
    assert memory.resident(os.getpid()) > 0
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
        assert memory.resident(process.pid) == 0


def test_exceptions_and_noise_leave_the_process_alone(sandbox):
    before = works(sandbox).extra["pid"]
    row = sandbox.run(faults.cell("raise"))
    assert row.outcome == "error"
    assert row.reason.startswith("ZeroDivisionError: so many words (faults.py:")
    assert sandbox.run(faults.cell("print")).outcome == "ok"
    row = sandbox.run(faults.cell("no tree"))
    assert (row.outcome, row.status) == ("timeout", "time_limit")
    assert works(sandbox).extra["pid"] == before


def test_what_is_not_there_is_missing(sandbox, monkeypatch, tmp_path):
    row = sandbox.run(replace(faults.cell("nothing"), system="no_such_module"))
    assert (row.outcome, row.reason) == ("missing", "No module named 'no_such_module'")
    row = sandbox.run(replace(faults.cell("nothing"), data={"kind": "cp4im", "name": "atlantis"}))
    assert row.outcome == "missing"
    assert "atlantis" in row.reason

    monkeypatch.setenv("MAPTREE_PEERS", str(tmp_path))
    peer = replace(faults.cell("nothing"), system="dl85")
    row = sandbox.run(peer)
    assert (row.outcome, row.reason) == ("missing", "its environment is not installed: make peers")
    broken = tmp_path / "bin" / "python"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\necho out of order >&2; exit 1\n")
    broken.chmod(0o755)
    row = sandbox.run(peer)
    assert row.outcome == "missing"
    assert row.reason == "its environment does not start: exit code 1: out of order"
    works(sandbox)


PEER = replace(faults.cell("nothing"), system="dl85")
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
        monkeypatch.setenv("PYTHONPATH", faults.path())
        made.append(Sandbox())
        return made[-1]

    made: list[Sandbox] = []
    yield make
    for sandbox in made:
        sandbox.close()


def starts(tmp_path) -> int:
    file = tmp_path / "starts"
    return len(file.read_text()) if file.exists() else 0


def test_a_child_killed_at_its_start_is_replaced(peers, tmp_path):
    sandbox = peers("[ $start -gt 1 ] || kill -KILL $$")
    assert sandbox.run(PEER).reason == STARTED
    assert sandbox.run(PEER).reason == STARTED
    assert starts(tmp_path) == 2


def test_two_starts_that_fail_cost_one_cell(peers, monkeypatch, tmp_path):
    sandbox = peers("case $start in 1) kill -KILL $$;; 2) exec sleep 10000;; esac")
    clock = Clock(step=1.0, runs=lambda: starts(tmp_path) == 2)
    with monkeypatch.context() as patch:
        patch.setattr(sandbox_module, "START_SECONDS", 5.0)
        patch.setattr(child_module, "time", read_by(clock))
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
    child = Child(["sh", "-c", "read line; echo awake"], dict(os.environ))
    clock = Clock(step=100.0)  # from one reading to the next

    def read():
        if clock.now == 2000:  # it has been waited for ten times, and 1000 s
            child.tell("wake up")
            clock.step = 0.0
        return clock()

    monkeypatch.setattr(child_module, "time", read_by(read))
    try:
        assert child.hear(60.0, 10**9) == b"awake"
    finally:
        child.close()


def test_closing_ends_cells_under_way(sandbox, begun):
    """In another thread, as when a run is interrupted."""
    others = Sandboxes()
    pid = others.run(faults.cell("nothing")).extra["pid"]
    errors = []

    def hang():
        try:
            others.run(faults.cell("hang", begun=str(begun)))
        except StoppedError as error:
            errors.append(error)

    thread = threading.Thread(target=hang)
    thread.start()
    wait_until(begun.exists)
    others.close()
    thread.join()
    assert len(errors) == 1
    assert faults.gone(pid)
    with pytest.raises(StoppedError):
        others.run(faults.cell("nothing"))


def test_a_child_does_not_outlive_its_sandbox():
    """Even if that is killed: nobody is left to set limits."""
    script = """
import faults
from experiments.sandbox import Sandbox
sandbox = Sandbox()
print(sandbox.run(faults.cell("nothing")).extra["pid"], flush=True)
sandbox.run(faults.cell("hang"))
"""
    if sys.platform != "linux":
        pytest.skip("only Linux tells a child that its parent was killed")
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONPATH": faults.path()},
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        pid = int(process.stdout.readline())
        assert not faults.gone(pid)
        process.kill()
    wait_until(lambda: faults.gone(pid))
