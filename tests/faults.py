"""A system that misbehaves as it is told, for the tests of the experiments."""

from __future__ import annotations

import json
import os
import sys
import time

from experiments.systems.fitted import Fitted, tree_of


def fit(X, y, params, seed, limit):
    do = params["do"]
    if do == "sleep":
        time.sleep(params["seconds"])
    elif do == "signal":
        os.kill(os.getpid(), params["signal"])
    elif do == "signal the parent":
        os.kill(os.getppid(), params["signal"])
        time.sleep(60)
    elif do == "exit":
        print("these are my last words", file=sys.stderr, flush=True)
        os._exit(3)
    elif do == "eat":
        eaten = []
        while True:
            eaten.append(b"x" * 20_000_000)
            time.sleep(0.01)
    elif do == "raise":
        raise ZeroDivisionError("so many words")
    elif do == "no memory":
        raise MemoryError
    elif do == "garble":
        json.dumps = lambda *what, **how: "nonsense"
    elif do == "print":
        print("noise\n" * 10_000)
        os.write(1, b"noise from below\n")
    elif do == "no tree":
        return Fitted(None, 0.0, "time_limit")
    tree = tree_of(None, lambda node: None, X, y)
    return Fitted(tree, 0.01, "complete", extra={"pid": os.getpid(), "parent": os.getppid()})
