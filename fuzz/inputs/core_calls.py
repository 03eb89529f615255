"""Bytes as calls of the core: arrays of all shapes and types, limits, priors, trees.

A call that is not allowed raises ValueError, TypeError or MemoryError. What the others return is
consistent: trees are trees over the columns, and a lower bound is not above the cost.
"""

from __future__ import annotations

import contextlib
import math
from typing import Any

import numpy as np

from fuzz.inputs.choices import Choices
from maptree import _core
from maptree.trees.tree import Tree

MOST_BYTES = 600

_REFUSED = (ValueError, TypeError, MemoryError, OverflowError)
_DTYPES = (
    "u1",
    "i1",
    "?",
    "u2",
    "i2",
    "u4",
    "i4",
    "u8",
    "i8",
    "f4",
    "f8",
    "f2",
    "c8",
    "M8[D]",
    "O",
)
_REALS = (0.5, 0.95, 0.0, 1.0, 1e-9, 1e9, 1e-300, -1.0, 2.5, 1e6, math.inf, -math.inf, math.nan)
_WHOLE = (1, 2, 3, 5, 10, 0, -1, -2, 2**31 - 1, 2**31, 2**63 - 1, -(2**63), 2**62)
_SIZES = (4, 8, 1, 3, 17, 64, 65, 0, 2, 130)
_SWITCHES = (
    "fold_columns",
    "fold_rows",
    "compact",
    "pair_expansion",
    "greedy_start",
    "improve",
    "depth_first",
    "depth_transfer",
    "graded_proof",
    "distinct_rows_bound",
    "equivalent_rows_bound",
    "structure_bound",
    "varying_bound",
    "spans",
    "few_leaves_bound",
)


def try_input(content: bytes) -> None:
    """Make calls until the bytes are used up, at most a few."""
    choose = Choices(content)
    for _ in range(3):
        call = choose.one_of((_search, _mcmc, _smc, _route, _packed))
        with contextlib.suppress(*_REFUSED):
            call(choose)
        if choose.done:
            return


def _array(choose: Choices, shape: tuple[int, ...], dtype: str, most: int) -> Any:
    """Values below ``most``, in any layout."""
    size = int(np.prod(shape))
    raw = np.frombuffer(choose.take(min(size, 256)).ljust(1, b"\1"), np.uint8)
    values = np.resize(raw % most, size).reshape(shape)
    array: Any = values.astype(dtype)
    layout = choose.below(6)
    if layout == 1 and array.ndim == 2:
        array = np.asfortranarray(array)
    elif layout == 2:
        array = np.repeat(array, 2, axis=-1)[..., ::2]
    elif layout == 3:
        array = np.ascontiguousarray(array[::-1])[::-1]
    elif layout == 4:
        array = array[np.newaxis]
    elif layout == 5:
        array = array.copy()
        array.setflags(write=False)
    return array


