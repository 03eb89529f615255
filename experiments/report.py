"""report.md, claims.md and rows.csv: what was run, on which machine, and the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.cells import OUTCOMES
from experiments.claims import judge, page
from experiments.figures import sheets_of
from experiments.markdown import number, table
from experiments.results import NOT_RUN, Results, Rows, select
from experiments.rows_csv import as_csv
from maptree.datasets import CP4IM_SETS

_TITLES = {
    "speed": "Speed",
    "generalisation": "Generalisation",
    "synthetic": "Synthetic trees",
    "hyperparameters": "Hyperparameters",
}


def write(
    rows: Iterable[Mapping[str, Any]],
    folder: Path,
    budget: str = "quick",
    sets: Sequence[str] | None = None,
) -> list[Path]:
    """Write both pages and the rows into a folder that has the figures in FOLDER/figures."""
    results = select(rows, budget, sets)
    texts = {"report.md": report(results), "claims.md": page(results), "rows.csv": as_csv(results)}
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, text in texts.items():
        written.append(folder / name)
        written[-1].write_text(text)
    return written


def report(results: Results) -> str:
    """Return the report as Markdown."""
    rows = [row for family in results.families.values() for row in family]
    parts = [
        "# The paper's experiments",
        _facts(results, rows),
        "Every row, without traces: [rows.csv](rows.csv).",
        "## The paper's claims",
        _claims(results),
        "## Rows",
        _counts(results),
    ]
    for family, title in _TITLES.items():
        parts.append(f"## {title}")
        of_family = results.of(family)
        if not of_family:
            parts.append("Not run.")
            continue
        parts += [sheet.markdown("figures/") for sheet in sheets_of(family, results)]
        parts += ["### Rows by set", _by_set(of_family)]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _facts(results: Results, rows: Rows) -> str:
    """Return the machine, the versions, the dates and the limits."""
    run = [row for row in rows if row["outcome"] != NOT_RUN]
    budget = results.budget
    dates = sorted(row["date"] for row in run if row["date"])
    seen = {row["set"] for row in run}
    absent = [known.name for known in CP4IM_SETS if known.name not in seen]
    facts = {
        "budget": (
            f"{budget.name}: speed with runs of {budget.long_run:g} s; otherwise {budget.limit:g} "
            f"s a fit, {len(budget.folds)} of 10 folds, {len(budget.trees)} of 20 synthetic trees, "
            f"{'all' if budget.all_settings else 'main'} settings"
        ),
        "run": f"{dates[0]} to {dates[-1]}" if dates else None,
        "machine": "; ".join(sorted({row["machine"] for row in run if row["machine"]})),
        "versions": _versions(run),
        "rows": ", ".join([f"{len(run)} of {len(rows)} wanted", *_outcomes(run)]),
        "time in fits": f"{number(sum(row['seconds'] or 0 for row in run) / 3600, 2)} hours",
        "sets without rows": ", ".join(absent),
    }
    return "\n".join(f"- {name}: {value}" for name, value in facts.items() if value)


def _versions(rows: Rows) -> str:
    found: dict[str, set[str]] = {}
    for row in rows:
        for package, version in (row["versions"] or {}).items():
            found.setdefault(package, set()).add(str(version))
    return ", ".join(
        f"{package} {' and '.join(sorted(found[package]))}" for package in sorted(found)
    )


def _outcomes(rows: Rows) -> list[str]:
    counted = Counter(row["outcome"] for row in rows)
    return [f"{counted[outcome]} {outcome}" for outcome in OUTCOMES if counted[outcome]]


def _claims(results: Results) -> str:
    lines = [[one.title, f"**{one.verdict}**", one.finding] for one in judge(results)]
    text = table(["claim", "verdict", "here"], lines, words=3)
    return f"{text}\n\nHow each was judged, and the numbers: [claims.md](claims.md)."


def _counts(results: Results) -> str:
    """A line for each family and system: how its cells ended."""
    header = ["family", "system", "wanted", *OUTCOMES, NOT_RUN, "reasons"]
    lines = []
    for family in results.families:
        rows = results.of(family)
        for system in dict.fromkeys(row["system"] for row in rows):
            own = [row for row in rows if row["system"] == system]
            ended = Counter(row["outcome"] for row in own)
            counts = [str(ended[outcome]) for outcome in (*OUTCOMES, NOT_RUN)]
            lines.append([family, system, str(len(own)), *counts, _reasons(own)])
    return table(header, lines, words=2)


def _reasons(rows: Rows) -> str:
    """The reasons for rows without a result, the most frequent three."""
    why = Counter(
        (row["reason"] or row["outcome"]).strip().splitlines()[-1].replace("|", "/")
        for row in rows
        if row["outcome"] not in ("ok", NOT_RUN)
    )
    return "; ".join(f"{count} times {reason}" for reason, count in why.most_common(3)) or "-"


def _by_set(rows: Rows) -> str:
    """Rows with a result, of those that were wanted, by set and system."""
    systems = list(dict.fromkeys(row["system"] for row in rows))
    lines = []
    for name in dict.fromkeys(row["set"] for row in rows):
        line = [name]
        for system in systems:
            own = [row for row in rows if row["set"] == name and row["system"] == system]
            line.append(f"{sum(row['outcome'] == 'ok' for row in own)}/{len(own)}")
        lines.append(line)
    return table(["set", *systems], lines)
