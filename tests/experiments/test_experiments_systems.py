"""The adapters: each returns the tree that its system found, over our columns, with its counts."""

from __future__ import annotations

import json
import os
import subprocess

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import faults
from control import HANGS
from experiments import evaluate, systems
from experiments.cells import Cell
from experiments.environments import PEERS, python_of
from experiments.sandbox import Sandbox
from experiments.systems import cart, cart_cv
from experiments.systems.fitted import counted, tree_of
from maptree import log_posterior
from maptree.datasets import load_tic_tac_toe

HERE = [system for system in systems.MODULES if system not in systems.OF_PEERS]
PARAMS = {
    "maptree": {"max_expansions": 100},
    "maptree-paper": {"max_expansions": 100},
    "mcmc": {"iterations": 300},
    "smc": {"particles": 30},
    "cart": {"depth": 3},
    "cart-cv": {},
    "dl85": {"depth": 3},
    "gosdt": {"regularization": 0.3125},
    "streed": {"depth": 3},
}
PACKAGE = {"dl85": "pydl8.5", "gosdt": "gosdt", "streed": "pystreed"}
BAYESIAN = ("maptree", "maptree-paper", "mcmc", "smc")


@pytest.fixture(scope="module")
def boards():
    loaded = load_tic_tac_toe()
    return loaded.data, loaded.target


def fit(system, boards, limit=HANGS, seed=42, **params):
    return systems.load(system).fit(*boards, PARAMS[system] | params, seed, limit)


@pytest.mark.parametrize("system", HERE)
def test_the_tree_has_its_training_counts(system, boards):
    fitted = fit(system, boards)
    tree = fitted.tree
    again = counted(tree.feature, tree.left, tree.right, *boards)
    assert tree == again
    assert tree.counts[0].tolist() == [332, 626]
    assert fitted.seconds > 0
    json.dumps([fitted.trace, fitted.extra, fitted.status], allow_nan=False)


@pytest.mark.parametrize("system", HERE)
def test_it_warms_up_without_trouble(system):
    module = systems.load(system)
    assert module.WARM_UP is not None
    evaluate._warm_up(module)


@pytest.mark.parametrize("system", BAYESIAN)
def test_what_a_bayesian_system_says_of_its_tree_is_true(system, boards):
    prior = {"alpha": 0.9, "beta": 1.0, "rho": 1.0}
    fitted = fit(system, boards, **prior)
    assert fitted.log_posterior == pytest.approx(
        log_posterior(fitted.tree, *boards, **prior), abs=1e-6
    )
    assert fitted.trace[-1][2] == pytest.approx(fitted.log_posterior)
    assert fitted.bound is None or fitted.bound >= fitted.log_posterior
    seconds = [entry[0] for entry in fitted.trace]
    assert seconds == sorted(seconds)


def test_paper_mode_proves_what_the_search_as_built_proves(boards):
    X, y = boards[0][:, :6], boards[1]
    built = systems.load("maptree").fit(X, y, {}, None, HANGS)
    paper = systems.load("maptree-paper").fit(X, y, {}, None, HANGS)
    assert built.status == paper.status == "optimal"
    assert paper.log_posterior == pytest.approx(built.log_posterior, abs=1e-6)
    assert paper.extra["expansions"] > built.extra["expansions"]


def test_paper_mode_stops_where_it_is_told(boards):
    fitted = fit("maptree-paper", boards)
    assert (fitted.status, fitted.extra["expansions"]) == ("expansion_limit", 100)
    fitted = fit("maptree-paper", boards, limit=1e-9, max_expansions=None)
    assert fitted.status == "time_limit"


@pytest.mark.parametrize("system", ["mcmc", "smc"])
def test_a_seed_repeats_a_sampler(system, boards):
    trees = [fit(system, boards, seed=seed).tree for seed in (42, 42, 43)]
    assert trees[0] == trees[1]
    assert trees[0] != trees[2]


def test_cart_predicts_as_it_does_itself(boards):
    model = DecisionTreeClassifier(max_depth=5, random_state=0).fit(*boards)
    tree = cart.convert(model, *boards)
    ours = tree.counts[tree.apply(boards[0])].argmax(axis=1)
    assert np.array_equal(ours, model.predict(boards[0]))
    assert fit("cart", boards, depth=5, seed=None).tree == tree
    assert fit("cart", boards, depth=None).tree.counts.min(axis=1)[1:].any()


def test_cart_by_cross_validation_chooses_from_the_grid(boards):
    chosen = fit("cart-cv", boards).extra["chosen"]
    assert set(chosen) == set(cart_cv.GRID)
    assert all(value in cart_cv.GRID[name] for name, value in chosen.items())


def test_nodes_of_any_kind_become_a_tree():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    nested = (1, (0, "a", "b"), "c")
    tree = tree_of(nested, lambda n: n if isinstance(n, tuple) else None, X, np.array([0, 0, 1, 1]))
    assert tree.feature.tolist() == [1, 0, -1, -1, -1]
    assert tree.left.tolist() == [1, 2, -1, -1, -1]
    assert tree.right.tolist() == [4, 3, -1, -1, -1]
    assert tree.counts.tolist() == [[2, 2], [1, 1], [1, 0], [0, 1], [1, 1]]


def peers_python():
    python = python_of(PEERS)
    if not python.exists():
        pytest.skip("no environment for the peers: make peers")
    return str(python)


@pytest.mark.parametrize("system", systems.OF_PEERS)
def test_our_tree_predicts_what_the_peer_predicts(system):
    variables = os.environ | {"PYTHONPATH": str(faults.HERE.parent)}
    done = subprocess.run(
        [peers_python(), "tests/support/peer_check.py", system, "tic-tac-toe"],
        cwd=faults.HERE.parent,
        env=variables,
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )
    if "ModuleNotFoundError" in done.stderr:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert len(found) >= 2
    assert max(entry["depth"] for entry in found) >= 3
    for entry in found:
        assert entry["differ"] == 0
        assert entry["errors"] == entry["peers_errors"]


def test_peers_answer_from_their_own_environment():
    peers_python()
    sandbox = Sandbox()
    try:
        for system in systems.OF_PEERS:
            cell = Cell("speed", system, PARAMS[system], faults.DATA, None, 2.0)
            row = sandbox.run(cell)
            if row.outcome == "missing":
                pytest.skip(row.reason)
            assert (row.outcome, row.reason) == ("ok", None)
            assert row.status in ("optimal", "time_limit")
            assert PACKAGE[system] in row.versions
    finally:
        sandbox.close()
