"""Cells on a Dask cluster, through dask.distributed itself.

joblib's Dask backend gives up the whole run when one task fails for good. Here every cell is a
future of its own: if a worker dies, the scheduler gives its cells to another, and a cell whose
workers die again and again gets a row that says so.

Workers need this folder on their path, the same environments, and the data:
`PYTHONPATH=. .venv/bin/dask worker ADDRESS --nthreads 1` in a clone of the repository.
"""

from __future__ import annotations

from collections.abc import Generator

from distributed import Client, KilledWorker, as_completed

from experiments.cells import Cell, Row
from experiments.sandbox import Sandboxes

_sandboxes = Sandboxes()  # of a worker: it lives as long as the worker does


def evaluate_on_worker(cell: Cell) -> Row:
    """Compute a cell in the sandbox of this worker's thread."""
    return _sandboxes.run(cell)


def check_workers(client: Client) -> int:
    """Return how many cells are computed at a time; ValueError if workers cannot find us."""
    try:
        client.run(_find)
    except ModuleNotFoundError as error:
        raise ValueError(
            f"a worker says: {error}. Start workers in a clone of this repository, with "
            "PYTHONPATH=. and the Python of its .venv."
        ) from error
    return sum(client.nthreads().values())


def _find() -> None:
    """Nothing to do: that it is found on the worker is enough."""


def rows_from_cluster(cells: list[Cell], client: Client) -> Generator[Row]:
    """Yield rows as they finish, one a cell whatever happens to workers."""
    keys = [f"{cell.system}-{cell.key}" for cell in cells]
    # Not in batches: a batch that is under way on a worker would be lost as one.
    futures = client.map(evaluate_on_worker, cells, key=keys)
    cell_of = dict(zip(keys, cells, strict=True))
    try:
        for future in as_completed(futures):
            try:
                row = future.result()
            except KilledWorker as error:
                row = Row.of(cell_of[future.key], "crash", f"its Dask workers died: {error}")
            yield row
            future.release()  # the scheduler need not remember what is stored
    finally:
        client.cancel(futures)
