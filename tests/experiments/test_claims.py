"""The claims page: each verdict from rows made to give it."""

from __future__ import annotations

import pytest

from experiments import claims
from experiments.claims import baselines, hyperparameters, noise, speed
from experiments.claims.claim import FAILS, HOLDS, OPEN, PARTLY
from experiments.results import select
from made_up_rows import SETS, made_up


def rows_of(family, budget="minute", **failing):
    return made_up(budget, families=(family,), **failing)


def changed(rows, which, **values):
    return [
        row | {name: new(row) if callable(new) else new for name, new in values.items()}
        if which(row)
        else row
        for row in rows
    ]


SPEED = rows_of("speed")
FOLDS = rows_of("generalisation")
TREES = rows_of("synthetic")
PRIORS = rows_of("hyperparameters")


def judged(module, rows, budget="minute", **given):
    return module.claims(select(rows, budget, **given))


def test_faster_and_not_faster():
    as_built, paper, *_ = judged(speed, SPEED)
    assert as_built.verdict == HOLDS
    assert "Faster than both on 16 of 16 sets. By traces" in as_built.finding
    assert paper.verdict == FAILS
    assert "Faster than both on 0 of 16 sets" in paper.finding
    assert "| vote |" in paper.detail


def test_only_whole_runs_decide_and_traces_are_a_remark():
    """A search that ends late, though it has its tree before the samplers have theirs."""
    later = changed(
        SPEED,
        lambda row: row["system"] == "maptree",
        seconds=lambda row: row["seconds"] + 1,
        trace=lambda row: [[1e-6, 1, row["log_posterior"], None]],
    )
    claim = judged(speed, later)[0]
    assert claim.verdict == FAILS
    assert "Faster than both on 0 of 16 sets. By traces" in claim.finding
    assert "sooner than both samplers' on 16." in claim.finding
    # The samplers' trees are there after a millisecond, long before their runs end.
    between = changed(
        later,
        lambda row: row["system"] == "maptree",
        trace=lambda row: [[0.0011, 1, row["log_posterior"], None]],
    )
    assert "sooner than both samplers' on 0." in judged(speed, between)[0].finding


def test_one_run_that_was_disturbed_does_not_decide():
    disturbed = changed(
        SPEED,
        lambda row: row["system"] in ("mcmc", "smc"),
        seconds=lambda row: 100.0 if row["seed"] == 42 else 1e-6,
    )
    assert judged(speed, disturbed)[0].verdict == FAILS


def test_a_sampler_that_ends_higher_is_not_beaten():
    better = changed(
        SPEED,
        lambda row: row["system"] == "smc" and row["params"]["particles"] == 1000,
        log_posterior=-1.0,
    )
    claim = judged(speed, better)[0]
    assert claim.verdict == FAILS
    assert "Faster than both on 0 of 16" in claim.finding
    assert "sooner than both samplers' on 0." in claim.finding


def test_eleven_of_sixteen_is_not_twelve():
    lost = SETS[:5]
    rows = changed(
        SPEED,
        lambda row: row["set"] in lost and row["system"] == "mcmc",
        log_posterior=-1.0,
    )
    claim = judged(speed, rows)[0]
    assert claim.verdict == FAILS
    assert "on 11 of 16 sets (not: anneal, audiology," in claim.finding
    rows = changed(SPEED, lambda row: row["set"] in lost[1:] and row["system"] == "mcmc",
                   log_posterior=-1.0)  # fmt: skip
    assert judged(speed, rows)[0].verdict == HOLDS


def test_proofs_are_counted():
    *_, as_built, paper = judged(speed, SPEED)
    assert as_built.verdict == HOLDS
    assert "Proved on 6 of 16 sets by the run of 60 s (anneal" in as_built.finding
    assert paper.verdict == FAILS
    assert "Proved on 0 of 16 sets by the run of 60 s." in paper.finding


def test_short_runs_and_few_sets_are_not_judged():
    for claim in judged(speed, rows_of("speed", "quick"), "quick"):
        assert claim.verdict == OPEN
        assert "runs are of 10 s, not 60 s" in claim.finding
    few = [row for row in SPEED if row["set"] in SETS[:3]]
    for claim in judged(speed, few):
        assert claim.verdict == OPEN
        assert "only 3 of 16 sets were run" in claim.finding


def test_runs_without_a_result_do_not_win():
    claim = judged(speed, rows_of("speed", maptree="memory"))[0]
    assert claim.verdict == FAILS
    assert "on 0 of 16" in claim.finding


def scored(rows, offset, nodes=None, measures=("test_accuracy", "ll_marginal", "ll_predictive")):
    """MAPTree as good as the baselines on every fold, plus an offset."""
    base = {(row["set"], row["fold"]): row for row in rows if row["params"] == {"depth": 4}}

    def same(row):
        level = base[row["set"], row["fold"]]
        new = {name: level[name] for name in ("test_accuracy", "ll_marginal", "ll_predictive")}
        new["nodes"] = 21
        if row["system"] == "maptree":
            new |= {name: new[name] + offset for name in measures}
            new["nodes"] = nodes or 21
        return row | new

    return [same(row) for row in rows]


