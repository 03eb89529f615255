"""Measure random fits: seconds beyond the time limit, and growth of the process beyond the memory.

    python bench/envelopes.py --cases 300

Every case is fitted in a process of its own. Those that exceed what is allowed are listed, with the
seed that makes them again: --first SEED --cases 1. The tests count the same cases. With --processor
limits go by the processor time of the process, so that other work on the machine does not matter.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import threading
import time
import warnings
from multiprocessing.connection import Connection
from typing import Any

from envelope_cases import Case, make
from measure import resident, start_of_peak
from report import environment, facts, finish, number, output, table, until_interrupted, write

MIB = 2**20
# What a fit may exceed its time limit by, in processor seconds: the clock is read after a piece of
# work that may take some units per row, and all that was made is given back.
ALLOWED_SECONDS = 0.1
# What a process may grow by beyond the bytes that a fit counts: Python objects, what the allocator
# keeps, and encoding, which is not counted: a few copies of a column, and twice the answers.
ALLOWED_MIB = 48
HANGS = 300  # seconds


def allowed_growth(case: Case) -> float:
    """Return the MiB that a case may add to the process beyond what it counts."""
    answers = 2 * case.n_rows * len(case.columns) * 40 / 8
    copies = 400 * case.n_rows  # of a column of objects, and of the labels
    return ALLOWED_MIB + (answers + copies) / MIB


def go_by_processor_time() -> None:
    """Let the package and its core read the processor time of this process as the time."""
    from maptree import _core

    limits, dataset = _core.Limits, _core.Dataset
    time.perf_counter = time.process_time

    def make_dataset(*given: Any, **named: Any) -> Any:
        return dataset(*given, **named, clock=time.process_time)

    _core.Limits = lambda **given: limits(**given, clock=time.process_time)  # type: ignore[misc]
    _core.Dataset = make_dataset  # type: ignore[misc]


def run(case: Case, by_processor: bool, result: Connection) -> None:
    """Fit the case, and send what it took."""
    warnings.simplefilter("ignore")
    X, y, weights = case.table()
    model = case.model()
    limit = case.params["time_limit"]
    at_limit: list[float] = []

    def look() -> None:
        time.sleep(limit)
        at_limit.append(time.process_time())

    before = start_of_peak()
    if by_processor:
        go_by_processor_time()
    else:
        threading.Thread(target=look, daemon=True).start()
    started = time.perf_counter()
    if by_processor:
        at_limit.append(started + limit)
    outcome, counted = "fitted", 0
    try:
        model.fit(X, y, sample_weight=weights)
        if case.estimator == "MAPTreeClassifier":
            outcome, counted = model.certificate_.status, model.certificate_.peak_bytes
        else:
            outcome = model.status_
    except (ValueError, TypeError) as error:
        outcome = f"refused: {error}"[:200]
    ended, processor = time.perf_counter(), time.process_time()
    result.send(
        {
            "outcome": outcome,
            "seconds": ended - started,
            "over": max(0.0, ended - started - limit),
            "processor_over": max(0.0, processor - at_limit[0]) if at_limit else 0.0,
            "grown": (resident("VmHWM") - before) / MIB,
            "counted": counted / MIB,
        }
    )


def measured(case: Case, by_processor: bool = False) -> dict[str, Any]:
    """Fit a case in a process of its own; ``outcome`` says how it ended."""
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)
    # Not a daemon, in which joblib allows one thread only.
    process = context.Process(target=run, args=(case, by_processor, send))
    process.start()
    send.close()
    row: dict[str, Any] = {"seed": case.seed, "what": case.name}
    try:
        if receive.poll(HANGS):
            row |= receive.recv()
        else:
            row["outcome"] = f"no end after {HANGS} s"
    except EOFError:
        process.join()
        row["outcome"] = f"ended with code {process.exitcode}"
    finally:
        process.kill()
        process.join()
    return row | {"exceeds": exceeds(case, row)}


def exceeds(case: Case, row: dict[str, Any]) -> list[str]:
    """Return what a fit exceeded."""
    if "seconds" not in row:
        return ["end"]
    found = []
    if row["processor_over"] > ALLOWED_SECONDS:
        found.append("time")
    limit = case.params.get("memory_limit")
    megabytes = None if limit is None else int(str(limit).removesuffix("MB")) * 1e6 / MIB
    if megabytes is not None and row["counted"] > megabytes:
        found.append("counted")
    if case.estimator == "MAPTreeClassifier":
        bound = row["counted"] if megabytes is None else megabytes
    else:
        bound = 3 * 256  # trees kept, merged and returned
    if row["grown"] > bound + allowed_growth(case):
        found.append("memory")
    return found


def markdown(document: dict[str, Any]) -> str:
    """Return the report: how many cases exceed what, and which."""
    rows = document["rows"]
    ended = [row for row in rows if "seconds" in row]
    parts = ["# Envelopes", facts(document["environment"] | document["settings"])]
    summary = [
        [name, number(max(values), 3), number(sorted(values)[len(values) * 99 // 100], 3)]
        for name, values in (
            ("processor seconds beyond the time limit", [r["processor_over"] for r in ended]),
            ("seconds beyond the time limit", [r["over"] for r in ended]),
            ("MiB grown", [r["grown"] for r in ended]),
            ("MiB counted", [r["counted"] for r in ended]),
        )
    ] if ended else []  # fmt: skip
    parts.append(table(["of all cases", "most", "99 of 100 below"], summary))
    outcomes: dict[str, int] = {}
    for row in rows:
        kind = row["outcome"].partition(":")[0]
        outcomes[kind] = outcomes.get(kind, 0) + 1
    parts.append(table(["outcome", "cases"], [[k, str(n)] for k, n in sorted(outcomes.items())]))
    beyond = [row for row in rows if row["exceeds"]]
    parts.append(f"{len(beyond)} of {len(rows)} cases exceed what is allowed.")
    lines = [
        [
            row["what"],
            ", ".join(row["exceeds"]),
            row["outcome"],
            number(row.get("processor_over"), 3),
            number(row.get("grown"), 0),
            number(row.get("counted"), 0),
        ]
        for row in beyond
    ]
    if lines:
        header = ["case", "exceeds", "outcome", "processor s over", "MiB grown", "counted"]
        parts.append(table(header, lines))
    return "\n\n".join(parts) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=200, help="number of cases (200)")
    parser.add_argument("--first", type=int, default=0, help="seed of the first (0)")
    parser.add_argument(
        "--cells", type=int, default=1_000_000, help="rows times columns, at most (1,000,000)"
    )
    parser.add_argument(
        "--processor", action="store_true", help="limits go by processor time, not by the clock"
    )
    parser.add_argument("--out", help="output path without .json (bench/results/envelopes)")
    options = parser.parse_args()
    import maptree

    for kind in ("MAPTreeClassifier", "MCMCTreeClassifier", "SMCTreeClassifier"):  # lazy imports
        getattr(maptree, kind)(time_limit=0.01, n_jobs=2).fit(
            [[0.5, 1], [1.5, 2]] * 4, ["a", "b"] * 4
        )
    out = output(options.out, "envelopes")
    document: dict[str, Any] = {
        "environment": environment(),
        "settings": {
            "cases": options.cases,
            "first seed": options.first,
            "allowed processor seconds": ALLOWED_SECONDS,
            "limits by": "processor time" if options.processor else "the clock",
        },
        "sets": options.cases,
        "rows": [],
    }
    with until_interrupted():
        for seed in range(options.first, options.first + options.cases):
            row = measured(make(seed, options.cells), options.processor)
            document["rows"].append(row)
            write(out, document, markdown(document))
            if row["exceeds"]:
                print(json.dumps(row), file=sys.stderr, flush=True)
    complete = finish(out, document, markdown)
    exceeded = any(row["exceeds"] for row in document["rows"])
    return 130 if not complete else int(exceeded)


if __name__ == "__main__":
    sys.exit(main())