def _table(choose: Choices) -> tuple[Any, int, int]:
    n_rows, n_columns = choose.one_of(_SIZES), choose.one_of((3, 1, 2, 5, 8, 0, 40))
    if choose.below(4) == 3:
        table = _core.PackedTable(n_rows, n_columns)
        bytes_per_column = (n_rows + 7) // 8
        part = _array(choose, (choose.below(4), bytes_per_column), "u1", 256)
        table.write(choose.one_of((0, 1, 2, 40, 2**63, 2**64 - 1)), part)
        return table, n_rows, n_columns
    X = _array(choose, (n_rows, n_columns), choose.one_of(_DTYPES), 2 + choose.below(8) // 7)
    return _core.pack(X), n_rows, n_columns


def _dataset(choose: Choices, fold_columns: bool | None = None) -> Any:
    table, n_rows, n_columns = _table(choose)
    n_classes = choose.one_of((2, 3, 1, 5, 256, 300, 0, -1, 70_000))
    labels = _array(
        choose,
        (n_rows + (choose.below(16) == 15),),
        choose.one_of(("u1", "i4", "i8", "f8")),
        min(max(n_classes, 1), 255) + choose.below(16) // 15,
    )
    weights = None
    if choose.maybe():
        weights = _array(choose, (n_rows,), choose.one_of(("i8", "i8", "f8")), 200)
        # Tables of the posterior grow with the weights: 2**20 would take minutes with sanitizers.
        weights = weights * choose.one_of((1, 1, -1, 2**8, 2**40, 2**54))
    limit = choose.one_of((-1, -1, -1, 0, 1000, 10**6, 2**62))
    seconds = choose.one_of((math.inf, math.inf, 0.0, -1.0, math.nan))
    if fold_columns is None:
        fold_columns = choose.maybe()
    fold_rows = choose.below(8) != 7
    ordered = [_ranks(choose, n_rows) for _ in range(max(0, choose.below(8) - 4))]
    n_tests = n_columns + sum(max(n_ranks, 1) - 1 for _, n_ranks in ordered)
    tests = None
    if choose.below(4) == 3:
        n_weights = min(n_tests, 1000) + choose.below(8) // 7
        tests = _array(choose, (n_weights,), choose.one_of(("u4", "u4", "i8")), 200)
        tests = tests * np.array(choose.one_of((1, 1, 2**20, 2**24)), tests.dtype)
    uses = None
    if choose.below(8) == 7:
        n_uses = n_columns + len(ordered) + choose.below(8) // 7
        uses = _array(
            choose, (n_uses,), choose.one_of(("u1", "u1", "i8")), 3 + choose.below(8) // 7
        )
    return _core.Dataset(
        table,
        labels,
        weights,
        n_classes,
        fold_rows,
        fold_columns,
        limit,
        seconds,
        test_weights=tests,
        ordered=ordered,
        uses=uses,
    )


def _ranks(choose: Choices, n_rows: int) -> tuple[Any, int]:
    """Return an ordered column; mostly its ranks are below the number that is given."""
    n_ranks = choose.one_of((5, 2, 3, 60, 1, 0, 2**31, 2**32 - 1))
    most = min(max(n_ranks, 1), 255) + choose.below(16) // 15
    n = n_rows + choose.below(16) // 15
    return _array(choose, (n,), choose.one_of(("u4", "u4", "u4", "i8")), most), n_ranks


def _prior(choose: Choices, n_classes: int) -> Any:
    n = n_classes + choose.below(16) // 15
    plain = choose.maybe()
    rho = np.full(n, 2.5) if plain else np.array([choose.one_of(_REALS) for _ in range(min(n, 4))])
    rho = rho if len(rho) == n else np.resize(rho, n)
    alpha, beta = (0.95, 0.5) if plain else (choose.one_of(_REALS), choose.one_of(_REALS))
    return _core.Prior(alpha, beta, rho.astype(choose.one_of(("f8", "f8", "f8", "f4"))))


def _limits(choose: Choices) -> Any:
    if choose.maybe():
        return _core.Limits(max_expansions=choose.below(40), threads=1 + choose.below(2))
    return _core.Limits(
        seconds=choose.one_of((math.inf, 0.0, -1.0, math.nan, 1e-3)),
        max_expansions=choose.one_of((3, 0, 1, 30)),
        memory=choose.one_of((-1, 0, 1, 10**5, 10**6, 2**62)),
        threads=choose.one_of((1, 2, 3, 0, -1)),
        patience=choose.one_of((math.inf, 0.0, 1e-6, -1.0, math.nan)),
        poll_seconds=choose.one_of((0.05, 0.0, -1.0, math.inf, math.nan)),
        work_per_reading=choose.one_of((1000, 1, 0, -1, 2**62)),
    )


def _search(choose: Choices) -> None:
    dataset = _dataset(choose)
    prior = _prior(choose, dataset.n_classes)
    switches: dict[str, Any] = {}
    if choose.maybe():
        bits = int.from_bytes(choose.take(2), "little")
        switches = {name: bool(bits >> i & 1) for i, name in enumerate(_SWITCHES)}
    if choose.maybe():
        switches["max_depth"] = choose.one_of((-1, 0, 1, 2, 3, 2**31, 2**62, -2, 2**63 - 1))
        switches["min_samples_leaf"] = choose.one_of((1, 2, 3, 0, -1, 2**62, 2**63 - 1))
    if choose.below(4) == 3:
        switches["kernel"] = choose.one_of(("plain", "avx2", "avx512", "auto", "none"))
    make = _core.Options.paper if choose.below(8) == 7 else _core.Options
    result = _core.search(dataset, prior, make(**switches), _limits(choose))
    tree = _check_tree(result, dataset)
    assert not result.lower > result.upper, (result.lower, result.upper)
    assert result.status in (
        "optimal",
        "time_limit",
        "memory_limit",
        "expansion_limit",
        "patience",
        "interrupted",
    )
    if result.status == "optimal":
        assert result.lower == result.upper
    limit = switches.get("max_depth", -1)
    assert limit < 0 or tree.depth <= limit
    if dataset.complete:
        assert tree.counts[0].sum() == dataset.total_weight


def _check_tree(result: Any, dataset: Any) -> Tree:
    tree = Tree(result.feature, result.left, result.right, result.counts)
    assert tree.feature.max() < max(dataset.n_features, 1)
    inner = np.flatnonzero(tree.feature >= 0)
    below = tree.counts[tree.left[inner]] + tree.counts[tree.right[inner]]
    assert (tree.counts[inner] == below).all()
    assert np.isfinite(result.gain).all()
    return tree


def _initial(choose: Choices, n_columns: int) -> Any:
    if choose.maybe():
        return None
    n = choose.one_of((1, 3, 5, 0, 4))
    if n % 2 and choose.below(4) < 3:  # a chain
        feature = [
            choose.below(max(n_columns, 1)) if i % 2 == 0 and i < n - 1 else -1 for i in range(n)
        ]
        left = [i + 1 if f >= 0 else -1 for i, f in enumerate(feature)]
        right = [i + 2 if f >= 0 else -1 for i, f in enumerate(feature)]
        return tuple(np.array(part, np.int32) for part in (feature, left, right))
    return tuple(_array(choose, (n,), "i4", 7) - choose.below(3) for _ in range(3))


def _mcmc(choose: Choices) -> None:
    dataset = _dataset(choose, fold_columns=choose.below(8) == 7)
    samples = _core.sample_mcmc(
        dataset,
        _prior(choose, dataset.n_classes),
        n_samples=choose.one_of((5, 1, 0, 20, -1)),
        burn_in=choose.one_of((0, 3, 20, -1)),
        thin=choose.one_of((1, 2, 0, 2**62, -1)) if choose.below(4) == 3 else 1,
        n_chains=choose.one_of((1, 2, 0, -1, 3)),
        seed=choose.one_of((0, 1, 2**63, 2**64 - 1)),
        initial=_initial(choose, dataset.n_features),
        limits=_limits_of_sampler(choose),
    )
    _check_samples(samples, dataset)


def _smc(choose: Choices) -> None:
    dataset = _dataset(choose, fold_columns=choose.below(8) == 7)
    samples = _core.sample_smc(
        dataset,
        _prior(choose, dataset.n_classes),
        n_particles=choose.one_of((5, 1, 0, 20, -1)),
        n_islands=choose.one_of((1, 2, 0, -1)),
        proposal=choose.one_of(("prior", "optimal", "none")),
        growth=choose.one_of(("node", "level", "none")),
        resampling=choose.one_of(("systematic", "multinomial", "none")),
        ess_threshold=choose.one_of((0.5, 0.0, 1.0, -1.0, math.nan)),
        seed=choose.one_of((0, 1, 2**63, 2**64 - 1)),
        limits=_limits_of_sampler(choose),
    )
    _check_samples(samples, dataset)


def _limits_of_sampler(choose: Choices) -> Any:
    return _core.Limits(
        seconds=choose.one_of((0.05, 0.0, -1.0, math.nan)),
        threads=choose.one_of((1, 2, 0, -1)),
        work_per_reading=choose.one_of((1000, 1, 0)),
    )


def _check_samples(samples: Any, dataset: Any) -> None:
    assert samples.status in ("complete", "time_limit", "memory_limit", "interrupted")
    n_trees = len(samples.log_posterior)
    assert len(samples.offsets) == n_trees + 1
    assert samples.sample.size == 0 or samples.sample.max() < n_trees
    assert samples.best < max(n_trees, 1)
    for first, last in zip(samples.offsets[:-1], samples.offsets[1:], strict=True):
        part = slice(first, last)
        Tree(samples.feature[part], samples.left[part], samples.right[part], samples.counts[part])
        assert samples.feature[part].max() < max(dataset.n_features, 1)


def _route(choose: Choices) -> None:
    n_rows = choose.one_of(_SIZES)
    n_tests = choose.below(4)
    tests = []
    for _ in range(n_tests):
        dtype = choose.one_of(_DTYPES)
        length = n_rows + choose.below(16) // 15
        values = _array(choose, (length,), dtype, 5)
        bound = _array(choose, (choose.one_of((1, 1, 1, 0, 2)),), choose.one_of((dtype, "f8")), 5)
        missing = _array(choose, (length,), "?", 2) if choose.maybe() else None
        asks = choose.one_of(("at most", "equals", "missing", "none"))
        tests.append((values, asks, bound, missing))
    if choose.maybe():
        n = 2 * choose.below(4) + 1
        test = np.array(
            [i % max(n_tests, 1) if i % 2 == 0 and i < n - 1 else -1 for i in range(n)], "i4"
        )
        no = np.array([i + 1 if t >= 0 else -1 for i, t in enumerate(test)], "i4")
        yes = np.array([i + 2 if t >= 0 else -1 for i, t in enumerate(test)], "i4")
    else:
        n = choose.below(6)
        test, no, yes = (_array(choose, (n,), "i4", 8) - choose.below(3) for _ in range(3))
    leaves = _core.route(choose.one_of((n_rows, n_rows, n_rows, 0, 1)), test, no, yes, tests)
    assert ((leaves >= 0) & (leaves < len(test))).all()
    assert (test[leaves] < 0).all()


def _packed(choose: Choices) -> None:
    table, n_rows, n_columns = _table(choose)
    if table is None:
        return
    assert (table.n_rows, table.n_columns) == (n_rows, n_columns)
    taken = table.take()
    assert taken.shape == (n_columns, (n_rows + 7) // 8)
    int(taken.sum())
    assert table.take().size == 0
    table.write(choose.one_of((0, 1, 2**63, 2**64 - 1)), np.zeros((choose.below(3), 0), np.uint8))
    sizes = (1, 64, 2**58, 2**61, 2**63, 2**64 - 1)
    n_rows, n_columns = choose.one_of(sizes), choose.one_of(sizes)
    assert _core.PackedTable(n_rows, n_columns).n_bytes * 8 >= n_rows * n_columns
