"""The live panel of a running search, where there is a terminal."""

from __future__ import annotations

import math
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from maptree.progress import Progress

if TYPE_CHECKING:
    from rich.panel import Panel as Drawn

_SECONDS = 0.2  # between drawings: a drawing takes a few milliseconds, in the search's time


class Panel:
    """Shows the state of a search on standard error; its ``update`` is a fit's callback."""

    def __init__(self, title: str, time_limit: float | None) -> None:
        self._title = title
        self._limit = time_limit
        self._last = -math.inf
        self._live = None
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            console = Console(stderr=True)
            self._live = Live(console=console, auto_refresh=False, transient=True)

    @property
    def update(self) -> Panel | None:
        """What to pass as ``callback``: nothing where nobody looks."""
        return None if self._live is None else self

    def __call__(self, progress: Progress) -> bool:
        """Draw now and then; never stop the search."""
        now = time.monotonic()
        if self._live is not None and now - self._last >= _SECONDS:
            self._live.update(draw(progress, self._title, self._limit), refresh=True)
            self._last = time.monotonic()
        return False

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()


def draw(progress: Progress, title: str, limit: float | None) -> Drawn:
    """Return the state of a search as a panel."""
    from rich.panel import Panel as RichPanel
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    grid.add_column(justify="left")
    grid.add_column(justify="left")
    of = "" if limit is None else f" of {limit:g} s"
    searched = math.isfinite(progress.log_posterior)
    depth = "every depth" if math.isinf(progress.proved_depth) else f"{progress.proved_depth:.0f}"
    for name, value in (
        ("elapsed", f"{progress.seconds:.1f} s{of}"),
        ("best log posterior", f"{progress.log_posterior:.3f}" if searched else "-"),
        ("bound on every tree", f"{progress.log_posterior_bound:.3f}"),
        ("gap", f"{progress.gap:.3f} nats" if searched else "-"),
        ("proved to depth", depth),
        ("leaves of the tree", f"{progress.n_leaves:,}" if searched else "-"),
    ):
        grid.add_row(name, value)
    return RichPanel(
        grid,
        title=title,
        subtitle="Ctrl-C keeps the best tree so far",
        width=60,
        padding=(0, 1),
    )
