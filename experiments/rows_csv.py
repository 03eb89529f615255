"""The rows of a budget as CSV; traces stay in the store."""

from __future__ import annotations

import csv
import io
from typing import Any

from experiments.results import Results

PLAIN = ("family", "system", "params", "set", "fold", "seed", "limit", "outcome", "reason")
PLAIN += ("status", "nodes", "leaves", "depth")
MEASURED = ("seconds", "log_posterior", "bound", "train_accuracy", "test_accuracy")
MEASURED += ("ll_own", "ll_predictive", "ll_marginal")
OF_DATA = ("rows", "noise")  # of the synthetic ones; a set's are in its name


def as_csv(results: Results) -> str:
    """Return a line for each cell of the budget, in the order of the cells."""
    text = io.StringIO()
    table = csv.DictWriter(text, (*PLAIN, *OF_DATA, *MEASURED), lineterminator="\n")
    table.writeheader()
    for family in results.families.values():
        table.writerows(map(_line, family))
    return text.getvalue()


def _line(row: dict[str, Any]) -> dict[str, Any]:
    line = {name: row[name] for name in PLAIN}
    line["params"] = " ".join(
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in row["params"].items()
    )
    line |= {name: row["data"].get(name) for name in OF_DATA}
    return line | {name: None if row[name] is None else f"{row[name]:.8g}" for name in MEASURED}
