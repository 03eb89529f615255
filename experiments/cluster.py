"""Cells on a Dask cluster, through dask.distributed itself.

joblib's Dask backend aborts the whole run when one task fails permanently. Here every cell is a
separate future: if a worker dies, the scheduler gives its cells to another, and a cell whose
workers die repeatedly gets a row that says so.

Workers need this folder on their path, the same environments, and the data:
`PYTHONPATH=. .venv/bin/dask worker ADDRESS --nthreads 1` in a clone of the repository. One that
joins later without that path returns its cells. The scheduler needs none of our code: cells and
rows travel as plain text and dictionaries.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Generator
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from distributed import CancelledError, Client, Future, KilledWorker, as_completed

from experiments.cells import Cell, Row
from experiments.sandbox import Sandboxes

START_WORKERS = (
    "Start workers in a clone of this repository, with PYTHONPATH=. and the Python of its .venv."
)
_sandboxes = Sandboxes()  # of a worker: it lives as long as the worker does


def evaluate_here(cell: str) -> dict[str, Any]:
    """Compute a cell in the sandbox of this worker's thread."""
    return asdict(_sandboxes.run(Cell.from_json(cell)))


def _on_worker(cell: str | None) -> dict[str, Any]:
    """Return a row, or the reason why this worker cannot compute any."""
    try:
        from experiments import cluster
    except ImportError as error:
        if cell is None:
            raise
        import time

        from distributed import get_worker

        time.sleep(1)  # or it would be given all cells, being the fastest
        return {"unfit": get_worker().address, "reason": str(error)}
    return {} if cell is None else cluster.evaluate_here(cell)


# Functions of the main program are sent as code, not as a name to import: the scheduler reads
# them, too, and could not import our modules.
_on_worker.__module__ = "__main__"


def quiet_dask() -> None:
    """Keep Dask's loggers from writing tracebacks when the scheduler is lost: we say it in a line.

    Which of them would write depends on what was being sent at that moment, so all are told.
    """
    for name in ["distributed", "tornado", *logging.root.manager.loggerDict]:
        if name.partition(".")[0] in ("distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL)


def check_workers(client: Client, patience: float = 60.0) -> int:
    """Wait for a worker; return how many cells are computed at a time.

    Raises TimeoutError if none comes within ``patience`` seconds, ValueError if one cannot import
    our modules.
    """
    address = _address(client)
    if not client.nthreads():
        print(f"waiting for workers at {address}", file=sys.stderr, flush=True)
        try:
            client.wait_for_workers(1, timeout=patience)
        except TimeoutError as error:
            text = f"no worker joined {address} in {patience:g} s. {START_WORKERS}"
            raise TimeoutError(text) from error
    try:
        client.run(_on_worker, None)
    except ImportError as error:
        raise ValueError(f"a worker reports: {error}. {START_WORKERS}") from error
    return sum(client.nthreads().values())


def rows_from_cluster(cells: list[Cell], client: Client) -> Generator[Row]:
    """Yield rows as they finish, one per cell, whatever happens to workers.

    Raises ConnectionError if the scheduler is gone.
    """
    address = _address(client)
    texts = [cell.to_json() for cell in cells]
    keys = [f"{cell.system}-{cell.key}" for cell in cells]
    cell_of = dict(zip(keys, cells, strict=True))
    waiting = set(client.map(_on_worker, texts, key=keys))
    finished = as_completed(waiting)
    unfit: set[str] = set()
    try:
        for future in finished:
            waiting.remove(future)
            cell = cell_of.pop(future.key)
            row = _row(future, cell, client, address)
            if isinstance(row, Row):
                yield row
                future.release()  # it is stored, so the scheduler can forget it
                continue
            unfit.add(row["unfit"])
            others = set(client.nthreads()) - unfit
            if not others:
                yield Row.of(cell, "missing", f"a Dask worker reports: {row['reason']}")
                continue
            # Preferred, not required: they may be gone by then, and new workers may have joined.
            again = client.submit(
                _on_worker,
                cell.to_json(),
                key=f"{future.key}'",
                workers=list(others),
                allow_other_workers=True,
            )
            cell_of[again.key] = cell
            waiting.add(again)
            finished.add(again)
    finally:
        with suppress(Exception):  # there may be nobody left to tell
            client.cancel(list(waiting))


def _row(future: Future, cell: Cell, client: Client, address: str) -> Row | dict[str, Any]:
    """Return the result of a future: a row, or what an unfit worker reports."""
    try:
        answer: dict[str, Any] = future.result()
    except KilledWorker as error:
        return Row.of(cell, "crash", f"its Dask workers died: {error}")
    except Exception as error:
        if isinstance(error, CancelledError) or client.status != "running":
            raise ConnectionError(
                f"the connection to {address} was lost; finished cells are stored, run again to "
                "continue"
            ) from error
        # Of the worker, not of the system: it may go well the next time.
        return Row.of(cell, "missing", f"its Dask worker: {type(error).__name__}: {error}")
    return answer if "unfit" in answer else Row(**answer)


def _address(client: Client) -> str:
    return str(client.scheduler.address)
