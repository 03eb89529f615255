"""Cells in separate processes, under limits.

A child is reused for the next cell, so that a thousand small cells do not start Python a thousand
times. One that dies, exceeds a limit or gives an invalid answer is replaced, and the cell's row
says why.
"""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from dataclasses import replace
from typing import Any

from experiments import memory
from experiments.cells import Cell, Row
from experiments.child import Child, EndedError
from experiments.environments import REMEDY, ROOT, python_of
from experiments.systems import environment_of

START_SECONDS = 120.0  # to import everything, on a busy machine
MOST_STARTS = 3  # failures in a row before an environment is given up
NO_LIMIT_SECONDS = 3600.0  # for a cell without a limit: it may hang, the run may not


class StoppedError(Exception):
    """The sandbox was closed while a cell was running, so the cell has no row."""


def patience(limit: float | None) -> float:
    """Return after how many seconds a system with a time limit is killed.

    The extra time also covers reading the data and scoring.

    >>> patience(2), patience(60)
    (12.0, 90.0)
    """
    return NO_LIMIT_SECONDS if limit is None else limit + max(10.0, limit / 2)


class Sandbox:
    """A child for each environment. Belongs to one thread; any thread may close it."""

    def __init__(self, max_bytes: int | None = None) -> None:
        self._max_bytes = memory.limit() if max_bytes is None else max_bytes
        self._children: dict[str, tuple[Child, dict[str, Any]]] = {}
        self._failed_starts: Counter[str] = Counter()  # in a row, by environment
        self._broken: dict[str, str] = {}  # environments that cannot be started, and why
        self._closed = False
        self._in_use = threading.Lock()

    def run(self, cell: Cell) -> Row:
        """Compute a cell; whatever happens to its child is in the row."""
        with self._in_use:
            try:
                return self._run(cell)
            except BaseException:
                # Ctrl-C, or closed: a late answer would be mistaken for that of the next cell.
                self._drop(environment_of(cell.system))
                raise

    def _run(self, cell: Cell) -> Row:
        environment = environment_of(cell.system)
        try:
            child, about = self._begin(cell, environment)
        except EndedError as end:
            return Row.of(cell, "missing", end.reason)
        try:
            row = _read(child.hear(patience(cell.limit), self._max_bytes), cell)
        except EndedError as end:
            self._drop(environment)
            self._check_open()
            found = {"seconds": end.seconds, "peak_bytes": end.grown, **about}
            return Row.of(cell, end.outcome, end.reason, **found)
        if row.outcome in ("crash", "memory"):
            self._drop(environment)  # its state is unknown
        return replace(row, **about | {"versions": about["versions"] | row.versions})

    def _begin(self, cell: Cell, environment: str) -> tuple[Child, dict[str, Any]]:
        """Return a child that has started the cell, and its description of its environment."""
        for last in (False, True):
            try:
                child, about = self._ready(environment)
                child.tell(cell.to_json())
                child.hear(START_SECONDS, self._max_bytes)
            except EndedError:  # while it started or was idle, so this cell is not the cause
                self._drop(environment)
                self._check_open()
                if last:
                    raise
            else:
                break
        return child, about

    def _ready(self, environment: str) -> tuple[Child, dict[str, Any]]:
        """Return a child that waits for a cell, and its description of its environment."""
        self._check_open()
        if environment in self._broken:
            raise EndedError("missing", self._broken[environment], 0.0, 0)
        if environment in self._children:
            if self._children[environment][0].alive:
                return self._children[environment]
            self._drop(environment)
        python = python_of(environment)
        if not python.exists():
            reason = f"its environment is not installed: {REMEDY[environment]}"
            raise EndedError("missing", reason, 0.0, 0)
        child = Child([str(python), "-m", "experiments.serve", str(os.getpid())], _variables())
        self._children[environment] = child, {}
        if self._closed:  # closed since the last check, so this child has not been killed
            child.kill()
        try:
            hello = json.loads(child.hear(START_SECONDS, self._max_bytes))
        except (EndedError, ValueError) as error:
            reason = f"its environment does not start: {error}"
            self._failed_starts[environment] += 1
            # A child that exits by itself will do so again; a signal or a timeout may be chance.
            if child.exited or self._failed_starts[environment] == MOST_STARTS:
                self._broken[environment] = reason
            self._drop(environment)
            self._check_open()
            raise EndedError("missing", reason, 0.0, 0) from error
        self._failed_starts[environment] = 0
        about = {"versions": hello["versions"], "machine": hello["machine"]}
        self._children[environment] = child, about
        return child, about

    def _drop(self, environment: str) -> None:
        if environment in self._children:
            self._children.pop(environment)[0].close()

    def _check_open(self) -> None:
        if self._closed:
            raise StoppedError

    def close(self) -> None:
        """End all children; a cell under way raises StoppedError in its thread."""
        self._closed = True
        for child, _ in list(self._children.values()):
            child.kill()
        with self._in_use:
            for environment in list(self._children):
                self._drop(environment)


class Sandboxes:
    """A sandbox for each thread that runs cells."""

    def __init__(self, max_bytes: int | None = None) -> None:
        self._max_bytes = max_bytes
        self._of_thread = threading.local()
        self._all: list[Sandbox] = []
        self._closed = False
        self._lock = threading.Lock()

    def run(self, cell: Cell) -> Row:
        """Compute a cell in the sandbox of this thread."""
        sandbox = getattr(self._of_thread, "sandbox", None)
        if sandbox is None:
            with self._lock:
                if self._closed:
                    raise StoppedError
                sandbox = self._of_thread.sandbox = Sandbox(self._max_bytes)
                self._all.append(sandbox)
        row: Row = sandbox.run(cell)
        return row

    def close(self) -> None:
        """End all children of all threads."""
        with self._lock:
            self._closed = True
        for sandbox in self._all:
            sandbox.close()


def _read(line: bytes, cell: Cell) -> Row:
    """Return a child's row; an invalid answer counts as a crash."""
    try:
        row = Row(**json.loads(line))
    except (ValueError, TypeError):
        row = None
    if row is None or row.key != cell.key:
        start = line[:80].decode(errors="replace").strip()
        return Row.of(cell, "crash", f"a garbled answer: {start}")
    return row


def _variables() -> dict[str, str]:
    """Return the environment variables of a child: it can import our modules, and uses one core."""
    given = os.environ.get("PYTHONPATH")
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    path = str(ROOT) if not given else f"{ROOT}{os.pathsep}{given}"
    return dict(os.environ) | one | {"PYTHONPATH": path}
