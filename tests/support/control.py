"""What tests turn and press instead of waiting: a clock, Ctrl-C, a terminal, and processes."""

from __future__ import annotations

import contextlib
import itertools
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from maptree import _core

HANGS = 600  # seconds: only what hangs takes as long, on a machine however busy


class Clock:
    """A clock that stands still until it is turned.

    With ``step`` a reading takes seconds; all do, or those at which ``runs`` says so.
    """

    def __init__(self, step: float = 0.0, runs: Callable[[], object] = lambda: True) -> None:
        self.now = 1000.0
        self.step = step
        self.runs = runs

    def __call__(self) -> float:
        if self.step and self.runs():
            self.now += self.step
        return self.now

    def turn(self, seconds: float) -> None:
        self.now += seconds


class TurnedClock:
    """Stands still for some readings; then every reading takes longer than any limit.

    Every thread may read it.
    """

    def __init__(self, late_from: float) -> None:
        self.late_from = late_from
        self.n_read = 0
        self._lock = threading.Lock()

    def __call__(self) -> float:
        with self._lock:
            self.n_read += 1
            return max(0.0, self.n_read - self.late_from) * 1e9


class SlowLabels:
    """Labels that take seconds to read, by this clock."""

    def __init__(self, y: Any, clock: Clock, seconds: float) -> None:
        self._y, self._clock, self._seconds = y, clock, seconds

    def __len__(self) -> int:
        return len(self._y)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        self._clock.turn(self._seconds)
        return np.asarray(self._y, dtype)


class Terminal:
    """A stream that says it is a terminal."""

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass


@contextlib.contextmanager
def turns_where_the_lock_is_free() -> Iterator[None]:
    """Let threads take turns only where one lets go of the interpreter's lock by itself."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(10.0 * HANGS)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def press_ctrl_c(*_: object) -> None:
    """Send this process the signal that Ctrl-C sends."""
    signal.raise_signal(signal.SIGINT)


@contextlib.contextmanager
def ctrl_c_inside(*functions: str, call: int = 1) -> Iterator[None]:
    """Press Ctrl-C when one of these functions of the core works, at this call of them.

    The thread that presses waits for the interpreter's lock, which only the core lets go of.
    """
    entered = threading.Event()
    calls = itertools.count(1)

    def press() -> None:
        entered.wait()
        press_ctrl_c()

    def entering(function: Callable[..., Any]) -> Callable[..., Any]:
        def enter(*arguments: Any, **named: Any) -> Any:
            if next(calls) == call:
                entered.set()
            return function(*arguments, **named)

        return enter

    real = {name: getattr(_core, name) for name in functions}
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with turns_where_the_lock_is_free():
            threading.Thread(target=press, daemon=True).start()
            for name, function in real.items():
                setattr(_core, name, entering(function))
            yield
    finally:
        for name, function in real.items():
            setattr(_core, name, function)
        signal.signal(signal.SIGINT, handler)


def wait_until(happened: Callable[[], object]) -> Any:
    """Ask until the answer is true, and return it."""
    end = time.monotonic() + HANGS
    while not (answer := happened()):
        assert time.monotonic() < end, "it has not happened in ten minutes"
        time.sleep(0.01)
    return answer
