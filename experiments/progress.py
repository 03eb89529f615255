"""Progress of a run and its expected end: a bar on a terminal, occasional lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Iterable
from datetime import timedelta
from typing import Self, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from experiments.cells import Cell, Row

LINE_SECONDS = 10.0
FIRST_GUESS = 1.0  # seconds for a cell of which nothing is known


class Forecast:
    """Estimates the seconds left. Cells differ by a factor of 1000, so counting them would mislead.

    A cell is expected to take the mean time of its family and system so far, or else its limit.
    """

    def __init__(self, cells: Iterable[Cell], workers: int) -> None:
        self._left = {cell.key: cell for cell in cells}
        self._workers = max(1, workers)
        self._taken: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])

    def done(self, row: Row) -> None:
        """Record a row."""
        if self._left.pop(row.key, None) is not None:
            known = self._taken[row.family, row.system]
            known[0] += row.seconds or 0.0
            known[1] += 1

    def seconds(self) -> float:
        """Return the estimate."""
        return sum(map(self._guess, self._left.values())) / self._workers

    def _guess(self, cell: Cell) -> float:
        total, count = self._taken.get((cell.family, cell.system), (0.0, 0.0))
        if count:
            return total / count
        return FIRST_GUESS if cell.limit is None else cell.limit


class Watch:
    """Shows rows as they come."""

    def __init__(self, cells: list[Cell], workers: int, out: TextIO | None = None) -> None:
        self._out = sys.stderr if out is None else out
        self._forecast = Forecast(cells, workers)
        self._names = {cell.key: cell.name for cell in cells}
        self._total = len(cells)
        self._done = self._failed = 0
        self._started = self._last = time.monotonic()
        self._bar = None
        if self._out.isatty():
            self._bar = Progress(
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.fields[left]} left,"),
                TextColumn("{task.fields[failed]} failed | {task.description}"),
                console=Console(file=self._out),
            )
            self._task = self._bar.add_task("", total=self._total, left="?", failed=0)

    def row(self, row: Row) -> None:
        """Show a row that was stored."""
        self._done += 1
        self._failed += row.outcome != "ok"
        self._forecast.done(row)
        name = self._names.get(row.key, row.system)
        now = time.monotonic()
        if self._bar is not None:
            self._bar.update(
                self._task, advance=1, description=name, left=self._left(), failed=self._failed
            )
        elif now - self._last >= LINE_SECONDS or self._done == self._total:
            self._last = now
            print(self._line(name), file=self._out, flush=True)

    def _line(self, name: str) -> str:
        return (
            f"{self._done}/{self._total} in {_clock(time.monotonic() - self._started)}, "
            f"about {self._left()} left, {self._failed} failed; last: {name}"
        )

    def _left(self) -> str:
        return _clock(self._forecast.seconds())

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()


def _clock(seconds: float) -> str:
    """Write a duration.

    >>> _clock(75.4)
    '0:01:15'
    """
    return str(timedelta(seconds=int(seconds)))
