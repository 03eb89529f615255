"""The child: reads one cell per line and answers with one line. One child computes many cells.

It is started by the sandbox, which sets its limits and replaces it when it dies.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Serve until the pipe of cells is closed."""
    _die_with(int(sys.argv[1]))
    # Systems may print anything and must not read our input, so the pipes are moved elsewhere.
    cells = os.fdopen(os.dup(0))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)

    def say(what: dict[str, Any]) -> None:
        answers.write(json.dumps(what) + "\n")
        answers.flush()

    # Only now: the sandbox sees a failure here as a child that did not start.
    from experiments.cells import Cell
    from experiments.evaluate import evaluate
    from experiments.machine import commit, machine, versions

    base = {"python": sys.version.split()[0], "commit": commit()} | versions()
    say({"ready": True, "versions": base, "machine": machine()})
    for line in cells:
        cell = Cell.from_json(line)
        say({"begun": cell.key})  # from here on, failures are the cell's
        say(asdict(evaluate(cell)))


def _die_with(parent: int) -> None:
    """End when the sandbox does, even if it is killed in the middle of a cell (on Linux).

    Also, if memory runs out, let the system kill this process and not the one that has the rows.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it had ended before
        sys.exit(1)
    Path("/proc/self/oom_score_adj").write_text("1000")


if __name__ == "__main__":
    main()
