"""Tell all cases, and write their pages and the overview. ``make gallery`` runs it."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import adult
import breast_cancer
import penguins
from experiments.machine import commit, machine, versions
from page import HEADER, Page, lines, table

HERE = Path(__file__).parent
CASES = {module.__name__: module for module in (breast_cancer, adult, penguins)}
PACKAGES = ("maptree", "scikit-learn", "interpret-core", "numpy", "pandas")

_INTRODUCTION = """
    # Examples

    Three real tables, from loading to a tree that can be shown to somebody, each beside a tuned
    CART, a random forest and an explainable boosting machine (EBM). The data are inside packages
    from PyPI: nothing is downloaded at run time.
    """
_READING = """
    Accuracy and log loss are means over held-out folds, with their standard deviation; each page
    says how they were made. The size of a model is what somebody has to read to follow it: the
    leaves of its trees, or the functions that an EBM adds up.

    Each page is what its script says. `make gallery` runs all three and writes these pages; for
    one of them, and quickly: `.venv/bin/python docs/examples/adult.py --rows 2000`.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Tell the cases, and write what they say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, help="use so many rows of each table, for a trial")
    parser.add_argument("--out", type=Path, default=HERE, help="folder for the pages")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    made = facts(options.rows)
    pages = {}
    for name, case in CASES.items():
        page, started = Page(), time.perf_counter()
        case.story(page, options.rows)
        seconds = time.perf_counter() - started
        page.say(f"[The script]({name}.py) took {seconds:,.0f} s. {made}")
        (options.out / f"{name}.md").write_text(str(page))
        pages[name] = page
    (options.out / "README.md").write_text(str(overview(pages, made)))


def facts(rows: int | None) -> str:
    """Say when, where and with what the figures were made."""
    used = ", ".join(f"{name} {number}" for name, number in versions(PACKAGES).items())
    trial = f" A trial on {rows} rows of each table." if rows else ""
    return f"Made on {datetime.now(UTC):%Y-%m-%d}: {machine()}; commit {commit()}; {used}.{trial}"


def overview(pages: Mapping[str, Page], made: str) -> Page:
    """Return the gallery's front page."""
    front = Page()
    front.say(_INTRODUCTION)
    rows = []
    for name, page in pages.items():
        link = f"[{name.replace('_', ' ')}]({name}.md)"
        rows += [[link if i == 0 else "", *line] for i, line in enumerate(lines(page.scores))]
    front.add(table(["case", *HEADER], rows, words=2))
    front.say(_READING)
    front.say(made)
    return front


if __name__ == "__main__":
    main()
