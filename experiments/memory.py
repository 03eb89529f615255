"""Resident memory of a process, and how far one call let it grow."""

from __future__ import annotations

import contextlib
import ctypes
from pathlib import Path

import psutil

GIGABYTE = 10**9


def limit() -> int:
    """Return the bytes that a system may hold: the paper's 16 GB, or what the machine can spare."""
    return min(16 * GIGABYTE, psutil.virtual_memory().total * 4 // 5)


def resident(pid: int) -> int:
    """Return the resident bytes of a process; 0 if it is gone."""
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0


def kills_for_memory() -> int:
    """Return how many processes the system has killed for lack of memory so far."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/vmstat").read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0


class Growth:
    """By how much this process grows from now on, where the system can tell."""

    def __init__(self) -> None:
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)  # memory freed earlier would hide growth
        self._before = None
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")  # the record of the peak starts anew
            self._before = _field("VmRSS")

    def peak(self) -> int | None:
        """Return the largest growth in bytes."""
        if self._before is None:
            return None
        now = _field("VmHWM")
        return None if now is None else max(0, now - self._before)


def _field(name: str) -> int | None:
    """Return a field of the process's status in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    return None
