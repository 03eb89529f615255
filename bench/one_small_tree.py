"""Trees of few leaves of one peer, as a program: each better one is a line of JSON.

It runs in the environment of the peers. `sizes.py` starts it with the settings as JSON, takes the
last line, and ends it when the time is up: neither peer looks at the clock often enough.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from experiments.systems import gosdt, streed
from maptree import Tree

# A penalty decides how many leaves GOSDT's tree has: the smallest that leaves few enough.
PENALTIES = [0.05, 0.02, 0.01, 0.005, 0.002, 0.001]
# Eight leaves fit into depth 3; deeper trees of as many are tried if there is time.
DEPTHS = [3, 4, 5]


def of_streed(X: Any, y: Any, leaves: int) -> Iterator[tuple[Tree, str]]:
    for depth in DEPTHS:
        found = streed.fit(X, y, {"depth": depth, "leaves": leaves}, None, None)
        if found.tree is not None:
            yield found.tree, f"depth {depth}"


def of_gosdt(X: Any, y: Any, leaves: int) -> Iterator[tuple[Tree, str]]:
    for penalty in PENALTIES:
        found = gosdt.fit(X, y, {"regularization": penalty}, None, None)
        if found.tree is None or found.tree.n_leaves > leaves:
            return
        yield found.tree, f"penalty {penalty:g}"


SYSTEMS = {"STreeD": of_streed, "GOSDT": of_gosdt}


def main() -> None:
    warnings.simplefilter("ignore")
    settings = json.loads(sys.argv[1])
    with np.load(settings["file"]) as file:
        X, y, held_out = file["X"], file["y"], file["held_out"]
    started = time.monotonic()
    for tree, how in SYSTEMS[settings["system"]](X, y, settings["leaves"]):
        row = {
            "how": how,
            "seconds": time.monotonic() - started,
            "leaves": tree.n_leaves,
            "counts": tree.counts.tolist(),
            "reached": tree.apply(held_out).tolist(),
        }
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
