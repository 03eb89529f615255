"""Classifiers with trees that were not searched for, and names that are hard to write or show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd

from maptree import BinaryEncoder, FittedTree, MAPTreeClassifier, TrainingSummary, Tree
from maptree.parameters.prior import Prior
from maptree.schema.columns import Column, Schema
from maptree.trees.fitted import TRACE

# In source code and queries.
HOSTILE_NAMES = [
    'a"b',
    "it's",
    "x; DROP TABLE data; --",
    "line\nbreak",
    "*/ int x; /*",
    "</script>",
    "back\\slash",
    "%s %d %%",
    "$$ $1 :name ?",
    "名前 ✓ \u202e",
    "select",
    "int",
    "__proto__",
    " ",
    "x" * 10_000,
]

# On a page, in a picture.
HOSTILE_TEXTS = [
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


def fitted_of(schema, tree, classes=("a", "b"), rho=2.5):
    """A fitted tree that was not searched for."""
    return FittedTree(
        tree=tree,
        schema=schema,
        classes=np.array(classes),
        prior=Prior(0.95, 0.5, np.full(len(classes), rho)),
        training=TrainingSummary.of(tree, None),
        trace=np.empty(0, dtype=TRACE),
    )


def model_of(columns, tree, classes=("a", "b"), encoder=None):
    """A classifier with a given tree, as if it had been fitted."""
    schema = Schema(tuple(columns)) if encoder is None else encoder.schema()
    model = MAPTreeClassifier()
    encoder = BinaryEncoder.of_schema(schema) if encoder is None else encoder
    model._keep(fitted_of(schema, tree, classes), encoder)
    return model


def change(model, **facts):
    """Replace some of what is known about a fitted classifier's tree."""
    model.fitted_ = replace(model.fitted_, **facts)
    return model


def asking(*columns):
    """A classifier whose tree is a chain of all tests of some columns."""
    n = sum(len(column.tests) for column in columns)
    feature = [-1 if i % 2 or i == 2 * n else i // 2 for i in range(2 * n + 1)]
    right = [i + 1 if f >= 0 else -1 for i, f in enumerate(feature)]
    left = [i + 2 if f >= 0 else -1 for i, f in enumerate(feature)]
    counts = [[i, 2 * n - i] for i in range(2 * n + 1)]
    return model_of(columns, Tree(feature, left, right, counts))


def number(*thresholds, name="x", dtype="float64", **more):
    return Column(name, "number", dtype, thresholds=thresholds, **more)


def category(*categories, name="x"):
    return Column(name, "category", "str", categories=categories)


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


def good_model(max_thresholds=3, max_expansions=None):
    """A model with columns of many kinds, proved optimal unless it is over all thresholds."""
    rng = np.random.default_rng(3)
    n = 200
    age = rng.integers(18, 80, n).astype(float)
    age[::7] = np.nan
    frame = pd.DataFrame(
        {
            "age": age,
            "colour": rng.choice(["red", "blue", "grün"], n),
            "size": pd.Categorical(rng.choice(["s", "m", "l"], n), ["s", "m", "l"], ordered=True),
            "joined": pd.to_datetime(rng.integers(18000, 19000, n), unit="D"),
            "seen": pd.to_datetime(rng.integers(0, 10**9, n), unit="s", utc=True),
            "price": [Decimal(int(v)) / 4 for v in rng.integers(0, 40, n)],
            "member": rng.random(n) < 0.5,
            "wait": pd.to_timedelta(rng.integers(0, 10**5, n), unit="s"),
        }
    )
    y = np.where((frame["colour"] == "red") & (frame["age"] > 45), "yes", "no")
    y[::20] = "no"
    encoder = BinaryEncoder(max_thresholds=max_thresholds)
    limits = {"time_limit": None, "max_expansions": max_expansions}
    model = MAPTreeClassifier(**limits, encoder=encoder).fit(frame, pd.Series(y, name="buys"))
    assert model.certificate_.optimal or max_thresholds is None
    assert model.tree_.depth >= 2
    return model
