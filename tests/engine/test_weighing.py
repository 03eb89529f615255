"""Samples of millions of trees are weighed after the time limit: in pieces, and copied once."""

from __future__ import annotations

import tracemalloc
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from maptree.engine.sampling import weigh


def drawn(sample: NDArray[np.int32], log_posterior: NDArray[np.float64]) -> Any:
    leaves = np.full(len(log_posterior), -1, dtype=np.int32)
    return SimpleNamespace(
        sample=sample,
        log_posterior=log_posterior,
        offsets=np.arange(len(leaves) + 1),
        feature=leaves,
        left=leaves,
        right=leaves,
        counts=np.ones((len(leaves), 2), dtype=np.int64),
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_weights_add_up_across_pieces(weighted: bool) -> None:
    rng = np.random.default_rng(0)
    sample = rng.integers(-1, 50, size=(3, 60_000)).astype(np.int32)
    sample[sample == 7] = 8  # a tree without a sample
    log_posterior = rng.normal(size=50)
    weights = rng.random(sample.shape) if weighted else None
    found = weigh(drawn(sample, log_posterior), weights)

    each = np.ones(sample.shape) if weights is None else weights
    expected = np.array([each[sample == tree].sum() for tree in range(50)])
    order = sorted(np.flatnonzero(expected), key=lambda tree: (-expected[tree], -tree))
    assert found.log_posteriors.tolist() == log_posterior[order].tolist()
    np.testing.assert_allclose(found.weights, expected[order] / expected.sum(), rtol=1e-12)
    assert found.sample.dtype == np.int32
    assert np.array_equal(found.sample < 0, sample < 0)
    there = sample >= 0
    assert np.array_equal(np.array(order)[found.sample[there]], sample[there])


@pytest.mark.parametrize("weighted", [False, True])
def test_equal_numbers_of_samples_tie_wherever_they_were_drawn(weighted: bool) -> None:
    """0.1 added ten times is not what 0.3 and 0.7 give: the more probable tree is the first."""
    n = 200_000
    sample = np.zeros((2, n // 2), dtype=np.int32)
    sample.reshape(-1)[: n // 10] = sample.reshape(-1)[-4 * n // 10 :] = 1
    weights = np.full(sample.shape, 0.1) if weighted else None
    found = weigh(drawn(sample, np.array([-2.0, -1.0])), weights)
    assert found.weights[0] == found.weights[1]
    assert found.log_posteriors.tolist() == [-1.0, -2.0]


@pytest.mark.parametrize("weighted", [False, True])
def test_samples_are_copied_once(weighted: bool) -> None:
    sample = np.zeros((20, 100_000), dtype=np.int32)
    weights = np.ones(sample.shape) if weighted else None
    samples = drawn(sample, np.zeros(1))
    tracemalloc.start()
    weigh(samples, weights)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * sample.nbytes
