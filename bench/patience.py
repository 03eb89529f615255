"""Cross-validation with patience and without: processor seconds, trees, held-out rows.

    make bench-patience ARGS="--jobs 2"

Ten folds of every third raw table. Fits go by processor time, so that a busy machine does not
decide what is found. Results are kept one line per fit in OUT.jsonl; a run that was interrupted
continues where it stopped.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

import raw_tables
from maptree import MAPTreeClassifier
from raw_generalisation import Row, measure, scores
from report import facts, number, table

FOLDS = 10
TABLES = list(raw_tables.TABLES)[::3]
NEVER, CHOSEN = "never", "4"
SAME = 1e-6  # nats


@lru_cache(maxsize=1)
def folds(name: str) -> tuple[pd.DataFrame, pd.Series, list[Any]]:
    X, y = raw_tables.load(name)
    return X, y, list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y))


def job(name: str, fold: int, setting: str, limit: float) -> Row:
    """Fit on all folds but one, score on that one."""
    warnings.simplefilter("ignore")
    X, y, parts = folds(name)
    train, test = parts[fold]
    model = MAPTreeClassifier(
        time_limit=limit, n_jobs=1, patience=None if setting == NEVER else float(setting)
    )
    started = time.perf_counter()
    model.fit(X.iloc[train], y.iloc[train])
    seconds = time.perf_counter() - started
    certificate, trace = model.certificate_, model.trace_
    best = np.argmax(trace["log_posterior"] >= trace["log_posterior"][-1])
    return {
        "table": name,
        "fold": fold,
        "setting": setting,
        **scores(model, X.iloc[test], y.iloc[test]),
        "seconds": seconds,
        "status": certificate.status,
        "log_posterior": certificate.log_posterior,
        "leaves": model.tree_.n_leaves,
        "tree_seconds": float(trace["seconds"][best]),
    }


def markdown(document: dict[str, Any]) -> str:
    rows = document["rows"]
    of = {(row["table"], row["fold"], row["setting"]): row for row in rows}
    never = [row for row in rows if row["setting"] == NEVER]
    settings = [s for s in document["settings"]["settings"] if s != NEVER]
    about = {k: v for k, v in document["settings"].items() if k not in ("settings", "limit")}
    parts = ["# Cross-validation with patience", facts(document["environment"] | about), _CAPTION]
    for setting in settings:
        pairs = [
            (row, of[row["table"], row["fold"], setting])
            for row in never
            if (row["table"], row["fold"], setting) in of
        ]
        if pairs:
            parts += [f"## patience={setting}", measured(pairs)]
    return "\n\n".join(parts) + "\n"


_CAPTION = (
    "Processor seconds of the fits of a table, encoding included, and those until the tree was "
    "found, both without patience; those with it. *Same tree*: fits whose log posterior is the "
    "same or higher. *Lost*: the largest difference in log posterior, in nats. *Log loss*: the "
    "mean over the folds with patience, and how much more it is than without. *Proved*: fits that "
    "were, without patience and with it."
)


def measured(pairs: list[tuple[Row, Row]]) -> str:
    names = list(dict.fromkeys(row["table"] for row, _ in pairs))
    lines = [_line(name, [pair for pair in pairs if pair[0]["table"] == name]) for name in names]
    lines.append(_line("all", pairs))
    header = ["table", "s without", "to the tree", "s with", "ratio", "same tree", "lost"]
    return table([*header, "log loss", "more", "proved"], lines)


def _line(name: str, pairs: list[tuple[Row, Row]]) -> list[str]:
    without, having = (sum(pair[i]["seconds"] for pair in pairs) for i in (0, 1))
    lost = [a["log_posterior"] - b["log_posterior"] for a, b in pairs]
    loss, more = (
        np.mean([b["log_loss"] for _, b in pairs]),
        np.mean([b["log_loss"] - a["log_loss"] for a, b in pairs]),
    )
    proved = (sum(pair[i]["status"] == "optimal" for pair in pairs) for i in (0, 1))
    return [
        name,
        number(without, 1),
        number(sum(a["tree_seconds"] for a, _ in pairs), 1),
        number(having, 1),
        number(having / without, 3),
        f"{sum(x < SAME for x in lost)} of {len(lost)}",
        number(max(0.0, *lost), 2),
        number(loss, 4),
        f"{more:+.4f}",
        " / ".join(map(str, proved)),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=10.0, help="seconds for each fit (10)")
    parser.add_argument("--jobs", type=int, default=1, help="fits at the same time (1)")
    parser.add_argument("--folds", type=int, default=FOLDS, help="of the ten, this many (10)")
    parser.add_argument("--tables", nargs="+", default=TABLES, metavar="NAME",
                        choices=list(raw_tables.TABLES))  # fmt: skip
    parser.add_argument("--settings", nargs="+", default=[NEVER, CHOSEN], metavar="PATIENCE",
                        help=f"values of patience, or {NEVER}")  # fmt: skip
    parser.add_argument("--summary", action="store_true", help="only write the report again")
    parser.add_argument("--out", help="output path without .jsonl (bench/results/patience-LIMITs)")
    parser.set_defaults(processor=True)
    return measure(parser.parse_args(), "patience", job, markdown)


if __name__ == "__main__":
    sys.exit(main())
