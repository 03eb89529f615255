"""R-hat and effective sample size, against arviz and against what is known."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from maptree.engine.diagnostics import bulk_ess, diagnose, split_r_hat


@pytest.fixture(scope="module")
def arviz():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some versions announce their successor when imported
        return pytest.importorskip("arviz")


def chains(n_chains, n_draws, correlation, seed):
    """Autoregressive chains."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(n_chains, n_draws))
    draws = noise / math.sqrt(1 - correlation**2)
    for i in range(1, n_draws):
        draws[:, i] = correlation * draws[:, i - 1] + noise[:, i]
    return draws


CASES = [
    (n_chains, n_draws, correlation, rounded)
    for n_chains in (2, 3, 4)
    for n_draws in (8, 12, 14, 21, 50, 101, 1000)
    for correlation in (-0.7, 0.0, 0.5, 0.95)
    for rounded in (False, True)
]


@pytest.mark.parametrize(("n_chains", "n_draws", "correlation", "rounded"), CASES)
def test_the_numbers_are_those_of_arviz(arviz, n_chains, n_draws, correlation, rounded):
    draws = chains(n_chains, n_draws, correlation, seed=n_draws)
    draws = np.round(draws) if rounded else draws  # with ties, as log posteriors have
    assert split_r_hat(draws) == pytest.approx(float(arviz.rhat(draws)), rel=1e-9)
    assert bulk_ess(draws) == pytest.approx(float(arviz.ess(draws)), rel=1e-9)
    # Chains in other places, and of other widths.
    number = np.arange(1, n_chains + 1)[:, np.newaxis]
    for other in (draws + number, draws * number):
        assert split_r_hat(other) == pytest.approx(float(arviz.rhat(other)), rel=1e-9)
        assert bulk_ess(other) == pytest.approx(float(arviz.ess(other)), rel=1e-9)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_the_effective_size_is_known_for_autoregressive_chains(correlation):
    draws = chains(4, 20_000, correlation, seed=1)
    known = draws.size * (1 - correlation) / (1 + correlation)
    assert bulk_ess(draws) == pytest.approx(known, rel=0.1)
    assert split_r_hat(draws) == pytest.approx(1, abs=0.005)


@pytest.mark.parametrize(
    "change",
    [
        lambda draws: draws + np.eye(4)[:, 3:],  # in place
        lambda draws: draws * (1 + 4 * np.eye(4)[:, 3:]),  # in width
        lambda draws: draws + np.linspace(0, 3, 1000),  # in time
    ],
)
def test_chains_that_differ_are_told(change):
    draws = chains(4, 1000, 0.0, seed=2)
    assert diagnose(draws).r_hat < 1.01
    assert diagnose(change(draws)).r_hat > 1.05


def test_halves_of_one_chain_are_compared():
    draws = chains(1, 1000, 0.0, seed=2)
    assert diagnose(draws).r_hat < 1.01
    assert diagnose(draws + np.linspace(0, 3, 1000)).r_hat > 1.05


def test_where_nothing_can_be_said():
    for draws in (np.zeros((4, 100)), np.arange(12.0).reshape(4, 3), np.zeros((1, 0))):
        found = diagnose(draws)
        assert math.isnan(found.r_hat)
        assert math.isnan(found.ess)
    stuck = diagnose(np.repeat([[0.0], [1.0]], 10, axis=1))
    assert math.isinf(stuck.r_hat)
    assert stuck.ess <= 5


@pytest.mark.parametrize("n_draws", [4, 7, 50, 101])
@pytest.mark.parametrize("n_chains", [2, 3, 4, 7])
def test_chains_that_stand_still_in_other_places_never_mix(n_chains, n_draws):
    places = np.random.default_rng(n_draws).normal(size=(n_chains, 1))
    stuck = diagnose(np.repeat(places, n_draws, axis=1))
    assert math.isinf(stuck.r_hat)


def test_the_middle_draw_of_an_odd_number_belongs_to_no_half():
    draws = np.zeros((2, 9))
    draws[0, 4] = 1
    assert math.isnan(diagnose(draws).r_hat)


def test_what_cannot_be_told_is_said_in_words():
    text = str(diagnose(np.zeros((4, 3))))
    assert text == "No diagnostics from 12 draws (4 chains): too few, or all the same."
