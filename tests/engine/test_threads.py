"""Several threads, little memory, depth after depth: the same proof by other ways."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from checks import TOLERANCE, best, check, check_optimal, signature, solve, without
from control import HANGS
from maptree import MAPTreeClassifier
from maptree.datasets import load_tic_tac_toe
from problems import KINDS, every_kind, generate, seeds
from samples import hard

TIC_TAC_TOE = 300.9038


def boards(**params):
    data = load_tic_tac_toe()
    model = MAPTreeClassifier(**({"time_limit": None, "encoder": None} | params))
    return model.fit(data.data, data.target)


def noise():
    """Labels half of which follow a tree: some thousand nodes to look at."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (250, 26))
    y = np.where(X[:, 0] == 1, X[:, 1], X[:, 2] ^ X[:, 3])
    flip = rng.random(250) < 0.3
    y[flip] = rng.integers(0, 2, flip.sum())
    return X, y


# The same optimum


@seeds(1)
@every_kind
def test_threads_prove_the_same(kind, seed):
    problem = generate(kind, seed)
    usual = solve(problem)
    for threads in (2, 3):
        result = solve(problem, threads=threads)
        check_optimal(problem, result)
        assert result.upper == usual.upper
    check(problem, solve(problem, threads=2, max_expansions=usual.expansions // 2))


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_any_number_of_jobs_proves_tic_tac_toe(n_jobs):
    certificate = boards(n_jobs=n_jobs).certificate_
    assert certificate.status == "optimal"
    assert -certificate.log_posterior == pytest.approx(TIC_TAC_TOE, abs=1e-4)


def test_one_job_repeats_itself():
    X, y = noise()
    one, two = (MAPTreeClassifier(time_limit=None, n_jobs=1).fit(X, y) for _ in range(2))
    assert one.certificate_.expansions == two.certificate_.expansions
    assert one.certificate_.subproblems == two.certificate_.subproblems
    assert np.array_equal(one.tree_.feature, two.tree_.feature)
    for name in one.trace_.dtype.names:
        if name != "seconds":
            assert np.array_equal(one.trace_[name], two.trace_[name])
    for kind in KINDS:
        problem = generate(kind, 0)
        assert signature(solve(problem, threads=1)) == signature(solve(problem, threads=1))


# Little memory


def check_in_less_memory(fit, share):
    ample = fit()
    assert ample.certificate_.status == "optimal"
    limit = int(share * ample.certificate_.peak_bytes)
    for n_jobs in (1, 2):
        certificate = fit(memory_limit=limit, n_jobs=n_jobs).certificate_
        assert certificate.status == "optimal"
        assert certificate.log_posterior == ample.certificate_.log_posterior
        assert certificate.peak_bytes <= limit


def test_tic_tac_toe_in_less_memory():
    check_in_less_memory(boards, 0.8)


def test_a_noisy_table_in_less_memory():
    X, y = noise()
    check_in_less_memory(lambda **more: MAPTreeClassifier(time_limit=None, **more).fit(X, y), 0.8)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_little_memory_is_used_over_and_over(n_jobs):
    X, y = hard()
    limits = {"memory_limit": "3MiB", "max_expansions": 5000}
    model = MAPTreeClassifier(time_limit=None, n_jobs=n_jobs, **limits).fit(X, y)
    assert model.certificate_.status == "expansion_limit"
    assert model.certificate_.peak_bytes <= 3 * 2**20


# Depth after depth


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_proved_depth_only_grows(n_jobs):
    depths = []
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (200, 30)), rng.integers(0, 2, 200)

    def stop_at_depth_two(progress):
        depths.append(progress.proved_depth)
        return depths[-1] >= 2

    model = MAPTreeClassifier(time_limit=HANGS, callback=stop_at_depth_two, n_jobs=n_jobs)
    depths.append(model.fit(X, y).certificate_.proved_depth)
    assert all(earlier <= later for earlier, later in pairwise(depths))
    assert depths[-1] >= 2


@seeds(1)
@every_kind
def test_the_proved_depth_is_proved(kind, seed):
    problem = generate(kind, seed)
    for options in (None, without("greedy_start", "improve"), without("pair_expansion")):
        for n in (1, 2, 5, 20):
            result = solve(problem, options, max_expansions=n)
            check(problem, result)
            if result.status == "optimal":
                break
            assert best(problem, result.proved_depth) >= result.upper - TOLERANCE
