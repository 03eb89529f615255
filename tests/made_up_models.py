"""Classifiers with trees that were not searched for, and names that are hard to write."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from maptree import BinaryEncoder, FittedTree, MAPTreeClassifier, TrainingSummary, Tree
from maptree.engine.search import TRACE
from maptree.parameters.prior import Prior
from maptree.schema.columns import Column, Schema

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
