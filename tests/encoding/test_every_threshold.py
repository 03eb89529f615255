"""``max_thresholds=None``: a threshold between every two neighbouring values, and ranks."""

from __future__ import annotations

import datetime as dt
import tracemalloc
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maptree import BinaryEncoder, MCMCTreeClassifier, SMCTreeClassifier
from maptree.encoding import choosing
from maptree.encoding.choosing import Rows, choose_with_ranks
from maptree.schema.columns import Column, EncoderParameters, Schema
from maptree.schema.on_demand import WholeNumbers
from maptree.schema.placing import EveryThreshold
from maptree.tables.deadline import OutOfTimeError, until
from maptree.tables.row_hashes import RowHashes
from maptree.tables.table import read_table
from problems import examples
from random_tables import as_objects, tables

pytestmark = pytest.mark.filterwarnings("ignore::maptree.IdentifierWarning")

EVERY = EncoderParameters(max_thresholds=None)


@pytest.fixture(autouse=True, scope="module")
def ranks_of_small_tables():
    """Keep the ranks of tables of few tests, too: those are what these tests are about."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choosing, "FEW_TESTS", 0)
        yield


def encoded(X, weights=None):
    """Return the encoder, the packed answers of the other columns, and the ranks by column."""
    encoder = BinaryEncoder(max_thresholds=None)
    table = read_table(BinaryEncoder(), X, reset=True)
    ranks: dict[int, np.ndarray] = {}
    packed = encoder.encode_table(table, None, weights, ranks=ranks)
    return encoder, packed, ranks


def check_ranks(X, weights=None):
    """Threshold t of a column is true where the rank is at most t, the one for missing not."""
    encoder, packed, ranks = encoded(X, weights)
    counted = np.ones(len(X), bool) if weights is None else weights > 0
    answers = encoder.transform(X).astype(bool)
    n_packed = 0
    for j, column in enumerate(encoder.schema_):
        first = encoder.schema().first_tests[j]
        of_column = answers[:, first : first + len(column.tests)]
        if j not in ranks:
            assert len(column.thresholds) <= 1
            n_packed += len(column.tests)
            continue
        assert ranks[j].dtype == np.uint32
        assert ranks[j].max() <= len(column.tests)
        expected = ranks[j][:, np.newaxis] <= np.arange(len(column.tests))
        if column.has_missing:
            expected[:, -1] ^= True
        np.testing.assert_array_equal(of_column[counted], expected[counted])
    assert packed.n_columns == n_packed
    return encoder


@examples(40)
@given(tables(), st.data())
def test_all_kinds_of_columns(drawn, data):
    (rows,) = drawn
    frame = as_objects(rows)
    weights = np.array(
        data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    )
    encoder = BinaryEncoder(max_thresholds=None).fit(frame)
    many = BinaryEncoder(max_thresholds=10**6).fit(frame)
    assert encoder.schema_ == many.schema_
    assert [hash(column) for column in encoder.schema_] == [hash(c) for c in many.schema_]
    types = [[type(t) for t in column.thresholds] for column in encoder.schema_]
    assert types == [[type(t) for t in column.thresholds] for column in many.schema_]
    assert encoder.get_feature_names_out().tolist() == many.get_feature_names_out().tolist()
    np.testing.assert_array_equal(encoder.transform(frame), many.transform(frame))
    np.testing.assert_array_equal(encoder.transform_packed(frame), many.transform_packed(frame))
    np.testing.assert_array_equal(encoder.test_weights(), many.test_weights())
    if not encoder.passthrough_:
        check_ranks(frame)
        if weights.any():
            weighted = check_ranks(frame, weights)
            other = BinaryEncoder(max_thresholds=10**6).fit(frame, sample_weight=weights)
            assert weighted.schema_ == other.schema_


ZONE = ZoneInfo("Asia/Kathmandu")


@pytest.mark.parametrize(
    "values",
    [
        np.arange(40) % 17,
        np.arange(40, dtype=np.float32) / 3,
        np.array([-np.inf, 1.0, 2.0, np.inf, np.nan] * 8),
        np.array([2**60 + i // 2 for i in range(40)]),
        [2**80 + i // 3 for i in range(40)],
        [Decimal(i % 7) / 8 for i in range(40)],
        pd.date_range("2020-02-20", periods=40),
        pd.date_range("2020-02-20", periods=40, freq="7h", tz=ZONE),
        [dt.timedelta(seconds=i * i) for i in range(40)],
        [dt.time(i % 24, i) for i in range(40)],
        pd.Categorical(list("smxl" * 10), list("smlx"), ordered=True),
    ],
    ids=lambda values: str(getattr(values, "dtype", type(values[0]).__name__)),
)
def test_every_kind_is_placed_as_usual(values):
    frame = pd.DataFrame({"a": values})
    every = check_ranks(frame).schema_[0]
    many = BinaryEncoder(max_thresholds=1000).fit(frame).schema_[0]
    assert isinstance(every.thresholds, EveryThreshold)
    assert isinstance(many.thresholds, tuple)
    assert every == many
    assert many == every
    assert every.thresholds[-1] == many.thresholds[-1]
    assert every.thresholds[1:3] == many.thresholds[1:3]
    assert every.thresholds[::-1] == many.thresholds[::-1]
    assert every.tests == many.tests
    assert every.levels == many.levels


def test_labels_leave_out_no_threshold():
    X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 0, 0, 1]
    assert BinaryEncoder().fit(X, y).schema_[0].thresholds == (3.5,)
    every = BinaryEncoder(max_thresholds=None).fit(X, y).schema_[0]
    assert every.thresholds == (1.5, 2.5, 3.5)
    assert every.levels == (1, 0, 1)
    assert every.note == ""


def test_columns_with_one_test_are_packed():
    frame = pd.DataFrame(
        {
            "bit": [0, 1, 1],
            "two": [3, 7, 3],
            "one": [5, None, 5],
            "three": [1, 2, 3],
            "hole": [1, 2, None],
        }
    )
    encoder, packed, ranks = encoded(frame)
    assert sorted(ranks) == [3, 4]
    assert packed.n_columns == 3
    assert [column.kind for column in encoder.schema_[:3]] == ["boolean", "number", "constant"]
    assert ranks[4].tolist() == [0, 1, 2]


@examples(40)
@given(tables())
def test_few_tests_are_packed(drawn):
    (rows,) = drawn
    frame = as_objects(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choosing, "FEW_TESTS", 10**6)
        encoder, packed, ranks = encoded(frame)
    assert not ranks
    answers = np.packbits(encoder.transform(frame), axis=0, bitorder="little").T
    np.testing.assert_array_equal(packed.take()[:, : answers.shape[1]], answers)


@pytest.mark.parametrize(("n_tests", "is_ranked"), [(255, False), (256, False), (257, True)])
def test_how_many_tests_are_few(n_tests, is_ranked):
    frame = pd.DataFrame({"a": np.arange(n_tests), "b": np.arange(n_tests) % 2})  # one is of b
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choosing, "FEW_TESTS", 256)
        _, packed, ranks = encoded(frame)
    assert bool(ranks) == is_ranked
    assert packed.n_columns == (1 if is_ranked else n_tests)


def test_rows_that_do_not_count_have_no_threshold():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, np.nan, 9.0]})
    encoder, _, ranks = encoded(frame, np.array([1, 1, 1, 0, 0]))
    (column,) = encoder.schema_
    assert column.thresholds == (1.5, 2.5)
    assert not column.has_missing
    assert ranks[0].max() == 2


def test_a_million_thresholds_are_arrays():
    """A threshold takes 8 bytes for a value and one for its level, and no object."""
    n = 200_000
    X = np.random.default_rng(0).permutation(n).astype(float)[:, np.newaxis] / 8
    BinaryEncoder(max_thresholds=None).fit(X[:100])  # imports
    tracemalloc.start()
    try:
        encoder = BinaryEncoder(max_thresholds=None).fit(X)
        schema = encoder.schema()
        assert len(schema.tests) == len(encoder.schema_[0].tests) == n - 1
        assert schema.tests[n // 2].value == 12500.062
        assert schema.column_of_test[n - 2] == 0
        assert encoder.words().test(0) == "x0 <= 0.062"
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 10 * n
    weights = encoder.test_weights()
    assert len(weights) == n - 1
    assert weights.nbytes == 4 * (n - 1)


def test_tests_of_a_schema_on_demand():
    numbers = EveryThreshold("number", np.array([1.0, 2.0, 4.0]))
    columns = (
        Column("none", "constant", "float64"),
        Column("a", "number", "float64", thresholds=numbers, has_missing=True),
        Column("b", "category", "str", categories=("x", "y")),
        Column("last", "identifier", "str"),
    )
    schema = Schema(columns)
    assert schema.first_tests == (0, 0, 3, 5, 5)
    assert schema.column_of_test == (1, 1, 1, 2, 2)
    assert schema.columns_of(np.array([4, 0, 2])).tolist() == [2, 1, 1]
    assert [test.value for test in schema.tests] == [1.5, 3.0, None, "x", "y"]
    assert schema.tests[1:4] == tuple(schema.tests)[1:4]
    assert schema.tests[-1].value == "y"
    for index in (5, -6):
        with pytest.raises(IndexError):
            schema.tests[index]
    assert repr(columns[1].tests).startswith("(Test(asks='at most', value=1.5)")
    assert repr(WholeNumbers(np.zeros(100, np.int8))) == "<100 of them>"
    assert numbers != (1.5, 3.5)
    assert numbers != (1.5,)
    assert numbers != [1.5, 3.0]


def test_ranking_gives_up_at_the_deadline():
    values = read_table(BinaryEncoder(), [[1.0], [2.0]], reset=True).read(0)
    with until(-1.0), pytest.raises(OutOfTimeError):
        choose_with_ranks("a", values, Rows(), EVERY)


def test_a_column_that_is_given_up_has_no_ranks(monkeypatch):
    def late(hashes, number, column, values):
        if number == 1:
            raise OutOfTimeError

    monkeypatch.setattr(choosing, "add_column", late)
    table = read_table(BinaryEncoder(), np.arange(9.0).reshape(3, 3), reset=True)
    ranks: dict[int, np.ndarray] = {}
    encoder = BinaryEncoder(max_thresholds=None)
    packed = encoder.encode_table(table, None, None, hashes=RowHashes(3), ranks=ranks)
    assert [column.kind for column in encoder.schema_] == ["number", "unread", "number"]
    assert sorted(ranks) == [0, 2]
    assert packed.n_columns == 0


@pytest.mark.parametrize("kind", [MCMCTreeClassifier, SMCTreeClassifier])
def test_samplers_refuse_too_many_answers(kind, monkeypatch):
    X = np.arange(64.0)[:, np.newaxis]
    y = np.arange(64) % 2
    few = {"n_chains": 1, "n_samples": 10} if kind is MCMCTreeClassifier else {"n_particles": 10}
    model = kind(encoder=BinaryEncoder(max_thresholds=None), random_state=0, **few)
    assert len(model.fit(X, y).test_weights_) == 63
    monkeypatch.setattr(choosing, "_MOST_PACKED", 63 * 8 - 1)
    message = "max_thresholds=None gives the columns up to 'x0' 63 tests.*pass a number"
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
