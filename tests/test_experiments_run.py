"""Whole runs on this machine: finished, killed and continued, interrupted."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

import faulty
from experiments import progress
from experiments.cells import Row
from experiments.local import rows_from_here
from experiments.progress import Forecast, Watch
from experiments.run import missing, run
from experiments.store import Store

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes of POSIX")

NAPS = [faulty.cell("sleep", seed, seconds=0.3) for seed in range(12)]
# A run that can be killed: it goes on where the last one ended.
SCRIPT = """
import sys
import faulty
from experiments.local import rows_from_here
from experiments.run import missing, run
from experiments.store import Store
from test_experiments_run import NAPS

with Store(sys.argv[1]) as store:
    left = missing(NAPS, store)
    run(left, store, lambda todo: rows_from_here(todo, int(sys.argv[2])), lambda row: None)
"""


@pytest.fixture
def at(tmp_path):
    return tmp_path / "results.sqlite"


@pytest.fixture(autouse=True)
def path(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", faulty.path())


def start(at, jobs=2) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", SCRIPT, str(at), str(jobs)])


def wait_for_rows(at, count) -> list[dict]:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if at.exists():
            with Store(at) as store:
                rows = store.load()
            if len(rows) >= count:
                return rows
        time.sleep(0.05)
    raise AssertionError(f"no {count} rows within a minute")


def test_failures_are_rows_among_others(at):
    cells = [
        faulty.cell("signal", signal=signal.SIGKILL),
        faulty.cell("raise"),
        *(faulty.cell("nothing", seed) for seed in range(10)),
    ]
    seen = []
    with Store(at) as store:
        assert run(cells, store, lambda todo: rows_from_here(todo, 2), seen.append) == len(cells)
        outcomes = {row["key"]: row["outcome"] for row in store.load()}
        assert missing(cells, store) == []
    assert [outcomes[cell.key] for cell in cells] == ["crash", "error", *["ok"] * 10]
    assert {row.key for row in seen} == set(outcomes)


def end(at, how) -> dict[str, str]:
    """Start a run, end it in the middle; return when each row was made that it leaves."""
    process = start(at)
    before = wait_for_rows(at, 3)
    os.kill(process.pid, how)  # of the process alone: its children have to notice
    stopped = time.monotonic()
    assert process.wait(timeout=30) != 0
    assert time.monotonic() - stopped < 10
    with Store(at) as store:
        left = {row["key"]: row["date"] for row in store.load()}
    assert len(before) <= len(left) < len(NAPS)
    for pid in {row["extra"]["pid"] for row in before}:
        wait_until_gone(pid)
    return left


def test_an_interrupted_run_keeps_its_rows(at):
    assert len(end(at, signal.SIGINT)) >= 3


def test_a_run_that_was_killed_goes_on(at):
    at_the_end = end(at, signal.SIGKILL)
    assert start(at, jobs=1).wait(timeout=60) == 0
    with Store(at) as store:
        rows = store.load()
    assert {row["key"] for row in rows} == {cell.key for cell in NAPS}
    assert len(rows) == len(NAPS)
    assert {row["outcome"] for row in rows} == {"ok"}
    # What was there was not computed again.
    assert at_the_end.items() <= {row["key"]: row["date"] for row in rows}.items()


def wait_until_gone(pid) -> None:
    deadline = time.monotonic() + 10
    while not faulty.gone(pid):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_the_forecast_learns_from_rows():
    slow = [replace(faulty.cell("nothing", seed, limit=10.0), system="slow") for seed in range(4)]
    fast = [faulty.cell("nothing", seed, limit=10.0) for seed in range(4)]
    forecast = Forecast(slow + fast, workers=2)
    assert forecast.seconds() == pytest.approx(8 * 10 / 2)
    forecast.done(Row.of(fast[0], "ok", seconds=0.1))
    assert forecast.seconds() == pytest.approx((4 * 10 + 3 * 0.1) / 2)
    forecast.done(Row.of(slow[0], "timeout", seconds=20.0))
    assert forecast.seconds() == pytest.approx((3 * 20 + 3 * 0.1) / 2)


def test_progress_is_lines_where_there_is_no_terminal(monkeypatch):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    out = io.StringIO()
    cells = [faulty.cell("nothing", seed, limit=5.0) for seed in range(2)]
    with Watch(cells, 1, out) as watch:
        watch.row(Row.of(cells[0], "ok", seconds=2.0))
        watch.row(Row.of(cells[1], "crash", seconds=0.0))
    first, last = out.getvalue().splitlines()
    assert first == (
        "1/2 in 0:00:00, about 0:00:02 left, 0 failed; last: faults do=nothing on tic-tac-toe"
    )
    assert last.startswith("2/2 in 0:00:00, about 0:00:00 left, 1 failed")


def test_progress_is_a_bar_on_a_terminal():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    out = Terminal()
    cells = [faulty.cell("nothing", seed, limit=5.0) for seed in range(2)]
    with Watch(cells, 1, out) as watch:
        watch.row(Row.of(cells[0], "ok", seconds=2.0))
    assert "1/2" in out.getvalue()
    assert "0:00:02 left" in out.getvalue()
