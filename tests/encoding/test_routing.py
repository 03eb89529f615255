"""The core's way through a tree ends where asking node by node does, for every kind of column."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maptree import BinaryEncoder, MAPTreeClassifier, Tree, _core
from maptree.encoding.answering import Answers
from maptree.tables.table import Objects, read_table
from problems import examples
from random_tables import as_objects, random_tree, tables

TYPES = [*np.typecodes["AllInteger"], "e", "f", "d", "?", ">f8", ">f4", ">i8", ">u2", ">i4"]
SPECIAL = [0.0, -0.0, 1.0, 0.5, 1e300, -1e300, 2.0**53, np.inf, -np.inf, np.nan]


def leaves_both_ways(encoder: BinaryEncoder, tree: Tree, X: object) -> np.ndarray:
    """Route X by the core and node by node; they have to agree."""
    table = read_table(encoder, X, reset=False)
    answers = Answers(encoder.schema(), table)
    found = answers.leaves(tree)
    assert found.dtype == np.intp
    np.testing.assert_array_equal(found, tree.route(table.n_rows, answers))
    return found


@st.composite
def matrices(draw: st.DrawFn, n_columns: int) -> np.ndarray:
    """Draw matrices of any type with values at the edges of types, in any layout."""
    dtype = np.dtype(draw(st.sampled_from(TYPES)))
    n_rows = draw(st.integers(1, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = (2 * n_rows, 3 * n_columns)
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            X = rng.choice([*SPECIAL, *rng.normal(size=5)], shape).astype(dtype)
    elif dtype.kind == "b":
        X = rng.random(shape) < 0.5
    else:
        limits = np.iinfo(dtype)
        some = [limits.min, limits.min + 1, 0, 1, 2, 5, limits.max - 1, limits.max]
        if dtype.itemsize == 8:
            some += [2**53, 2**53 + 1, 2**53 + 2, 2**62 + 1]
        X = rng.choice(np.array(some, dtype=dtype), shape)
    layouts = [
        lambda: np.ascontiguousarray(X[:n_rows, :n_columns]),
        lambda: np.asfortranarray(X[:n_rows, :n_columns]),
        lambda: X[::2, ::3],
        lambda: X[:n_rows, :n_columns][::-1, ::-1],
        lambda: np.broadcast_to(X[:1, :n_columns], (n_rows, n_columns)),
        lambda: unaligned(X[:n_rows, :n_columns]),
    ]
    layout = draw(st.sampled_from(layouts))()
    if draw(st.booleans()):
        layout = layout.view()
        layout.setflags(write=False)
    return layout


def unaligned(X: np.ndarray) -> np.ndarray:
    raw = np.zeros(X.nbytes + 1, dtype=np.uint8)
    moved = raw[1:].view(X.dtype).reshape(X.shape)
    moved[...] = X
    return moved


@examples(40)
@given(st.data(), st.integers(1, 4), st.integers(0, 2**32))
def test_matrices_of_any_type_and_layout(data: st.DataObject, n_columns: int, seed: int) -> None:
    encoder = BinaryEncoder().fit(data.draw(matrices(n_columns)))
    tests = len(encoder.test_columns_)
    rng = np.random.default_rng(seed)
    tree = random_tree(rng.integers(0, 2, (200, tests)), rng) if tests else leaf()
    for _ in range(3):
        X = data.draw(matrices(n_columns))
        if encoder.passthrough_:
            X = (X == 1).astype(X.dtype)
        leaves_both_ways(encoder, tree, X)
        if X.dtype.kind != "b" and not encoder.passthrough_:
            hidden = np.random.default_rng(seed).random(X.shape) < 0.3
            leaves_both_ways(encoder, tree, np.ma.array(X, mask=hidden))


def leaf() -> Tree:
    return Tree([-1], [-1], [-1], [[1, 1]])


@examples(20)
@given(tables(n_tables=2), st.integers(0, 2**32))
def test_frames_of_all_kinds(drawn: list, seed: int) -> None:
    first, second = (as_objects(rows) for rows in drawn)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("maptree.encoding.encoder.warn_of_identifiers", lambda *_, **__: None)
        encoder = BinaryEncoder().fit(first)
    tests = len(encoder.test_columns_)
    rng = np.random.default_rng(seed)
    tree = random_tree(rng.integers(0, 2, (200, tests)), rng) if tests else leaf()
    # What was 0/1 has to be so again.
    for frame in [first] if encoder.passthrough_ else [first, second]:
        leaves_both_ways(encoder, tree, frame)


COLUMNS = {
    "whole": [3, None, 1, 2, 2**53 + 1],
    "real": [0.5, None, -1.5, 1e30, 2.0],
    "flag": [True, None, False, True, True],
    "word": ["red", None, "blue", "red", "green"],
    "price": [Decimal("0.10"), None, Decimal("0.15"), Decimal("0.20"), Decimal("9.99")],
    "day": [dt.date(2020, 1, d) for d in (1, 2, 3, 4)] + [None],
    "moment": [dt.datetime(2020, 1, 1, h) for h in (1, 2, 3, 4)] + [None],
    "wait": [dt.timedelta(hours=h) for h in (1, 2, 3, 4)] + [None],
}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pd", "pl", "pa"])
def test_typed_frames(make: object) -> None:
    frame = make({name: values * 10 for name, values in COLUMNS.items()})
    encoder = BinaryEncoder().fit(frame)
    X = encoder.transform(frame)
    for seed in range(20):
        tree = random_tree(X, np.random.default_rng(seed))
        found = leaves_both_ways(encoder, tree, frame)
        np.testing.assert_array_equal(found, tree.apply(X))


def test_rows_in_many_blocks() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_003, 3))
    encoder = BinaryEncoder().fit(X[:1000])
    tree = random_tree(encoder.transform(X[:1000]), rng, max_depth=9)
    found = leaves_both_ways(encoder, tree, X)
    np.testing.assert_array_equal(found[70_000:], leaves_both_ways(encoder, tree, X[70_000:]))
    assert len(np.unique(found)) > 50


def test_objects_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their types do not tell whether they fit, so they are read to see; once is enough."""
    X = np.array([["red", 1], ["blue", 2], ["green", 3]] * 5, dtype=object)
    model = MAPTreeClassifier().fit(X, [0, 1, 1] * 5)
    reads = []
    read = Objects.read
    monkeypatch.setattr(Objects, "read", lambda table, j: reads.append(j) or read(table, j))
    assert model.predict(X).tolist() == [0, 1, 1] * 5
    assert sorted(reads) == [0, 1]
    for ask in (model.encoder_.transform, model.encoder_.transform_packed):
        reads.clear()
        ask(X)
        assert sorted(reads) == [0, 1]


