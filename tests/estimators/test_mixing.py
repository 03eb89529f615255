"""Chains that have mixed and chains that have not: the default lengths, and the warning."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

from maptree import BinaryEncoder, MAPTreeClassifier, MCMCTreeClassifier, MixingWarning
from maptree.engine import chains
from maptree.engine.diagnostics import Diagnostics
from samples import hard, noisy


def fit(X, y, **params):
    """Fit without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return MCMCTreeClassifier(random_state=0, **params).fit(X, y)


# The warning


def test_chains_that_have_not_mixed_warn():
    X, y = load_wine(return_X_y=True)
    short = {"n_samples": 20, "burn_in": 10, "thin": 2, "initial_tree": None}
    with pytest.warns(MixingWarning) as caught:
        model = MCMCTreeClassifier(random_state=0, **short).fit(X, y)
    found, [warning] = model.diagnostics(), caught
    assert not found.mixed
    assert warning.filename == __file__
    text = str(warning.message)
    assert f"R-hat {found.r_hat:.3f} (at most 1.1)" in text
    assert "another run would predict somewhat differently" in text
    times = int(np.ceil(found.shortfall))
    assert f"thin={2 * times} and burn_in={10 * times}" in text
    assert "initial_tree=MAPTreeClassifier().fit(X, y)" in text


@pytest.mark.parametrize(
    ("r_hat", "ess", "mixed"),
    [(1.0, 500, True), (1.1, 50, True), (1.101, 500, False), (1.0, 49, False)],
)
def test_limits(r_hat, ess, mixed):
    found = Diagnostics(r_hat, ess, 4, 250)
    assert found.mixed == mixed
    assert (found.doubt == "") == mixed


def test_draws_that_say_nothing_do_not_warn():
    same = fit([[0], [0]], [0, 1])  # a single leaf is the only tree
    assert len(same.trees_) == 1
    few = fit(*noisy(), n_samples=3, burn_in=5, thin=1)
    assert np.isnan(few.diagnostics().r_hat)


def test_an_interrupted_fit_does_not_complain_of_mixing_too():
    X, y = hard()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MCMCTreeClassifier(
            n_samples=10**6, burn_in=1000, thin=50, random_state=0, callback=lambda _: True
        ).fit(X, y)
    assert model.status_ == "interrupted"


# Lengths


def test_defaults_mix_and_repeat():
    X, y = load_iris(return_X_y=True)
    model = fit(X, y)
    found = model.diagnostics()
    assert found.mixed
    assert (found.r_hat - 1) * chains._MARGIN <= 0.1
    assert model.samples_.shape == (4, 250)
    assert model.burn_in_ == model.thin_ * 250 // 2
    again = fit(X, y)
    np.testing.assert_array_equal(again.samples_, model.samples_)
    assert again.thin_ == model.thin_


def test_rounds_continue_the_same_chains(monkeypatch):
    """The last round is what its lengths alone would give."""
    X, y = load_wine(return_X_y=True)
    monkeypatch.setattr(chains, "_FIRST", 500)
    monkeypatch.setattr(chains, "_MOST", 20_000)
    steps = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixingWarning)
        auto = MCMCTreeClassifier(
            random_state=0, callback=lambda progress: steps.append(progress.steps)
        ).fit(X, y)
        given = MCMCTreeClassifier(random_state=0, thin=auto.thin_, burn_in=auto.burn_in_).fit(X, y)
    assert auto.thin_ * 250 > 500
    assert list(auto.trees_) == list(given.trees_)
    np.testing.assert_array_equal(auto.samples_, given.samples_)
    assert steps == sorted(steps)
    assert auto.trace_["steps"][-1] > given.trace_["steps"][-1]  # with earlier rounds


