"""Cells of the misbehaving system, and how to run them."""

from __future__ import annotations

import os
from pathlib import Path

from experiments.cells import Cell

HERE = Path(__file__).parent
DATA = {"kind": "cp4im", "name": "tic-tac-toe", "fold": None}


def cell(do: str, seed: int | None = None, limit: float | None = None, **params: object) -> Cell:
    return Cell("speed", "faults", {"do": do, **params}, DATA, seed, limit)


def path() -> str:
    """PYTHONPATH by which a process finds the experiments and the misbehaving system."""
    return os.pathsep.join([str(HERE.parent), str(HERE)])


def gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody has waited for has, too."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state == "Z"
