"""Claim on synthetic trees: robust to noise in the labels."""

from __future__ import annotations

from statistics import fmean

from experiments.claims.claim import (
    BETTER,
    FAILS,
    HOLDS,
    OPEN,
    PARTLY,
    WORSE,
    Claim,
    compare,
    no_rows,
)
from experiments.markdown import interval, number, table
from experiments.results import Results, Rows, ok, shortfall
from experiments.settings import COMPARED, MAPTREE, NOISES

TITLE = "MAPTree is more robust to noise in the labels than the baselines"
RULE = (
    "Test accuracy on the synthetic trees, MAPTree minus the baseline on the same tree and number "
    "of rows, averaged by tree; the 95% interval of the mean over trees (bootstrap) decides, at "
    "each noise. Against a baseline the claim holds if MAPTree is better at one of the two noises "
    "above 0 and not worse at the other."
)
NOISY = [noise for noise in NOISES if noise > 0]
LEAST_TREES = 5


def claims(results: Results) -> list[Claim]:
    """Return the claim, with a line for each baseline."""
    if not results.of("synthetic"):
        return [no_rows(TITLE, RULE, "synthetic")]
    ours = results.of("synthetic", MAPTREE)
    verdicts: dict[str, str] = {}
    lines = [_line("MAPTree", ours, ["-"] * len(NOISES), "-")]
    for setting in COMPARED:
        rows = results.of("synthetic", setting)
        if setting is MAPTREE or not rows:
            continue
        compared = {noise: _differences(ours, rows, noise) for noise in NOISES}
        verdict = _judge(compared)
        verdicts[setting.label] = verdict
        cells = []
        for noise in NOISES:
            how, mean = compare(compared[noise])
            cells.append("-" if mean is None else f"{interval(mean, 3, sign=True)} {how}")
        lines.append(_line(setting.label, rows, cells, verdict))
    header = ["setting", *(f"accuracy, noise {noise:g}" for noise in NOISES)]
    header += [f"MAPTree's minus it, noise {noise:g}" for noise in NOISES]
    header += ["verdict", "no result"]
    holding = [label for label, verdict in verdicts.items() if verdict == HOLDS]
    return [
        Claim(
            TITLE,
            _overall(verdicts),
            _finding(results, verdicts, holding, ours),
            RULE,
            table(header, lines),
        )
    ]


def _differences(ours: Rows, theirs: Rows, noise: float) -> list[float]:
    """Return one difference a tree, the mean over the numbers of rows that both have."""
    accuracy = {
        (row["data"]["tree"], row["data"]["rows"]): row["test_accuracy"]
        for row in ok(theirs)
        if row["data"]["noise"] == noise
    }
    by_tree: dict[int, list[float]] = {}
    for row in ok(ours):
        key = row["data"]["tree"], row["data"]["rows"]
        if row["data"]["noise"] == noise and key in accuracy:
            by_tree.setdefault(key[0], []).append(row["test_accuracy"] - accuracy[key])
    return [fmean(values) for values in by_tree.values()]


def _judge(compared: dict[float, list[float]]) -> str:
    if any(len(compared[noise]) < LEAST_TREES for noise in NOISY):
        return OPEN
    outcomes = [compare(compared[noise])[0] for noise in NOISY]
    if WORSE in outcomes:
        return PARTLY if BETTER in outcomes else FAILS
    return HOLDS if BETTER in outcomes else FAILS


def _overall(verdicts: dict[str, str]) -> str:
    judged = [verdict for verdict in verdicts.values() if verdict != OPEN]
    if not judged:
        return OPEN
    if len(judged) == len(verdicts) and set(judged) == {HOLDS}:
        return HOLDS
    return PARTLY if HOLDS in judged else FAILS


def _finding(results: Results, verdicts: dict[str, str], holding: list[str], ours: Rows) -> str:
    others = [label for label, verdict in verdicts.items() if verdict in (FAILS, PARTLY)]
    missing = [label for label, verdict in verdicts.items() if verdict == OPEN]
    drop = [_accuracy(ours, noise) for noise in (NOISES[0], NOISES[-1])]
    text = f"Holds against {len(holding)} of {len(verdicts)} baseline settings."
    if others:
        text += f" Not against: {', '.join(others)}."
    if missing:
        text += f" Too few results (fewer than {LEAST_TREES} trees): {', '.join(missing)}."
    if None not in drop:
        text += (
            f" MAPTree's mean accuracy falls from {number(drop[0], 3)} without noise to "
            f"{number(drop[1], 3)} at {NOISES[-1]:g}."
        )
    rows = ", ".join(map(str, results.budget.rows))
    return f"{text} {len(results.budget.trees)} of 20 trees, {rows} rows."


def _accuracy(rows: Rows, noise: float) -> float | None:
    values = [row["test_accuracy"] for row in ok(rows) if row["data"]["noise"] == noise]
    return fmean(values) if values else None


def _line(label: str, rows: Rows, cells: list[str], verdict: str) -> list[str]:
    means = [number(_accuracy(rows, noise), 3) for noise in NOISES]
    return [label, *means, *cells, verdict, shortfall(rows) or "-"]
