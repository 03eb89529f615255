"""The sets to measure on, and what is known about them.

A set is a file NAME.txt.gz in the folder named by $MAPTREE_DATA: one row per line, 0/1, the label
first. tic-tac-toe is generated. `anchors.json` has known costs to compare with, for some sets.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maptree.datasets import load_tic_tac_toe

GENERATED = "tic-tac-toe"


def available() -> list[str]:
    """Return the names of all sets that can be loaded."""
    return sorted(
        {path.name.removesuffix(".txt.gz") for path in _folder().glob("*.txt.gz")} | {GENERATED}
    )


def choose(names: list[str] | None) -> list[str]:
    """Return the requested sets, by default all; raise ValueError for one that does not exist."""
    found = available()
    missing = [name for name in names or [] if name not in found]
    if missing:
        raise ValueError(
            f"no {missing[0]}.txt.gz in $MAPTREE_DATA: set it to the folder with the sets "
            f"(found: {', '.join(found)})"
        )
    return names or found


def load(name: str) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    """Return the 0/1 matrix and the labels of a set."""
    if name == GENERATED:
        boards = load_tic_tac_toe()
        return boards.data, boards.target
    rows = np.loadtxt(_folder() / f"{name}.txt.gz", dtype=np.uint8, ndmin=2)
    return np.ascontiguousarray(rows[:, 1:]), rows[:, 0].copy()


def anchor(name: str, n_rows: int, n_columns: int) -> dict[str, Any] | None:
    """Return what is known about a set; None if nothing is, or only about another table."""
    known = json.loads(Path(__file__).with_name("anchors.json").read_text())["sets"].get(name)
    if known is None or (known["rows"], known["columns"]) != (n_rows, n_columns):
        return None
    return known


def _folder() -> Path:
    return Path(os.environ.get("MAPTREE_DATA") or ".")
