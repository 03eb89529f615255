"""Output: text that fits the terminal, a live panel, or one JSON document."""

from __future__ import annotations

import json
import math
import shutil
import sys
import time
from textwrap import wrap
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TextIO

from maptree.files.controls import json_escaped, shown

if TYPE_CHECKING:
    from rich.panel import Panel as Drawn

    from maptree.engine.progress import Progress

_PIPE_WIDTH = 80
_LEAST_WIDTH = 40
_SECONDS = 0.2  # between drawings: each takes a few milliseconds away from the search


def width(stream: TextIO | None = None) -> int:
    """Return how many characters fit on a line: 80 where there is no terminal."""
    stream = sys.stdout if stream is None else stream
    columns = shutil.get_terminal_size().columns if stream.isatty() else _PIPE_WIDTH
    return max(_LEAST_WIDTH, columns)


def say(text: str = "", stream: TextIO | None = None, indent: str = "") -> None:
    """Print text with wrapped lines; continuation lines are indented further."""
    stream = sys.stdout if stream is None else stream
    for line in text.split("\n"):
        print("\n".join(fold(shown(line), width(stream), indent)), file=stream)


def heading(text: str) -> None:
    """Print the title of a section, bold on a terminal."""
    bold = ("\033[1m", "\033[0m") if _has_colour(sys.stdout) else ("", "")
    print(f"\n{bold[0]}{text}{bold[1]}")


def _has_colour(stream: TextIO) -> bool:
    from rich.console import Console

    console = Console(file=stream)
    return console.is_terminal and not console.no_color and console.color_system is not None


def note(text: str) -> None:
    """Print a remark that is not part of the output to standard error."""
    say(text, stream=sys.stderr)


def fold(line: str, columns: int, indent: str = "") -> list[str]:
    """Wrap one line of text or of a tree, without dropping any words.

    >>> fold("| | colour not in {blue, red}: yes", 24)
    ['| | colour not in {blue,', '| |     red}: yes']
    """
    start = line[: len(line) - len(line.lstrip("| "))]
    below = f"{start}{indent or ('    ' if start else '')}"
    return wrap(
        line,
        max(columns, len(below) + 20),
        subsequent_indent=below,
        break_on_hyphens=False,
        drop_whitespace=True,
    ) or [""]


def emit(document: dict[str, Any]) -> None:
    """Print the one JSON document of ``--json``."""
    text = json.dumps(_plain(document), indent=2, ensure_ascii=False, allow_nan=False)
    print(json_escaped(text))


def _plain(value: Any) -> Any:
    """Return what JSON can hold; infinities as text."""
    if isinstance(value, dict):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if hasattr(value, "item"):  # a number of numpy
        value = value.item()
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def complain(message: str, code: int, as_json: bool) -> int:
    """Print an error to standard error, or as JSON; return the exit code."""
    if as_json:
        emit({"error": {"code": code, "message": message}})
    else:
        say(f"maptree: {message}", stream=sys.stderr)
    return code


class Panel:
    """Shows the state of a search on standard error; pass its ``update`` to fit as callback."""

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
        """What to pass as ``callback``: None where there is no terminal."""
        return None if self._live is None else self

    def __call__(self, progress: Progress) -> bool:
        """Draw at intervals; never stop the search."""
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

    from maptree.words.nats import gap_text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(justify="left")
    grid.add_column(justify="left")
    of = "" if limit is None else f" of {limit:g} s"
    searched = math.isfinite(progress.log_posterior)
    depth = "every depth" if math.isinf(progress.proved_depth) else f"{progress.proved_depth:.0f}"
    for name, value in (
        ("elapsed", f"{progress.seconds:.1f} s{of}"),
        ("best log posterior", f"{progress.log_posterior:.3f}" if searched else "-"),
        ("upper bound", f"{progress.log_posterior_bound:.3f}"),
        ("gap", f"{gap_text(progress.gap, 3)} nats" if searched else "-"),
        ("proved to depth", depth),
        ("leaves", f"{progress.n_leaves:,}" if searched else "-"),
    ):
        grid.add_row(name, value)
    return RichPanel(
        grid,
        title=title,
        subtitle="Ctrl-C keeps the best tree so far",
        width=60,
        padding=(0, 1),
    )
