"""The moves of the Markov chains, exactly: every state of tiny problems, every way from it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from checks import arrays_of, nested
from maptree import _core
from oracle import Posterior, Rows, Tree
from tiny import TINY, exact

MOVES = ("grow", "prune", "change", "swap")
Path = tuple[int, ...]  # from the root: 1 is left, 2 is right
Node = tuple[Path, Tree, Rows]


@cache
def ways(name: str, move: str) -> dict[Tree, list[tuple[Tree, float, float]]]:
    """From every tree: where the move may lead, probability of proposing and of accepting it."""
    problem = TINY[name]
    dataset = _core.Dataset(
        _core.pack(problem.X),
        problem.y.astype(np.int32),
        None,
        problem.n_classes,
        fold_columns=False,
    )
    prior = _core.Prior(problem.alpha, problem.beta, np.array(problem.rho))
    found = {}
    for tree in exact(name)[0]:
        found[tree] = [
            (nested(feature, left, right), *probabilities)
            for feature, left, right, *probabilities in _core.mcmc_transitions(
                dataset, prior, *arrays_of(tree), move
            )
        ]
    return found


def transitions(name: str, *moves: str) -> dict[Tree, dict[Tree, float]]:
    """The probability of going from each tree to each other one by a move drawn evenly."""
    found = {tree: defaultdict(float) for tree in exact(name)[0]}
    for move in moves:
        for tree, there in ways(name, move).items():
            for other, proposal, acceptance in there:
                if other != tree:
                    found[tree][other] += proposal * acceptance / len(moves)
    return found


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("name", TINY)
def test_proposals_and_acceptances_are_probabilities(name, move):
    for there in ways(name, move).values():
        assert sum(proposal for _, proposal, _ in there) == pytest.approx(1, abs=1e-12)
        for other, proposal, acceptance in there:
            assert proposal > 0
            assert 0 <= acceptance <= 1
            assert other in exact(name)[0]


@pytest.mark.parametrize("moves", [("grow", "prune"), ("change",), ("swap",), MOVES], ids="-".join)
@pytest.mark.parametrize("name", TINY)
def test_detailed_balance(name, moves):
    posterior, rows = exact(name)[0], transitions(name, *moves)
    n_flows = 0
    for tree, there in rows.items():
        for other, probability in there.items():
            back = posterior[other] * rows[other].get(tree, 0.0)
            assert posterior[tree] * probability == pytest.approx(back, abs=1e-9, rel=0)
            n_flows += 1
    assert n_flows > 0 or moves == ("swap",)


@pytest.mark.parametrize("name", TINY)
def test_the_posterior_is_stationary(name):
    """What detailed balance is for: a step from the posterior ends in the posterior."""
    posterior, rows = exact(name)[0], transitions(name, *MOVES)
    after = dict(posterior)
    for tree, there in rows.items():
        for other, probability in there.items():
            after[other] += posterior[tree] * probability
            after[tree] -= posterior[tree] * probability
    assert after == pytest.approx(posterior, abs=1e-9, rel=0)


# Where a move leads and how often, from its definition.


def nodes(problem: Posterior, tree: Tree, rows: Rows, path: Path = ()) -> Iterator[Node]:
    """Every node, the root first: where it is, the subtree, and the rows that reach it."""
    yield path, tree, rows
    if tree:
        ones = frozenset(row for row in rows if problem.X[row][tree[0]])
        yield from nodes(problem, tree[1], rows - ones, (*path, 1))
        yield from nodes(problem, tree[2], ones, (*path, 2))


def put(tree: Tree, path: Path, subtree: Tree) -> Tree:
    if not path:
        return subtree
    parts = list(tree)
    parts[path[0]] = put(tree[path[0]], path[1:], subtree)
    return tuple(parts)


def grown(problem: Posterior, tree: Tree) -> Iterator[tuple[Tree, float]]:
    """A leaf that can be split, evenly; a column that varies there, evenly."""
    leaves = [
        (path, problem.varying(rows))
        for path, node, rows in nodes(problem, tree, problem.root)
        if not node and problem.varying(rows)
    ]
    for path, columns in leaves:
        for column in columns:
            yield put(tree, path, (column, (), ())), 1 / len(leaves) / len(columns)


def pruned(problem: Posterior, tree: Tree) -> Iterator[tuple[Tree, float]]:
    """A node whose children are leaves, evenly."""
    every = nodes(problem, tree, problem.root)
    ends = [path for path, node, _ in every if node and not node[1] and not node[2]]
    for path in ends:
        yield put(tree, path, ()), 1 / len(ends)


def changed(problem: Posterior, tree: Tree) -> Iterator[tuple[Tree, float]]:
    """An inner node, evenly; a column that varies there, evenly, the old one among them."""
    inner = [found for found in nodes(problem, tree, problem.root) if found[1]]
    for path, node, rows in inner:
        columns = problem.varying(rows)
        for column in columns:
            yield put(tree, path, (column, *node[1:])), 1 / len(inner) / len(columns)


def swapped(problem: Posterior, tree: Tree) -> Iterator[tuple[Tree, float]]:
    """A parent and a child, both inner, evenly; children of equal rules are swapped together."""
    pairs = [
        (path, node, side)
        for path, node, _ in nodes(problem, tree, problem.root)
        if node
        for side in (1, 2)
        if node[side]
    ]
    for path, node, side in pairs:
        both = node[1] and node[2] and node[1][0] == node[2][0]
        parts = [node[side][0], node[1], node[2]]
        for s in (1, 2) if both else (side,):
            parts[s] = (node[0], *node[s][1:])
        yield put(tree, path, tuple(parts)), 1 / len(pairs)


DEFINITIONS = {"grow": grown, "prune": pruned, "change": changed, "swap": swapped}


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("name", TINY)
def test_moves_are_proposed_as_defined(name, move):
    """Every tree that the definition names and that is possible, so often, and no other."""
    problem = Posterior.of(TINY[name].X, TINY[name].y, **TINY[name].prior)
    possible = exact(name)[0].keys()
    for tree, there in ways(name, move).items():
        expected, proposed = Counter(), Counter()
        for other, probability in DEFINITIONS[move](problem, tree):
            if other != tree and other in possible:
                expected[other] += probability
        for other, probability, acceptance in there:
            if other != tree:
                assert acceptance > 0
                proposed[other] += probability
        assert proposed == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("moves", [("grow", "prune"), MOVES], ids="-".join)
@pytest.mark.parametrize("name", TINY)
def test_every_tree_can_be_reached_from_every_other(name, moves):
    """From the lone leaf, that is; and back, for by detailed balance each step has its reverse."""
    rows = transitions(name, *moves)
    seen, todo = {()}, [()]
    while todo:
        for other, probability in rows[todo.pop()].items():
            if probability > 0 and other not in seen:
                seen.add(other)
                todo.append(other)
    assert seen == rows.keys()
