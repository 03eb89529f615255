"""From rows to numbers: which rows count, curves, comparisons, intervals."""

from __future__ import annotations

import numpy as np
import pytest

from experiments import curves
from experiments.comparison import paired, standing, standings
from experiments.intervals import mean_interval
from experiments.results import NOT_RUN, ok, select, shortfall
from experiments.settings import CART_4, MAPTREE, Setting
from made_up_rows import made_up

SETS = ["anneal", "vote"]


def test_the_rows_are_those_that_the_budget_wants():
    rows = made_up("quick", SETS)
    of_another = made_up("minute", SETS, ("speed",))
    results = select(rows + of_another, "quick")
    assert results.sets == SETS
    assert {row["limit"] for row in results.of("speed")} == {10}
    assert sum(map(len, results.families.values())) == len(rows)
    assert {row["limit"] for row in select(of_another, "minute").of("speed")} == {60}


def test_what_was_not_run_is_counted():
    rows = [row for row in made_up("quick", SETS) if row["system"] != "gosdt"]
    results = select(rows, "quick")
    missing = [row for row in results.of("generalisation") if row["outcome"] == NOT_RUN]
    assert {row["system"] for row in missing} == {"gosdt"}
    assert shortfall(missing) == "12 of 12 not run"
    assert len(ok(results.of("generalisation"))) == 9 * 6 - 12


def test_a_family_that_was_not_run_has_no_rows():
    rows = made_up("quick", SETS, ("speed",))
    results = select(rows, "quick")
    assert [family for family, found in results.families.items() if found] == ["speed"]


def test_the_shortfall_names_count_and_reason():
    fine = {"outcome": "ok", "reason": None}
    crash = {"outcome": "crash", "reason": "trace\nkilled by SIGSEGV"}
    slow = {"outcome": "timeout", "reason": "after 12 s"}
    assert shortfall([fine]) == ""
    assert (
        shortfall([fine, crash, slow, slow]) == "2 of 4 timeout, 1 of 4 crash (killed by SIGSEGV)"
    )
    long = {"outcome": "error", "reason": "x" * 100}
    assert len(shortfall([long])) < 70


def test_the_interval_covers_the_mean_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(200):
        mean = mean_interval(rng.normal(size=20).tolist())
        inside += mean.low <= 0 <= mean.high
    assert 175 <= inside <= 199
    assert mean_interval([1.0, 2.0, 4.0]) == mean_interval([1.0, 2.0, 4.0])
    with pytest.raises(ValueError, match="no values"):
        mean_interval([])


def speed_row(system, setting, seconds, value, seed=None, **more):
    what = {"mcmc": "iterations", "smc": "particles"}.get(system, "max_expansions")
    params = {} if setting is None else {what: setting}
    row = {"set": "vote", "system": system, "params": params, "seed": seed, "outcome": "ok"}
    return row | {"reason": None, "seconds": seconds, "log_posterior": value, "trace": None} | more


def test_a_curve_averages_seeds_and_keeps_failures_apart():
    rows = [
        speed_row("smc", 10, 1.0, -50.0, 42),
        speed_row("smc", 10, 3.0, -60.0, 43),
        speed_row("smc", 10, None, None, 44) | {"outcome": "memory"},
        speed_row("smc", 30, 9.0, -40.0, 42),
    ]
    first, second, *others = curves.curve(rows, "smc", "vote")
    assert (first.setting, first.seconds, first.value.value, first.count) == (10, 2.0, -55.0, 2)
    assert first.value.low <= -55 <= first.value.high
    assert len(first.rows) == 3
    assert second.value.value == -40
    assert all(point.value is None and point.rows == [] for point in others)


def test_when_a_system_reaches_a_value():
    trace = [[0.1, 1, -90.0, -10.0], [0.5, 2, None, None], [2.0, 3, -40.0, -40.0]]
    rows = [
        speed_row("maptree", 10, 0.3, -80.0),
        speed_row("maptree", None, 2.0, -40.0, trace=trace),
        speed_row("smc", 10, 0.2, -60.0, 42),
        speed_row("smc", 30, 0.1, -60.0, 42),
        speed_row("smc", 100, 0.4, -50.0, 42),
    ]
    assert curves.reaches(rows, "maptree", "vote", -90.0) == 0.1, "by the trace"
    assert curves.reaches(rows, "maptree", "vote", -80.0) == 0.3, "by the shorter run"
    assert curves.reaches(rows, "maptree", "vote", -40.0) == 2.0
    assert curves.reaches(rows, "maptree", "vote", -39.0) is None
    assert curves.reaches(rows, "smc", "vote", -60.0) == 0.1
    assert curves.reaches(rows, "smc", "vote", -45.0) is None
    assert curves.best(rows, "vote") == -40.0
    assert curves.best(rows, "lymph") is None
    assert curves.published("vote")["published_cost"] == 84.4647
    assert curves.published("iris") == {}


def fold_row(setting, fold, accuracy, name="vote", **more):
    row = {"set": name, "fold": fold, "system": setting.system, "params": dict(setting.params)}
    row |= {"outcome": "ok", "reason": None, "test_accuracy": accuracy, "nodes": 5}
    return row | dict.fromkeys(("ll_own", "ll_marginal", "ll_predictive"), -(accuracy or 0)) | more


def test_differences_are_between_the_same_folds():
    other = Setting("other", "dl85", {"depth": 4})
    rows = [
        fold_row(CART_4, 0, 0.5),
        fold_row(CART_4, 1, 0.9),
        fold_row(other, 0, 0.6),
        fold_row(other, 1, None) | {"outcome": "timeout"},
        fold_row(other, 0, 0.7, "lymph"),
    ]
    base = [row for row in rows if row["system"] == "cart"]
    found = standing(rows, other, ["vote", "lymph", "anneal"], base)
    vote, lymph = found.sets
    assert (vote.name, vote.folds, vote.wanted) == ("vote", 1, 2)
    assert vote.differences["test_accuracy"] == pytest.approx(0.1), "fold 0 alone, not the mean"
    assert lymph.differences == {}, "CART 4 has nothing there"
    assert found.values("test_accuracy") == pytest.approx([0.6, 0.7])
    assert found.differences("test_accuracy") == pytest.approx([0.1])
    cart = standing(rows, CART_4, ["vote"], base)
    assert paired(found, cart, "test_accuracy") == pytest.approx([0.1])
    assert cart.differences("nodes") == [0]


def test_only_settings_that_were_wanted_are_compared():
    rows = [fold_row(CART_4, 0, 0.5), fold_row(MAPTREE, 0, 0.5)]
    other = Setting("other", "dl85", {"depth": 4})
    measured = standings(rows, (MAPTREE, other, CART_4), ["vote"])
    assert [one.setting.label for one in measured] == ["MAPTree", "CART 4"]
