"""Measure the search set by set: cost and bound over time, proof, memory, speed; and CART.

    python bench/bench.py --limit 10 --sets vote lymph

A benchmark, not a test: results depend on the machine and on its load. README.md in this folder
explains them.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import sets
from maptree.parameters.limits import memory_limit
from measure import Settings, measure
from report import environment, finish, name_of, output, until_interrupted, write
from table import contradictions, failures, markdown


def main() -> int:
    options = _read_options()
    names = options.sets
    settings = Settings(options.limit, options.memory_limit, options.jobs)
    document: dict[str, Any] = {
        "environment": environment(),
        "settings": {
            "limit": options.limit,
            "memory limit": options.memory_limit,
            "jobs": options.jobs,
        },
        "sets": len(names),
        "rows": [],
    }
    rows = document["rows"]
    with until_interrupted():
        for number, name in enumerate(names, start=1):
            row = measure(name, settings, with_cart=True)
            row.pop("trace", None)
            row["anchor"] = sets.anchor(name, row.get("rows", 0), row.get("columns", 0))
            rows.append(row)
            write(options.out, document, markdown(document))
            print(f"[{number}/{len(names)}] {_progress(row)}", file=sys.stderr, flush=True)
    if not finish(options.out, document, markdown):
        return 130
    return 1 if failures(rows) or contradictions(rows) else 0


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--sets", nargs="+", metavar="NAME", help="sets to measure (all that are found)"
    )
    parser.add_argument(
        "--limit", type=float, default=60.0, help="time limit per set in seconds (60)"
    )
    parser.add_argument("--memory-limit", metavar="SIZE", help="memory limit, such as 500MB (none)")
    parser.add_argument("--jobs", type=int, metavar="N", help="number of threads (1)")
    parser.add_argument("--out", help="output path without .json (bench/results/SETTINGS)")
    options = parser.parse_args()
    options.out = output(
        options.out, name_of(options.limit, options.sets, options.memory_limit, options.jobs)
    )
    try:
        if options.limit <= 0:
            raise ValueError(
                f"--limit {options.limit:g} leaves no time: pass a number of seconds above 0"
            )
        memory_limit(options.memory_limit)
        options.sets = sets.choose(options.sets)
    except ValueError as error:
        parser.error(str(error))
    return options


def _progress(row: dict[str, Any]) -> str:
    if "cost" not in row:
        return f"{row['set']}: {row['outcome']}"
    end = "proved" if row["status"] == "optimal" else f"bound {row['lower_bound']:.4f}"
    failed = "" if row["outcome"] == "measured" else f", then {row['outcome']}"
    return f"{row['set']}: cost {row['cost']:.4f}, {end}, {row['fit_seconds']:.2f} s{failed}"


if __name__ == "__main__":
    sys.exit(main())
