"""A table with columns of every kind and hostile names, and models whose trees ask about all."""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from maptree import BinaryEncoder, MAPTreeClassifier, Tree
from maptree.schema.columns import Column
from models import change

SIZES = ["very small", "small", "medium", "large", "very large"]
COLOURS = [
    "red",
    "it's",
    'say "no"',
    "back\\slash \\n",
    "line\nbreak\ttab",
    "*/ /* //",
    "&lt; &amp; &",
    "</script><!--",
    "%s %% {0} ${x}",
    "$$; DROP TABLE data; --",
    "é ✓ 名前",
    "",
    " red",
    "??/ ??=",
    "NULL",
    "1",
    "a" * 10_000,
    "a" * 9_999 + "b",
]
# More than have tests of their own, so that they are tested in sets.
TOWNS = [f"{COLOURS[i % 9]}{i}" for i in range(45)]
UNKNOWN = ["RED", "red ", "null", "zzz", "1.0", "\u202eabc"]
LABELS = ["yes", 'it\'s "no" */ </script> \\ %', "ü\n$$ `x`"]

TYPES = {
    "age": pa.float64(),
    "weight": pa.float32(),
    "huge": pa.int64(),
    "count": pa.int64(),
    'price "net" */': pa.decimal128(10, 2),
    "score": pa.float64(),
    "smoker": pa.bool_(),
    "int": pa.int64(),  # 0 and 1, and a keyword
    "colour's; --": pa.string(),
    "größe ✓": pa.dictionary(pa.int32(), pa.string(), ordered=True),
    "joined": pa.date32(),
    "seen\\": pa.timestamp("us"),
    "zoned": pa.timestamp("us", "Europe/Berlin"),
    "at%": pa.time64("us"),
    "wait\n</script>": pa.duration("us"),
    "town": pa.string(),  # many categories, in sets
    "note": pa.string(),  # an identifier, with holes
    "const": pa.float64(),  # one value, with holes
}
_EPOCH = dt.datetime(1970, 1, 1)


