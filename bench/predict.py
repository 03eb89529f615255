"""Measure predictions against scikit-learn's tree of the same shape.

    python bench/predict.py

For matrices and frames of numbers, scikit-learn grows a tree on some of the rows, and ours has the
same tests on the same columns. For a table of mixed columns (those of encode.py: text, categories,
dates, missing values), where scikit-learn needs a pipeline with encoders, both are fitted to some
of the rows, with the same number of leaves. scikit-learn gets dates and times as numbers; the time
for that conversion is not counted.

The two take turns, and the best run of each counts. Wall time is what a user waits; processor time
is comparable on a busy machine. A ratio below 1 means that maptree is faster. A benchmark, not a
test: results depend on the machine and on its load.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

import encode
from maptree import FittedTree, MAPTreeClassifier, TrainingSummary, Tree
from maptree.engine.search import TRACE
from maptree.parameters.prior import Prior
from maptree.schema.columns import Column, Schema
from report import environment, output, write

COLUMNS = 20
GROWN_ON = 20_000  # rows
LEAVES = (3, 10, 30, 100)
TEXT = ["colour", "town", "code", "smoker"]
HEADER = "| table | leaves | method | maptree ms | scikit-learn ms | ratio | processor | ratio |"


def twin(grown: DecisionTreeClassifier) -> MAPTreeClassifier:
    """Return a model with the tree that scikit-learn has grown, over thresholds."""
    tree, columns = grown.tree_, range(grown.n_features_in_)
    inner = tree.children_left >= 0
    cuts = [np.unique(tree.threshold[inner & (tree.feature == j)]).tolist() for j in columns]
    schema = Schema(
        tuple(Column(f"x{j}", "number", "float64", thresholds=tuple(cuts[j])) for j in columns),
        named=hasattr(grown, "feature_names_in_"),
    )
    first = np.cumsum([0, *map(len, cuts)])
    tests = np.full(len(inner), -1)
    for node in np.flatnonzero(inner):
        j = tree.feature[node]
        tests[node] = first[j] + cuts[j].index(tree.threshold[node])
    return _model(
        grown, Tree(tests, tree.children_right, tree.children_left, _counts(tree)), schema
    )


def binary_twin(grown: DecisionTreeClassifier) -> MAPTreeClassifier:
    """Return a model with the tree that scikit-learn has grown on 0 and 1."""
    tree = grown.tree_
    tests = np.where(tree.children_left >= 0, tree.feature, -1)
    schema = Schema.of_matrix(grown.n_features_in_, getattr(grown, "feature_names_in_", None))
    return _model(
        grown, Tree(tests, tree.children_left, tree.children_right, _counts(tree)), schema
    )


def _counts(tree: Any) -> np.ndarray:
    return np.rint(tree.value[:, 0] * tree.weighted_n_node_samples[:, np.newaxis]).astype(np.int64)


def _model(grown: DecisionTreeClassifier, tree: Tree, schema: Schema) -> MAPTreeClassifier:
    if schema.named:
        schema = schema.renamed(grown.feature_names_in_)
    fitted = FittedTree(
        tree=tree,
        schema=schema,
        classes=grown.classes_,
        prior=Prior(0.95, 0.5, np.full(len(grown.classes_), 2.5)),
        training=TrainingSummary.of(tree, None),
        trace=np.empty(0, dtype=TRACE),
    )
    model = MAPTreeClassifier()
    model.fitted_, model.n_features_in_ = fitted, grown.n_features_in_
    if schema.named:
        model.feature_names_in_ = grown.feature_names_in_
    return model


def take_turns(works: list[Callable[[], object]], repeats: int) -> list[tuple[float, float]]:
    """Return the lowest wall time and the lowest processor time of each function, in ms."""
    best = [(np.inf, np.inf)] * len(works)
    for work in works:
        work()
    for _ in range(repeats):
        for i, work in enumerate(works):
            wall, processor = time.perf_counter(), time.process_time()
            work()
            took = time.perf_counter() - wall, time.process_time() - processor
            best[i] = min(best[i][0], 1e3 * took[0]), min(best[i][1], 1e3 * took[1])
    return best


def measure(
    name: str, ours: Any, theirs: Any, X: Any, repeats: int, method: str, for_them: Any = None
) -> dict[str, Any]:
    for_them = X if for_them is None else for_them
    (wall, processor), (their_wall, their_processor) = take_turns(
        [lambda: getattr(ours, method)(X), lambda: getattr(theirs, method)(for_them)], repeats
    )
    return {
        "table": name,
        "leaves": ours.tree_.n_leaves,
        "method": method,
        "maptree ms": wall,
        "sklearn ms": their_wall,
        "maptree processor ms": processor,
        "sklearn processor ms": their_processor,
    }


def line(row: dict[str, Any]) -> str:
    ours, theirs = row["maptree processor ms"], row["sklearn processor ms"]
    return (
        f"| {row['table']} | {row['leaves']} | {row['method']} | {row['maptree ms']:.1f} "
        f"| {row['sklearn ms']:.1f} | {row['maptree ms'] / row['sklearn ms']:.2f} "
        f"| {ours:.1f} / {theirs:.1f} | {ours / theirs:.2f} |"
    )


def numbers(n_rows: int, repeats: int) -> Iterator[dict[str, Any]]:
    """Measure matrices and frames of numbers."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, COLUMNS))
    y = ((X[:, 0] > 0) & (X[:, 1] > 0.3)) | (X[:, 2] * X[:, 3] > 0.5)
    y = y ^ (rng.random(n_rows) < 0.1)
    kinds: dict[str, Callable[[], Any]] = {
        "float64, C order": lambda: X,
        "float64, Fortran order": lambda: np.asfortranarray(X),
        "float32, C order": lambda: X.astype(np.float32),
        "int32, C order": lambda: (1000 * X).astype(np.int32),
        "int64, Fortran order": lambda: np.asfortranarray(1000 * X).astype(np.int64),
        "pandas frame of float64": lambda: _frame(X),
        "pandas frame of several types": lambda: _frame(X).astype({"x1": "float32", "x2": "int64"}),
        "polars frame of float64": lambda: pl.from_pandas(_frame(X)),
    }
    for name, make in kinds.items():
        table = make()
        part = np.asarray(table[:GROWN_ON])
        names = isinstance(table, (pd.DataFrame, pl.DataFrame))
        for leaves in LEAVES:
            grown = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0)
            grown.fit(_frame(part) if names else part, y[:GROWN_ON])
            ours = twin(grown)
            # scikit-learn compares in float32, maptree exactly: rounded values give equal leaves.
            rounded = part.astype(np.float32)
            rounded = _frame(rounded) if names else rounded
            assert np.array_equal(ours.apply(rounded), grown.apply(rounded))
            methods = ["predict_proba"]
            if name == "float64, C order":
                methods += ["predict", "apply"]
            for method in methods:
                yield measure(name, ours, grown, table, repeats, method)
    for dtype in (np.uint8, np.float64):
        ones = (X > 0).astype(dtype)
        for leaves in LEAVES:
            grown = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0)
            grown.fit(ones[:GROWN_ON], y[:GROWN_ON])
            ours = binary_twin(grown)
            assert np.array_equal(ours.apply(ones), grown.apply(ones))
            name = f"0/1 matrix of {np.dtype(dtype)}"
            yield measure(name, ours, grown, ones, repeats, "predict_proba")


