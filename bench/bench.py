"""Measure the search on the CP4IM sets: cost, bound, time, expansions and memory.

    python bench/bench.py --limit 10 --sets vote lymph

The sets are read from $MAPTREE_DATA (files NAME.txt.gz: 0/1, the label first); tic-tac-toe is
generated. A benchmark, not a test: figures depend on the machine and on what else it runs.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np

from maptree import MAPTreeClassifier
from maptree.datasets import load_tic_tac_toe

HEADER = "| set | rows | columns | status | cost | lower bound | s | expansions | us each | MB |"


def load(path: Path) -> tuple[np.ndarray, np.ndarray]:
    rows = np.loadtxt(path, dtype=np.uint8)
    return rows[:, 1:], rows[:, 0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=10.0, help="seconds for each set")
    parser.add_argument("--sets", nargs="*", help="names; all that are found by default")
    options = parser.parse_args()

    folder = Path(os.environ.get("MAPTREE_DATA", "."))
    found = {path.name.removesuffix(".txt.gz"): path for path in folder.glob("*.txt.gz")}
    names = options.sets or sorted({*found, "tic-tac-toe"})
    print(HEADER)
    print("|---|" + "---:|" * 2 + "---|" + "---:|" * 6)
    for name in names:
        if name == "tic-tac-toe":
            data = load_tic_tac_toe()
            X, y = data.data, data.target
        elif name in found:
            X, y = load(found[name])
        else:
            parser.error(f"{name}.txt.gz is not in {folder}: set MAPTREE_DATA")
        started = time.perf_counter()
        certificate = MAPTreeClassifier(time_limit=options.limit).fit(X, y).certificate_
        seconds = time.perf_counter() - started
        print(
            f"| {name} | {X.shape[0]} | {X.shape[1]} | {certificate.status} "
            f"| {-certificate.log_posterior:.4f} | {-certificate.log_posterior_bound:.4f} "
            f"| {seconds:.2f} | {certificate.expansions} "
            f"| {1e6 * seconds / max(1, certificate.expansions):.1f} "
            f"| {certificate.peak_bytes / 1e6:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
