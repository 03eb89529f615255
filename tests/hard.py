"""A problem that no search ends on within a test's time: labels that follow nothing."""

import numpy as np


def hard(n_rows=500, n_columns=80, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2, (n_rows, n_columns)), rng.integers(0, 2, n_rows)


# The start of a script that fits it in a process of its own. A program started in the background
# ignores SIGINT, and so would what it starts.
HARD = """
import json, signal, sys, warnings
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
from maptree import MAPTreeClassifier
rng = np.random.default_rng(0)
X, y = rng.integers(0, 2, (500, 80)), rng.integers(0, 2, 500)
"""
