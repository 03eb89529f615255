"""Run the core where the system refuses it memory and threads, at another request each time.

    LD_PRELOAD=librefuse.so python refused.py librefuse.so MOST

tells, as JSON, for each kind of run how many requests were refused, how many refusals became a
MemoryError, and what was wrong. MOST is the number of requests of a run up to which each is
refused; of longer runs this many are. It is a program of its own: what may go wrong is a crash.
"""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from crafted import craft
from maptree import _core

MANY = 50  # requests in a row: memory that is gone for some time
PRIOR = _core.Prior(0.95, 0.5, np.array([2.5, 2.5]))
TABLE = craft(0)
LABELS = TABLE.y.astype(np.int32)


def dataset(fold_columns: bool = True, repeat: int = 1) -> _core.Dataset:
    X = np.tile(TABLE.X, (1, repeat))
    return _core.Dataset(_core.pack(X), LABELS, None, 2, fold_columns=fold_columns)


def runs() -> dict[str, tuple[Callable[[], Any], Callable[[Any], bool]]]:
    """What is run, and whether its outcome is right."""
    folded, plain = dataset(), dataset(fold_columns=False)
    optimum = _core.search(folded, PRIOR, _core.Options(), _core.Limits()).upper

    def proved(found: _core.Result) -> bool:
        bounds = found.lower <= optimum <= found.upper
        return bounds and (found.status != "optimal" or found.upper == optimum)

    smc = {
        "n_particles": 15,
        "n_islands": 4,
        "proposal": "optimal",
        "growth": "node",
        "resampling": "systematic",
        "ess_threshold": 0.5,
        "seed": 0,
    }
    mcmc = {"n_samples": 100, "burn_in": 50, "thin": 1, "n_chains": 4, "seed": 0}
    out: dict[str, tuple[Callable[[], Any], Callable[[Any], bool]]] = {
        "dataset": (partial(dataset, repeat=300), lambda data: data.n_rows == len(TABLE.X))
    }
    for threads in (1, 2, 4):
        for name, options in (("search", _core.Options()), ("paper", _core.Options.paper())):
            limits = _core.Limits(threads=threads, max_expansions=200 if name == "search" else 40)
            if name == "search" or threads == 1:
                run = partial(_core.search, folded, PRIOR, options, limits)
                out[f"{name}, {threads} threads"] = run, proved
        limits = _core.Limits(threads=threads)
        for name, sample, plan in (
            ("chains", _core.sample_mcmc, mcmc),
            ("particles", _core.sample_smc, smc),
        ):
            run = partial(sample, plain, PRIOR, limits=limits, **plan)
            out[f"{name}, {threads} threads"] = run, lambda samples: samples is not None
    return out


def main(library: str, most: int) -> None:
    refuse = ctypes.CDLL(library)
    refuse.refuse_start.argtypes = [ctypes.c_long, ctypes.c_long]
    refuse.refuse_stop.restype = ctypes.c_long
    outcomes = {}
    for name, (run, right) in runs().items():
        run()
        refuse.refuse_start(-1, 0)
        run()
        n_requests = refuse.refuse_stop()
        tally = {"requests": n_requests, "refused": 0, "errors": 0, "wrong": 0}
        for many in (1, MANY):
            for nth in range(1, n_requests + 1, n_requests // most + 1):
                tally["refused"] += 1
                outcome = None
                refuse.refuse_start(nth, many)
                try:
                    outcome = run()
                except MemoryError:
                    tally["errors"] += 1
                finally:
                    refuse.refuse_stop()
                if outcome is not None and not right(outcome):
                    tally["wrong"] += 1
        outcomes[name] = tally
    print(json.dumps(outcomes))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
