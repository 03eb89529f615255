"""Random tables of all kinds of columns, for several test modules."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import rule_reader as rules
from maptree import BinaryEncoder
from maptree.schema.columns import Column

SIZES = ("small", "medium", "large", "very large")
_WORDS = [
    "red",
    "blue",
    "green",
    "dark red",
    "",
    " red",
    "a, b",
    "not in {x}",
    "a-not-b",
    "red or b",
    'say "no"',
    "1",
]

_DATES = st.dates(dt.date(1900, 1, 1), dt.date(2100, 12, 31))
_DATETIMES = st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 12, 31))
_ZONED = _DATETIMES.map(lambda moment: moment.replace(tzinfo=dt.UTC))

# By name of the column: how rules about it are read, and values of it.
COLUMNS: Mapping[str, tuple[rules.Kind, st.SearchStrategy[Any]]] = {
    "age": (rules.NUMBER, st.integers(0, 12)),
    "score": (rules.NUMBER, st.floats(allow_nan=False)),
    "share": (rules.NUMBER, st.floats(0, 1, width=16)),
    "huge": (rules.NUMBER, st.integers(2**62, 2**62 + 5) | st.integers(-(2**63), 2**63 - 1)),
    "beyond": (rules.NUMBER, st.integers(10**30, 10**30 + 9) | st.floats(-5, 5)),
    "price": (rules.NUMBER, st.decimals(0, 2, places=2, allow_nan=False)),
    "member": (rules.BOOLEAN, st.booleans()),
    "colour": (rules.TEXT, st.sampled_from(_WORDS)),
    "word": (rules.TEXT, st.text(max_size=3)),
    "size": (rules.ordered(*SIZES), st.sampled_from(SIZES)),
    "joined": (rules.DATE, _DATES),
    "seen": (rules.DATETIME, _DATETIMES),
    "zoned": (rules.DATETIME, _ZONED),
    "at": (rules.TIME, st.times()),
    "wait": (rules.DURATION, st.timedeltas(dt.timedelta(days=-9), dt.timedelta(days=9))),
}
KINDS = {name: kind for name, (kind, _) in COLUMNS.items()}

Rows = list[dict[str, Any]]


@st.composite
def tables(draw: st.DrawFn, n_tables: int = 1, max_rows: int = 30) -> list[Rows]:
    """Draw tables of the same few columns, each value maybe missing (None)."""
    names = draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=4, unique=True))
    holes = {name: draw(st.booleans()) for name in names}
    values = {
        name: st.none() | COLUMNS[name][1] if holes[name] else COLUMNS[name][1] for name in names
    }
    row = st.fixed_dictionaries(values)
    return [draw(st.lists(row, min_size=1, max_size=max_rows)) for _ in range(n_tables)]


def as_objects(rows: Rows) -> pd.DataFrame:
    """Return a frame of Python objects; sizes are an ordered categorical."""
    names = sorted(rows[0])
    frame = pd.DataFrame({name: pd.Series([r[name] for r in rows], dtype=object) for name in names})
    if "size" in frame:
        frame["size"] = pd.Categorical(frame["size"], SIZES, ordered=True)
    return frame


def in_sets(encoder: BinaryEncoder, rng: np.random.Generator) -> BinaryEncoder:
    """Return an encoder that tests text in sets, in an order at random, in place of single ones."""

    def changed(column: Column) -> Column:
        names = (*column.categories, *(column.others or ()))
        if column.kind != "category" or len(names) < 2:
            return column
        return replace(
            column,
            kind="sets",
            categories=tuple(names[i] for i in rng.permutation(len(names))),
            thresholds=tuple(range(len(names) - 1)),
            levels=(0,) * (len(names) - 1),
            others=None,
            unknown=int(rng.integers(len(names))),
        )

    schema = encoder.schema()
    return BinaryEncoder.of_schema(replace(schema, columns=tuple(map(changed, schema.columns))))


def random_tree(answers: np.ndarray, rng: np.random.Generator, max_depth: int = 6) -> Any:
    """Split at random tests that are not constant on a node's rows; return a Tree."""
    from maptree import Tree

    feature, left, right, counts = [], [], [], []
    stack = [(np.arange(len(answers)), 0, -1, False)]
    while stack:
        rows, depth, parent, side = stack.pop()
        node = len(feature)
        if parent >= 0:
            (right if side else left)[parent] = node
        part = answers[rows]
        varying = np.flatnonzero(part.min(axis=0) != part.max(axis=0)) if len(rows) else []
        inner = depth < max_depth and len(varying) > 0 and rng.random() < 0.9
        feature.append(int(rng.choice(varying)) if inner else -1)
        left.append(-1)
        right.append(-1)
        counts.append([len(rows), 1])
        if inner:
            true = part[:, feature[node]] == 1
            stack.append((rows[~true], depth + 1, node, False))
            stack.append((rows[true], depth + 1, node, True))
    return Tree(feature, left, right, counts)
