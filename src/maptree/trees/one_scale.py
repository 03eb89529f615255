"""Whether what two certificates state is on one scale: the same rows, tests and prior.

A log posterior is not normalised. It is log P(tree, labels | table), so it can be compared between
trees only if both are trees over the same tests, for the same labelled rows, under the same prior.
Constraints (``max_depth``, ``first_columns``, ...) do not matter: they only take trees away.
"""

from __future__ import annotations

import numpy as np

from maptree.parameters.budget import Constraints
from maptree.schema.columns import Column, Schema
from maptree.trees.fitted import FittedTree


def obstacle(model: FittedTree, other: FittedTree) -> str:
    """Return why two log posteriors cannot be compared as they are; empty if they can be.

    >>> from maptree import MAPTreeClassifier
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5
    >>> model = MAPTreeClassifier().fit(X, y)
    >>> obstacle(model.fitted_, MAPTreeClassifier(max_depth=1).fit(X, y).fitted_)
    ''
    >>> obstacle(model.fitted_, MAPTreeClassifier(alpha=0.5).fit(X, y).fitted_)
    'they have different priors'
    """
    if model.certificate is None or other.certificate is None:
        return "one was drawn by a sampler, which has no certificate"
    if not _same_tests(model.schema, other.schema):
        return "they have different tests"
    if not _same_prior(model, other):
        return "they have different priors"
    mine, theirs = model.training, other.training
    if mine.rows != theirs.rows or mine.class_counts != theirs.class_counts:
        return "they were fitted to different rows"
    if mine.seen is None or theirs.seen is None:
        return "it is not known whether they were fitted to the same rows"
    if mine.seen.digest != theirs.seen.digest:
        return "they were fitted to different rows"
    return ""


def is_stricter(mine: Constraints, theirs: Constraints) -> bool:
    """Return whether every tree that ``theirs`` allows is one that ``mine`` allows.

    >>> is_stricter(Constraints(max_depth=4), Constraints(max_depth=3, first_columns=(1,)))
    True
    >>> is_stricter(Constraints(first_columns=(0,)), Constraints())
    False
    """
    others = set(vars(mine)) - {"max_depth", "min_samples_leaf", "first_columns", "without_columns"}
    if any(getattr(mine, name) != getattr(theirs, name) for name in others):
        return False  # not known
    deeper = mine.max_depth is not None and (
        theirs.max_depth is None or theirs.max_depth > mine.max_depth
    )
    larger = mine.max_leaf_nodes is not None and (
        theirs.max_leaf_nodes is None or theirs.max_leaf_nodes > mine.max_leaf_nodes
    )
    others_first = mine.first_columns and not (
        theirs.first_columns and set(theirs.first_columns) <= set(mine.first_columns)
    )
    return not (
        deeper
        or larger
        or theirs.min_samples_leaf < mine.min_samples_leaf
        or others_first
        or set(mine.without_columns) - set(theirs.without_columns)
    )


def _same_tests(mine: Schema, theirs: Schema) -> bool:
    """Return whether two schemas of the same rows have the same tests.

    A file keeps few of very many thresholds: those of its tree, which differ from tree to tree. The
    others follow from the rows and from the parameters of the encoder.
    """
    if len(mine.columns) != len(theirs.columns) or mine.encoder != theirs.encoder:
        return False
    if mine.names != theirs.names or mine.first_tests[-1] != theirs.first_tests[-1]:
        return False
    return all(map(_alike, mine.columns, theirs.columns))


def _alike(mine: Column, theirs: Column) -> bool:
    whole = isinstance(mine.thresholds, tuple) and isinstance(theirs.thresholds, tuple)
    return (
        mine.kind == theirs.kind
        and len(mine.tests) == len(theirs.tests)
        and mine.categories == theirs.categories
        and mine.has_missing == theirs.has_missing
        and (not whole or tuple(mine.thresholds) == tuple(theirs.thresholds))
    )


def _same_prior(model: FittedTree, other: FittedTree) -> bool:
    mine, theirs = model.prior, other.prior
    n_columns = len(model.schema.columns)
    odds = [np.array(prior.column_weights or (1.0,) * n_columns) for prior in (mine, theirs)]
    split = [
        "tests" if fitted.schema.binary else fitted.prior.split_prior for fitted in (model, other)
    ]
    return (
        (mine.alpha, mine.beta) == (theirs.alpha, theirs.beta)
        and np.array_equal(mine.rho, theirs.rho)
        and split[0] == split[1]
        and bool((odds[0] * odds[1].max() == odds[1] * odds[0].max()).all())
    )
