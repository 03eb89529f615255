"""Benchmark sets whose optimum is known: the search proves it."""

from __future__ import annotations

import math

import pytest

from maptree import MAPTreeClassifier, log_posterior
from maptree.datasets import load_tic_tac_toe

COSTS = {
    "hepatitis": 63.2971,
    "lymph": 78.1427,
    "primary-tumor": 164.6187,
    "vote": 84.4647,
    "zoo-1": 19.9180,
}

SLOW = {"audiology": 58.8157, "heart-cleveland": 155.5535, "soybean": 138.8938}


def check_proved(X, y, cost, patience=4):
    # With patience: a proof that is in sight is not cut.
    model = MAPTreeClassifier(time_limit=None, encoder=None, patience=patience).fit(X, y)
    certificate = model.certificate_
    assert certificate.status == "optimal"
    assert certificate.optimal
    assert certificate.gap == 0
    assert certificate.proved_depth == math.inf
    assert -certificate.log_posterior == pytest.approx(cost, abs=1e-4)
    again = log_posterior(model.tree_, X, y)
    assert again == pytest.approx(certificate.log_posterior, abs=1e-6)


@pytest.mark.parametrize("name", COSTS)
def test_cp4im(cp4im, name):
    X, y = cp4im(name)
    check_proved(X, y, COSTS[name])


@pytest.mark.long
@pytest.mark.parametrize("name", SLOW)
def test_sets_that_take_half_a_minute(cp4im, name):
    X, y = cp4im(name)
    check_proved(X, y, SLOW[name], patience=None)
    # These proofs are not in sight for long: with patience the tree is the same, and not proved.
    soon = MAPTreeClassifier(time_limit=None, encoder=None, patience=4).fit(X, y).certificate_
    assert soon.status == "patience"
    assert -soon.log_posterior == pytest.approx(SLOW[name], abs=1e-4)


def test_tic_tac_toe():
    boards = load_tic_tac_toe()
    check_proved(boards.data, boards.target, 300.9038)
