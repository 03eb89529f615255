"""The best tree of each size: what is proved, in which time, and how held-out rows are predicted.

    make bench-sizes ARGS="--folds 2"

Of five tables from 344 to 300,000 rows the path of sizes on all rows, next to one fit; then trees
of at most eight leaves, on folds: ours, scikit-learn's, and those of STreeD and GOSDT, which are
given the 0/1 columns of our encoder. Results are kept one line each in OUT.jsonl; a run that was
interrupted continues where it stopped. The paths are drawn to OUT-TABLE.png.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from argparse import Namespace
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import raw_tables
from maptree import BinaryEncoder, MAPTreeClassifier, plot_sizes, size_path
from raw_generalisation import FOLDS, LEAST, Row, folds, kept, run, scores
from report import NOTHING, RESULTS, environment, facts, number, table, until_interrupted, write
from thresholds import peers_python

TABLES = ["penguins", "titanic", "compas", "adult", "flights"]
LEAVES = 8
PATH, OURS, CART, STREED, GOSDT = "path", "maptree", "CART", "STreeD", "GOSDT"
SETTINGS = [OURS, CART, STREED, GOSDT]
# Thresholds of a column for the peers, tried in turn until there is a tree in time.
CAPS = [32, 8, 2]
ONE_TREE = Path(__file__).with_name("one_small_tree.py")


def job(name: str, fold: int, setting: str, limit: float) -> Row:
    """Fit on all folds but one, score on that one; the path has all rows."""
    warnings.simplefilter("ignore")
    X, y, parts = folds(name)
    row = {"table": name, "fold": fold, "setting": setting, "rows": len(X)}
    if setting == PATH:
        return row | path(name, X, y, limit)
    train, test = parts[fold]
    held_out = X.iloc[test], y.iloc[test]
    return row | FITS[setting](X.iloc[train], y.iloc[train], held_out, limit)


def path(name: str, X: Any, y: Any, limit: float) -> Row:
    """Return every size of the path, its seconds, and those of one fit of any size."""
    started = time.perf_counter()
    model = MAPTreeClassifier(time_limit=limit, n_jobs=1).fit(X, y)
    one_fit = time.perf_counter() - started
    started = time.perf_counter()
    size_path(X, y, MAPTreeClassifier(time_limit=limit, n_jobs=1), cv=None)
    path_seconds = time.perf_counter() - started
    started = time.perf_counter()
    found = size_path(X, y, MAPTreeClassifier(time_limit=limit, n_jobs=1))
    plot_sizes(found).figure.savefig(RESULTS / f"sizes-{name}.png", dpi=100)
    return {
        "fit_seconds": one_fit,
        "fit_leaves": model.tree_.n_leaves,
        "fit_log_posterior": model.certificate_.log_posterior,
        "path_seconds": path_seconds,
        "seconds": time.perf_counter() - started,  # with cross-validation
        "elbow": found.elbow,
        "log_loss": found[found.elbow].log_loss.mean,
        "sizes": [
            {
                "leaves": one.leaves,
                "log_posterior": one.certificate.log_posterior,
                "bound": one.certificate.log_posterior_bound,
                "optimal": one.certificate.optimal,
                "log_loss": [one.log_loss.mean, one.log_loss.error],
                "accuracy": [one.accuracy.mean, one.accuracy.error],
            }
            for one in found
        ],
    }


def ours(X: Any, y: Any, held_out: Any, limit: float) -> Row:
    started = time.perf_counter()
    model = MAPTreeClassifier(time_limit=limit, n_jobs=1, max_leaf_nodes=LEAVES).fit(X, y)
    return {
        "seconds": time.perf_counter() - started,
        "leaves": model.tree_.n_leaves,
        "how": "proved" if model.certificate_.optimal else f"gap {model.certificate_.gap:.1f}",
        **scores(model, *held_out),
    }


def cart(X: Any, y: Any, held_out: Any, limit: float) -> Row:
    prepare = make_column_transformer(
        (
            OneHotEncoder(handle_unknown="ignore", max_categories=32),
            make_column_selector(dtype_exclude="number"),
        ),
        remainder="passthrough",
        sparse_threshold=0,
    )
    started = time.perf_counter()
    tree = DecisionTreeClassifier(max_leaf_nodes=LEAVES, random_state=0)
    model = make_pipeline(prepare, tree).fit(X, y)
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "leaves": int(tree.get_n_leaves()), **scores(model, *held_out)}


class Shares:
    """A peer's tree as a classifier of the held-out rows, by the shares of classes in leaves."""

    def __init__(self, classes: Any, found: Row) -> None:
        self.classes_ = classes
        counts = np.array(found["counts"], dtype=float)[found["reached"]][:, : len(classes)]
        self.shares = counts / counts.sum(axis=1, keepdims=True)

    def predict_proba(self, X: Any) -> Any:
        return self.shares


def peer(system: str, X: Any, y: Any, held_out: Any, limit: float) -> Row:
    """Let a peer search over 0/1 columns, in a process of its own, for four times our seconds."""
    classes, labels = np.unique(y, return_inverse=True)
    for cap in CAPS:
        encoder = BinaryEncoder(max_thresholds=cap).fit(X, y)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "rows.npz"
            np.savez(
                file,
                X=np.asarray(encoder.transform(X), dtype=np.uint8),
                y=labels.astype(np.int32),
                held_out=np.asarray(encoder.transform(held_out[0]), dtype=np.uint8),
            )
            settings = {"file": str(file), "system": system, "leaves": LEAVES}
            printed = told(settings, 4 * limit)
        if printed:
            found = json.loads(printed[-1])
            model = Shares(classes, found)
            return {
                "seconds": found["seconds"],
                "leaves": found["leaves"],
                "how": f"{found['how']}, {cap} thresholds",
                **scores(model, *held_out),
            }
    raise RuntimeError("no tree in time, whatever the number of thresholds")


