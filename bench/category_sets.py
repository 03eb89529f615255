"""Held-out rows of raw tables, by what is asked about categories: single ones or sets of them.

    make bench-categories ARGS="--limit 1 --processor"

The default tests are of single categories, `region = C`, the 32 most frequent. A set of categories,
`region in {C, M}`, is a threshold of a column that has the categories in some order. This benchmark
makes such columns outside the library, except for *built*, from the training rows alone, and fits
the same estimator to them: five folds of the tables that have categories, time as in
`raw_generalisation.py`. Results are kept one line per fit in OUT.jsonl; a run that was interrupted
continues where it stopped.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import gammaln
from scipy.stats import betabinom, rankdata
from sklearn.model_selection import StratifiedKFold

import raw_tables
from maptree import BinaryEncoder, MAPTreeClassifier
from raw_generalisation import (
    FOLDS,
    LEAST,
    LIMIT_IS_FOR,
    LONGEST,
    Row,
    each,
    folds,
    measure,
    scores,
)
from report import facts, number, table


@dataclass(frozen=True)
class Setting:
    """What is asked about the categories of columns that have three or more."""

    words: str
    single: int | None = 0  # tests of single categories at most; None: of all
    order: str | None = None  # of the categories, for sets
    smoothing: float = 0  # rows of the classes of the whole table, added to every category
    most: int = 10**9  # categories in order, the most frequent; others are like all rows
    priced: bool = False  # the weight of a set is that of one among all sets
    gated: bool = False  # sets only where they explain more than naming one takes
    least: int = 3  # categories of a column that gets sets
    apart: bool = False  # rates of a training row from other rows
    in_place: bool = False  # no tests of single categories in columns that get sets
    last: bool = False  # unknown categories come last, on the side of the most frequent class
    built: bool = False  # what the encoder does by itself


SETTINGS = {
    "32 single": Setting(
        "a test for each of the 32 most frequent, the default", single=32
    ),
    "all single": Setting("a test for each category", single=None),
    "sets by rate": Setting(
        "sets by the rates of the classes, smoothed by 1 row, and no single ones", 0, "rate", 1
    ),
    "smoothed": Setting("the same, smoothed by 20 rows", 0, "rate", 20),
    "apart": Setting(
        "the same, but the rate of a training row is that of the four fifths of the training rows "
        "without it: no leak from labels, but nothing that can be said as a set",
        0, "rate", 20, apart=True,
    ),
    "both": Setting(
        "today's tests and sets by rates smoothed by 20 rows, with half of the column's weight "
        "each", 32, "rate", 20,
    ),
    "frequent": Setting(
        "the same, but only the 32 most frequent categories are in order, and the others in the "
        "place of all rows", 32, "rate", 20, most=32,
    ),
    "priced": Setting(
        "the same, smoothed by 1 row; single categories have the column's weight, and a set of k "
        "categories in order that of one among all 2^(k - 1) - 1 divisions of them (or 2^-19 for "
        "all): what a prior over sets that does not know the labels would give it",
        32, "rate", 1, most=32, priced=True,
    ),
    "gated": Setting(
        "both, but sets only in columns where at the root the best set, chosen from one half of "
        "the training rows, raises the log likelihood of the other half by log 2 for each category "
        "more than the best single one does", 32, "rate", 20, gated=True,
    ),
    "gated, many": Setting(
        "the same, and only in columns of more than 32 categories", 32, "rate", 20, gated=True,
        least=33,
    ),
    "in place": Setting(
        "gated, and columns that get sets have no tests of single categories", 32, "rate", 20,
        gated=True, in_place=True,
    ),
    "in place, many": Setting(
        "the same, and only in columns of more than 32 categories: what was built at first", 32,
        "rate", 20, gated=True, least=33, in_place=True,
    ),
    "unknown last": Setting(
        "the same, but unknown categories are the last in the order, which ends with those where "
        "the most frequent class is likeliest, and not like all rows", 32, "rate", 20, gated=True,
        least=33, in_place=True, last=True,
    ),
    "built": Setting("what `BinaryEncoder(category_sets=True)` does: sets in place of single ones, "
                     "but none that divides a group", single=32, built=True),
    "by frequency": Setting(
        "sets by the number of training rows, whatever their labels, and no single ones",
        0, "frequency",
    ),
}  # fmt: skip
TODAY = "32 single"
# `split_prior` and the number of thresholds per column.
PRIORS: dict[str, tuple[str, int | None]] = {
    "columns": ("columns", None),
    "columns 32": ("columns", 32),
    "tests": ("tests", 16),
}
LEAF_PRIOR = 2.5  # rows of each class, that of the paper
PARTS = 5  # for rates from other rows

# Those of raw_tables.TABLES with a column of three categories or more, then those with many.
TABLES = [
    *["cars93", "penguins", "crx", "titanic", "attrition", "hpc", "credit", "churn", "compas"],
    *["lending-club", "adult", "stops", "diamonds", "fars", "flights"],
    *raw_tables.MANY_CATEGORIES,
]


def job(name: str, fold: int, setting: str, limit: float) -> Row:
    """Fit on all folds but one, score on that one."""
    warnings.simplefilter("ignore")
    what, prior = setting.split(" / ")
    X, y, parts = folds(name)
    train, test = parts[fold]
    limit = max(limit, min(LONGEST, limit * len(X) / LIMIT_IS_FOR))
    categories = Categories(SETTINGS[what], X.iloc[train], y.iloc[train])
    split_prior, max_thresholds = PRIORS[prior]
    model = MAPTreeClassifier(
        time_limit=limit,
        n_jobs=1,
        split_prior=split_prior,
        encoder=BinaryEncoder(
            max_thresholds,
            max_categories=SETTINGS[what].single or len(X),
            category_sets=SETTINGS[what].built,
        ),
        column_weights=categories.weights() if split_prior == "columns" else None,
    ).fit(categories.training_columns(), y.iloc[train])
    held_out = categories.columns(X.iloc[test])
    return {
        "table": name,
        "fold": fold,
        "setting": setting,
        **scores(model, held_out, y.iloc[test]),
        "covered": covered(
            _leaf_counts(model, categories.columns(X.iloc[train]), y.iloc[train]),
            _leaf_counts(model, held_out, y.iloc[test]),
        ),
        "in_sets": sum(column.kind == "sets" for column in model.encoder_.schema_)
        or len(categories.in_order),
        "leaves": model.tree_.n_leaves,
        "log_posterior": float(model.trace_["log_posterior"][-1]),
        "categories": sorted(categories.sizes.values(), reverse=True),
        "seconds": float(model.trace_["seconds"][-1]),
        "limit": limit,
    }


def _leaf_counts(model: MAPTreeClassifier, X: pd.DataFrame, y: pd.Series) -> pd.DataFrame:
    """Return how many rows of each class are in each leaf."""
    counts = pd.crosstab(model.apply(X), y.to_numpy())
    return counts.reindex(columns=model.classes_, fill_value=0)


def covered(training: pd.DataFrame, held_out: pd.DataFrame) -> float:
    """Return the share of held-out rows in leaves that foretell the number of the first class.

    That is within the 95% that the leaf gives it, after its training rows. Of more classes, the
    mean over all of them.

    >>> training = pd.DataFrame({"no": [500, 100], "yes": [500, 900]})
    >>> covered(training, pd.DataFrame({"no": [52, 30], "yes": [48, 70]}))
    0.5
    """
    training = training.reindex(held_out.index, fill_value=0)
    found = []
    for name in held_out.columns[: 1 if held_out.shape[1] == 2 else None]:
        of, prior = training[name] + LEAF_PRIOR, LEAF_PRIOR * held_out.shape[1]
        foretold = betabinom(held_out.sum(axis=1), of, training.sum(axis=1) + prior - of)
        inside = (foretold.cdf(held_out[name]) >= 0.025) & (
            foretold.sf(held_out[name] - 1) >= 0.025
        )
        found.append(float(np.average(inside, weights=held_out.sum(axis=1))))
    return float(np.mean(found))


class Categories:
    """The columns of categories, as they are or as numbers in an order learnt from training rows.

    >>> X = pd.DataFrame({"region": ["C", "C", "M", "M", "S", "S"]})
    >>> y = pd.Series(["yes", "no", "yes", "yes", "no", "no"])
    >>> by_rate = Categories(SETTINGS["sets by rate"], X, y).columns(X.iloc[::2])
    >>> by_rate["region"].rank().tolist()
    [2.0, 1.0, 3.0]
    """

    def __init__(self, setting: Setting, X: pd.DataFrame, y: pd.Series) -> None:
        self._setting, self._X, self._y = setting, X, y
        # Not what the encoder takes for numbers, dates, identifiers or ordered categories.
        schema = BinaryEncoder(max_categories=len(X)).fit(X).schema_
        self.sizes = {
            name: len(column.categories)
            for name, column in zip(X.columns, schema, strict=True)
            if column.kind == "category" and len(column.tests) > 1 and len(column.categories) > 2
        }
        self._classes = pd.get_dummies(y).to_numpy(dtype=float)
        self._axes: dict[str, NDArray[Any]] = {}
        self._places: dict[str, pd.Series] = {}
        if setting.order is not None:
            every = np.arange(len(X))
            counts = {
                name: self._counts(name, every)
                for name, size in self.sizes.items()
                if size >= setting.least and (not setting.gated or self._explains(name))
            }
            self._axes = {name: self._axis(of) for name, of in counts.items()}
            self._places = {name: self._place(of, self._axes[name]) for name, of in counts.items()}

    @property
    def in_order(self) -> list[str]:
        """The columns that are in an order."""
        return list(self._places)

    def weights(self) -> dict[str, float] | None:
        """Return weights of columns that have single tests and sets."""
        if self._setting.single == 0 or self._setting.order is None or self._setting.in_place:
            return None
        weights = {}
        for name in self._places:
            k = min(self.sizes[name], self._setting.most + 1)
            if self._setting.priced:  # odds of two columns are at most 2^20
                weights[self._name(name)] = max((k - 1) / (2 ** (k - 1) - 1), 2.0**-19)
            else:
                weights |= {name: 0.5, self._name(name): 0.5}
        return weights or None

    def columns(self, X: pd.DataFrame) -> pd.DataFrame:
        if self._setting.order is None:
            return X
        return X.assign(**{
            self._name(name): _in_order(X[name], places, self._setting.last)
            for name, places in self._places.items()
        })  # fmt: skip

    def training_columns(self) -> pd.DataFrame:
        if not self._setting.apart:
            return self.columns(self._X)
        found = self._X.copy()
        divide = StratifiedKFold(PARTS, shuffle=True, random_state=1)
        parts = list(divide.split(self._X, self._y))
        for name, axis in self._axes.items():
            found[name] = pd.concat([
                _in_order(self._X[name].iloc[part], self._place(self._counts(name, others), axis))
                for others, part in parts
            ])  # fmt: skip
        return found

    def _name(self, column: str) -> str:
        instead = self._setting.single == 0 or self._setting.in_place
        return column if instead else f"{column} in order"

    def _explains(self, name: str) -> bool:
        """Return whether the best set is worth its name, a bit for each category."""
        halves = [self._counts(name, np.arange(half, len(self._X), 2)) for half in (0, 1)]
        if min(map(len, halves)) < 2:
            return False
        sets, singles = 0.0, 0.0
        for learnt, other in (halves, halves[::-1]):
            other = other.reindex(learnt.index, fill_value=0)
            in_order = np.argsort(self._place(learnt, self._axis(learnt)).to_numpy())
            sets += _gain_elsewhere(*(of.to_numpy()[in_order].cumsum(axis=0)
                                      for of in (learnt, other)))  # fmt: skip
            singles += _gain_elsewhere(*(np.vstack([of, of.sum()]) for of in (learnt, other)))
        return sets - singles > np.log(2) * (self.sizes[name] - 1)

    def _counts(self, name: str, rows: NDArray[np.intp]) -> pd.DataFrame:
        """Return how many of the rows have each category and class."""
        text = self._X[name].iloc[rows].astype(object).to_numpy()
        return pd.DataFrame(self._classes[rows]).groupby(text).sum()

    def _rates(self, counts: pd.DataFrame) -> NDArray[Any]:
        """Return the smoothed rates of the classes, less those of all rows, by category."""
        every = self._classes.mean(axis=0)
        of, smoothing = counts.to_numpy(), self._setting.smoothing
        return (of + smoothing * every) / (of.sum(axis=1, keepdims=True) + smoothing) - every

    def _axis(self, counts: pd.DataFrame) -> NDArray[Any]:
        """Return the first principal component of the rates, each as often as it has rows.

        Of two classes it is the rate of one of them.
        """
        rates, rows = self._rates(counts), counts.to_numpy().sum(axis=1)
        axis: NDArray[Any] = np.linalg.eigh((rates * rows[:, None]).T @ rates)[1][:, -1]
        return axis if axis[self._classes.sum(axis=0).argmax()] > 0 else -axis

    def _place(self, counts: pd.DataFrame, axis: NDArray[Any]) -> pd.Series:
        """Return the place of each category in the order; 0 is that of all rows."""
        if self._setting.order == "frequency":
            return counts.sum(axis=1)
        if len(counts) > self._setting.most:
            frequent = counts.sum(axis=1).nlargest(self._setting.most)
            counts = counts.loc[frequent.index]
        return pd.Series((self._rates(counts) @ axis).round(12), counts.index)


def _in_order(categories: pd.Series, places: pd.Series, last: bool = False) -> pd.Series:
    """Return the places of categories; one that is not known is like all rows, or the last."""
    unknown = places.max() + 1.0 if last else 0.0
    known = categories.astype(object).map(places.to_dict()).astype(float).fillna(unknown)
    return known.where(categories.notna())


def _evidence(counts: NDArray[Any]) -> NDArray[Any]:
    """Return the log likelihood of rows of these classes in one leaf, with its prior."""
    prior = LEAF_PRIOR
    return (gammaln(counts + prior) - gammaln(prior)).sum(axis=1) - (
        gammaln(counts.sum(axis=1) + prior * counts.shape[1]) - gammaln(prior * counts.shape[1])
    )


def _gain_elsewhere(learnt: NDArray[Any], other: NDArray[Any]) -> float:
    """Choose the best division by some rows, and return what it adds to the evidence of others.

    Divisions are the counts of one side of each, and of all rows at the end.
    """

    def gains(of: NDArray[Any]) -> NDArray[Any]:
        return _evidence(of[:-1]) + _evidence(of[-1] - of[:-1]) - _evidence(of[-1:])

    return float(gains(other)[np.argmax(gains(learnt))])


def means(rows: list[Row], settings: list[str], key: str) -> dict[str, list[float]]:
    """Return the mean over folds, by table and setting, of the folds that have every setting."""
    return {
        name: [float(np.mean([fold[setting][key] for fold in of])) for setting in settings]
        for name, of in _whole_folds(rows, settings).items()
    }


def _whole_folds(rows: list[Row], settings: list[str]) -> dict[str, list[dict[str, Row]]]:
    found: dict[str, dict[int, dict[str, Row]]] = {}
    for row in rows:
        found.setdefault(row["table"], {}).setdefault(row["fold"], {})[row["setting"]] = row
    whole = {
        name: [fold for fold in of.values() if all(setting in fold for setting in settings)]
        for name, of in found.items()
    }
    return {name: whole[name] for name in TABLES if whole.get(name)}


def markdown(document: dict[str, Any]) -> str:
    rows, settings = document["rows"], document["settings"]["settings"]
    losses = means(rows, settings, "log_loss")
    parts = [
        "# Categories: single ones and sets",
        facts(document["environment"] | {k: v for k, v in document["settings"].items()
                                         if k != "settings"}),
        _CAPTION,
    ]  # fmt: skip
    if not losses:
        return "\n\n".join([*parts, "No table is complete yet."]) + "\n"
    accuracies = means(rows, settings, "accuracy")
    leaves = means(rows, settings, "leaves")
    n_folds = {name: len(of) for name, of in _whole_folds(rows, settings).items()}
    sizes = {row["table"]: ", ".join(map(str, row["categories"])) for row in rows}
    parts += [
        "## Summary",
        summary(losses, accuracies, leaves, settings),
        "## Log loss",
        each(losses, settings, 4, least=True),
        "## Accuracy",
        each(accuracies, settings, 4, least=False),
        "## Held-out rows in leaves that foretell them",
        "Share of the held-out rows in leaves where the number of rows of a class is within the "
        "95% that the leaf gives it, after its training rows.",
        each(means(rows, settings, "covered"), settings, 3),
        "## Columns in sets",
        each(means(rows, settings, "in_sets"), settings, 1),
        "## Leaves",
        each(leaves, settings, 1),
        "## Folds, and categories of the columns",
        table(
            ["table", "folds", "categories"],
            [[name, str(n_folds[name]), sizes[name]] for name in losses],
        ),
    ]
    return "\n\n".join(parts) + "\n"


_CAPTION = (
    "Means over the folds. A setting is what is asked about categories and `split_prior` "
    "(`columns` with all thresholds or 32 per column, `tests` with 16):\n\n"
    + "\n".join(f"- *{name}*: {setting.words}" for name, setting in SETTINGS.items())
    + f"\n\nProbabilities below {LEAST} count as that. *Rank*: 1 is best, ties share; *best*: on "
    "how many tables, ties included. *Better* and *worse*: on how many tables the log loss is "
    f"lower or higher than that of *{TODAY}* by more than 0.1%; *at worst*: by how much it is "
    "higher."
)


def summary(
    losses: dict[str, list[float]],
    accuracies: dict[str, list[float]],
    leaves: dict[str, list[float]],
    settings: list[str],
) -> str:
    names = list(losses)
    loss = np.array([losses[name] for name in names])
    accuracy = np.array([accuracies[name] for name in names])
    lines = []
    for i, setting in enumerate(settings):
        today = f"{TODAY} / {setting.split(' / ')[1]}"
        compared = ["", "", ""]
        if today in settings and today != setting:
            change = loss[:, i] / loss[:, settings.index(today)] - 1
            compared = [str(int((change < -0.001).sum())), str(int((change > 0.001).sum())),
                        f"{100 * max(0.0, change.max()):.1f}%"]  # fmt: skip
        lines.append([
            setting,
            number(loss[:, i].mean(), 4),
            number(rankdata(loss.round(6), axis=1)[:, i].mean(), 2),
            str(int((loss[:, i] <= loss.min(axis=1) + 1e-6).sum())),
            *compared,
            number(accuracy[:, i].mean(), 4),
            number(np.mean([leaves[name][i] for name in names]), 1),
        ])  # fmt: skip
    header = ["setting", "log loss", "rank", "best", "better", "worse", "at worst", "accuracy"]
    return f"{len(names)} tables.\n\n" + table([*header, "leaves"], lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--limit", type=float, default=1.0, help="seconds for each fit of up to 10,000 rows (1)"
    )
    parser.add_argument("--jobs", type=int, default=1, help="fits at the same time (1)")
    parser.add_argument("--folds", type=int, default=FOLDS, help="of the five, this many (5)")
    parser.add_argument("--tables", nargs="+", default=TABLES, choices=TABLES, metavar="NAME")
    parser.add_argument("--what", nargs="+", default=list(SETTINGS), choices=list(SETTINGS))
    parser.add_argument("--priors", nargs="+", default=["columns"], choices=list(PRIORS))
    parser.add_argument("--processor", action="store_true",
                        help="limits go by processor time, for a busy machine")  # fmt: skip
    parser.add_argument("--summary", action="store_true", help="only write the report again")
    parser.add_argument(
        "--out", help="output path without .jsonl (bench/results/categories-LIMITs)"
    )
    options = parser.parse_args()
    options.settings = [f"{what} / {prior}" for prior in options.priors for what in options.what]
    return measure(options, "categories", job, markdown)


if __name__ == "__main__":
    sys.exit(main())
