"""A system that misbehaves as it is told, cells of it, and how to run them."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

from experiments.cells import Cell
from experiments.systems.fitted import Fitted, tree_of

HERE = Path(__file__).parent
DATA = {"kind": "cp4im", "name": "tic-tac-toe", "fold": None}


def cell(do: str, seed: int | None = None, limit: float | None = None, **params: object) -> Cell:
    return Cell("speed", "faults", {"do": do, **params}, DATA, seed, limit)


def path() -> str:
    """PYTHONPATH by which a process finds the experiments and the misbehaving system."""
    return os.pathsep.join([str(HERE.parents[1]), str(HERE)])


def gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody has waited for has, too."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state == "Z"


def gate(folder: object, free: int, seed: int) -> Cell:
    """A cell that waits at a gate; a parent's first ``free`` cells do not."""
    return cell("wait at the gate", seed, folder=str(folder), free=free)


def gated_cells(at: object) -> list[Cell]:
    """A dozen cells, of which a run completes three before it comes to a gate."""
    return [gate(Path(str(at)).parent, free=3, seed=seed) for seed in range(12)]


def open_gate(folder: Path) -> None:
    (folder / "open").touch()


def _wait_at_the_gate(folder: Path, free: int) -> None:
    with open(folder / f"passed-{os.getppid()}", "ab", buffering=0) as passed:
        passed.write(b".")
        number = passed.tell()  # ours, whoever else writes
    while number > free and not (folder / "open").exists():
        time.sleep(0.01)


def fit(X, y, params, seed, limit):
    do = params["do"]
    if do == "wait at the gate":
        _wait_at_the_gate(Path(params["folder"]), params["free"])
    elif do == "hang":
        if "begun" in params:
            Path(params["begun"]).touch()
        signal.pause()
    elif do == "signal":
        os.kill(os.getpid(), params["signal"])
    elif do == "signal the parent":
        os.kill(os.getppid(), params["signal"])
        signal.pause()
    elif do == "exit":
        print("these are my last words", file=sys.stderr, flush=True)
        os._exit(3)
    elif do == "raise":
        raise ZeroDivisionError("so many words")
    elif do == "no memory":
        raise MemoryError
    elif do == "garble":
        json.dumps = lambda *what, **how: "nonsense"
    elif do == "print":
        print("noise\n" * 10_000)
        os.write(1, b"noise from below\n")
    elif do == "no tree":
        return Fitted(None, 0.0, "time_limit")
    tree = tree_of(None, lambda node: None, X, y)
    return Fitted(tree, 0.01, "complete", extra={"pid": os.getpid(), "parent": os.getppid()})
