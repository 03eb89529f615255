"""The cells of the paper's experiments: exactly its parameters, seeds, folds and limits."""

from __future__ import annotations

from collections import Counter

import pytest

from experiments.budgets import BUDGETS
from experiments.families import FAMILIES, cells
from experiments.settings import COMPARED, HYPERPARAMETERS, MAIN
from maptree.datasets import CP4IM_SETS

SETS = [known.name for known in CP4IM_SETS]
COUNTS = {
    "quick": {"speed": 1920, "generalisation": 432, "synthetic": 405, "hyperparameters": 384},
    "full": {"speed": 1920, "generalisation": 3360, "synthetic": 12600, "hyperparameters": 1280},
}


def by_system(made):
    return Counter(cell.system for cell in made)


@pytest.mark.parametrize("budget", COUNTS)
@pytest.mark.parametrize("family", FAMILIES)
def test_the_number_of_cells_and_that_no_two_are_the_same(budget, family):
    made = cells(family, budget, SETS)
    assert len(made) == len({cell.key for cell in made}) == COUNTS[budget][family]
    assert {cell.family for cell in made} == {family}


def test_speed_is_as_in_the_paper():
    made = cells("speed", "full", ["vote"])
    assert by_system(made) == {"maptree": 10, "maptree-paper": 10, "mcmc": 50, "smc": 50}
    for system in ("maptree", "maptree-paper"):
        expansions = [cell.params.get("max_expansions") for cell in made if cell.system == system]
        assert expansions == [10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000, None]
    for system, draws in (("mcmc", "iterations"), ("smc", "particles")):
        runs = {(cell.params[draws], cell.seed) for cell in made if cell.system == system}
        assert runs == {(n, seed) for n in (10, 30, 100, 300, 1000) for seed in range(42, 52)}
    for cell in made:
        prior = {name: cell.params[name] for name in ("alpha", "beta", "rho")}
        assert prior == {"alpha": 0.95, "beta": 0.5, "rho": 2.5}
        assert cell.data == {"kind": "cp4im", "name": "vote", "fold": None}
        assert cell.limit == 600
    assert {cell.limit for cell in cells("speed", "quick", ["vote"])} == {10}
    assert {cell.limit for cell in cells("speed", "minute", ["vote"])} == {60}


def test_generalisation_is_as_in_the_paper():
    full = cells("generalisation", "full", ["vote"])
    assert {cell.data["fold"] for cell in full} == set(range(10))
    first = [cell for cell in full if cell.data["fold"] == 0]
    assert by_system(first) == {
        "maptree": 1,
        "cart": 7,
        "cart-cv": 1,
        "dl85": 5,
        "gosdt": 2,
        "streed": 5,
    }
    assert [c.params["depth"] for c in first if c.system == "cart"] == [2, 3, 4, 5, 6, 7, 8]
    assert [c.params["depth"] for c in first if c.system == "dl85"] == [2, 3, 4, 5, 6]
    assert [c.params["regularization"] for c in first if c.system == "gosdt"] == [0.03125, 0.3125]
    assert {c.limit for c in first if c.system in ("cart", "cart-cv")} == {None}
    assert {c.limit for c in first if c.system not in ("cart", "cart-cv")} == {60}

    quick = cells("generalisation", "quick", ["vote"])
    assert {cell.data["fold"] for cell in quick} == {0, 1, 2}
    assert {cell.limit for cell in quick} == {None, 2}


def test_the_main_settings_are_the_papers_and_two_beyond():
    assert [setting.label for setting in MAIN] == [
        "MAPTree",
        "CART 4",
        "CART CV",
        "DL8.5 4",
        "DL8.5 5",
        "GOSDT 1/32",
        "GOSDT 10/32",
        "STreeD 4",
        "STreeD 5",
    ]
    labels = [setting.label for setting in COMPARED]
    assert len(labels) == len(set(labels)) == 21


def test_synthetic_is_as_in_the_paper():
    full = cells("synthetic", "full", [])
    assert {cell.data["tree"] for cell in full} == set(range(20))
    assert {cell.data["rows"] for cell in full} == set(range(100, 1001, 100))
    assert {cell.data["noise"] for cell in full} == {0, 0.1, 0.25}
    quick = cells("synthetic", "quick", [])
    assert {cell.data["tree"] for cell in quick} == set(range(5))
    assert {cell.data["rows"] for cell in quick} == {100, 400, 1000}
    assert {cell.limit for cell in quick} == {None, 2}


def test_hyperparameters_are_the_papers():
    made = cells("hyperparameters", "full", ["vote"])
    priors = [
        (cell.params["alpha"], cell.params["beta"], cell.params["rho"])
        for cell in made
        if cell.system == "maptree" and cell.data["fold"] == 3
    ]
    assert priors == [
        (0.999, 0.1, 2.5),
        (0.99, 0.2, 2.5),
        (0.95, 0.5, 2.5),
        (0.9, 1, 2.5),
        (0.8, 2, 2.5),
        (0.5, 4, 2.5),
        (0.2, 8, 2.5),
    ]
    assert by_system(made) == {"maptree": 70, "cart": 10}
    assert len(HYPERPARAMETERS) == 7


def test_cells_that_know_no_limit_are_shared_between_budgets():
    quick, full = (
        {cell.key for cell in cells("generalisation", budget, ["vote"]) if cell.system == "cart-cv"}
        for budget in ("quick", "full")
    )
    assert quick < full


def test_budgets_have_their_own_names():
    assert set(BUDGETS) == {"quick", "minute", "full"}
    with pytest.raises(KeyError):
        cells("speed", "huge", SETS)
