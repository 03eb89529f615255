"""Classifiers with trees that were not searched for, and names that are hard to write."""

from __future__ import annotations

import numpy as np

from maptree import BinaryEncoder, MAPTreeClassifier, Tree
from maptree.encoding.schema import Column

HOSTILE = [
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


def model_of(schema, tree, classes=("a", "b")):
    """A classifier with a given tree, as if it had been fitted."""
    model = MAPTreeClassifier()
    model.encoder_ = BinaryEncoder()
    model.encoder_.schema_ = tuple(schema)
    model.encoder_.passthrough_ = False
    model.encoder_.n_features_in_ = len(schema)
    model.tree_, model.classes_ = tree, np.array(classes)
    model.rho_, model.n_features_in_ = np.full(len(classes), 2.5), len(schema)
    model.feature_names_in_ = np.array([column.name for column in schema], dtype=object)
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
