"""The best trees of the proved sets: how long it takes to list them, next to the proof of the best.

    MAPTREE_DATA=... make bench-alternatives
    make bench-alternatives ARGS="--trees 1000 --sets vote lymph"

One set after the other, each in a process of its own, on one thread. Seconds are the processor's,
so that other programs on the machine matter little. The tables are written after every set.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import sets
from maptree import MAPTreeClassifier, log_posterior

PROVED = (
    "zoo-1",
    "hepatitis",
    "primary-tumor",
    "vote",
    "tic-tac-toe",
    "lymph",
    "heart-cleveland",
    "audiology",
    "soybean",
)
RESULTS = Path(__file__).parent / "results" / "alternatives.json"

Row = dict[str, Any]


def measure(name: str, trees: int, limit: float) -> Row:
    """Prove the best tree of a set, then list the best ones; in this process."""
    X, y = sets.load(name)
    model = MAPTreeClassifier(time_limit=limit, encoder=None)
    started = time.process_time()
    model.fit(X, y)
    proof = time.process_time() - started
    started = time.process_time()
    found = model.alternatives(trees)
    listing = time.process_time() - started
    worst = max(
        (abs(log_posterior(one.tree, X, y) - one.log_posterior) for one in found), default=0.0
    )
    nats = [one.nats for one in found]
    return {
        "set": name,
        "rows": len(X),
        "columns": X.shape[1],
        "status": model.certificate_.status,
        "proof_seconds": proof,
        "proof_expansions": model.certificate_.expansions,
        "proof_bytes": model.certificate_.peak_bytes,
        "trees": len(found),
        "list_status": found.status,
        "list_seconds": listing,
        "list_expansions": found.expansions,
        "list_bytes": found.peak_bytes,
        "tenth": nats[9] if len(nats) > 9 else math.nan,
        "last": nats[-1] if nats else math.nan,
        "complete": found.complete_within,
        "columns_tested": len(found.columns),
        "columns_of_all": sum(use.trees == len(found) for use in found.columns),
        "first_tests": len(found.first_splits),
        "worst_score": worst,
    }


def markdown(rows: list[Row], trees: int) -> str:
    """Return the table."""
    lines = [
        f"# The {trees:,} best trees of the proved sets",
        "",
        "Written by `make bench-alternatives`: one thread, processor seconds.",
        "",
        "- *Proof*: `fit` until the best tree is proved. *List*: `alternatives`, from the table to",
        "  the last tree, which proves the best tree again.",
        "- *Tenth* and *last*: how many nats these trees are below the best.",
        "- *Complete*: trees that part the rows in another way than those listed are at least this",
        "  many nats below the best.",
        "- *First tests*, *columns tested*: by the trees together; *by all*: by each of them.",
        "- *Scorer*: the largest difference between the log posterior of a tree and what",
        "  `log_posterior`, which shares no code with the search, says of it.",
        "",
        "| set | rows | columns | proof, s | list, s | ratio | expansions | MB | trees | tenth "
        "| last | complete | first tests | columns tested | by all | scorer |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        ratio = row["list_seconds"] / max(row["proof_seconds"], 1e-9)
        done = "" if row["list_status"] == "complete" else f" ({row['list_status']})"
        lines.append(
            f"| {row['set']} | {row['rows']:,} | {row['columns']:,} | {row['proof_seconds']:.2f} "
            f"| {row['list_seconds']:.2f} | {ratio:.1f} "
            f"| {row['proof_expansions']:,} and {row['list_expansions']:,} "
            f"| {row['proof_bytes'] / 1e6:,.0f} and {row['list_bytes'] / 1e6:,.0f} "
            f"| {row['trees']:,}{done} | {row['tenth']:.2f} | {row['last']:.2f} "
            f"| {row['complete']:.2f} | {row['first_tests']:,} | {row['columns_tested']:,} "
            f"| {row['columns_of_all']:,} | {row['worst_score']:.0e} |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measure the sets one by one; the exit code says whether all lists are complete."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", nargs="+", default=list(PROVED))
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for each of the two")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one is not None:
        print(json.dumps(measure(given.one, given.trees, given.limit)))
        return 0
    rows: list[Row] = []
    for name in sets.choose(given.sets):
        command = [sys.executable, __file__, "--one", name, "--trees", str(given.trees)]
        told = subprocess.run(
            [*command, "--limit", str(given.limit)], stdout=subprocess.PIPE, check=True, text=True
        )
        rows.append(json.loads(told.stdout))
        table = markdown(rows, given.trees)
        given.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
        given.out.with_suffix(".md").write_text(table, encoding="utf-8")
        print(table.splitlines()[-1], flush=True)
    np.testing.assert_array_less([row["worst_score"] for row in rows], 1e-6)
    return int(any(row["list_status"] != "complete" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
