"""Claim on generalisation: better than each baseline, or equal with smaller trees."""

from __future__ import annotations

import math
from collections.abc import Sequence

from experiments.claims.claim import (
    BETTER,
    EQUAL,
    FAILS,
    HOLDS,
    LEAST_SETS,
    OPEN,
    PARTLY,
    WORSE,
    Claim,
    compare,
    no_rows,
)
from experiments.comparison import Standing, paired, standings
from experiments.intervals import Mean
from experiments.markdown import interval, number, table
from experiments.results import Results, ok, shortfall
from experiments.settings import COMPARED, MAPTREE

TITLE = (
    "MAPTree has better test accuracy or likelihood than each baseline, or as good with smaller "
    "trees"
)
RULE = (
    "Differences between MAPTree and a baseline, fold by fold, averaged by set; the 95% interval "
    "of their mean over sets (bootstrap) decides: better, worse, or no difference shown. Against "
    "a baseline the claim holds if accuracy or a test log likelihood (published or posterior "
    "predictive) is better and none of the three is worse; or if none differs and the trees have "
    "fewer nodes, which is called by size alone. No difference shown is not equality: few folds "
    "leave wide intervals. Nodes are compared by the geometric mean of their ratio. Wins and "
    "losses count sets by accuracy."
)
BY_SIZE = f"{HOLDS} by size alone"
LIKELIHOODS = {"ll_marginal": "ll published", "ll_predictive": "ll predictive"}


def claims(results: Results) -> list[Claim]:
    """Return the claim, with a line for each baseline."""
    rows = results.of("generalisation")
    if not rows:
        return [no_rows(TITLE, RULE, "generalisation")]
    measured = standings(rows, COMPARED, results.sets)
    ours = next(one for one in measured if one.setting is MAPTREE)
    others = [one for one in measured if one.setting is not MAPTREE]
    judged = [(other, *_judge(ours, other)) for other in others]
    counted = [verdict for _, verdict, _ in judged if verdict != OPEN]
    by_size = [other.setting.label for other, verdict, _ in judged if verdict == BY_SIZE]
    holding = counted.count(HOLDS) + len(by_size)
    missing = [other.setting.label for other, verdict, _ in judged if verdict == OPEN]
    verdict = OPEN
    if counted:
        verdict = HOLDS if holding == len(judged) else PARTLY if holding else FAILS
    worse = [other.setting.label for other, verdict, _ in judged if verdict in (FAILS, PARTLY)]
    finding = f"Holds against {holding} of {len(judged)} baseline settings."
    if by_size:
        finding = (
            f"{finding[:-1]}, {len(by_size)} of them by size alone ({', '.join(by_size)}: no "
            "difference shown in accuracy or likelihood, which is not equality, and smaller trees)."
        )
    if worse:
        finding += f" Not, or not in every measure, against: {', '.join(worse)}."
    if missing:
        finding += f" Too few results (fewer than {LEAST_SETS} sets): {', '.join(missing)}."
    finding += (
        f" {len(results.budget.folds)} of 10 folds, {results.budget.limit:g} s a fit, "
        f"{len(results.sets)} of 16 sets."
    )
    header = ["baseline", "sets", "accuracy", "wins-ties-losses", *LIKELIHOODS.values()]
    header += ["nodes, ratio", "verdict", "no result"]
    lines = [
        [other.setting.label, *line, verdict, shortfall(other.rows) or "-"]
        for other, verdict, line in judged
    ]
    text = "MAPTree minus the baseline, mean over sets and 95% interval.\n\n"
    return [Claim(TITLE, verdict, finding, RULE, text + table(header, lines))]


def _judge(ours: Standing, other: Standing) -> tuple[str, list[str]]:
    """Return the verdict against a baseline, and the cells of its line."""
    accuracy = paired(ours, other, "test_accuracy")
    how_accurate, mean = compare(accuracy)
    cells = [str(len(accuracy)), _words(how_accurate, mean), _wins(accuracy)]
    outcomes = [how_accurate]
    for measure in LIKELIHOODS:
        how, mean = compare(paired(ours, other, measure))
        outcomes.append(how)
        cells.append(_words(how, mean))
    smaller, ratio = _nodes(ours, other)
    cells.append("-" if ratio is None else interval(ratio, 2))
    if len(accuracy) < LEAST_SETS:
        return OPEN, cells
    if WORSE in outcomes:
        return (PARTLY if BETTER in outcomes else FAILS), cells
    return (HOLDS if BETTER in outcomes else BY_SIZE if smaller else FAILS), cells


def _nodes(ours: Standing, other: Standing) -> tuple[bool, Mean | None]:
    """Tell whether our trees are smaller, by the ratio of nodes, set by set."""
    theirs = {(row["set"], row["fold"]): row["nodes"] for row in ok(other.rows)}
    by_set: dict[str, list[float]] = {}
    for row in ok(ours.rows):
        key = row["set"], row["fold"]
        if key in theirs:
            by_set.setdefault(row["set"], []).append(math.log(row["nodes"] / theirs[key]))
    how, mean = compare([sum(v) / len(v) for v in by_set.values()], higher_is_better=False)
    if mean is None:
        return False, None
    ratio = Mean(math.exp(mean.value), math.exp(mean.low), math.exp(mean.high), mean.count)
    return how == BETTER, ratio


def _words(how: str, mean: Mean | None) -> str:
    sign = {BETTER: "better", WORSE: "worse", EQUAL: "no difference"}.get(how, how)
    return sign if mean is None else f"{interval(mean, 3, sign=True)} {sign}"


def _wins(differences: Sequence[float]) -> str:
    wins = sum(value > 0 for value in differences)
    losses = sum(value < 0 for value in differences)
    return f"{number(wins, 0)}-{len(differences) - wins - losses}-{losses}"
