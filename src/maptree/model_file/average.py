"""The trees of a sampler as JSON, and back.

A tree is the list of its nodes, each followed by what is below its false branch, then by what is
below its true branch: the number of a test or, for a leaf, -1 minus the number of its class counts.
Leaves with the same counts are frequent, so these are written once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maptree.files.json_values import fields, items, number, show, text, whole
from maptree.model_file.path_checks import refuse_impossible_paths, refuse_long_tests
from maptree.parameters.limits import MAX_TOTAL_WEIGHT
from maptree.schema.columns import Schema
from maptree.trees.average import (
    ENDED_BY,
    MOVES,
    Acceptance,
    Average,
    Chains,
    Particles,
)
from maptree.trees.forest import Trees, WeightedTrees
from maptree.trees.tree import Tree

_COUNT = 2**62
# Class counts of all nodes; samplers end at as many, of 8 bytes each.
MOST_COUNTS = 1 << 25
_FIELDS = ("status", "log_posterior", "counts", "trees", "log_posteriors")
_OF_CHAINS = ("samples", "burn_in", "thin", "acceptance")
_OF_PARTICLES = ("weights", "log_evidences", "resamplings")

Whole = NDArray[np.int64]


def write_average(average: Average | None) -> dict[str, Any] | None:
    """Return JSON values for the trees of a sampler; None for a single tree."""
    if average is None:
        return None
    weighted, origin = average.weighted, average.origin
    nodes, _ = weighted.trees.nodes()
    feature, counts = weighted.trees.feature[nodes], weighted.trees.counts[nodes]
    leaves = feature < 0
    distinct, number_of = np.unique(counts[leaves], axis=0, return_inverse=True)
    values = feature.astype(np.int64)
    values[leaves] = -1 - number_of.reshape(-1)
    ends = np.cumsum(weighted.trees.sizes)[:-1]
    written: dict[str, Any] = {
        "status": average.status,
        "log_posterior": average.log_posterior,
        "counts": distinct.tolist(),
        "trees": [part.tolist() for part in np.split(values, ends)],
        "log_posteriors": weighted.log_posteriors.tolist(),
    }
    if isinstance(origin, Chains):
        return written | {
            "samples": weighted.sample.tolist(),
            "burn_in": origin.burn_in,
            "thin": origin.thin,
            "acceptance": {name: list(n[:2]) for name, n in origin.acceptance.items()},
        }
    evidences = origin.log_evidences.tolist()
    return written | {
        "weights": weighted.weights.tolist(),
        "log_evidences": [None if math.isnan(value) else value for value in evidences],
        "resamplings": origin.resamplings.tolist(),
    }


def read_average(value: object, schema: Schema, best: Tree) -> Average | None:
    """Return what ``write_average`` wrote, checked; the most probable tree was read before."""
    if value is None:
        return None
    where = "average"
    chains = isinstance(value, dict) and "samples" in value
    given = fields(value, where, (*_FIELDS, *(_OF_CHAINS if chains else _OF_PARTICLES)))
    status = text(given["status"], f"{where}.status")
    if status not in ENDED_BY:
        raise ValueError(f"{where}.status is {show(status)}: it must be {' or '.join(ENDED_BY)}.")
    trees = _read_trees(given, schema, best.counts[0])
    listed = items(given["log_posteriors"], f"{where}.log_posteriors", len(trees))
    log_posteriors = np.array(
        [number(v, f"{where}.log_posteriors[{i}]") for i, v in enumerate(listed)]
    )
    log_posterior = number(given["log_posterior"], f"{where}.log_posterior")
    if log_posterior < log_posteriors.max():
        raise ValueError(f"{where}.log_posterior is less than that of a tree of the average.")
    read = _read_chains if chains else _read_particles
    weights, sample, origin = read(given, len(trees))
    if (np.diff(weights) > 0).any() or not weights[-1] > 0:
        raise ValueError(f"{where}: the weights of trees must be above 0, in decreasing order.")
    return Average(
        WeightedTrees(trees, weights, log_posteriors, sample), log_posterior, status, origin
    )


def _read_chains(
    given: dict[str, Any], n_trees: int
) -> tuple[NDArray[np.float64], NDArray[np.int32], Chains]:
    where = "average.samples"
    rows = items(given["samples"], where)
    if not rows:
        raise ValueError(f"{where} is empty: there must be a chain.")
    n_samples = len(items(rows[0], f"{where}[0]"))
    sample = np.array(
        [
            _wholes(items(row, f"{where}[{i}]", n_samples), f"{where}[{i}]", -1, n_trees - 1)
            for i, row in enumerate(rows)
        ],
        dtype=np.int32,
    )
    reached = sample >= 0
    if n_samples == 0 or not reached[:, 0].all() or (np.diff(reached.astype(int)) > 0).any():
        raise ValueError(f"{where}: every chain must have a sample, and -1 only after its last.")
    drawn = np.bincount(sample[reached], minlength=n_trees).astype(np.float64)
    moves = fields(given["acceptance"], "average.acceptance", MOVES)
    acceptance = {}
    for name in MOVES:
        place = f"average.acceptance.{name}"
        proposed, accepted = items(moves[name], place, 2)
        proposed = whole(proposed, f"{place}[0]", 0, _COUNT)
        acceptance[name] = Acceptance.of(proposed, whole(accepted, f"{place}[1]", 0, proposed))
    origin = Chains(
        acceptance,
        burn_in=whole(given["burn_in"], "average.burn_in", 0, _COUNT),
        thin=whole(given["thin"], "average.thin", 1, _COUNT),
    )
    return drawn / drawn.sum(), sample, origin


def _read_particles(
    given: dict[str, Any], n_trees: int
) -> tuple[NDArray[np.float64], NDArray[np.int32], Particles]:
    where = "average.weights"
    listed = items(given["weights"], where, n_trees)
    weights = np.array([number(v, f"{where}[{i}]", 0.0, 1.0) for i, v in enumerate(listed)])
    if not math.isclose(weights.sum(), 1.0, abs_tol=1e-6):
        raise ValueError(f"{where} do not sum to 1.")
    where = "average.log_evidences"
    evidences = [
        math.nan if v is None else number(v, f"{where}[{i}]")
        for i, v in enumerate(items(given["log_evidences"], where))
    ]
    if not evidences or all(map(math.isnan, evidences)):
        raise ValueError(f"{where} must have a number: that of an island that was begun.")
    where = "average.resamplings"
    resamplings = _wholes(items(given["resamplings"], where, len(evidences)), where, 0, _COUNT)
    return weights, np.empty((0, 0), np.int32), Particles(np.array(evidences), resamplings)


def _read_trees(given: dict[str, Any], schema: Schema, root: Whole) -> Trees:
    where = "average.counts"
    rows = items(given["counts"], where)
    if not rows:
        raise ValueError(f"{where} is empty: there must be a leaf.")
    counts = np.array(
        [
            _wholes(items(row, f"{where}[{i}]", len(root)), f"{where}[{i}]", 0, MAX_TOTAL_WEIGHT)
            for i, row in enumerate(rows)
        ]
    )
    if not counts.any(axis=1).all():
        raise ValueError(f"{where} has a leaf without rows.")
    where = "average.trees"
    listed = items(given["trees"], where)
    if not listed:
        raise ValueError(f"{where} is empty: there must be a tree.")
    n_nodes = sum(len(items(tree, f"{where}[{t}]")) for t, tree in enumerate(listed))
    if n_nodes * len(root) > MOST_COUNTS:
        raise ValueError(
            f"{where} have {n_nodes:,} nodes of {len(root):,} classes: together at most "
            f"{MOST_COUNTS:,} counts."
        )
    flat = Trees(
        starts=np.empty(len(listed), np.int64),
        sizes=np.empty(len(listed), np.int64),
        feature=np.full(n_nodes, -1, np.int32),
        left=np.full(n_nodes, -1, np.int32),
        right=np.full(n_nodes, -1, np.int32),
        counts=np.zeros((n_nodes, len(root)), np.int64),
    )
    n_tests, start = len(schema.tests), 0
    shapes = set()
    for t, nodes in enumerate(listed):
        values = _wholes(nodes, f"{where}[{t}]", -len(counts), n_tests - 1)
        here = slice(start, start + len(values))
        _fill(flat, here, values, counts, f"{where}[{t}]")
        if (flat.counts[start] != root).any():
            raise ValueError(f"{where}[{t}]: its leaves do not have the rows of tree.counts[0].")
        flat.starts[t], flat.sizes[t] = start, len(values)
        try:
            refuse_impossible_paths(flat[t], schema)
        except ValueError as error:
            raise ValueError(f"{where}[{t}]: {error}") from None
        shapes.add(flat.feature[here].tobytes())
        start += len(values)
    if len(shapes) < len(listed):
        raise ValueError(f"{where}: two trees are the same.")
    try:
        refuse_long_tests(np.unique(flat.splits()[0]).tolist(), schema)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    return flat


def _fill(flat: Trees, here: slice, values: Whole, counts: Whole, where: str) -> None:
    """Write a tree into the flat arrays, and add up the counts of its leaves."""
    inner = values >= 0
    left, right, waiting = flat.left[here], flat.right[here], []
    for node, splits in enumerate(inner.tolist()):
        if splits:
            left[node] = node + 1
            waiting.append(node)
        elif waiting and node + 1 < len(values):
            right[waiting.pop()] = node + 1
        elif node + 1 < len(values):
            raise ValueError(f"{where} has nodes after its last leaf.")
    if waiting or not len(values):
        raise ValueError(f"{where} ends before its last leaf.")
    flat.feature[here] = np.where(inner, values, -1)
    of_nodes = flat.counts[here]
    of_nodes[~inner] = counts[-1 - values[~inner]]
    # What is below a node follows it, so its counts are a difference of sums.
    sums = np.concatenate([np.zeros((1, counts.shape[1]), np.int64), np.cumsum(of_nodes, axis=0)])
    ends = np.arange(1, len(values) + 1)
    for node in np.flatnonzero(inner)[::-1].tolist():
        ends[node] = ends[right[node]]
    of_nodes[inner] = sums[ends[inner]] - sums[np.flatnonzero(inner)]


def _wholes(entries: Sequence[object], where: str, least: int, most: int) -> Whole:
    """Return whole numbers within a range; they may be many, so they are checked together."""
    if set(map(type, entries)) <= {int}:
        numbers: Sequence[Any] = entries
        if not numbers or (min(numbers) >= least and max(numbers) <= most):
            return np.array(numbers, dtype=np.int64)
    return np.array([whole(v, f"{where}[{i}]", least, most) for i, v in enumerate(entries)])
