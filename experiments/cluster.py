"""Cells on a Dask cluster, through dask.distributed itself.

joblib's Dask backend gives up the whole run when one task fails for good. Here every cell is a
future of its own: if a worker dies, the scheduler gives its cells to another, and a cell whose
workers die again and again gets a row that says so.

Workers need this folder on their path, the same environments, and the data:
`PYTHONPATH=. .venv/bin/dask worker ADDRESS --nthreads 1` in a clone of the repository. The
scheduler needs nothing of ours: cells and rows travel as plain text and dictionaries.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import asdict
from typing import Any

from distributed import Client, KilledWorker, as_completed

from experiments.cells import Cell, Row
from experiments.sandbox import Sandboxes

_sandboxes = Sandboxes()  # of a worker: it lives as long as the worker does


def evaluate_here(cell: str) -> dict[str, Any]:
    """Compute a cell in the sandbox of this worker's thread."""
    return asdict(_sandboxes.run(Cell.from_json(cell)))


def _on_worker(cell: str | None) -> dict[str, Any] | None:
    from experiments import cluster

    return None if cell is None else cluster.evaluate_here(cell)


# What is said to be of the main program is sent as code, not as a name to import: the scheduler
# looks at it, too, and would have to find us.
_on_worker.__module__ = "__main__"


def check_workers(client: Client) -> int:
    """Return how many cells are computed at a time; ValueError if workers cannot find us."""
    try:
        client.run(_on_worker, None)
    except ModuleNotFoundError as error:
        raise ValueError(
            f"a worker says: {error}. Start workers in a clone of this repository, with "
            "PYTHONPATH=. and the Python of its .venv."
        ) from error
    return sum(client.nthreads().values())


def rows_from_cluster(cells: list[Cell], client: Client) -> Generator[Row]:
    """Yield rows as they finish, one a cell whatever happens to workers."""
    cell_of = {f"{cell.system}-{cell.key}": cell for cell in cells}
    texts = [cell.to_json() for cell in cells]
    futures = client.map(_on_worker, texts, key=list(cell_of))
    try:
        for future in as_completed(futures):
            try:
                row = Row(**future.result())
            except KilledWorker as error:
                row = Row.of(cell_of[future.key], "crash", f"its Dask workers died: {error}")
            yield row
            future.release()  # the scheduler need not remember what is stored
    finally:
        client.cancel(futures)
