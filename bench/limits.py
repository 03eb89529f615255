"""Measure whether limits are kept: overshoot of time limits, memory, response times of commands.

    python bench/limits.py --only "time limit" --rounds 5

The tests count (expansions, bytes requested, readings of a clock); what depends on the machine is
measured here. Every measurement is a separate process. README.md in this folder explains the table.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from measure import resident, start_of_peak
from report import environment, facts, finish, number, output, table, until_interrupted, write

MIB = 2**20


@dataclass(frozen=True)
class Limit:
    """Something that has a limit, and how to measure it once."""

    group: str
    name: str
    unit: str
    allowed: float
    measure: Callable[[], float]


def noise(n_rows: int = 500, n_columns: int = 80) -> tuple[Any, Any]:
    """Random labels: the search never finishes."""
    rng = np.random.default_rng(0)
    return rng.integers(0, 2, (n_rows, n_columns), dtype=np.uint8), rng.integers(0, 2, n_rows)


def conjunction(n_rows: int, n_columns: int) -> tuple[Any, Any]:
    """Labels that depend on two columns, with one in ten flipped."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (n_rows, n_columns), dtype=np.uint8)
    return X, (X[:, 0] & X[:, n_columns // 2]) ^ (rng.random(n_rows) < 0.1)


def numbers(n_rows: int, n_columns: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n_rows, n_columns)), rng.integers(0, 2, n_rows)


def patterns() -> tuple[Any, Any, Any]:
    """A thousand rows of different weights: no two have the same count."""
    rng = np.random.default_rng(0)
    return *noise(1000, 3000), rng.integers(1, 30_000, 1000)


def heavy() -> tuple[Any, Any, Any]:
    """Three rows whose weights sum to 32 million: the tables of the posterior take 768 MB."""
    return [[0, 0], [1, 0], [1, 1]], [0, 1, 0], [16_000_000, 16_000_000, 1]


def warmed(name: str = "MAPTreeClassifier") -> Any:
    """Return a classifier's type after all lazy imports are done."""
    import maptree

    kind = getattr(maptree, name)
    kind(time_limit=1e-9).fit([[0], [1]] * 4, [0, 1] * 4)
    maptree.BinaryEncoder().fit([[0.5, "a"], [1.5, "b"]])
    return kind


# What is measured


def over(data: Callable[[], Any], seconds: float, kind: str = "", **params: Any) -> float:
    """Return by how many seconds a fit exceeds its time limit."""
    given, make = data(), warmed(kind or "MAPTreeClassifier")
    with contextlib.suppress(UserWarning):
        started = time.perf_counter()
        make(time_limit=seconds, **params).fit(*given)
    return time.perf_counter() - started - seconds


def grown(data: Callable[[], Any], limit: str) -> float:
    """Return by how many MiB a process grows in ten seconds of search."""
    given, make = data(), warmed()
    before = start_of_peak()
    make(time_limit=10, memory_limit=limit).fit(*given)
    return (resident("VmHWM") - before) / MIB


def grown_before_the_search(change: Callable[[Any, Any], Any]) -> float:
    """Return by how many MiB a process grows before the search starts."""
    from maptree import _core

    X, y = change(*noise(300_000, 100))
    make = warmed()
    make(max_expansions=5).fit(X[:50], y[:50])
    before = start_of_peak()
    grown: list[float] = []

    def stop(*_: object) -> None:
        grown.append((resident("VmHWM") - before) / MIB)
        raise KeyboardInterrupt

    _core.search = stop
    with contextlib.suppress(KeyboardInterrupt):
        make(time_limit=None).fit(X, y)
    return grown[0]


def seconds_to_the_tree() -> float:
    """Return when the tree that made the labels of a million rows was found."""
    given, make = conjunction(1_000_000, 100), warmed()
    model = make(time_limit=10).fit(*given)
    assert model.tree_.n_leaves == 3
    best = model.trace_["log_posterior"] == model.certificate_.log_posterior
    return float(model.trace_["seconds"][best][0])


def seconds_to_stop(kind: str, jobs: int) -> float:
    """Return the seconds from Ctrl-C to the end of a fit."""
    given, make = noise(), warmed(kind)
    pressed: list[float] = []

    def press() -> None:
        pressed.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(2.0, press).start()
    make(time_limit=60, n_jobs=jobs, **_SAMPLERS.get(kind, {})).fit(*given)
    return time.perf_counter() - pressed[0]


def two_at_once() -> float:
    """Return how many times as long two fits take in two threads as one alone."""
    given, make = noise(), warmed()

    def fit() -> None:
        make(time_limit=None, max_expansions=3000).fit(*given)

    def seconds(n_threads: int) -> float:
        threads = [threading.Thread(target=fit) for _ in range(n_threads)]
        started = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return time.perf_counter() - started

    alone = seconds(1)
    return seconds(2) / alone


def predict_with_many_trees() -> float:
    """Return the processor seconds of a thousand trees of 20 leaves for 10,000 rows."""
    from maptree.trees.forest import Trees

    rng = np.random.default_rng(0)
    node = np.arange(39)
    inner = node < 19  # the others are leaves
    feature = np.where(inner, rng.integers(100, size=(1000, 39)), -1).ravel()
    left, right = (np.tile(np.where(inner, 2 * node + child, -1), 1000) for child in (1, 2))
    arrays = [values.astype(np.int32) for values in (feature, left, right)]
    counts = np.ones((39_000, 2), dtype=np.int64)
    flat = Trees(np.arange(0, 39_000, 39), np.full(1000, 39), *arrays, counts)
    X = rng.integers(0, 2, (10_000, 100), dtype=np.uint8)
    started = time.process_time()
    flat.sum_at_leaves(np.ones((39_000, 2)), len(X), lambda test, rows: X[rows, test] == 1)
    return time.process_time() - started


def refuse_a_flood(content: Callable[[int], bytes], size: int) -> float:
    """Return the processor seconds that it takes to refuse a file that is not a model."""
    from maptree import load_model

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "flood.json"
        file.write_bytes(content(size))
        started = time.process_time()
        with contextlib.suppress(ValueError):
            load_model(file)
        return time.process_time() - started


def times_as_long(command: list[str], other: list[str]) -> float:
    """Return the processor time of a program divided by that of another program."""
    return min(_processor_seconds(command) for _ in range(3)) / min(
        _processor_seconds(other) for _ in range(3)
    )


def _processor_seconds(arguments: list[str]) -> float:
    before = os.times()
    subprocess.run([sys.executable, *arguments], capture_output=True)
    after = os.times()
    return (after.children_user - before.children_user) + (
        after.children_system - before.children_system
    )


# The limits

_OVER, _STOP = "Seconds beyond time_limit", "Seconds from Ctrl-C to the end of fit"
_GROWTH, _PACKING = "Growth in MiB, in 10 s of search", "Growth in MiB before the search"
_TIMES, _TAKES = "Processor time, times that of another program", "What a call takes"
_SAMPLERS: dict[str, dict[str, Any]] = {
    "MCMCTreeClassifier": {"n_samples": 10**8, "thin": 100},
    "SMCTreeClassifier": {"n_particles": 1000, "n_islands": 1000},
}
_LAYOUTS: dict[str, Callable[[Any, Any], Any]] = {
    "uint8": lambda X, y: (X, y),
    "bool": lambda X, y: (X.astype(bool), y),
    "int64": lambda X, y: (X.astype(np.int64), y),
    "float64": lambda X, y: (X.astype(np.float64), y),
    "float64, Fortran order": lambda X, y: (np.asfortranarray(X, dtype=np.float64), y),
    "uint8, every other column": lambda X, y: (np.repeat(X, 2, axis=1)[:, ::2], y),
    "uint8, from the last row": lambda X, y: (X[::-1], y),
    "pandas frame of uint8": lambda X, y: (__import__("pandas").DataFrame(X), y),
    "float labels": lambda X, y: (X, y.astype(np.float64)),
    "labels of text": lambda X, y: (X, np.where(y == 1, "yes", "no")),
}
_FLOODS: dict[str, Callable[[int], bytes]] = {
    "brackets": lambda size: b"[" * size,
    "objects": lambda size: b'{"a":' * (size // 5),
    "pairs": lambda size: b"[" + b"[]," * (size // 3) + b"[]]",
    "numbers": lambda size: b"[" + b"1.5," * (size // 4) + b"1]",
    "quotes": lambda size: b'"' * size,
    "escaped quotes": lambda size: b'"' + b'\\"' * (size // 2),
    "zeros": bytes,
    "digits": lambda size: b"1" * size,
}


def limits() -> Iterator[Limit]:
    """Everything that is measured, in the order of the tables."""

    def fit(name: str, data: Callable[[], Any], seconds: float, **how: Any) -> Limit:
        title = f"{name}, time_limit={seconds:g}"
        return Limit(_OVER, title, "s", 0.1, lambda: over(data, seconds, **how))

    for seconds in (0.2, 1.0):
        yield fit("noise, 500 x 80", noise, seconds)
    for jobs in (1, 2):
        little = {"memory_limit": "12MiB", "n_jobs": jobs}
        yield fit(f"the same in 12 MiB, n_jobs={jobs}", noise, 1.0, **little)
    for seconds in (0.1, 0.3, 0.5, 1.0):
        yield fit("1,000,000 x 100", lambda: conjunction(1_000_000, 100), seconds)
    wide = {"memory_limit": "100MB"}
    yield fit("1,000 x 10,000 in 100 MB", lambda: conjunction(1000, 10_000), 3.0, **wide)
    yield fit("weights that sum to 32 million", heavy, 0.1)
    yield fit("numbers, 100,000 x 200", lambda: numbers(100_000, 200), 1.0)
    for kind, long in _SAMPLERS.items():
        for jobs in (1, 2):
            yield fit(f"{kind}, n_jobs={jobs}", noise, 0.5, kind=kind, n_jobs=jobs, **long)

    for kind in ("MAPTreeClassifier", *_SAMPLERS):
        for jobs in (1, 2):
            title = f"{kind}, n_jobs={jobs}"
            yield Limit(
                _STOP, title, "s", 0.5, lambda kind=kind, jobs=jobs: seconds_to_stop(kind, jobs)
            )

    def growth(name: str, data: Callable[[], Any], limit: int) -> Limit:
        text = f"{limit}MiB"
        title = f"{name}, memory_limit={text}"
        return Limit(_GROWTH, title, "MiB", limit, lambda: grown(data, text))

    yield growth("noise, 500 x 80", noise, 48)
    yield growth("noise, 20,000 x 400", lambda: noise(20_000, 400), 32)
    yield growth("numbers, 20,000 x 100", lambda: numbers(20_000, 100), 24)
    for limit in (70, 90):
        yield growth("1,000 weights, 1,000 x 3,000", patterns, limit)
    yield growth("weights that sum to 32 million", heavy, 20)

    # Two layouts in bits, two bytes a row for the labels, and a little for the interpreter.
    packed = (2 * 300_000 * 100 / 8 + 2 * 300_000) / MIB + 1
    for layout, change in _LAYOUTS.items():
        title = f"300,000 x 100, {layout}"
        yield Limit(
            _PACKING, title, "MiB", packed, lambda change=change: grown_before_the_search(change)
        )

    libraries, trees = "import numpy, pyarrow", "import sklearn.tree"
    refused = ["-m", "maptree", "fit", "nowhere.csv", "-t", "y"]
    for name, command, other, allowed in (
        ("maptree --help", ["-m", "maptree", "--help"], libraries, 1.5),
        ("maptree fit of a file that is not there", refused, libraries, 1.5),
        ("import MAPTreeClassifier", ["-c", "from maptree import MAPTreeClassifier"], trees, 1.2),
    ):
        yield Limit(
            _TIMES,
            f"{name}; the other: {other}",
            "",
            allowed,
            lambda one=command, two=other: times_as_long(one, ["-c", two]),
        )

    yield Limit(
        _TAKES, "seconds to the right tree of 1,000,000 x 100", "s", 2.0, seconds_to_the_tree
    )
    yield Limit(_TAKES, "two fits in two threads, times one fit alone", "", 1.67, two_at_once)
    yield Limit(
        _TAKES,
        "processor seconds of 1,000 trees for 10,000 rows",
        "s",
        3.0,
        predict_with_many_trees,
    )
    sizes = dict.fromkeys(_FLOODS, 60) | {"brackets": 100}
    for name, size in sizes.items():
        title = f"processor seconds to refuse {size} MB of {name} as a model"
        yield Limit(
            _TAKES, title, "s", 5.0, lambda name=name, size=size: refuse_a_flood(
                _FLOODS[name], size * 10**6
            )
        )  # fmt: skip


def measured(limit: Limit) -> float:
    """Measure once, in a separate process."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, "--case", limit.name, limit.group],
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{limit.group}, {limit.name}:\n{done.stderr}")
    return float(json.loads(done.stdout.splitlines()[-1]))


def row_of(limit: Limit, values: list[float]) -> dict[str, Any]:
    return {
        "group": limit.group,
        "what": limit.name,
        "unit": limit.unit,
        "allowed": limit.allowed,
        "measured": values,
        "kept": sum(value <= limit.allowed for value in values),
    }


def markdown(document: dict[str, Any]) -> str:
    """Return the report: one table per kind of limit."""
    parts = ["# Limits", facts(document["environment"] | document["settings"])]
    groups = dict.fromkeys(row["group"] for row in document["rows"])
    for group in groups:
        lines = []
        for row in document["rows"]:
            if row["group"] == group:
                values = row["measured"]
                figures = (row["allowed"], min(values), median(values), max(values))
                kept = f"{row['kept']} of {len(values)}"
                lines.append([row["what"], *(number(value, 3) for value in figures), kept])
        header = ["what", "allowed", "least", "median", "most", "kept"]
        parts += [f"## {group}", table(header, lines)]
    return "\n\n".join(parts) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--rounds", type=int, default=3, help="number of measurements per limit (3)"
    )
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="measure only limits whose names contain this"
    )
    parser.add_argument("--out", help="output path without .json (bench/results/limits)")
    parser.add_argument("--case", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case is not None:
        name, group = options.case
        case = next(limit for limit in limits() if (limit.name, limit.group) == (name, group))
        print(json.dumps(case.measure()))
        return 0
    chosen = [limit for limit in limits() if options.only in f"{limit.group}, {limit.name}"]
    if not chosen:
        parser.error(f"--only {options.only!r} leaves nothing to measure")
    out = output(options.out, "limits")
    document: dict[str, Any] = {
        "environment": environment(),
        "settings": {"rounds": options.rounds},
        "sets": len(chosen),
        "rows": [],
    }
    with until_interrupted():
        for limit in chosen:
            values = [measured(limit) for _ in range(options.rounds)]
            document["rows"].append(row_of(limit, values))
            write(out, document, markdown(document))
            print(f"{limit.group}: {limit.name}: {values}", file=sys.stderr, flush=True)
    return 0 if finish(out, document, markdown) else 130


if __name__ == "__main__":
    sys.exit(main())