@pytest.mark.parametrize(
    ("offset", "nodes", "measures", "verdict"),
    [
        (0.01, 21, ["test_accuracy"], HOLDS),
        (0.01, 41, ["ll_predictive"], HOLDS),
        (0.0, 5, [], HOLDS),
        (0.0, 21, [], FAILS),
        (-0.01, 5, ["test_accuracy"], FAILS),
    ],
)
def test_against_baselines(offset, nodes, measures, verdict):
    (claim,) = judged(baselines, scored(FOLDS, offset, nodes, measures))
    assert claim.verdict == verdict
    assert f"Holds against {8 if verdict == HOLDS else 0} of 8" in claim.finding
    by_size = verdict == HOLDS and not measures
    assert (
        "8 of 8 baseline settings, 8 of them by size alone (CART 4, " in claim.finding
    ) == by_size
    assert claim.detail.count("holds by size alone") == (8 if by_size else 0)


def test_better_in_one_and_worse_in_another_is_in_part_only():
    rows = scored(FOLDS, 0.01, 21, ["test_accuracy"])
    rows = changed(rows, lambda row: row["system"] == "maptree",
                   ll_predictive=lambda row: row["ll_predictive"] - 0.1)  # fmt: skip
    (claim,) = judged(baselines, rows)
    assert claim.verdict == FAILS
    assert "| CART 4 |" in claim.detail
    assert claim.detail.count(PARTLY) == 8


def test_a_baseline_without_results_is_said_to_be_unjudged():
    (claim,) = judged(baselines, rows_of("generalisation", gosdt="missing", dl85="timeout"))
    assert "Too few results (fewer than 8 sets): DL8.5 4, DL8.5 5, GOSDT 1/32" in claim.finding
    assert claim.verdict != HOLDS
    assert "48 of 48 timeout" in claim.detail


def flat(rows, ours, theirs):
    """Fixed accuracies by noise."""
    return [
        row
        | {"test_accuracy": (ours if row["system"] == "maptree" else theirs)[row["data"]["noise"]]}
        for row in rows
    ]


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [
        ({0.0: 0.9, 0.1: 0.9, 0.25: 0.9}, HOLDS),
        ({0.0: 0.7, 0.1: 0.8, 0.25: 0.9}, HOLDS),
        ({0.0: 0.9, 0.1: 0.8, 0.25: 0.8}, FAILS),
        ({0.0: 0.9, 0.1: 0.9, 0.25: 0.7}, FAILS),
    ],
)
def test_robust_to_noise(ours, verdict):
    (claim,) = judged(noise, flat(TREES, ours, dict.fromkeys((0.0, 0.1, 0.25), 0.8)))
    assert claim.verdict == verdict
    assert "on 5 of 20 trees with 100, 400, 1000 rows." in claim.finding
    worse = "Without noise MAPTree is worse than CART 4, CART CV, DL8.5 4," in claim.finding
    assert worse == (ours[0.0] < 0.8)
    fall = f"the mean accuracy of MAPTree falls by {ours[0.0] - ours[0.25]:.3f}, that of the"
    assert fall in claim.finding
    assert "baselines by: CART 4 0.000, CART CV 0.000, DL8.5 4 0.000" in claim.finding


def test_noise_without_a_baseline():
    rows = [row for row in TREES if row["system"] != "gosdt"]
    (claim,) = judged(noise, flat(rows, dict.fromkeys((0.0, 0.1, 0.25), 0.9),
                                  dict.fromkeys((0.0, 0.1, 0.25), 0.8)))  # fmt: skip
    assert claim.verdict == PARTLY
    assert "Too few results (fewer than 5 trees): GOSDT 1/32, GOSDT 10/32" in claim.finding


def with_prior_effect(rows, by):
    """The same everywhere, but for one prior: that differs by these, in turn by set."""
    return changed(
        changed(rows, lambda row: True, test_accuracy=0.8, ll_marginal=-0.4, ll_predictive=-0.3),
        lambda row: row["params"].get("alpha") == 0.2,
        test_accuracy=lambda row: 0.8 + by[SETS.index(row["set"]) % len(by)],
    )


@pytest.mark.parametrize(
    ("by", "verdict", "says"),
    [
        ([0.0], HOLDS, "6 of 6"),
        ([-0.009], HOLDS, "6 of 6"),
        ([-0.05], PARTLY, "It matters for (0.2, 8)"),
        ([-0.07, 0.06], PARTLY, "Neither is shown for (0.2, 8)"),
    ],
)
def test_insensitive_to_the_prior(by, verdict, says):
    (claim,) = judged(hyperparameters, with_prior_effect(PRIORS, by))
    assert claim.verdict == verdict
    assert says in claim.finding
    assert ("It matters" in claim.finding) == (by == [-0.05])


def test_the_prior_is_not_judged_on_few_sets():
    few = [row for row in PRIORS if row["set"] in SETS[:4]]
    (claim,) = judged(hyperparameters, few)
    assert claim.verdict == OPEN


def test_the_page_has_every_claim_with_its_rule_and_numbers():
    results = select(SPEED + FOLDS + TREES + PRIORS, "minute")
    text = claims.page(results)
    made = claims.judge(results)
    assert len(made) == 7
    for claim in made:
        assert f"## {claim.title}" in text
        assert claim.rule in text
        assert claim.detail in text
    empty = claims.page(select([], "minute"))
    assert empty.count("was not run") == 10  # five claims, in the table and by themselves
