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
    "A prior makes no difference that matters if the 95% interval of the mean over sets "
    "(bootstrap) lies within 0.01 of 0 in test accuracy and within 0.02 nats a row in either test "
    "log likelihood; it makes one if an interval lies beyond; otherwise neither is shown."
)
NONE, SOME, UNKNOWN = "none", "some", "not shown"


def claims(results: Results) -> list[Claim]:
    """Return the claim, with a line for each prior."""
    rows = results.of("hyperparameters")
    if not rows:
        return [no_rows(TITLE, RULE, "hyperparameters")]
    measured = standings(rows, HYPERPARAMETERS, results.sets)
    default = next(one for one in measured if one.setting.params == PRIOR)
    effects = {one.setting.label: _effect(one, default) for one in measured if one is not default}
    few = any(len(one.sets) < LEAST_SETS for one in measured)
    by_effect = {
        effect: [label for label, has in effects.items() if has == effect]
        for effect in (NONE, SOME, UNKNOWN)
    }
    none, some, unknown = by_effect.values()
    if few or not (none or some):
        verdict = OPEN
    elif len(none) == len(effects):
        verdict = HOLDS
    else:
        verdict = PARTLY if none else FAILS
    finding = f"{len(none)} of {len(effects)} other priors make no difference that matters."
    if some:
        finding += f" It matters for ({'), ('.join(some)})."
    if unknown:
        finding += f" Neither is shown for ({'), ('.join(unknown)})."
    spread = [fmean(values) for one in measured if (values := one.values("test_accuracy"))]
    if spread:
        finding += (
            f" Mean accuracy is between {number(min(spread), 3)} and {number(max(spread), 3)}, "
            f"on {len(results.sets)} of 16 sets, {len(results.budget.folds)} of 10 folds."
        )
    header = ["alpha, beta", "sets", "accuracy", "nodes"]
    header += [f"{words} - default's" for words in WORDS.values()]
    header += ["difference that matters", "no result"]
    lines = [_line(one, default, effects.get(one.setting.label, "-")) for one in measured]
    return [Claim(TITLE, verdict, finding, RULE, table(header, lines))]


def _effect(one: Standing, default: Standing) -> str:
    """Tell whether a prior makes a difference that matters."""
    effects = []
    for measure, most in WITHIN.items():
        differences = paired(one, default, measure)
        if not differences:
            return UNKNOWN
        mean = mean_interval(differences)
        if mean.low > most or mean.high < -most:
            return SOME
        effects.append(NONE if -most <= mean.low and mean.high <= most else UNKNOWN)
    return UNKNOWN if UNKNOWN in effects else NONE


def _line(one: Standing, default: Standing, effect: str) -> list[str]:
    accuracy, nodes = one.values("test_accuracy"), one.values("nodes")
    line = [one.setting.label, str(len(one.sets))]
    line += [number(fmean(accuracy) if accuracy else None, 3)]
    line += [number(fmean(nodes) if nodes else None, 1)]
    for measure in WITHIN:
        differences = paired(one, default, measure)
        mean = mean_interval(differences) if differences else None
        line.append("the default" if one is default else interval(mean, 3, sign=True))
    return [*line, effect, shortfall(one.rows) or "-"]