@dataclass(frozen=True)
class Case:
    """A model, and rows to compare its exports on."""

    model: MAPTreeClassifier
    table: pa.Table

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows as dicts of Python values."""
        return self.table.to_pylist()


def mixed_case(
    n_rows: int, seed: int = 0, depth: int = 12, max_thresholds: int | None = 16
) -> Case:
    """A model with a random tree over every test, and rows with holes and unknown values."""
    rng = np.random.default_rng(seed)
    train = pa.table({name: _column(name, 700, rng) for name in TYPES})
    of_town = [rng.integers(3) if t is None else TOWNS.index(t) for t in train["town"].to_pylist()]
    labels = np.array(LABELS)[(np.array(of_town) + (rng.random(700) < 0.1)) % 3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the identifier
        encoder = BinaryEncoder(max_thresholds=max_thresholds, category_sets=True)
        model = MAPTreeClassifier(max_expansions=1, max_depth=1, encoder=encoder)
        model.fit(train, labels)
    used = rng.random(len(model.encoder_.test_columns_))
    if max_thresholds is None:  # columns with few tests come first
        used *= np.bincount(model.encoder_.test_columns_)[model.encoder_.test_columns_]
    assert "sets" in {column.kind for column in model.encoder_.schema_}
    change(model, tree=wide_tree(model.encoder_.transform(train), rng, depth, used))
    columns = {}
    for name, column in zip(TYPES, model.encoder_.schema_, strict=True):
        values = _column(name, n_rows, rng, holes=0.15, unknown=0.2)
        columns[name] = _with_edges(values, column, TYPES[name], rng)
    return Case(model, pa.table(columns))


def deep_case(n_levels: int, n_rows: int, seed: int = 1) -> Case:
    """A model whose tree is a chain of so many levels, to the yes and the no side."""
    case = mixed_case(n_rows, seed, depth=2)
    rng = np.random.default_rng(seed)
    n_tests = len(case.model.encoder_.test_columns_)
    n_nodes = 2 * n_levels + 1
    feature, left, right = (np.full(n_nodes, -1) for _ in range(3))
    for level in range(n_levels):
        node, leaf, chain = 2 * level, 2 * level + 1, 2 * level + 2
        feature[node] = rng.integers(n_tests)
        # Long runs to one side, the way that conditions would pile up.
        yes_goes_on = level >= n_levels * 4 // 5
        left[node], right[node] = (leaf, chain) if yes_goes_on else (chain, leaf)
    counts = rng.integers(0, 50, (n_nodes, 3))
    change(case.model, tree=Tree(feature, left, right, counts))
    return case


def wide_tree(
    answers: np.ndarray, rng: np.random.Generator, depth: int, n_used: np.ndarray
) -> Tree:
    """Split at the varying test that was used least, so that all are asked somewhere."""
    feature, left, right = [], [], []
    stack = [(np.arange(len(answers)), 0, -1, False)]
    while stack:
        rows, level, parent, side = stack.pop()
        node = len(feature)
        if parent >= 0:
            (right if side else left)[parent] = node
        part = answers[rows]
        varying = np.flatnonzero(part.min(axis=0) != part.max(axis=0))
        inner = level < depth and len(varying) > 0 and len(rows) > 3
        feature.append(int(varying[np.argmin(n_used[varying])]) if inner else -1)
        left.append(-1)
        right.append(-1)
        if inner:
            n_used[feature[node]] += 1
            true = part[:, feature[node]] == 1
            stack.append((rows[~true], level + 1, node, False))
            stack.append((rows[true], level + 1, node, True))
    return Tree(feature, left, right, rng.integers(0, 1000, (len(feature), 3)))


def _column(
    name: str, n: int, rng: np.random.Generator, holes: float = 0.1, unknown: float = 0.0
) -> pa.Array:
    kind = TYPES[name]
    seconds = rng.integers(0, 10**9, n)
    # Half of the times are microseconds apart, so that cuts between them are in nanoseconds.
    steps = [
        dt.timedelta(microseconds=int(s) * 1_000_003 if s % 2 else 5 * 10**14 + int(s) % 50)
        for s in seconds
    ]
    if name == "note":
        values = [f"note {i}" for i in rng.integers(0, 10**9, n)]
    elif name == "const":
        values = [2.5] * n
    elif name == "int":
        values = rng.integers(0, 2 if unknown == 0 else 3, n).tolist()
    elif name == "huge":
        values = (2**60 + rng.integers(0, 40, n)).tolist()
    elif name == "count":
        values = rng.integers(-20, 20, n).tolist()
    elif name == "score":
        values = rng.choice([-np.inf, np.inf, -1.5, 0.1, 0.2, 0.3, 1e300, 5e-324], n).tolist()
    elif pa.types.is_floating(kind):
        values = rng.normal(40, 15, n).round(2).astype(kind.to_pandas_dtype()).tolist()
        values = _some(values, rng.random(n) < 0.02, lambda: np.nan)
    elif pa.types.is_decimal(kind):
        values = [Decimal(int(v)) / 100 for v in rng.integers(0, 500, n)]
    elif pa.types.is_boolean(kind):
        values = (rng.random(n) < 0.5).tolist()
    elif pa.types.is_dictionary(kind):
        values = rng.choice(SIZES, n).tolist()
    elif pa.types.is_string(kind):
        values = rng.choice(TOWNS if name == "town" else COLOURS, n).tolist()
        values = _some(values, rng.random(n) < unknown, lambda: str(rng.choice(UNKNOWN)))
    elif pa.types.is_date(kind):
        values = [dt.date(2020, 1, 1) + dt.timedelta(days=int(s % 900)) for s in seconds]
    elif pa.types.is_timestamp(kind):
        zone = None if kind.tz is None else dt.UTC
        moments = [_EPOCH + step for step in steps]
        values = [moment.replace(tzinfo=zone) for moment in moments]
    elif pa.types.is_time(kind):
        values = [(_EPOCH + step % dt.timedelta(days=1)).time() for step in steps]
    else:
        values = [step - dt.timedelta(days=5000) for step in steps]
    values = _some(values, rng.random(n) < holes, lambda: None)
    return _array(values, kind, extra=["unheard of"] if unknown else [])


def _some(values: list[Any], chosen: np.ndarray, other: Callable[[], Any]) -> list[Any]:
    return [other() if now else value for value, now in zip(values, chosen, strict=True)]


def _array(values: list[Any], kind: pa.DataType, extra: list[str] = ()) -> pa.Array:
    if not pa.types.is_dictionary(kind):
        return pa.array(values, kind)
    listed = [*SIZES, *extra]
    if extra:
        values = [extra[0] if i % 17 == 0 else v for i, v in enumerate(values)]
    codes = pa.array([None if v is None else listed.index(v) for v in values], pa.int32())
    return pa.DictionaryArray.from_arrays(codes, pa.array(listed), ordered=True)


def _with_edges(
    values: pa.Array, column: Column, kind: pa.DataType, rng: np.random.Generator
) -> pa.Array:
    """Put the thresholds themselves, and the values next to them, in place of some values."""
    if not column.thresholds or column.kind in ("ordered", "sets"):
        return values
    edges = [edge for t in column.thresholds for edge in _edges(t, column.kind, kind)]
    plain = values.to_pylist()
    for row in np.flatnonzero(rng.random(len(plain)) < 0.3):
        plain[row] = edges[rng.integers(len(edges))]
    return pa.array(plain, kind)


def _edges(threshold: Any, kind: str, type_: pa.DataType) -> list[Any]:
    if kind == "date":
        return [dt.date(1970, 1, 1) + dt.timedelta(days=threshold + d) for d in (-1, 0, 1)]
    if kind == "number":
        if pa.types.is_integer(type_):
            return [
                int(np.floor(threshold)) + d if isinstance(threshold, float) else threshold + d
                for d in (-1, 0, 1)
            ]
        if pa.types.is_decimal(type_):
            cents = Decimal(threshold).quantize(Decimal("0.01"))
            return [cents + d * Decimal("0.01") for d in (-1, 0, 1)]
        if np.isinf(threshold):
            return [threshold, np.finfo(float).max]
        near = np.array(threshold, dtype=type_.to_pandas_dtype())
        return [
            float(near),
            *(float(np.nextafter(near, near.dtype.type(e))) for e in (-np.inf, np.inf)),
        ]
    micro = [dt.timedelta(microseconds=threshold // 1000 + d) for d in (-1, 0, 1)]
    if kind == "duration":
        return micro
    if kind == "time":
        return [(_EPOCH + m).time() for m in micro if dt.timedelta() <= m < dt.timedelta(days=1)]
    zone = None if type_.tz is None else dt.UTC
    return [(_EPOCH + m).replace(tzinfo=zone) for m in micro]


def whole(value: Any) -> int:
    """A whole number or a time as C and ONNX take it: days, or nanoseconds."""
    if value is None:
        return np.iinfo(np.int64).min
    if isinstance(value, dt.datetime):
        value = value.astimezone(dt.UTC).replace(tzinfo=None) if value.tzinfo else value
        value -= _EPOCH
    if isinstance(value, dt.date):
        return value.toordinal() - _EPOCH.toordinal()
    if isinstance(value, dt.time):
        value = dt.datetime.combine(_EPOCH, value) - _EPOCH
    return (
        value // dt.timedelta(microseconds=1) * 1000 if isinstance(value, dt.timedelta) else value
    )
