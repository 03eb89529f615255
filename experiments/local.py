"""Cells on this machine: joblib threads, each with its own processes for its cells.

Threads, because they only wait: the work is done in the children of their sandboxes, which can be
killed and replaced one by one. A process pool fails as a whole when one of its members dies.
"""

from __future__ import annotations

from collections.abc import Generator

from joblib import Parallel, delayed

from experiments.cells import Cell, Row
from experiments.sandbox import Sandboxes


def rows_from_here(cells: list[Cell], jobs: int, max_bytes: int | None = None) -> Generator[Row]:
    """Yield rows as they finish; closing the iterator ends all processes at once."""
    sandboxes = Sandboxes(max_bytes)
    parallel = Parallel(
        n_jobs=jobs, backend="threading", batch_size=1, return_as="generator_unordered"
    )
    try:
        yield from parallel(delayed(sandboxes.run)(cell) for cell in cells)
    finally:
        sandboxes.close()
