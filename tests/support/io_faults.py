"""Commands under faults of input and output: a server that forks one process for every fault.

It runs with ``io_faults.c`` preloaded, imports once what all commands need, and reads cases as JSON
lines. A case is a command, the folder it runs in, and the fault. The process of a case ends as a
program does, with all that Python does at its end.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import pkgutil
import pty
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from control import HANGS

HERE = Path(__file__).parent
_OTHERS = (
    "maptree.datasets",
    "maptree.estimators.saved",
    "maptree.pictures.report.write",
    "pyarrow.feather",
    "pyarrow.json",
    "pyarrow.parquet",
    "rich.live",
    "sklearn.model_selection",
)
_TOLD = 900  # the descriptor on which the library tells of calls


class Server:
    """The server, seen from the tests."""

    def __init__(self, folder: Path) -> None:
        library = folder / "io_faults.so"
        compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("c++")
        assert compiler is not None, "a compiler is needed, as for the core"
        subprocess.run(
            [compiler, "-shared", "-fPIC", "-x", "c", "-o", library, HERE / "io_faults.c", "-ldl"],
            check=True,
        )
        paths = os.pathsep.join([str(HERE)])
        environment = os.environ | {"LD_PRELOAD": str(library), "PYTHONPATH": paths}
        environment |= {"PYTHONDONTWRITEBYTECODE": "1", "TERM": "xterm", "COLUMNS": "80"}
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(library)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def run(self, folder: Path, arguments: list[str], **fault: Any) -> dict[str, Any]:
        """Run a command in a folder; return code, out, err, and the calls that wrote."""
        case = {"folder": str(folder), "arguments": arguments} | fault
        self._process.stdin.write(json.dumps(case) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait(HANGS)
        self._process.stdout.close()


def _import_all() -> None:
    import maptree.cli
    import maptree.export
    from maptree.cli.app import make_app

    for package in (maptree.cli, maptree.export):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    for name in _OTHERS:
        importlib.import_module(name)

    make_app()


def _become(case: dict[str, Any], library: ctypes.CDLL) -> None:
    """Turn into the process of a case: its folder, streams and handlers; then arm the fault."""
    os.chdir(case["folder"])
    os.environ["TMPDIR"] = case["folder"] + "/tmp"
    told = os.open("told", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(told, _TOLD)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    if case.get("terminal"):
        _, slave = pty.openpty()  # nobody reads it: what is shown there fits its buffer
        os.dup2(slave, 2)
    else:
        os.dup2(os.open("err", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    os.dup2(os.open("out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", buffering=1)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    sys.argv = ["maptree", *case["arguments"]]
    library.faults_arm(
        case.get("at", -1),
        case.get("error", 0),
        case.get("signal", 0),
        case.get("stays", 0),
        case.get("half", 0),
        _TOLD,
    )


def _serve() -> None:
    library = ctypes.CDLL(sys.argv[1])
    _import_all()
    from maptree.cli import main

    gc.freeze()  # what is imported is not looked through again in every process

    for line in sys.stdin:
        case = json.loads(line)
        child = os.fork()
        if child == 0:
            _become(case, library)
            main()  # it exits
        _, status = os.waitpid(child, 0)
        folder = Path(case["folder"])
        answer = {
            name: (folder / name).read_text(errors="replace") if (folder / name).exists() else ""
            for name in ("out", "err", "told")
        }
        answer["code"] = os.waitstatus_to_exitcode(status)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    _serve()
