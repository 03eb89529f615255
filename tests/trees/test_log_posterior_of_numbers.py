"""The scorer of trees of numbers and counts, against rows predicted one after the other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks import arrays_of
from maptree import Tree, log_posterior
from measured_oracle import Table, all_trees
from problems import examples


@st.composite
def tables(draw):
    n_rows, n_tests = draw(st.integers(1, 7)), draw(st.integers(1, 3))
    bits = st.lists(st.integers(0, 1), min_size=n_tests, max_size=n_tests)
    rows = draw(st.lists(bits, min_size=n_rows, max_size=n_rows))
    per_row = {"min_size": n_rows, "max_size": n_rows}
    weights = draw(st.lists(st.integers(0, 3), **per_row).filter(any))
    likelihood = draw(st.sampled_from(["normal", "poisson"]))
    if likelihood == "normal":
        y = draw(st.lists(st.integers(-40, 40).map(lambda v: v / 4), **per_row))
        prior = tuple(draw(st.sampled_from([0.05, 0.5, 4.0])) for _ in range(3))
    else:
        y = draw(st.lists(st.integers(0, 9), **per_row))
        prior = (draw(st.sampled_from([0.2, 1.0, 7.0])),)
    exposure = draw(st.sampled_from([[1.0] * n_rows, [0.5 + i for i in range(n_rows)]]))
    return Table(
        X=tuple(map(tuple, rows)),
        y=tuple(y),
        likelihood=likelihood,
        weights=tuple(weights),
        exposure=tuple(exposure),
        prior=prior,
        alpha=draw(st.sampled_from([0.5, 0.95])),
        beta=draw(st.sampled_from([0.0, 1.0])),
        test_weights=tuple(draw(st.lists(st.integers(1, 4), min_size=n_tests, max_size=n_tests))),
    )


def parameters(table):
    if table.likelihood == "normal":
        return dict(zip(("kappa", "nu", "noise"), table.prior, strict=True))
    return {"shape": table.prior[0], "exposure": table.exposure}


@pytest.mark.cases
@examples(60)
@given(tables())
def test_every_tree_has_the_cost_of_its_definition(table):
    for nested, cost in list(all_trees(table))[:40]:
        feature, left, right = arrays_of(nested)
        tree = Tree(feature, left, right, np.zeros((len(feature), 1), dtype=int))
        found = log_posterior(
            tree,
            np.array(table.X),
            table.y,
            table.alpha,
            table.beta,
            sample_weight=table.weights,
            test_weights=table.test_weights,
            likelihood=table.likelihood,
            **parameters(table),
        )
        assert found == pytest.approx(-cost, abs=1e-8)


def test_impossible_splits():
    split = Tree([0, -1, -1], [1, -1, -1], [2, -1, -1], [[1]] * 3)
    y = [0.5, 2.5]
    assert log_posterior(split, [[1], [1]], y, likelihood="normal", noise=0.1) == -np.inf
    assert log_posterior(split, [[1], [1]], [1, 2], likelihood="poisson") == -np.inf


def test_bad_parameters():
    leaf = Tree([-1], [-1], [-1], [[1]])
    with pytest.raises(ValueError, match="likelihood='gamma' is unknown: pass \"normal\""):
        log_posterior(leaf, [[0]], [1], likelihood="gamma")
    with pytest.raises(ValueError, match="kappa=0 is out of range"):
        log_posterior(leaf, [[0]], [1], likelihood="normal", kappa=0)
    with pytest.raises(ValueError, match="noise is missing: pass that of the model"):
        log_posterior(leaf, [[0]], [1], likelihood="normal", kappa=0.1)
    with pytest.raises(ValueError, match="y has -1 at row 0"):
        log_posterior(leaf, [[0]], [-1], likelihood="poisson")