def test_predictions_are_those_of_the_leaves() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(300, 4)), rng.choice(["a", "b", "c"], 300)
    y[X[:, 0] > 0] = "b"
    model = MAPTreeClassifier(max_expansions=100).fit(X, y)
    leaves, counts = model.apply(X), model.tree_.counts
    expected = (counts + 5 / 3) / (counts.sum(axis=1, keepdims=True) + 5)
    np.testing.assert_allclose(model.predict_proba(X), expected[leaves])
    best = model.predict_proba(X).argmax(axis=1)
    assert model.predict(X).tolist() == model.classes_[best].tolist()
    assert model.predict_interval(X).shape == (300, 3, 2)


def test_the_core_refuses_what_does_not_fit() -> None:
    test, no, yes = (np.array([first, -1, -1], np.int32) for first in (0, 1, 2))
    column, bound = np.zeros(3), np.zeros(1)
    assert _core.route(3, test, no, yes, [(column, "at most", bound, None)]).tolist() == [2, 2, 2]
    for error, question in [
        (ValueError, (column[:2], "at most", bound, None)),
        (ValueError, (column, "at most", bound, np.zeros(2, bool))),
        (ValueError, (column, "at least", bound, None)),
        (TypeError, (column, "at most", np.zeros(1, np.int32), None)),
        (TypeError, (column, "at most", np.zeros(2), None)),
        (TypeError, (column.astype(complex), "at most", bound.astype(complex), None)),
    ]:
        with pytest.raises(error):
            _core.route(3, test, no, yes, [question])
    with pytest.raises(ValueError, match="no tree"):
        _core.route(3, test, no, no, [(column, "at most", bound, None)])
