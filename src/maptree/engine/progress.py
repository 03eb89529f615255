"""Progress of a running fit: for the user's callback, and as a line on the terminal."""

from __future__ import annotations

import contextlib
import math
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Self, TextIO, TypeVar

from maptree import _core
from maptree.engine.interrupts import Noted, raising
from maptree.words.nats import gap_text

# Seconds between lines where the output is not a terminal.
_LINE_SECONDS = 5.0

Now = TypeVar("Now")  # the core's progress
Seen = TypeVar("Seen")  # the user's


@dataclass(frozen=True)
class Progress:
    """The state of a running search, as ``callback`` receives it.

    Attributes
    ----------
    seconds : float
        Since the start of ``fit``.
    expansions, subproblems : int
        Work done so far.
    log_posterior : float
        Of the best tree so far.
    log_posterior_bound : float
        No tree has a log posterior above this.
    gap : float
        ``log_posterior_bound - log_posterior``.
    proved_depth : float
        No tree of this depth or less is more probable than the best so far.
    bytes : int
        Memory held now.
    n_leaves : int
        Of the best tree so far; 0 before there is one.
    """

    seconds: float
    expansions: int
    subproblems: int
    log_posterior: float
    log_posterior_bound: float
    gap: float
    proved_depth: float
    bytes: int
    n_leaves: int

    @classmethod
    def of(
        cls, now: _core.Progress, earlier_seconds: float, held_bytes: int, constant: float
    ) -> Self:
        """Add the time and memory used before, and a constant cost, to the core's numbers."""
        return cls(
            seconds=earlier_seconds + now.seconds,
            expansions=now.expansions,
            subproblems=now.subproblems,
            log_posterior=-now.upper - constant,
            log_posterior_bound=-now.lower - constant,
            gap=max(0.0, now.upper - now.lower),
            proved_depth=depth_of(now.proved_depth),
            bytes=held_bytes + now.bytes,
            n_leaves=now.leaves,
        )

    def __str__(self) -> str:
        return (
            f"{self.seconds:6.1f} s | {self.expansions:,} expansions | "
            f"best {self.log_posterior:.2f} | gap {gap_text(self.gap, 2)} | "
            f"proved to depth {self.proved_depth}"
        )


@dataclass(frozen=True)
class SamplerProgress:
    """The state of a running sampler, as ``callback`` receives it.

    Attributes
    ----------
    seconds : float
        Since the start of ``fit``.
    steps, total_steps : int
        Work done so far, and in total; 0 if the total is unknown. A step is an iteration of a
        chain, or a node that a particle has decided.
    log_posterior : float
        Of the best tree so far.
    """

    seconds: float
    steps: int
    total_steps: int
    log_posterior: float

    @classmethod
    def of(cls, now: _core.SampleProgress, earlier_seconds: float, earlier_steps: int) -> Self:
        """Add what was used before this round of sampling to the core's numbers."""
        return cls(
            earlier_seconds + now.seconds,
            earlier_steps + now.steps,
            earlier_steps + now.total_steps if now.total_steps else 0,
            now.log_posterior,
        )

    def __str__(self) -> str:
        of = f" of {self.total_steps:,}" if self.total_steps else ""
        return f"{self.seconds:6.1f} s | {self.steps:,}{of} steps | best {self.log_posterior:.2f}"


@dataclass(frozen=True)
class AlternativesProgress:
    """The state of ``alternatives`` while it runs, as ``callback`` receives it.

    Attributes
    ----------
    seconds : float
        Since the start of ``alternatives``.
    expansions : int
        Work done so far.
    found, examined : int
        Trees listed so far, and trees found, including those that do not satisfy a wish.
    log_posterior : float
        Of the most probable tree; ``-inf`` until that is proved.
    log_posterior_bound : float
        No tree that parts the rows in another way than those found has a log posterior above this.
    bytes : int
        Memory held now.
    """

    seconds: float
    expansions: int
    found: int
    examined: int
    log_posterior: float
    log_posterior_bound: float
    bytes: int

    @classmethod
    def of(
        cls, now: _core.RivalProgress, earlier_seconds: float, held_bytes: int, constant: float
    ) -> Self:
        """Add the time and memory used before, and a constant cost, to the core's numbers."""
        return cls(
            seconds=earlier_seconds + now.seconds,
            expansions=now.expansions,
            found=now.found,
            examined=now.examined,
            log_posterior=-now.best - constant,
            log_posterior_bound=0.0 - now.complete - constant,
            bytes=held_bytes + now.bytes,
        )

    def __str__(self) -> str:
        if math.isinf(self.log_posterior):
            found = f"no tree exceeds {self.log_posterior_bound:.2f}"
        else:
            nats = max(0.0, self.log_posterior - self.log_posterior_bound)
            found = f"{self.found:,} trees | complete to {nats:.2f} nats below the best"
        return f"{self.seconds:6.1f} s | {self.expansions:,} expansions | {found}"


def depth_of(proved_depth: int) -> float:
    """Return a proved depth as users see it: the core's -1 means every depth.

    >>> depth_of(3), depth_of(-1)
    (3, inf)
    """
    return math.inf if proved_depth < 0 else proved_depth


class Monitor(Generic[Now, Seen]):
    """What the core calls while it works. Returning true stops it."""

    def __init__(
        self,
        callback: Callable[[Seen], object] | None,
        line: ProgressLine | None,
        read: Callable[[Now], Seen],
        interrupt: Noted,
    ) -> None:
        self._callback = callback
        self._line = line
        self._read = read
        self._interrupt = interrupt
        self.stopped_by_callback = False

    def __call__(self, now: Now) -> bool:
        """Report progress; return whether to stop."""
        if self._callback is not None or self._line is not None:
            try:
                self.stopped_by_callback = raising(self._report, now)
            except KeyboardInterrupt:
                # Ctrl-C that arrives while Python runs has the same effect as in the core: stop,
                # and keep the results so far.
                return True
        return self.stopped_by_callback or self._interrupt.arrived()

    def _report(self, now: Now) -> bool:
        progress = self._read(now)
        if self._line is not None:
            self._line.show(str(progress))
        return self._callback is not None and bool(self._callback(progress))


class ProgressLine:
    r"""One line that is overwritten on a terminal; elsewhere, a new line every few seconds.

    >>> import io
    >>> out = io.StringIO()
    >>> line = ProgressLine(out)
    >>> line.show("not printed: this is not a terminal, and the interval has not passed")
    >>> line.close("done")
    >>> out.getvalue()
    'done\n'
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._terminal = self._stream is not None and self._stream.isatty()
        self._width = 0
        self._last = time.monotonic()

    def show(self, text: str) -> None:
        """Show the current state."""
        if self._terminal:
            # A line that wraps cannot be overwritten; padding erases the rest of a longer line.
            text = text[: shutil.get_terminal_size().columns - 1]
            self._write("\r" + text.ljust(self._width))
            self._width = len(text)
        elif time.monotonic() - self._last >= _LINE_SECONDS:
            self._write(text + "\n")
            self._last = time.monotonic()

    def close(self, text: str) -> None:
        """Show the last state and end the line."""
        self._write(("\r" if self._terminal else "") + text.ljust(self._width) + "\n")

    def _write(self, text: str) -> None:
        # A stream that is gone, full or closed is no reason to lose a search.
        with contextlib.suppress(OSError, ValueError):
            if self._stream is not None:
                self._stream.write(text)
                self._stream.flush()