def told(settings: Row, seconds: float) -> list[str]:
    """Return the whole lines that the program printed before the time was up."""
    command = [peers_python(), str(ONE_TREE), json.dumps(settings)]
    with tempfile.TemporaryFile("w+") as output:
        with suppress(subprocess.TimeoutExpired):
            subprocess.run(command, stdout=output, stderr=subprocess.DEVNULL, timeout=seconds,
                           cwd=ONE_TREE.parents[1], env={"PYTHONPATH": "."})  # fmt: skip
        output.seek(0)
        return [line for line in output.read().splitlines(keepends=True) if line.endswith("\n")]


FITS = {
    OURS: ours,
    CART: cart,
    STREED: lambda *given: peer(STREED, *given),
    GOSDT: lambda *given: peer(GOSDT, *given),
}


def markdown(document: dict[str, Any]) -> str:
    rows = document["rows"]
    parts = ["# Trees by size", facts(document["environment"] | document["settings"])]
    for row in rows:
        if row["setting"] == PATH:
            parts += [f"## {row['table']}, {row['rows']:,} rows", *_path(row)]
    small = [row for row in rows if row["setting"] != PATH]
    parts += [f"## At most {LEAVES} leaves, held-out rows", _CAPTION]
    for key, decimals in (("log_loss", 4), ("accuracy", 4), ("leaves", 1), ("seconds", 1)):
        lines = []
        for name in dict.fromkeys(row["table"] for row in small):
            of = {s: [r[key] for r in small if (r["table"], r["setting"]) == (name, s)]
                  for s in SETTINGS}  # fmt: skip
            lines.append([name, *(number(np.mean(v), decimals) if v else NOTHING
                                  for v in of.values())])  # fmt: skip
        parts += [f"### {key.replace('_', ' ').capitalize()}", table(["table", *SETTINGS], lines)]
    how = [[r["table"], str(r["fold"]), r["setting"], r.get("how", NOTHING)] for r in small]
    parts += ["### How far", table(["table", "fold", "system", "how far"], sorted(how))]
    return "\n\n".join(parts) + "\n"


_CAPTION = (
    f"Means over the folds. *maptree*: `max_leaf_nodes={LEAVES}`; *CART*: scikit-learn's, with the "
    "same number, after one-hot encoding; *STreeD*: the fewest errors in depth 3, then 4 and 5, "
    "as far as it comes; *GOSDT*: the smallest of some penalties whose tree has few enough leaves. "
    "Both have four times our seconds, and fewer thresholds where they find nothing in that time. "
    f"Probabilities below {LEAST} count as that."
)


def _path(row: Row) -> list[str]:
    """Return one line per size, and the seconds."""
    lines = [
        [
            str(one["leaves"]) + (" (elbow)" if one["leaves"] == row["elbow"] else ""),
            number(one["log_posterior"], 2),
            "proved" if one["optimal"] else number(one["bound"], 2),
            *(f"{mean:.4f} ± {error:.4f}" for mean, error in (one["log_loss"], one["accuracy"])),
        ]
        for one in row["sizes"]
    ]
    ratio = row["path_seconds"] / row["fit_seconds"]
    return [
        f"One fit: {row['fit_seconds']:.1f} s, {row['fit_leaves']} leaves, log posterior "
        f"{row['fit_log_posterior']:.2f}. The path: {row['path_seconds']:.1f} s, {ratio:.1f} times "
        f"that; with cross-validation {row['seconds']:.1f} s.",
        table(["leaves", "log posterior", "no tree above", "log loss", "accuracy"], lines),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=10.0, help="seconds for each fit (10)")
    parser.add_argument("--folds", type=int, default=2, help=f"of the {FOLDS}, this many (2)")
    parser.add_argument("--tables", nargs="+", default=TABLES, metavar="NAME",
                        choices=list(raw_tables.TABLES))  # fmt: skip
    parser.add_argument("--processor", action="store_true",
                        help="limits and seconds by processor time, for a busy machine; the peers "
                        "are ended by the clock")  # fmt: skip
    given = parser.parse_args()
    if not Path(peers_python()).exists():
        parser.error("the environment of the peers is not installed: make peers")
    out = RESULTS / "sizes"
    file = out.with_name("sizes.jsonl")
    made = environment()
    shared = Namespace(tables=given.tables, limit=given.limit, jobs=1, processor=given.processor)
    with until_interrupted():
        run(Namespace(settings=[PATH], folds=1, **vars(shared)), file, job)
        run(Namespace(settings=SETTINGS, folds=given.folds, **vars(shared)), file, job)
    rows = [row for row in kept(file) if row["table"] in given.tables]
    settings = {
        "limit": f"{given.limit:g} s",
        "folds": f"{given.folds} of {FOLDS}",
        "seconds": "of the processor (peers: by the clock)" if given.processor else "by the clock",
    }
    document = {"environment": made, "settings": settings, "rows": rows}
    write(out, document, markdown(document))
    print(markdown(document))
    return 0 if len(rows) >= len(given.tables) * (1 + len(SETTINGS) * given.folds) else 130


if __name__ == "__main__":
    sys.exit(main())
