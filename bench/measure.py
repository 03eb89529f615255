"""One fit in a separate process, so that its time and memory can be measured.

`measure` starts this file as a program. The program prints one line of JSON after each part, so
that a later crash loses nothing.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import math
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cart
import sets
from maptree import MAPTreeClassifier, log_posterior
from marks import at_mark, marks_within


@dataclass(frozen=True)
class Settings:
    """What `fit` is given."""

    limit: float
    memory_limit: str | None = None
    jobs: int | None = None


def measure(name: str, settings: Settings, with_cart: bool = False) -> dict[str, Any]:
    """Fit a set in a new process. ``outcome`` is "measured", or how the process ended."""
    command = [sys.executable, __file__, name, "--limit", repr(settings.limit)]
    if settings.memory_limit is not None:
        command += ["--memory-limit", settings.memory_limit]
    if settings.jobs is not None:
        command += ["--jobs", str(settings.jobs)]
    if with_cart:
        command += ["--cart"]
    patience = 2 * settings.limit + 300
    row: dict[str, Any] = {"set": name, "outcome": "measured"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            printed, _ = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            process.kill()
            printed, _ = process.communicate()
            row["outcome"] = f"no end after {patience:.0f} s"
        except BaseException:
            process.kill()
            raise
    for line in printed.splitlines():
        with contextlib.suppress(json.JSONDecodeError):  # truncated because the process was killed
            row |= json.loads(line)
    if row["outcome"] == "measured" and process.returncode != 0:
        row["outcome"] = _ended(process.returncode)
    return row


def _ended(code: int) -> str:
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"failed with code {code}"


def fit(X: Any, y: Any, settings: Settings) -> dict[str, Any]:
    """Fit once and return all measurements."""
    given = {"time_limit": settings.limit, "memory_limit": settings.memory_limit}
    if settings.jobs is not None:
        given["n_jobs"] = settings.jobs
    # Lazy imports happen now: they are not part of the time and memory of the search.
    MAPTreeClassifier().fit([[0], [1]] * 4, [0, 1] * 4)
    model = MAPTreeClassifier(**given)
    before = start_of_peak()
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit(X, y)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resident("VmHWM")

    certificate, trace = model.certificate_, model.trace_
    depth = certificate.proved_depth
    return {
        "status": certificate.status,
        "cost": -certificate.log_posterior,
        "lower_bound": -certificate.log_posterior_bound,
        "proved_depth": "inf" if math.isinf(depth) else int(depth),  # JSON has no infinity
        "seconds": certificate.seconds,
        "seconds_to_proof": certificate.seconds if certificate.optimal else None,
        "fit_seconds": wall,
        "cpu_seconds": cpu,
        "expansions": certificate.expansions,
        "expansions_per_second": certificate.expansions / certificate.seconds,
        "subproblems": certificate.subproblems,
        "peak_bytes": certificate.peak_bytes,
        "resident_growth_bytes": None if peak is None or before is None else peak - before,
        "resident_peak_bytes": peak,
        "leaves": model.tree_.n_leaves,
        "depth": model.tree_.depth,
        "scorer_difference": abs(log_posterior(model.tree_, X, y) - certificate.log_posterior),
        "marks": [at_mark(trace, mark) for mark in marks_within(settings.limit)],
        "trace": {
            "seconds": trace["seconds"].tolist(),
            "lower_bound": (0.0 - trace["log_posterior_bound"]).tolist(),
        },
    }


def start_of_peak() -> int | None:
    """Reset the system's record of peak memory; return the resident bytes."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)  # so that memory freed earlier does not hide growth
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return resident("VmHWM")
    return resident("VmRSS")


def resident(field: str) -> int | None:
    """Return a field of the process's status in bytes; None if the system has no such file."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return None
    return next(
        int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith(field)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name")
    parser.add_argument("--limit", type=float, required=True)
    parser.add_argument("--memory-limit")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--cart", action="store_true")
    options = parser.parse_args()
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C is handled by the program that started this one

    X, y = sets.load(options.name)
    print(json.dumps({"rows": X.shape[0], "columns": X.shape[1]}), flush=True)
    settings = Settings(options.limit, options.memory_limit, options.jobs)
    print(json.dumps(fit(X, y, settings), allow_nan=False), flush=True)
    if options.cart:
        print(json.dumps({"cart": cart.measure(X, y)}, allow_nan=False), flush=True)


if __name__ == "__main__":
    main()
