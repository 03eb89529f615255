"""Whole runs on this machine: finished, killed and continued, interrupted."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace

import pytest

import faults
from control import HANGS, wait_until
from experiments.cells import Row
from experiments.local import rows_from_here
from experiments.progress import Forecast, Watch
from experiments.run import missing, run
from experiments.store import Store

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes of POSIX")

# A run that can be killed: it goes on where the last one ended. No start is late on a busy machine.
SCRIPT = f"""
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # background programs ignore it
from experiments import sandbox
sandbox.START_SECONDS = {HANGS}
from experiments.local import rows_from_here
from experiments.run import missing, run
from experiments.store import Store
from faults import gated_cells

at, jobs = sys.argv[1:]
with Store(at) as store:
    left = missing(gated_cells(at), store)
    run(left, store, lambda todo: rows_from_here(todo, int(jobs)), lambda row: None)
"""


@pytest.fixture
def at(tmp_path):
    return tmp_path / "results.sqlite"


@pytest.fixture(autouse=True)
def path(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", faults.path())


def start(at, jobs=2) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", SCRIPT, str(at), str(jobs)])


def stored(at) -> list[dict]:
    with Store(at) as store:
        return store.load()


def n_stored(at) -> int:
    """The number of rows, while a run writes: a Store would write, too, and one of the two fail."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{at}?mode=ro", uri=True)) as file:
            return file.execute("SELECT count(*) FROM rows").fetchone()[0]
    except sqlite3.OperationalError:  # nothing there yet, or being made
        return 0


def test_failures_are_rows_among_others(at):
    cells = [
        faults.cell("signal", signal=signal.SIGKILL),
        faults.cell("raise"),
        *(faults.cell("nothing", seed) for seed in range(4)),
    ]
    seen = []
    with Store(at) as store:
        assert run(cells, store, lambda todo: rows_from_here(todo, 2), seen.append) == len(cells)
        outcomes = {row["key"]: row["outcome"] for row in store.load()}
        assert missing(cells, store) == []
    assert [outcomes[cell.key] for cell in cells] == ["crash", "error", *["ok"] * 4]
    assert {row.key for row in seen} == set(outcomes)


def end(at, how) -> dict[str, str]:
    """Start a run, end it in the middle; return when each row was made that it leaves."""
    process = start(at)
    wait_until(lambda: n_stored(at) == 3)
    before = stored(at)
    os.kill(process.pid, how)  # of the process alone: its children have to notice
    assert process.wait(timeout=HANGS) != 0
    left = {row["key"]: row["date"] for row in stored(at)}
    assert left == {row["key"]: row["date"] for row in before}
    for pid in {row["extra"]["pid"] for row in before}:
        wait_until(lambda pid=pid: faults.gone(pid))
    return left


def test_an_interrupted_run_keeps_its_rows(at):
    assert len(end(at, signal.SIGINT)) == 3


def test_a_run_that_was_killed_goes_on(at):
    at_the_end = end(at, signal.SIGKILL)
    faults.open_gate(at.parent)
    assert start(at, jobs=1).wait(timeout=HANGS) == 0
    rows = stored(at)
    assert {row["key"] for row in rows} == {cell.key for cell in faults.gated_cells(at)}
    assert len(rows) == 12
    assert {row["outcome"] for row in rows} == {"ok"}
    # What was there was not computed again.
    assert at_the_end.items() <= {row["key"]: row["date"] for row in rows}.items()


def test_the_forecast_learns_from_rows():
    slow = [replace(faults.cell("nothing", seed, limit=10.0), system="slow") for seed in range(4)]
    fast = [faults.cell("nothing", seed, limit=10.0) for seed in range(4)]
    forecast = Forecast(slow + fast, workers=2)
    assert forecast.seconds() == pytest.approx(8 * 10 / 2)
    forecast.done(Row.of(fast[0], "ok", seconds=0.1))
    assert forecast.seconds() == pytest.approx((4 * 10 + 3 * 0.1) / 2)
    forecast.done(Row.of(slow[0], "timeout", seconds=20.0))
    assert forecast.seconds() == pytest.approx((3 * 20 + 3 * 0.1) / 2)


def test_progress_is_lines_where_there_is_no_terminal(clock):
    out = io.StringIO()
    cells = [faults.cell("nothing", seed, limit=5.0) for seed in range(3)]
    with Watch(cells, 1, out) as watch:
        clock.turn(9)
        watch.row(Row.of(cells[0], "ok", seconds=2.0))
        clock.turn(2)
        watch.row(Row.of(cells[1], "ok", seconds=2.0))
        clock.turn(1)
        watch.row(Row.of(cells[2], "crash", seconds=0.0))
    first, last = out.getvalue().splitlines()
    assert first == (
        "2/3 in 0:00:11, about 0:00:02 left, 0 failed; last: faults do=nothing on tic-tac-toe"
    )
    assert last.startswith("3/3 in 0:00:12, about 0:00:00 left, 1 failed")


def test_progress_is_a_bar_on_a_terminal():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    out = Terminal()
    cells = [faults.cell("nothing", seed, limit=5.0) for seed in range(2)]
    with Watch(cells, 1, out) as watch:
        watch.row(Row.of(cells[0], "ok", seconds=2.0))
    assert "1/2" in out.getvalue()
    assert "0:00:02 left" in out.getvalue()