def _frame(X: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(COLUMNS)])


def mixed(n_rows: int, repeats: int) -> Iterator[dict[str, Any]]:
    """Measure a table of mixed columns; scikit-learn's tree comes after its encoders."""
    table = encode.make(np.random.default_rng(0), n_rows)
    y = table["label"].to_numpy(zero_copy_only=False)
    table = table.drop(["label"])
    frame = table.to_pandas(date_as_object=False)
    prepared = encode.as_numbers(frame)
    part = table.slice(0, GROWN_ON)
    ours = MAPTreeClassifier(time_limit=None, max_expansions=300).fit(part, y[:GROWN_ON])
    tables = {
        "pandas frame": frame,
        "pandas frame, text as objects": frame.astype(dict.fromkeys(TEXT, object)),
        "polars frame": pl.from_arrow(table),
        "arrow table": table,
    }
    for encoder, names in (
        (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), list(tables)),
        (OneHotEncoder(handle_unknown="ignore", min_frequency=0.01), ["pandas frame"]),
    ):
        columns = make_column_transformer((encoder, [*TEXT, "plan"]), remainder="passthrough")
        tree = DecisionTreeClassifier(max_leaf_nodes=ours.tree_.n_leaves, random_state=0)
        theirs = make_pipeline(columns, tree).fit(prepared[:GROWN_ON], y[:GROWN_ON])
        for name in names:
            title = f"mixed {name}, {type(encoder).__name__}"
            yield measure(title, ours, theirs, tables[name], repeats, "predict_proba", prepared)


def show(title: str, rows: Iterator[dict[str, Any]], kept: list[dict[str, Any]]) -> str:
    """Print a table row by row as it is measured; return the whole table."""
    lines = [title, "", HEADER, "|---|---:|---|" + "---:|" * 5]
    print("", *lines, sep="\n", flush=True)
    for row in rows:
        kept.append(row)
        lines.append(line(row))
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=7, help="runs of each; the best counts")
    parser.add_argument(
        "--only", choices=["numbers", "mixed"], help="measure only one of the two tables"
    )
    parser.add_argument("--out", help="write OUT.json and OUT.md")
    options = parser.parse_args()
    made, kept, tables = environment(), [], []
    cases: dict[str, tuple[str, Callable[[int, int], Iterator[dict[str, Any]]]]] = {
        "numbers": (f"{options.rows:,} rows of {COLUMNS} numbers, one and the same tree", numbers),
        "mixed": (f"{options.rows:,} rows of 20 mixed columns, trees of one size", mixed),
    }
    for name, (title, rows) in cases.items():
        if options.only in (None, name):
            tables.append(show(title, rows(options.rows, options.repeats), kept))
    worst = max(kept, key=lambda row: row["maptree ms"] / row["sklearn ms"])
    tables.append(f"The highest ratio: {worst['maptree ms'] / worst['sklearn ms']:.2f}.")
    print("", tables[-1], sep="\n")
    if options.out is not None:
        facts = ", ".join(f"{name} {value}" for name, value in made.items() if value is not None)
        markdown = "\n\n".join(["# Predictions next to scikit-learn's tree", facts, *tables]) + "\n"
        write(output(options.out, "predict"), {"environment": made, "rows": kept}, markdown)


if __name__ == "__main__":
    main()