def test_work_is_limited(monkeypatch):
    """By counts, not by the clock: more rows, fewer iterations."""
    X, y = hard()
    monkeypatch.setattr(chains, "_WORK", 1e7)
    with pytest.warns(MixingWarning):
        model = MCMCTreeClassifier(random_state=0).fit(X, y)
    iterations = 4 * (model.burn_in_ + 250 * model.thin_)
    assert iterations * (len(X) + chains._ROWS) <= 1e7
    with pytest.warns(MixingWarning):
        longer = MCMCTreeClassifier(random_state=0, burn_in=7).fit(X, y)
    assert longer.burn_in_ == 7


def test_a_given_thin_has_its_burn_in():
    model = fit(*noisy(), thin=800)
    assert (model.thin_, model.burn_in_) == (800, 100_000)


@pytest.mark.parametrize("name", ["thin", "burn_in"])
def test_other_words_for_lengths(name):
    with pytest.raises(ValueError, match=f"{name}='long' is unknown: pass \"auto\" or a whole"):
        MCMCTreeClassifier(**{name: "long"}).fit([[0], [1]], [0, 1])


# Where chains start


def test_chains_start_from_a_short_search():
    X, y = load_wine(return_X_y=True)
    one = {"n_samples": 1, "burn_in": 0, "thin": 1}
    found = MAPTreeClassifier(max_expansions=chains._EXPANSIONS, time_limit=None).fit(X, y)
    model = fit(X, y, **one)
    assert model.log_posterior_ >= found.certificate_.log_posterior
    assert fit(X, y, n_jobs=2, **one).tree_ == model.tree_
    assert fit(X, y, initial_tree=None, **one).tree_.n_leaves <= 2


# Certificates


SHORT = {"n_samples": 20, "burn_in": 50, "thin": 1, "random_state": 0}


def test_the_certificate_of_a_search_is_kept():
    X, y = load_wine(return_X_y=True)
    for encoder in ("auto", BinaryEncoder(max_thresholds=None)):
        search = MAPTreeClassifier(max_expansions=500, time_limit=None, encoder=encoder).fit(X, y)
        model = MCMCTreeClassifier(initial_tree=search, encoder=encoder, **SHORT).fit(X, y)
        assert model.certificate_ == search.certificate_
        assert model.tree_ == search.tree_


def test_a_better_tree_has_a_smaller_gap():
    X, y = load_wine(return_X_y=True)
    search = MAPTreeClassifier(max_expansions=1, time_limit=None).fit(X, y)
    model = MCMCTreeClassifier(initial_tree=search, **SHORT | {"thin": 3000}).fit(X, y)
    before, after = search.certificate_, model.certificate_
    assert model.log_posterior_ > before.log_posterior
    assert after.log_posterior == model.log_posterior_
    assert after.log_posterior_bound == before.log_posterior_bound
    assert after.gap == pytest.approx(before.gap - (after.log_posterior - before.log_posterior))
    assert before.of_a_better_tree(before.log_posterior - 1) == before


@pytest.mark.parametrize(
    "search",
    [
        {"max_depth": 1},  # about other trees
        {"min_samples_leaf": 2},
        {"alpha": 0.9},  # another prior
        {"rho": 1.0},
        {"column_weights": {0: 2}},
        {"split_prior": "tests"},
    ],
)
def test_a_certificate_about_something_else_is_not_kept(search):
    X, y = load_wine(return_X_y=True)
    found = MAPTreeClassifier(max_expansions=50, time_limit=None, **search).fit(X, y)
    assert MCMCTreeClassifier(initial_tree=found, **SHORT).fit(X, y).certificate_ is None


def test_a_certificate_about_other_rows_is_not_kept():
    X, y = noisy()
    found = MAPTreeClassifier(max_expansions=50, time_limit=None).fit(X[:100], y[:100])
    assert MCMCTreeClassifier(initial_tree=found, **SHORT).fit(X, y).certificate_ is None
    assert MCMCTreeClassifier(initial_tree=found, **SHORT).fit(X[:100], y[:100]).certificate_


def test_no_certificate_without_a_search():
    X, y = noisy()
    assert MCMCTreeClassifier(**SHORT).fit(X, y).certificate_ is None
