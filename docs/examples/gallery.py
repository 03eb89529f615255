"""Tell the cases, and write their pages and the overview. ``make gallery`` tells all."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import adult
import breast_cancer
import penguins
from comparison import Score
from experiments.machine import machine, versions
from page import HEADER, Page, lines, table

HERE = Path(__file__).parent
CASES = {module.__name__: module for module in (breast_cancer, adult, penguins)}
PACKAGES = ("maptree", "scikit-learn", "interpret-core", "numpy", "pandas")

_INTRODUCTION = """
    # Examples

    Three real tables, from loading to a tree that can be shown to somebody, each compared with a
    tuned CART, a random forest and an explainable boosting machine (EBM). The data are inside
    packages from PyPI: nothing is downloaded at run time.
    """
_READING = """
    Accuracy and log loss are means over held-out folds, with their standard deviation; each page
    says how they were computed, on which machine and when, and [results.json](results.json) has
    every fold. The size of a model is what somebody has to read to follow it: the leaves of its
    trees, or the functions that an EBM adds up.

    Each page is the output of its script. `make gallery` runs all three and writes these pages; for
    one of them, and quickly: `.venv/bin/python docs/examples/adult.py --rows 2000`.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Tell the cases, and write what they say; the scores of the others are kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=list(CASES), action="append", help="run one case")
    parser.add_argument("--rows", type=int, help="rows of each table, for a trial")
    parser.add_argument("--out", type=Path, default=HERE, help="folder for the pages")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    kept = options.out / "results.json"
    results = json.loads(kept.read_text()) if kept.exists() else {}
    for name in options.only or CASES:
        page, started = Page(), time.process_time()
        CASES[name].story(page, options.rows)
        made = facts(options.rows, time.process_time() - started)
        page.say(f"Told by [{name}.py]({name}.py). {made}")
        (options.out / f"{name}.md").write_text(str(page))
        results[name] = {"made": made, "scores": [asdict(score) for score in page.scores]}
        kept.write_text(json.dumps(results, indent=1) + "\n")
    (options.out / "README.md").write_text(str(overview(results)))


def facts(rows: int | None, seconds: float) -> str:
    """Say when, where and with what the figures were made."""
    used = ", ".join(f"{name} {number}" for name, number in versions(PACKAGES).items())
    trial = f" A trial on {rows} rows." if rows else ""
    return (
        f"Made on {datetime.now(UTC):%Y-%m-%d} in {seconds / 60:.1f} minutes of processor time: "
        f"{machine()}; {used}.{trial}"
    )


def overview(results: Mapping[str, Mapping[str, Any]]) -> Page:
    """Return the gallery's front page."""
    front = Page()
    front.say(_INTRODUCTION)
    rows = []
    for name in filter(results.__contains__, CASES):
        scores = [Score(**score) for score in results[name]["scores"]]
        link = f"[{name.replace('_', ' ')}]({name}.md)"
        rows += [[link if i == 0 else "", *line] for i, line in enumerate(lines(scores))]
    front.add(table(["case", *HEADER], rows, words=2))
    front.say(_READING)
    return front


if __name__ == "__main__":
    main()
