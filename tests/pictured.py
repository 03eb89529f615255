"""Fitted classifiers with trees made to be looked at: of any size, with any names and labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from made_up_models import change
from maptree import MAPTreeClassifier, Tree

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "\"quotes\" and 'quotes' & ]]> -->",
    "שלום עולם",
    "\u202eoverride\u2066",
    "👩‍👩‍👧 emoji 😀",
    "x" * 10_000,
    "$cost$ and $x_1$ \\frac{",
    "two\nlines\ttab\x00nul",
    "{{7*7}} ${7*7} %s",
    "lone \ud800 surrogate",
]


def chain(n_leaves: int, n_classes: int = 2) -> Tree:
    """A tree of so many leaves, bushy at first and then deep, over tests 0, 1, 2, ..."""
    rng = np.random.default_rng(n_leaves)
    feature, left, right = [-1], [-1], [-1]
    counts = [rng.integers(50, 500, n_classes)]
    leaves = [0]
    for test in range(n_leaves - 1):
        node = leaves.pop(0 if test % 3 else -1)
        feature[node], left[node], right[node] = test, len(feature), len(feature) + 1
        yes = rng.binomial(counts[node], rng.uniform(0.1, 0.9, n_classes))
        for part in (counts[node] - yes, yes):
            leaves.append(len(feature))
            feature.append(-1)
            left.append(-1)
            right.append(-1)
            counts.append(part)
    return Tree(feature, left, right, np.array(counts))


def pictured(
    n_leaves: int, names: Sequence[str] | None = None, labels: Sequence[object] = ("no", "yes")
) -> MAPTreeClassifier:
    """A classifier whose tree has so many leaves; it asks about columns of 0 and 1."""
    n_columns = max(2, n_leaves - 1)
    names = [f"column {j}" for j in range(n_columns)] if names is None else names
    rng = np.random.default_rng(0)
    table = pd.DataFrame({f"column {j}": rng.integers(0, 2, 300) for j in range(len(names))})
    model = MAPTreeClassifier(max_expansions=5).fit(table, rng.choice(list(labels), 300))
    tree = chain(n_leaves, len(labels))
    # No frame takes all of the names; what a tree shows are these.
    asked = np.where(tree.feature < 0, -1, tree.feature % len(names))
    return change(
        model,
        schema=model.fitted_.schema.renamed(names),
        tree=Tree(asked, tree.left, tree.right, tree.counts),
    )
