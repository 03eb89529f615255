"""Weights of tests, as the core takes them: what they change, and what is refused."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from maptree import _core

RHO = 2.5


def dataset(
    X: Any, y: Any, weights: list[int] | None, *, dtype: str = "u4", fold_columns: bool = True
) -> Any:
    tests = None if weights is None else np.array(weights, dtype)
    return _core.Dataset(_core.pack(X), y, None, 2, fold_columns=fold_columns, test_weights=tests)


def prior() -> Any:
    return _core.Prior(0.95, 0.5, np.full(2, RHO))


def search(data: Any, **options: Any) -> Any:
    return _core.search(data, prior(), _core.Options(**options), _core.Limits())


def chains(data: Any) -> Any:
    return _core.sample_mcmc(
        data, prior(), n_samples=500, burn_in=0, thin=1, n_chains=2, seed=1, limits=_core.Limits()
    )


def particles(data: Any) -> Any:
    return _core.sample_smc(
        data,
        prior(),
        n_particles=200,
        n_islands=1,
        proposal="optimal",
        growth="node",
        resampling="systematic",
        ess_threshold=0.5,
        seed=1,
        limits=_core.Limits(),
    )


@pytest.fixture
def table() -> tuple[Any, Any]:
    X = np.array(list(product((0, 1), repeat=4)) * 5, np.uint8)
    return X, (X[:, 0] & X[:, 1]).astype(np.uint8)


def test_equal_weights_give_what_none_give(table: tuple[Any, Any]) -> None:
    X, y = table
    none = search(dataset(X, y, None))
    for weights in ([1, 1, 1, 1], [6, 6, 6, 6]):
        same = search(dataset(X, y, weights))
        assert (same.upper, same.expansions, same.peak_bytes) == (
            none.upper,
            none.expansions,
            none.peak_bytes,
        )
        assert same.feature.tolist() == none.feature.tolist()


def test_a_split_pays_for_its_test(table: tuple[Any, Any]) -> None:
    X, y = table
    # Column 0 at the root and column 1 where it is 1; the other way round it costs more.
    result = search(dataset(X, y, [1, 3, 2, 2]))
    assert result.status == "optimal"
    assert result.feature[:3].tolist() == [1, -1, 0]
    plain = search(dataset(X, y, None))
    difference = (np.log(8 / 3) + np.log(5 / 1)) - (np.log(4) + np.log(3))
    assert result.upper - plain.upper == pytest.approx(difference, abs=1e-8)


@pytest.mark.parametrize("fold_columns", [True, False])
def test_weights_count_for_samplers_too(table: tuple[Any, Any], fold_columns: bool) -> None:
    X, y = table
    weights = [1, 3, 2, 2]
    best = -search(dataset(X, y, weights), fold_columns=fold_columns).upper
    data = dataset(X, y, weights, fold_columns=False)
    for samples in (chains(data), particles(data)):
        assert samples.log_posterior[samples.best] == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ([1, 0, 1, 1], "weight of test 1 is 0"),
        ([1, 2**31, 1, 1], "up to test 1 are too large"),
        ([2**31 - 3, 1, 1, 1], "up to test 3 are too large"),
        ([1, 2], "one entry a test"),
        ([], "one entry a test"),
    ],
)
def test_weights_out_of_range_are_refused(
    table: tuple[Any, Any], weights: list[int], says: str
) -> None:
    X, y = table
    with pytest.raises(ValueError, match=says):
        dataset(X, y, weights)


def test_weights_of_another_type_are_refused(table: tuple[Any, Any]) -> None:
    X, y = table
    for dtype in ("i8", "f8"):
        with pytest.raises(TypeError):
            dataset(X, y, [1, 2, 3, 4], dtype=dtype)


def test_samplers_refuse_ranks(table: tuple[Any, Any]) -> None:
    X, y = table
    ranks = np.arange(len(y), dtype=np.uint32)
    data = _core.Dataset(
        _core.pack(X), y, None, 2, fold_columns=False, ordered=[(ranks, len(ranks))]
    )
    for sample in (chains, particles):
        with pytest.raises(ValueError, match="not the ranks of ordered columns"):
            sample(data)
