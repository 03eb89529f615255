"""Tables in bits and folded data, on which all the rest stands."""

from __future__ import annotations

import numpy as np
import pytest

from checks import check_optimal, solve
from maptree import _core
from problems import BLOCK_SIZES, Problem, big_few_distinct

DTYPES = [np.bool_, *np.typecodes["AllInteger"], np.float32, np.float64]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_rows", BLOCK_SIZES)
def test_pack(n_rows: int, dtype: type[np.generic]) -> None:
    """Every type and every layout gives the same bits."""
    X = big_few_distinct(n_rows, n_features=70).X.astype(dtype)
    expected = np.packbits(X.T == 1, axis=1, bitorder="little")
    wide = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)
    layouts = [X, np.asfortranarray(X), wide[::2, ::3], X[::-1, ::-1].copy()[::-1, ::-1]]
    for layout in layouts:
        assert np.array_equal(layout, X)
        packed = _core.pack(layout)
        assert packed is not None
        assert (packed.n_rows, packed.n_columns) == X.shape
        assert np.array_equal(packed.take(), expected)
        assert (packed.n_rows, packed.n_columns, packed.n_bytes) == (0, 0, 0)
    if dtype is not np.bool_:
        for order in "CF":
            other = X.copy(order)
            other[-1, -1] = 2
            assert _core.pack(other) is None


def test_packed_columns_can_be_written() -> None:
    X = big_few_distinct(77, n_features=5).X
    expected = np.packbits(X.T == 1, axis=1, bitorder="little")
    table = _core.PackedTable(77, 5)
    table.write(0, expected[:2])
    table.write(2, expected[2:])
    for first, columns in [(4, expected[:2]), (0, expected[:, 1:].copy()), (5, expected[:1])]:
        with pytest.raises(ValueError, match="do not fit"):
            table.write(first, columns)
    assert np.array_equal(table.take(), expected)
    with pytest.raises(ValueError, match="do not fit"):
        table.write(0, expected)


def test_a_dataset_takes_its_table() -> None:
    problem = big_few_distinct(40, n_features=5)
    table = _core.pack(problem.X)
    assert table is not None
    for _ in range(2):
        y = problem.y.astype(np.uint8)
        if table.n_rows == 0:
            with pytest.raises(ValueError, match="no rows"):
                _core.Dataset(table, y, None, problem.n_classes)
        else:
            assert _core.Dataset(table, y, None, problem.n_classes).n_rows == 40


def test_folding() -> None:
    """Equal and complementary columns are one, equal rows are one; V still counts them all."""
    rng = np.random.default_rng(0)
    base = rng.integers(2, size=(30, 3), dtype=np.uint8)
    X, y = np.hstack([base, base, 1 - base]), rng.integers(2, size=30)
    for fold in (True, False):
        dataset = _core.Dataset(
            _core.pack(X), y.astype(np.int32), None, 2, fold_rows=fold, fold_columns=fold
        )
        assert dataset.n_rows == dataset.total_weight == 30
        assert dataset.n_features == 9
        assert dataset.n_distinct_columns == (3 if fold else 9)
        assert (dataset.n_distinct_rows < 30) == fold
    problem = Problem(X, y, n_classes=2, alpha=0.95, beta=0.5, rho=(2.5, 2.5))
    check_optimal(problem, solve(problem))


@pytest.mark.parametrize(
    ("first", "shape"),
    [(2**64 - 1, (1, 8)), (2**63, (1, 8)), (2, (1, 8)), (1, (2, 8)), (0, (1, 7))],
)
def test_columns_outside_of_a_table_are_refused(first, shape):
    table = _core.PackedTable(64, 2)
    with pytest.raises(ValueError, match="do not fit into the table"):
        table.write(first, np.ones(shape, dtype=np.uint8))
    assert not table.take().any()


def test_a_table_without_rows_takes_columns_without_bytes():
    table = _core.PackedTable(0, 2)
    table.write(0, np.zeros((2, 0), dtype=np.uint8))
    assert table.take().shape == (2, 0)


@pytest.mark.parametrize("shape", [(2**64 - 1, 1), (2**61, 2**61), (2**63, 2**6), (64, 2**61)])
def test_tables_of_more_bits_than_can_be_counted_are_refused(shape):
    with pytest.raises((MemoryError, ValueError)):
        _core.PackedTable(*shape)
