"""The time for reading a column: where Python objects are read one by one, the clock is read, too.

Arrays of numbers are read by numpy, faster than they can be made; objects take a hundred times as
long, and a column of them is given up at the deadline. Labels are read whole, whatever the time:
without them there is no tree, not even the lone leaf.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

# Objects between two readings of the clock: some milliseconds.
PIECE = 1 << 14

Item = TypeVar("Item")

_deadline: ContextVar[float] = ContextVar("deadline", default=math.inf)


class OutOfTimeError(Exception):
    """The deadline has passed; what was being read is incomplete."""


@contextmanager
def until(deadline: float) -> Iterator[None]:
    """Set a deadline, in seconds of ``time.perf_counter``, for what is read in this block."""
    token = _deadline.set(deadline)
    try:
        yield
    finally:
        _deadline.reset(token)


def check_deadline() -> None:
    """Raise ``OutOfTimeError`` if the deadline has passed."""
    deadline = _deadline.get()
    if deadline < math.inf and time.perf_counter() > deadline:
        raise OutOfTimeError


def in_pieces(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """Yield a sequence piece by piece, reading the clock before each.

    >>> [len(piece) for piece in in_pieces(range(2 * PIECE + 1))] == [PIECE, PIECE, 1]
    True
    """
    for start in range(0, len(items), PIECE):
        check_deadline()
        yield items[start : start + PIECE]
