"""Runs on a Dask cluster: a scheduler and workers as processes on loopback, some of which die."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import ExitStack

import pytest

import faults
from control import HANGS, wait_until
from experiments.run import missing, run
from experiments.store import Store

Client = pytest.importorskip("distributed", reason="left to make test-all").Client
from experiments.cluster import check_workers, rows_from_cluster  # noqa: E402 (needs it)

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX"),
]


class Cluster:
    """A scheduler, workers without a nanny, and a client."""

    def __init__(self, stack: ExitStack, folder, workers: int, failures: int) -> None:
        self._stack = stack
        self._variables = os.environ | {
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(failures),
        }
        self._file = folder / "scheduler.json"
        local = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        # The scheduler does not find us, and need not.
        self.scheduler = self._start("dask_scheduler", "", *local)
        # It is there before it is written.
        written = lambda: self._file.exists() and self._file.read_text().endswith("}")  # noqa: E731
        wait_until(lambda: written() or self.scheduler.poll() is not None)
        self.address = json.loads(self._file.read_text())["address"]
        self.workers = [self.start_worker() for _ in range(workers)]
        self.client = stack.enter_context(Client(scheduler_file=str(self._file), timeout=HANGS))
        if workers:
            self.client.wait_for_workers(workers, timeout=HANGS)

    def start_worker(self, path: str | None = None) -> subprocess.Popen[bytes]:
        alone = ("--nthreads", "1", "--no-nanny", "--no-dashboard")
        return self._start("dask_worker", faults.path() if path is None else path, *alone)

    def _start(self, program: str, path: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{program}", *arguments]
        process = subprocess.Popen(
            [*command, "--scheduler-file", str(self._file)],
            cwd=self._file.parent,
            env=self._variables | {"PYTHONPATH": path},
            stderr=subprocess.DEVNULL,
        )
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        return process


@pytest.fixture
def cluster(tmp_path):
    with ExitStack() as stack:
        yield lambda workers, failures=3: Cluster(stack, tmp_path, workers, failures)


def test_a_worker_that_dies_in_the_middle_costs_no_row(cluster, tmp_path):
    cluster = cluster(workers=2)
    assert check_workers(cluster.client) == 2
    # Each worker completes two of them, and has a third under way when the victim dies.
    cells = [faults.gate(tmp_path, free=2, seed=seed) for seed in range(20)]
    cells += [faults.cell("signal", signal=signal.SIGSEGV), faults.cell("raise")]
    victim = cluster.workers[0]
    rows = []

    def seen(row) -> None:
        rows.append(row)
        by_victim = [row for row in rows if row.extra.get("parent") == victim.pid]
        if len(by_victim) == 2 and victim.poll() is None:
            victim.kill()
            faults.open_gate(tmp_path)

    with Store(tmp_path / "results.sqlite") as store:
        run(cells, store, lambda todo: rows_from_cluster(todo, cluster.client), seen)
        assert missing(cells, store) == []
        stored = store.load()
    assert victim.poll() == -signal.SIGKILL
    keys = [row.key for row in rows]
    assert len(keys) == len(set(keys)) == len(stored) == len(cells)
    outcomes = [row["outcome"] for row in stored]
    assert (outcomes.count("ok"), outcomes.count("crash"), outcomes.count("error")) == (20, 1, 1)
    workers = {row["extra"]["parent"] for row in stored if row["outcome"] == "ok"}
    assert workers == {worker.pid for worker in cluster.workers}
    # The system that ran on the dead worker has gone with it.
    for pid in {row.extra["pid"] for row in rows if row.extra.get("parent") == victim.pid}:
        wait_until(lambda pid=pid: faults.gone(pid))


def test_a_cell_whose_workers_die_gets_a_row(cluster, tmp_path):
    cluster = cluster(workers=1, failures=0)
    poison = faults.cell("signal the parent", signal=signal.SIGKILL)
    (row,) = rows_from_cluster([poison], cluster.client)
    assert (row.key, row.outcome) == (poison.key, "crash")
    assert row.reason.startswith("its Dask workers died")


def test_a_worker_that_joins_later_without_the_package_costs_no_row(cluster, monkeypatch, tmp_path):
    cluster = cluster(workers=1)
    handed_back = []

    def submit(*what, submit=cluster.client.submit, **how):
        handed_back.append(what)
        faults.open_gate(tmp_path)
        return submit(*what, **how)

    monkeypatch.setattr(cluster.client, "submit", submit)
    cluster.start_worker(path="")  # after the workers were checked
    cluster.client.wait_for_workers(2, timeout=HANGS)
    # The worker that can compute cells is busy with one, so that the other is given some, too.
    cells = [faults.gate(tmp_path, free=0, seed=seed) for seed in range(8)]
    rows = list(rows_from_cluster(cells, cluster.client))
    assert {row.key for row in rows} == {cell.key for cell in cells}
    assert [row.outcome for row in rows] == ["ok"] * len(cells)
    assert handed_back


def test_cells_are_missing_if_no_worker_has_the_package(cluster):
    cluster = cluster(workers=0)
    cluster.start_worker(path="")
    with pytest.raises(ValueError, match="a worker reports: No module named 'experiments'"):
        check_workers(cluster.client)
    (row,) = rows_from_cluster([faults.cell("nothing")], cluster.client)
    assert (row.outcome, row.reason) == (
        "missing",
        "a Dask worker reports: No module named 'experiments'",
    )


def test_a_scheduler_without_workers_is_not_waited_for_without_end(cluster, capsys):
    cluster = cluster(workers=0)
    with pytest.raises(TimeoutError, match=f"no worker joined {cluster.address} in 0.1 s"):
        check_workers(cluster.client, patience=0.1)
    assert f"waiting for workers at {cluster.address}" in capsys.readouterr().err


def test_a_scheduler_that_dies_ends_the_run_with_one_line(cluster, tmp_path):
    cluster = cluster(workers=1)
    words = ["run", "--family", "synthetic", "--systems", "maptree", "--dask", cluster.address]
    run = subprocess.Popen(
        [sys.executable, "-m", "experiments", *words, "--results", str(tmp_path)],
        env=os.environ | {"PYTHONPATH": faults.path()},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    at = tmp_path / "results.sqlite"

    def rows() -> int:
        with Store(at) as store:
            return len(store.load())

    before = wait_until(rows)
    cluster.scheduler.kill()
    printed, said = run.communicate(timeout=HANGS)
    assert run.returncode == 1
    assert (
        f"Not run: the connection to {cluster.address} was lost; finished cells are stored, run "
        "again to continue\n"
    ) in said
    assert "Traceback" not in said
    assert "maptree" in printed
    assert before <= rows() < 45


def test_a_lost_connection_makes_no_logger_of_dask_write():
    # In a process of its own, because the levels of loggers are the whole process's.
    words = """
import logging
from distributed import Client, batched, comm
from experiments.cluster import quiet_dask
quiet_dask()
for name in list(logging.root.manager.loggerDict):
    if name.startswith(("distributed", "tornado")):
        logging.getLogger(name).error(name)
"""
    run = subprocess.run(
        [sys.executable, "-c", words],
        env=os.environ | {"PYTHONPATH": faults.path()},
        capture_output=True,
        text=True,
        timeout=HANGS,
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
