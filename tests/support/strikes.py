"""What strikes a program at a line of its own choosing: an error, or a signal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import maptree

PACKAGE = str(Path(maptree.__file__).parent)

Place = tuple[object, str, int]  # a phase, a file, a line


def places(work: Callable[[], object], phase: Callable[[], object] = lambda: 0) -> list[Place]:
    """Return the lines of the package that some work runs, each once for every phase of it."""
    found: dict[Place, None] = {}
    _trace(work, lambda place: found.setdefault(place), phase)
    return list(found)


def strike(
    work: Callable[[], object],
    at: Place,
    how: Callable[[], object],
    phase: Callable[[], object] = lambda: 0,
) -> Any:
    """Do some work, and something else when it first comes to a line."""
    struck: list[Place] = []

    def see(place: Place) -> None:
        if place == at and not struck:
            struck.append(place)
            how()

    try:
        return _trace(work, see, phase)
    finally:
        assert struck, f"{at} was not reached"


def _trace(
    work: Callable[[], object], see: Callable[[Place], object], phase: Callable[[], object]
) -> Any:
    def trace(frame: FrameType, event: str, _: object) -> Any:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        if event == "line":
            see((phase(), frame.f_code.co_filename[len(PACKAGE) + 1 :], frame.f_lineno))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        return work()
    finally:
        sys.settrace(before)
