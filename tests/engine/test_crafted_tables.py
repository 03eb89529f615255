"""Tables made to mislead the search: sets of rows that it would take for one another.

See crafted.py for the first kind. Its tables were all failures while keys were public: of 20, 13
were "proved" with a planted tree above the bound, 5 ended in an error and 2 did not end.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from checks import without
from crafted import N_FREE, Crafted, craft, public_key
from maptree import MAPTreeClassifier, _core, log_posterior
from problems import seeds


def core_data(table: Crafted, fold_columns: bool = True) -> _core.Dataset:
    y = table.y.astype(np.int32)
    return _core.Dataset(_core.pack(table.X), y, None, 2, fold_columns=fold_columns)


PRIOR = _core.Prior(0.95, 0.5, np.array([2.5, 2.5]))


@seeds(20)
def test_sets_of_one_public_key_are_two_sets(seed: int, tally: Counter[str]) -> None:
    tally["crafted: public keys"] += 1
    table = craft(seed)
    names = [0, 0]
    for row, column in zip(*np.nonzero(table.X[:, :2]), strict=True):
        names[column] ^= public_key(int(row))
    assert names[0] == names[1]

    planted = log_posterior(table.planted, table.X, table.y)
    model = MAPTreeClassifier().fit(table.X, table.y)
    assert model.certificate_.optimal
    assert model.certificate_.log_posterior_bound >= planted - 1e-6
    assert model.certificate_.log_posterior == pytest.approx(
        log_posterior(model.tree_, table.X, table.y), abs=1e-6
    )


@seeds(2)
@pytest.mark.parametrize("threads", [1, 3])
def test_results_do_not_depend_on_the_keys(seed: int, threads: int, tally: Counter[str]) -> None:
    tally["crafted: other keys"] += 1
    table = craft(seed)
    rng = np.random.default_rng(seed)
    others = rng.integers(1 << 63, size=(8, 2), dtype=np.uint64)
    results = []
    for keys in (None, others):
        data = core_data(table)
        if keys is not None:
            data.use_keys(keys)
        results.append(_core.search(data, PRIOR, _core.Options(), _core.Limits(threads=threads)))
    assert [r.status for r in results] == ["optimal", "optimal"]
    assert results[0].upper == results[1].upper
    if threads == 1:
        assert results[0].expansions == results[1].expansions
        assert results[0].feature.tolist() == results[1].feature.tolist()


OPTIONS = {
    "all": _core.Options(),
    "improve": without("improve", "greedy_start"),
    "depth_first": without("depth_first"),
    "paper": _core.Options.paper(),
}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("how", OPTIONS)
def test_a_collision_is_an_error(how: str, threads: int) -> None:
    """All sets of rows have one key: class counts tell the first two of them apart."""
    for seed in range(3):
        data = core_data(craft(seed))
        data.use_keys(np.zeros((1, 2), dtype=np.uint64))
        with pytest.raises(RuntimeError, match=r"same 127-bit key.*change the order of"):
            _core.search(data, PRIOR, OPTIONS[how], _core.Limits(threads=threads))


@pytest.mark.parametrize("threads", [1, 3])
def test_one_collision_among_many_sets_is_an_error(threads: int, tally: Counter[str]) -> None:
    """Two sets of 30 rows of one key, as many of one class as the other has of the other class: a
    leaf of either costs the same. Where the search does not meet both, its tree is the right one.
    """
    errors = []
    for seed in range(20):
        tally["crafted: forced collisions"] += 1
        rng = np.random.default_rng(seed)
        table = craft(seed)
        X = np.zeros_like(table.X)
        X[:, 2:] = rng.permutation(len(X))[:, None] >> np.arange(N_FREE) & 1
        bits = rng.permutation(64)[:30]
        X[bits, 0] = X[128 + bits, 1] = 1  # in words 0 and 2 of four
        table = Crafted(X, table.y, table.planted)
        keys = rng.integers(1 << 63, size=(4, 2), dtype=np.uint64)
        keys[2] = keys[0]
        data = core_data(table)
        assert data.n_distinct_rows == len(X)
        data.use_keys(keys)
        try:
            found = _core.search(data, PRIOR, _core.Options(), _core.Limits(threads=threads))
        except RuntimeError as error:
            errors.append(str(error))
            continue
        true = _core.search(core_data(table), PRIOR, _core.Options(), _core.Limits())
        assert found.upper == true.upper
    assert errors
    assert all("same 127-bit key" in error for error in errors)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_collision_is_an_error_of_a_sampler(threads: int) -> None:
    data = core_data(craft(0), fold_columns=False)
    data.use_keys(np.zeros((1, 2), dtype=np.uint64))
    with pytest.raises(RuntimeError, match="same 127-bit key"):
        _core.sample_smc(
            data,
            PRIOR,
            n_particles=100,
            n_islands=4,
            proposal="optimal",
            growth="node",
            resampling="systematic",
            ess_threshold=0.5,
            seed=0,
            limits=_core.Limits(threads=threads),
        )
