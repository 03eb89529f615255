"""Claim on the prior: results hardly depend on alpha and beta."""

from __future__ import annotations

from statistics import fmean

from experiments.claims.claim import FAILS, HOLDS, LEAST_SETS, OPEN, PARTLY, Claim, no_rows
from experiments.comparison import Standing, paired, standings
from experiments.intervals import mean_interval
from experiments.markdown import interval, number, table
from experiments.results import Results, shortfall
from experiments.settings import HYPERPARAMETERS, PRIOR

TITLE = "MAPTree is insensitive to its hyperparameters alpha and beta"
WITHIN = {"test_accuracy": 0.01, "ll_marginal": 0.02, "ll_predictive": 0.02}
WORDS = {
    "test_accuracy": "accuracy",
    "ll_marginal": "ll published",
    "ll_predictive": "ll predictive",
}
RULE = (
    "Each of the other six priors against the default (0.95, 0.5), fold by fold, averaged by set. "
    "A prior makes no difference that matters if the mean over sets differs by at most 0.01 in "
    "test accuracy and 0.02 nats a row in either test log likelihood."
)


def claims(results: Results) -> list[Claim]:
    """Return the claim, with a line for each prior."""
    rows = results.of("hyperparameters")
    if not rows:
        return [no_rows(TITLE, RULE, "hyperparameters")]
    measured = standings(rows, HYPERPARAMETERS, results.sets)
    default = next(one for one in measured if one.setting.params == PRIOR)
    alike, lines, judged = [], [], 0
    for one in measured:
        line, same = _line(one, default)
        lines.append(line)
        if one is not default and len(one.sets) >= LEAST_SETS:
            judged += 1
            alike += [one.setting.label] * same
    others = [one.setting.label for one in measured if one is not default]
    different = [label for label in others if label not in alike]
    if judged < len(others):
        verdict = OPEN
    elif len(alike) == len(others):
        verdict = HOLDS
    else:
        verdict = PARTLY if alike else FAILS
    finding = f"{len(alike)} of {len(others)} other priors make no difference that matters."
    if different:
        finding += f" Not so: ({'), ('.join(different)})."
    spread = [fmean(values) for one in measured if (values := one.values("test_accuracy"))]
    if spread:
        finding += (
            f" Mean accuracy is between {number(min(spread), 3)} and {number(max(spread), 3)}, "
            f"on {len(results.sets)} of 16 sets, {len(results.budget.folds)} of 10 folds."
        )
    header = ["alpha, beta", "sets", "accuracy", "nodes"]
    header += [f"{words} - default's" for words in WORDS.values()]
    header += ["no difference that matters", "no result"]
    return [Claim(TITLE, verdict, finding, RULE, table(header, lines))]


def _line(one: Standing, default: Standing) -> tuple[list[str], bool]:
    accuracy, nodes = one.values("test_accuracy"), one.values("nodes")
    line = [one.setting.label, str(len(one.sets))]
    line += [number(fmean(accuracy) if accuracy else None, 3)]
    line += [number(fmean(nodes) if nodes else None, 1)]
    same = True
    for measure, most in WITHIN.items():
        differences = paired(one, default, measure)
        mean = mean_interval(differences) if differences else None
        same = same and mean is not None and abs(mean.value) <= most
        line.append("the default" if one is default else interval(mean, 3, sign=True))
    line += ["-" if one is default else "yes" if same else "no", shortfall(one.rows) or "-"]
    return line, same
