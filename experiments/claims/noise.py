"""Claim on synthetic trees: robust to noise in the labels."""

from __future__ import annotations

from statistics import fmean
from typing import NamedTuple

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
    "above 0 and not worse at the other: a higher accuracy under noise, not a smaller fall from "
    "the accuracy without it, which stands beside it."
)
NOISY = [noise for noise in NOISES if noise > 0]
LEAST_TREES = 5


class Baseline(NamedTuple):
    """A baseline compared with MAPTree."""

    label: str
    verdict: str
    without_noise: str  # how MAPTree compares there
    fall: float | None  # of its accuracy, from no noise to the most


def claims(results: Results) -> list[Claim]:
    """Return the claim, with a line for each baseline."""
    if not results.of("synthetic"):
        return [no_rows(TITLE, RULE, "synthetic")]
    ours = results.of("synthetic", MAPTREE)
    lines = [_line("MAPTree", ours, ["-"] * len(NOISES), "-")]
    baselines = []
    for setting in COMPARED:
        rows = results.of("synthetic", setting)
        if setting is MAPTREE or not rows:
            continue
        compared = {noise: _differences(ours, rows, noise) for noise in NOISES}
        one = Baseline(setting.label, _judge(compared), compare(compared[0.0])[0], _fall(rows))
        baselines.append(one)
        cells = []
        for noise in NOISES:
            how, mean = compare(compared[noise])
            cells.append("-" if mean is None else f"{interval(mean, 3, sign=True)} {how}")
        lines.append(_line(setting.label, rows, cells, one.verdict))
    header = ["setting", *(f"accuracy, noise {noise:g}" for noise in NOISES)]
    header += [f"falls by, from 0 to {NOISES[-1]:g}"]
    header += [f"MAPTree's minus it, noise {noise:g}" for noise in NOISES]
    header += ["verdict", "no result"]
    verdict = _overall([one.verdict for one in baselines])
    finding = _finding(results, baselines, _fall(ours))
    return [Claim(TITLE, verdict, finding, RULE, table(header, lines))]


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


def _overall(verdicts: list[str]) -> str:
    judged = [verdict for verdict in verdicts if verdict != OPEN]
    if not judged:
        return OPEN
    if len(judged) == len(verdicts) and set(judged) == {HOLDS}:
        return HOLDS
    return PARTLY if HOLDS in judged else FAILS


def _finding(results: Results, baselines: list[Baseline], fall: float | None) -> str:
    holding = [one.label for one in baselines if one.verdict == HOLDS]
    others = [one.label for one in baselines if one.verdict in (FAILS, PARTLY)]
    missing = [one.label for one in baselines if one.verdict == OPEN]
    better = [one.label for one in baselines if one.without_noise == WORSE]
    rows = ", ".join(map(str, results.budget.rows))
    text = (
        f"Better at one of the noises and worse at none than {len(holding)} of {len(baselines)} "
        f"baseline settings, on {len(results.budget.trees)} of 20 trees with {rows} rows."
    )
    if others:
        text += f" Not than: {', '.join(others)}."
    if missing:
        text += f" Too few results (fewer than {LEAST_TREES} trees): {', '.join(missing)}."
    if better:
        text += f" Without noise MAPTree is worse than {', '.join(better)}."
    falls = [(one.label, one.fall) for one in baselines if one.fall is not None]
    if fall is not None and falls:
        listed = ", ".join(f"{label} {number(by, 3)}" for label, by in falls)
        text += (
            f" From no noise to {NOISES[-1]:g} the mean accuracy of MAPTree falls by "
            f"{number(fall, 3)}, that of the baselines by: {listed}."
        )
    return text


def _fall(rows: Rows) -> float | None:
    """Return by how much the mean accuracy falls from no noise to the most."""
    first, last = _accuracy(rows, NOISES[0]), _accuracy(rows, NOISES[-1])
    return None if first is None or last is None else first - last


def _accuracy(rows: Rows, noise: float) -> float | None:
    values = [row["test_accuracy"] for row in ok(rows) if row["data"]["noise"] == noise]
    return fmean(values) if values else None


def _line(label: str, rows: Rows, cells: list[str], verdict: str) -> list[str]:
    means = [number(_accuracy(rows, noise), 3) for noise in NOISES]
    return [label, *means, number(_fall(rows), 3), *cells, verdict, shortfall(rows) or "-"]
