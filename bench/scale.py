"""Measure how fitting scales with the table: memory, time to the first tree, time per expansion.

    python bench/scale.py --out scale.json

It prints its tables row by row; with --out it also writes the measurements as JSON, and the tables
as Markdown next to it.

Every case runs in a separate process, one after the other. Memory is the peak of the resident set
from /proc, minus what the process held when ``fit`` was called; memory freed before is returned to
the system first, because reusing it would not show. So this runs on Linux with glibc only. "Packed"
is rows x columns / 8 bytes. Labels are (x0 and x1) or (x2 and x3), with one in ten flipped. A
benchmark, not a test: results depend on the machine and on its load.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from maptree import MAPTreeClassifier, _core
from measure import resident
from report import environment, output, write

TALL = [(10**4, 100), (10**5, 100), (10**6, 100)]
WIDE = (1000, 10_000)
LIMITS = [0.1, 0.3, 0.5, 1.0, 2.0]
LAYOUTS = {
    "uint8": lambda X: X,
    "bool": lambda X: X.astype(bool),
    "int64": lambda X: X.astype(np.int64),
    "float64": lambda X: X.astype(np.float64),
    "uint8, Fortran order": np.asfortranarray,
    "float64, Fortran order": lambda X: np.asfortranarray(X, dtype=np.float64),
    "uint8, every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "pandas frame of uint8": lambda X: __import__("pandas").DataFrame(X),
}


def make(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = np.empty((n_rows, n_columns), dtype=np.uint8)
    for start in range(0, n_rows, 1 << 16):
        X[start : start + (1 << 16)] = rng.integers(
            0, 2, X[start : start + (1 << 16)].shape, dtype=np.uint8
        )
    y = (X[:, 0] & X[:, 1]) | (X[:, 2] & X[:, 3])
    return X, (y ^ (rng.random(n_rows) < 0.1)).astype(np.int64)


def run_case(case: dict[str, Any]) -> dict[str, Any]:
    """Fit once and measure, in a process that has done nothing else."""
    X, y = make(case["rows"], case["columns"])
    X = LAYOUTS[case["layout"]](X)
    MAPTreeClassifier(max_expansions=5).fit(X[:50], y[:50])  # lazy imports happen now
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # reset the peak
    before = resident("VmRSS")
    at_search: dict[str, float] = {}
    search = _core.search

    def spy(*arguments: Any) -> _core.Result:
        at_search["seconds"] = time.perf_counter() - started
        at_search["growth"] = resident("VmHWM") - before
        return search(*arguments)

    _core.search = spy
    started = time.perf_counter()
    model = MAPTreeClassifier(**case["limits"]).fit(X, y)
    seconds = time.perf_counter() - started
    certificate, trace = model.certificate_, model.trace_
    return case | {
        "packed": case["rows"] * case["columns"] / 8,
        "growth_before_search": at_search["growth"],
        "seconds_before_search": at_search["seconds"],
        "seconds": seconds,
        "first_tree_seconds": float(trace["seconds"][0]) - at_search["seconds"],
        "first_tree": float(trace["log_posterior"][0]),
        "log_posterior": certificate.log_posterior,
        "status": certificate.status,
        "expansions": certificate.expansions,
        "expansion_seconds": (seconds - float(trace["seconds"][0]))
        / max(1, certificate.expansions),
        "peak_bytes": certificate.peak_bytes,
        "growth": resident("VmHWM") - before,
    }


def run(shape: tuple[int, int], layout: str = "uint8", **limits: Any) -> dict[str, Any]:
    case = {"rows": shape[0], "columns": shape[1], "layout": layout, "limits": limits}
    done = subprocess.run(
        [sys.executable, __file__, "--case", json.dumps(case)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{case} failed:\n{done.stderr}")
    row: dict[str, Any] = json.loads(done.stdout)
    return row


def table(title: str, header: str, rows: Iterable[str]) -> str:
    """Print a table row by row as it is measured; return the whole table."""
    lines = [title, "", header, "|---|" + "---:|" * (header.count("|") - 2)]
    print("", *lines, sep="\n", flush=True)
    for row in rows:
        print(row, flush=True)
        lines.append(row)
    return "\n".join(lines)


def measure(repeats: int) -> tuple[dict[str, list[dict[str, Any]]], list[str]]:
    """Return the measurements and their tables."""
    out: dict[str, list[dict[str, Any]]] = {"memory": [], "expansions": [], "limits": []}

    def kept(name: str, row: dict[str, Any]) -> dict[str, Any]:
        out[name].append(row)
        return row

    def memory_rows() -> Iterable[str]:
        for shape in [*TALL, WIDE]:
            for layout in LAYOUTS if shape in (TALL[-1], WIDE) else ["uint8"]:
                row = kept("memory", run(shape, layout, time_limit=None, max_expansions=1))
                growth, packed = row["growth_before_search"], row["packed"]
                yield (
                    f"| {shape[0]:,} x {shape[1]:,}, {layout} | {packed / 1e6:.2f} "
                    f"| {growth / 1e6:.2f} | {growth / packed:.2f} "
                    f"| {(growth - 2 * packed) / shape[0]:.2f} "
                    f"| {row['seconds_before_search']:.3f} | {row['growth'] / 1e6:.1f} |"
                )

    memory_table = table(
        "Before the search starts",
        "| table | packed MB | growth MB | of packed | bytes a row beyond twice | s | fit MB |",
        memory_rows(),
    )

    def expansion_rows() -> Iterable[str]:
        for shape in TALL:
            texts = []
            for expansions in (1, 20):
                limits = {"time_limit": None, "max_expansions": expansions}
                runs = [run(shape, **limits) for _ in range(repeats)]
                row = kept("expansions", min(runs, key=lambda r: r["expansion_seconds"]))
                each = row["expansion_seconds"]
                texts.append(f"{1e3 * each:.3f} | {1e9 * each / shape[0]:.1f}")
            first = min(r["first_tree_seconds"] for r in runs)
            yield (
                f"| {shape[0]:,} x {shape[1]:,} | {first:.3f} | {row['first_tree']:.1f} "
                f"| {row['log_posterior']:.1f} | {' | '.join(texts)} |"
            )

    expansion_table = table(
        "Seconds of search to the first tree, and the cost of an expansion: of the root, which has "
        f"all rows, and of the first 20 on average. The best of {repeats} runs.",
        "| table | first tree s | its log posterior | at the end "
        "| root ms | ns a row | 20 ms | ns a row |",
        expansion_rows(),
    )

    def limit_rows() -> Iterable[str]:
        for shape in (TALL[-1], WIDE):
            for seconds in LIMITS:
                row = kept("limits", run(shape, time_limit=seconds, memory_limit="500MB"))
                yield (
                    f"| {shape[0]:,} x {shape[1]:,} | {seconds} | {row['seconds']:.3f} "
                    f"| {row['status']} | {row['log_posterior']:.1f} | {row['expansions']} "
                    f"| {row['peak_bytes'] / 1e6:.1f} |"
                )

    limit_table = table(
        "Time limits, with memory_limit=500MB",
        "| table | limit s | fit s | status | log posterior | expansions | peak MB |",
        limit_rows(),
    )
    return out, [memory_table, expansion_table, limit_table]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", help="write OUT.json and OUT.md")
    parser.add_argument(
        "--repeats", type=int, default=3, help="runs of each timing; the best counts"
    )
    parser.add_argument("--case", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case is not None:
        print(json.dumps(run_case(json.loads(options.case))))
        return
    made = environment()
    rows, tables = measure(options.repeats)
    if options.out is not None:
        facts = ", ".join(f"{name} {value}" for name, value in made.items() if value is not None)
        markdown = "\n\n".join(["# What a larger table costs", facts, *tables]) + "\n"
        write(output(options.out, "scale"), {"environment": made} | rows, markdown)


if __name__ == "__main__":
    main()
