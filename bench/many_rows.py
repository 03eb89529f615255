"""Many rows of numbers: all thresholds compared with 16 per column, in seconds and in bytes.

    .venv/bin/python bench/many_rows.py --rows 10000 100000 1000000

Tables of 20 columns of random numbers with 2^8, 2^16 or all different values. Labels depend on
thresholds of four columns, with one in ten flipped. Every fit is a process of its own, on one
thread, one after the other. Memory is what `fit` adds to the process (Linux only) and what the
certificate counts, the numbers of the caller not included. A benchmark, not a test.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from typing import Any

import numpy as np

from envelopes import go_by_processor_time
from maptree import BinaryEncoder, MAPTreeClassifier, _core
from measure import resident, start_of_peak
from report import environment, facts, finish, megabytes, number, output, table, until_interrupted
from report import write as write_report

COLUMNS = 20
DISTINCT = {"2^8": 2**8, "2^16": 2**16, "all": None}
# The first is what the others are compared with: few thresholds, under the prior of the paper.
VARIANTS: dict[str, tuple[int | None, str]] = {
    "16, tests": (16, "tests"),
    "all, tests": (None, "tests"),
    "all, columns": (None, "columns"),
}


def make(n_rows: int, distinct: int | None) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.random((n_rows, COLUMNS))
    y = ((X[:, 0] > 0.31) & (X[:, 1] > 0.62)) | ((X[:, 2] <= 0.43) & (X[:, 3] > 0.54))
    y ^= rng.random(n_rows) < 0.1
    if distinct is not None:
        np.floor(X * distinct, out=X)
    return X, y.astype(np.int64)


def run_case(case: dict[str, Any]) -> dict[str, Any]:
    """Fit once, in a process that has done nothing else."""
    X, y = make(case["rows"], DISTINCT[case["distinct"]])
    if case["by_processor"]:
        go_by_processor_time()
    cap, prior = VARIANTS[case["variant"]]
    given = {"encoder": BinaryEncoder(max_thresholds=cap), "split_prior": prior, "n_jobs": 1}
    MAPTreeClassifier(max_expansions=5, **given).fit(X[:50], y[:50])  # lazy imports happen now
    at_search: dict[str, float] = {}
    search = _core.search

    def spy(*arguments: Any) -> Any:
        at_search["seconds"] = time.perf_counter() - started
        at_search["growth"] = (resident("VmHWM") or 0) - before
        at_search["held"] = (resident("VmRSS") or 0) - before
        return search(*arguments)

    _core.search = spy
    before = start_of_peak() or 0
    started, processor = time.perf_counter(), time.process_time()
    model = MAPTreeClassifier(time_limit=case["limit"], **given).fit(X, y)
    seconds, processor = time.perf_counter() - started, time.process_time() - processor
    growth = (resident("VmHWM") or 0) - before
    held_after = (resident("VmRSS") or 0) - before
    certificate, trace = model.certificate_, model.trace_
    best = trace["log_posterior"] >= trace["log_posterior"][-1]
    return case | {
        "values": X.size,
        "seconds_before_search": at_search["seconds"],
        "growth_before_search": at_search["growth"],
        "held_before_search": at_search["held"],
        "first_tree_seconds": float(trace["seconds"][0]),
        "first_tree": float(trace["log_posterior"][0]),
        "best_tree_seconds": float(trace["seconds"][np.argmax(best)]),
        "log_posterior": certificate.log_posterior,
        "leaves": model.tree_.n_leaves,
        "status": certificate.status,
        "proved_depth": None if certificate.optimal else int(certificate.proved_depth),
        "expansions": certificate.expansions,
        "seconds": seconds,
        "processor_seconds": processor,
        "counted_bytes": certificate.peak_bytes,
        "held_after": held_after,
        "growth": growth,
    }


def measured(case: dict[str, Any]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, "--case", json.dumps(case)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{case} failed:\n{done.stderr}")
    row: dict[str, Any] = json.loads(done.stdout)
    return row


def markdown(document: dict[str, Any]) -> str:
    header = ["rows, values, thresholds", "before search s", "first tree s", "log posterior"]
    header += ["best tree s", "log posterior", "leaves", "proved depth", "counted MB"]
    header += ["held before search MB", "bytes a value", "peak MB"]
    lines = []
    for row in document["rows"]:
        lines.append([
            f"{row['rows']:,}, {row['distinct']}, {row['variant']}",
            number(row["seconds_before_search"], 3),
            number(row["first_tree_seconds"], 3),
            number(row["first_tree"], 1),
            number(row["best_tree_seconds"], 3),
            number(row["log_posterior"], 1),
            str(row["leaves"]),
            "any" if row["proved_depth"] is None else str(row["proved_depth"]),
            megabytes(row["counted_bytes"]),
            megabytes(row["held_before_search"]),
            number(row["held_before_search"] / row["values"], 2),
            megabytes(row["growth"]),
        ])  # fmt: skip
    parts = [
        "# Many rows",
        facts(document["environment"] | document["settings"]),
        f"{COLUMNS} columns. Seconds run from the beginning of `fit`; the best tree is the last "
        "within the limit. *Counted* is `certificate_.peak_bytes`, *held* and *peak* are what "
        "`fit` added to the resident set when the search started, and at most. *Bytes a value* are "
        "those held when the search started.",
        table(header, lines),
    ]
    return "\n\n".join(parts) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[10**4, 10**5, 10**6])
    parser.add_argument("--distinct", nargs="+", default=list(DISTINCT), choices=list(DISTINCT))
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each fit (60)")
    parser.add_argument(
        "--processor", action="store_true", help="seconds are those of the processor"
    )
    parser.add_argument("--out", help="output path without .json (bench/results/many-rows)")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case is not None:
        print(json.dumps(run_case(json.loads(options.case)), allow_nan=False))
        return 0
    cases = [
        {"rows": rows, "distinct": distinct, "variant": variant}
        for rows in options.rows
        for distinct in options.distinct
        for variant in VARIANTS
    ]
    out = output(options.out, "many-rows")
    document: dict[str, Any] = {
        "environment": environment(),
        "settings": {
            "limit": f"{options.limit:g} s",
            "seconds": "of the processor" if options.processor else "by the clock",
        },
        "sets": len(cases),
        "rows": [],
    }
    with until_interrupted():
        for case in cases:
            given = {"limit": options.limit, "by_processor": options.processor}
            document["rows"].append(measured(case | given))
            write_report(out, document, markdown(document))
            print(case, file=sys.stderr, flush=True)
    return 0 if finish(out, document, markdown) else 130


if __name__ == "__main__":
    sys.exit(main())
