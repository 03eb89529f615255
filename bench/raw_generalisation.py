"""Held-out rows of raw tables, by the number of thresholds per column and the prior of splits.

    make bench-raw ARGS="--limit 1 --jobs 2"

Five folds of every table of `raw_tables.py`: at most 8, 16, 32 or 256 thresholds per column or all,
under both priors, and CART tuned by cross-validation. Every fit is a job on one core; tables of
more than 10,000 rows get more time, up to the default. Results are kept one line per fit in
OUT.jsonl; a run that was interrupted continues where it stopped.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import raw_tables
from envelopes import go_by_processor_time
from maptree import BinaryEncoder, MAPTreeClassifier
from report import NOTHING, environment, facts, number, output, table, until_interrupted, write

FOLDS = 5
CAPS: list[int | None] = [8, 16, 32, 256, None]
CART = "CART"
OURS = {
    f"{'all' if cap is None else cap} {prior}": (cap, prior)
    for prior in ("tests", "columns")
    for cap in CAPS
}
SETTINGS = [*OURS, CART]
CART_GRID = {
    "max_depth": [2, 3, 4, 6, 8, 12, None],
    "ccp_alpha": [0.0, 0.0001, 0.0003, 0.001, 0.003, 0.01],
}
# A pure leaf of CART calls the other classes impossible, and one such row would make its log loss
# infinite: all probabilities, ours too, are kept this far from 0.
LEAST = 0.001
TUNED_ON = 30_000  # rows at most: the grid would take hours on more
LIMIT_IS_FOR = 10_000  # rows: larger tables get as much more time
LONGEST = 10.0  # seconds, the default of `time_limit`

Row = dict[str, Any]


@lru_cache(maxsize=1)
def folds(name: str) -> tuple[pd.DataFrame, pd.Series, list[Any]]:
    X, y = raw_tables.load(name)
    divide = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    return X, y, list(divide.split(X, y))


def job(name: str, fold: int, setting: str, limit: float) -> Row:
    """Fit on all folds but one, score on that one."""
    warnings.simplefilter("ignore")
    X, y, parts = folds(name)
    train, test = parts[fold]
    limit = max(limit, min(LONGEST, limit * len(X) / LIMIT_IS_FOR))
    started, processor = time.monotonic(), time.process_time()
    if setting == CART:
        model, about = cart(X.iloc[train], y.iloc[train])
    else:
        model, about = ours(X.iloc[train], y.iloc[train], *OURS[setting], limit)
    seconds, processor = time.monotonic() - started, time.process_time() - processor
    return {
        "table": name,
        "fold": fold,
        "setting": setting,
        **scores(model, X.iloc[test], y.iloc[test]),
        "seconds": seconds,
        "processor_seconds": processor,
        "limit": limit,
        **about,
    }


def scores(model: Any, X: Any, y: pd.Series) -> Row:
    probabilities = np.clip(model.predict_proba(X), LEAST, 1)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    held_out = y.to_numpy()
    at = np.searchsorted(model.classes_, held_out)
    return {
        "log_loss": float(-np.log(probabilities[np.arange(len(at)), at]).mean()),
        "accuracy": float((model.classes_[probabilities.argmax(axis=1)] == held_out).mean()),
    }


def ours(X: Any, y: Any, cap: int | None, prior: str, limit: float) -> tuple[Any, Row]:
    model = MAPTreeClassifier(
        time_limit=limit,
        n_jobs=1,
        split_prior=prior,
        encoder=BinaryEncoder(max_thresholds=cap),
    ).fit(X, y)
    certificate, trace = model.certificate_, model.trace_
    best = trace["log_posterior"] >= trace["log_posterior"][-1]
    depth = certificate.proved_depth
    return model, {
        "leaves": model.tree_.n_leaves,
        "tree_seconds": float(trace["seconds"][np.argmax(best)]),
        "proved_depth": "any" if math.isinf(depth) else int(depth),
        "gap": certificate.gap,
    }


def cart(X: Any, y: Any) -> tuple[Any, Row]:
    """Tune by log loss in 3-fold cross-validation, then grow on all rows."""
    categories = make_column_selector(dtype_exclude="number")
    prepare = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", max_categories=32), categories),
        remainder="passthrough",
        sparse_threshold=0,
    )
    search = GridSearchCV(
        DecisionTreeClassifier(random_state=0),
        CART_GRID,
        scoring=_clipped,
        cv=StratifiedKFold(3, shuffle=True, random_state=0),
        refit=False,
    )
    numbers = prepare.fit_transform(X)
    search.fit(numbers[:TUNED_ON], y[:TUNED_ON])  # rows are in random order
    tree = DecisionTreeClassifier(random_state=0, **search.best_params_).fit(numbers, y)
    return make_pipeline(prepare, tree), {"leaves": int(tree.get_n_leaves())}


def _clipped(tree: DecisionTreeClassifier, X: Any, y: Any) -> float:
    at = np.searchsorted(tree.classes_, np.asarray(y))
    return float(np.log(np.clip(tree.predict_proba(X)[np.arange(len(at)), at], LEAST, 1)).mean())


def kept(file: Path) -> list[Row]:
    """Return the results of an earlier run; a line that was cut off is computed again."""
    rows = []
    for line in file.read_text().splitlines() if file.exists() else []:
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            print(f"{file}: a line cannot be read and is computed again", file=sys.stderr)
    return rows


def run(options: argparse.Namespace, file: Path, job: Callable[..., Row]) -> None:
    """Compute what is not kept yet."""
    earlier = kept(file)
    done = {(row["table"], row["fold"], row["setting"]) for row in earlier}
    todo = [
        (name, fold, setting)
        for name in options.tables
        for fold in range(options.folds)
        for setting in options.settings
        if (name, fold, setting) not in done
    ]
    print(f"{len(done)} fits are kept, {len(todo)} to do", file=sys.stderr)
    file.parent.mkdir(parents=True, exist_ok=True)
    whole = file.with_name(file.name + ".tmp")  # without a line that was cut off
    whole.write_text("".join(json.dumps(row) + "\n" for row in earlier))
    whole.replace(file)
    start = go_by_processor_time if options.processor else None
    context = get_context("spawn")
    with (
        file.open("a") as out,
        ProcessPoolExecutor(options.jobs, mp_context=context, initializer=start) as pool,
    ):
        jobs = {pool.submit(job, *what, options.limit): what for what in todo}
        try:
            for at, future in enumerate(as_completed(jobs), 1):
                name, fold, setting = jobs[future]
                what = f"{at} of {len(todo)}: {name}, fold {fold}, {setting}"
                error = future.exception()
                if error is not None:  # the others go on; the exit code says so
                    print(f"{what}: failed: {error!r}", file=sys.stderr)
                    continue
                row = future.result()
                out.write(json.dumps(row, allow_nan=False) + "\n")
                out.flush()
                print(f"{what}: {row['log_loss']:.4f}, {row['seconds']:.1f} s", file=sys.stderr)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def means(rows: list[Row], settings: list[str], key: str) -> dict[str, list[float]]:
    """Return the mean over folds, by table and setting, of tables that have every fold and setting.

    >>> row = {"table": "iris", "leaves": 3}
    >>> means([row | {"setting": "a"}, row | {"setting": "b"}], ["a", "b"], "leaves")
    {'iris': [3.0, 3.0]}
    """
    values: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        values.setdefault(row["table"], {}).setdefault(row["setting"], []).append(row.get(key, 0))
    most = max((len(v) for of in values.values() for v in of.values()), default=0)
    return {
        name: [float(np.mean(of[setting])) for setting in settings]
        for name, of in values.items()
        if all(len(of.get(setting, [])) == most for setting in settings)
    }


def depths(rows: list[Row], settings: list[str], names: list[str]) -> dict[str, list[str]]:
    """Return the smallest proved depth of the folds."""
    found: dict[str, list[str]] = {}
    for name in names:
        found[name] = []
        for setting in settings:
            of = [r["proved_depth"] for r in rows
                  if (r["table"], r["setting"]) == (name, setting)]  # fmt: skip
            least = min((math.inf if depth == "any" else depth for depth in of), default=None)
            found[name].append("any" if least == math.inf else f"{least}")
    return found


def markdown(document: dict[str, Any]) -> str:
    rows, settings = document["rows"], document["settings"]["settings"]
    own = [setting for setting in settings if setting != CART]
    losses = means(rows, settings, "log_loss")
    accuracies = means(rows, settings, "accuracy")
    parts = [
        "# Raw tables: held-out rows by thresholds and prior",
        facts(document["environment"] | {k: v for k, v in document["settings"].items()
                                         if k != "settings"}),
        _CAPTION,
    ]  # fmt: skip
    if not losses:
        return "\n\n".join([*parts, "No table is complete yet."]) + "\n"
    leaves = means(rows, settings, "leaves")
    seconds = means([r for r in rows if r["setting"] != CART], own, "tree_seconds")
    proved = depths(rows, own, list(losses))
    parts += [
        "## Summary",
        summary(losses, accuracies, leaves, seconds, proved, settings),
        "## Log loss",
        each(losses, settings, 4, least=True),
        "## Accuracy",
        each(accuracies, settings, 4, least=False),
        "## Leaves",
        each(leaves, settings, 1),
        "## Seconds to the final tree",
        each({name: seconds[name] for name in losses}, own, 2),
        "## Proved depth",
        table(["table", *own], [[name, *proved[name]] for name in losses]),
    ]
    return "\n\n".join(parts) + "\n"


_CAPTION = (
    "Means over the folds. A setting is the number of thresholds per column and `split_prior`; "
    "CART is scikit-learn's tree with `max_depth` and `ccp_alpha` chosen by log loss in 3-fold "
    f"cross-validation, on {TUNED_ON:,} rows at most. Probabilities below {LEAST} count as "
    "that. *Rank*: 1 is best, ties share; "
    "*best*: on how many tables, ties included. *Proved depth*: the smallest of the folds."
)


def summary(
    losses: dict[str, list[float]],
    accuracies: dict[str, list[float]],
    leaves: dict[str, list[float]],
    seconds: dict[str, list[float]],
    proved: dict[str, list[str]],
    settings: list[str],
) -> str:
    names = list(losses)
    loss = np.array([losses[name] for name in names])
    accuracy = np.array([accuracies[name] for name in names])
    lines = []
    for i, setting in enumerate(settings):
        mine = i if setting != CART else None
        lines.append([
            setting,
            number(loss[:, i].mean(), 4),
            number(rankdata(loss.round(6), axis=1)[:, i].mean(), 2),
            str(int((loss[:, i] <= loss.min(axis=1) + 1e-6).sum())),
            number(accuracy[:, i].mean(), 4),
            number(rankdata(-accuracy.round(6), axis=1)[:, i].mean(), 2),
            str(int((accuracy[:, i] >= accuracy.max(axis=1) - 1e-6).sum())),
            number(np.mean([leaves[name][i] for name in names]), 1),
            number(None if mine is None else np.mean([seconds[name][i] for name in names]), 2),
            NOTHING if mine is None else str(sum(proved[name][i] == "any" for name in names)),
        ])  # fmt: skip
    header = ["setting", "log loss", "rank", "best", "accuracy", "rank", "best", "leaves"]
    header += ["s to the tree", "tables proved"]
    return f"{len(names)} tables.\n\n" + table(header, lines)


def each(
    values: dict[str, list[float]], settings: list[str], decimals: int, least: bool | None = None
) -> str:
    """Return one line per table; the best in bold if ``least`` says what is best."""
    lines = []
    for name, of in values.items():
        best = None if least is None else min(of) if least else max(of)
        texts = [number(value, decimals) for value in of]
        marked = [f"**{text}**" if best is not None and text == number(best, decimals) else text
                  for text in texts]  # fmt: skip
        lines.append([name, *marked])
    return table(["table", *settings], lines)


def chosen(rows: list[Row], options: argparse.Namespace) -> Iterator[Row]:
    for row in rows:
        if row["table"] in options.tables and row["setting"] in options.settings:
            yield row


def measure(
    options: argparse.Namespace,
    name: str,
    job: Callable[..., Row],
    markdown: Callable[[dict[str, Any]], str],
) -> int:
    """Compute what is not kept yet, write and print the report; return the exit code."""
    out = output(options.out, f"{name}-{options.limit:g}s")
    file = out.with_name(out.name + ".jsonl")
    made = environment()
    with until_interrupted():
        if not options.summary:
            run(options, file, job)
    document = {
        "environment": made,
        "settings": {
            "limit": f"{options.limit:g} s per {LIMIT_IS_FOR:,} rows, at least that, "
            f"at most {LONGEST:g} s",
            "limits by": "processor time" if options.processor else "the clock",
            "fits at the same time": options.jobs,
            "settings": options.settings,
        },
        "rows": list(chosen(kept(file), options)),
    }
    report = markdown(document)
    write(out, document, report)
    print(report)
    wanted = len(options.tables) * options.folds * len(options.settings)
    return 0 if len(document["rows"]) >= wanted else 130


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--limit", type=float, default=10.0, help="seconds for each fit of up to 10,000 rows (10)"
    )
    parser.add_argument("--jobs", type=int, default=1, help="fits at the same time (1)")
    parser.add_argument("--folds", type=int, default=FOLDS, help="of the five, this many (5)")
    parser.add_argument("--tables", nargs="+", default=list(raw_tables.TABLES), metavar="NAME",
                        choices=list(raw_tables.TABLES))  # fmt: skip
    parser.add_argument("--settings", nargs="+", default=SETTINGS, choices=SETTINGS)
    parser.add_argument("--processor", action="store_true",
                        help="limits go by processor time, for a busy machine")  # fmt: skip
    parser.add_argument("--summary", action="store_true", help="only write the report again")
    parser.add_argument("--out", help="output path without .jsonl (bench/results/raw-LIMITs)")
    options = parser.parse_args()
    return measure(options, "raw", job, markdown)


if __name__ == "__main__":
    sys.exit(main())
