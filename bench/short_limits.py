"""Short time limits on large tables: how many columns are read, and is the time used and kept.

    make bench-short-limits ARGS="--limits 1 2"

Limits go by processor time, so that other processes do not decide what is read. Each fit is in a
process of its own. With `--out` the table is also written as Markdown next to the JSON.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np

import raw_tables
from envelopes import go_by_processor_time
from report import environment, facts, finish, number, output, table, until_interrupted, write

LIMITS = (0.5, 1.0, 2.0, 5.0)


def flights() -> tuple[Any, Any]:
    """All columns but the delay itself, as they are: text as Python objects."""
    X, delay = raw_tables._rdata("nycflights13", "flights", "arr_delay")()
    return X[delay.notna()], (delay[delay.notna()] > 15).to_numpy()


def flights_as_objects() -> tuple[Any, Any]:
    X, y = flights()
    return X.to_numpy(dtype=object), y


def numbers() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000_000, 20))
    return X, X[:, 0] + X[:, 19] + rng.normal(size=len(X)) > 0


TABLES = {
    "flights, 327,346 x 19": flights,
    "the same as Python objects": flights_as_objects,
    "fars, 100,968 x 29": lambda: raw_tables.load("fars"),
    "numbers, 1,000,000 x 20": numbers,
    "diamonds, 53,940 x 9": lambda: raw_tables.load("diamonds"),
}


def run(name: str, limit: float) -> dict[str, Any]:
    from maptree import MAPTreeClassifier

    warnings.simplefilter("ignore")
    X, y = TABLES[name]()
    MAPTreeClassifier(max_expansions=5).fit([[0, "a"], [1, "b"]], [0, 1])  # loads what loads late
    go_by_processor_time()
    started = time.perf_counter()
    model = MAPTreeClassifier(time_limit=limit).fit(X, y)
    seconds = time.perf_counter() - started
    return {
        "table": name,
        "limit": limit,
        "columns": model.n_features_in_,
        "read": model.n_features_in_ - model.fitted_.schema.n_unread,
        "seconds": seconds,
        "first_tree": float(model.trace_["seconds"][0]),
        "leaves": model.tree_.n_leaves,
        "log_posterior": model.certificate_.log_posterior,
        "accuracy": float((model.predict(X) == y).mean()),
    }


def markdown(document: dict[str, Any]) -> str:
    lines = [
        [
            row["table"],
            f"{row['limit']:g}",
            f"{row['read']} of {row['columns']}",
            number(row["first_tree"], 2),
            number(row["seconds"], 3),
            str(row["leaves"]),
            number(row["log_posterior"], 0),
            number(row["accuracy"], 4),
        ]
        for row in document["rows"]
    ]
    header = ["table", "limit, s", "columns read", "first tree, s", "end, s", "leaves"]
    found = table([*header, "log posterior", "accuracy on the same rows"], lines)
    return "\n\n".join(["# Short time limits", facts(document["environment"]), found]) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limits", type=float, nargs="+", default=LIMITS, metavar="SECONDS")
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--out", help="output path without .json (bench/results/short-limits)")
    options = parser.parse_args()
    out = output(options.out, "short-limits")
    n_rows = len(options.tables) * len(options.limits)
    document: dict[str, Any] = {"environment": environment(), "sets": n_rows, "rows": []}
    with until_interrupted():
        for name in options.tables:
            for limit in options.limits:
                with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                    document["rows"].append(pool.submit(run, name, limit).result())
                write(out, document, markdown(document))
    return 0 if finish(out, document, markdown) else 130


if __name__ == "__main__":
    sys.exit(main())
