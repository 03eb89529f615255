"""Ctrl-C while there is a result to keep: noted, and answered once the result is kept.

Python raises KeyboardInterrupt between any two instructions. A search that ended an instant before
would be lost: its result is still on its way into a variable. So from the first moment that there
is something to keep until it is kept, a signal is only noted.

    with Noted() as interrupt:
        result = work(until=interrupt.arrived)
        self.result = result
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self, TypeVar

Result = TypeVar("Result")

last: int = signal.SIGINT  # the last signal that arrived

# What the main thread is inside of, outermost first; None: where signals raise as usual.
_inside: list[Noted | None] = []


def handle(number: int, frame: FrameType | None) -> None:
    """Note a signal where somebody wants it noted; elsewhere raise KeyboardInterrupt."""
    global last
    last = number
    for noted in _inside:
        if noted is not None:
            noted.number = number
    if not _inside or _inside[-1] is None:
        raise KeyboardInterrupt


class Noted:
    """A block in which signals are noted. One that nobody asked about is raised at its end.

    It notes the signals whose handler is ``handle``, and Ctrl-C if it has Python's own handler.
    Signals arrive in the main thread; in others, and with other handlers, the block does nothing.
    """

    def __init__(self) -> None:
        self.number: int | None = None  # of the signal
        self._answered = False
        self._replaced = False
        self._depth = -1

    def arrived(self) -> bool:
        """Return whether a signal arrived; the caller answers it."""
        self._answered = self.number is not None
        return self._answered

    def __enter__(self) -> Self:
        if _in_main_thread():
            before = signal.getsignal(signal.SIGINT)
            if before is signal.default_int_handler:
                self._replaced = True
                signal.signal(signal.SIGINT, handle)
            if before in (signal.default_int_handler, handle):
                self._depth = len(_inside)
                _inside.append(self)  # from here on; before, nothing is to be kept
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        if self._depth < 0:
            return
        del _inside[self._depth :]
        if self._replaced:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if self.number is not None and not (self._answered or _inside or error):
            raise KeyboardInterrupt


def raising(function: Callable[..., Result], *arguments: Any, **options: Any) -> Result:
    """Call a function in which signals raise KeyboardInterrupt at once, as outside of all blocks.

    So does one that was noted before and is not answered yet.
    """
    if not _inside or not _in_main_thread():
        return function(*arguments, **options)
    if any(noted is not None and noted.number is not None for noted in _inside):
        raise KeyboardInterrupt
    depth = len(_inside)
    try:
        _inside.append(None)
        return function(*arguments, **options)
    finally:
        del _inside[depth:]


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
