"""Runs on a Dask cluster: a scheduler and workers as processes on loopback, some of which die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack

import pytest
from distributed import Client

import faulty
from experiments.cluster import check_workers, rows_from_cluster
from experiments.run import missing, run
from experiments.store import Store

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


class Cluster:
    """A scheduler, workers without a nanny, and a client."""

    def __init__(self, stack: ExitStack, folder, workers: int, failures: int) -> None:
        self._stack = stack
        self._variables = os.environ | {
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(failures),
        }
        self._file = folder / "scheduler.json"
        local = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        scheduler = self._start("dask_scheduler", *local)
        while not self._file.exists():
            assert scheduler.poll() is None
            time.sleep(0.05)
        alone = ("--nthreads", "1", "--no-nanny", "--no-dashboard")
        self.workers = [self._start("dask_worker", *alone) for _ in range(workers)]
        self.client = stack.enter_context(Client(scheduler_file=str(self._file), timeout=60))
        self.client.wait_for_workers(workers, timeout=60)

    def _start(self, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{program}", *arguments]
        # The scheduler does not find us, and need not.
        found = {"PYTHONPATH": faulty.path() if program == "dask_worker" else ""}
        process = subprocess.Popen(
            [*command, "--scheduler-file", str(self._file)],
            cwd=self._file.parent,
            env=self._variables | found,
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
    cells = [faulty.cell("sleep", seed, seconds=0.2) for seed in range(20)]
    cells += [faulty.cell("signal", signal=signal.SIGSEGV), faulty.cell("raise")]
    victim = cluster.workers[0]
    rows = []

    def seen(row) -> None:
        rows.append(row)
        by_victim = [row for row in rows if row.extra.get("parent") == victim.pid]
        if len(by_victim) == 2 and victim.poll() is None:
            victim.kill()  # with one cell under way, and perhaps a row that nobody has fetched

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
        deadline = time.monotonic() + 10
        while not faulty.gone(pid):
            assert time.monotonic() < deadline
            time.sleep(0.02)


def test_a_cell_whose_workers_die_gets_a_row(cluster, tmp_path):
    cluster = cluster(workers=1, failures=0)
    poison = faulty.cell("signal the parent", signal=signal.SIGKILL)
    (row,) = rows_from_cluster([poison], cluster.client)
    assert (row.key, row.outcome) == (poison.key, "crash")
    assert row.reason.startswith("its Dask workers died")
