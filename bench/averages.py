"""Held-out rows of raw tables: one tree, averages over many, and other methods.

    make bench-averages ARGS="--processor"
    make bench-averages ARGS="--processor --folds 3 --peers"

Five folds of tables of `raw_tables.py`: the most probable tree, the average over the default
chains, the average over the default particles, CART tuned by cross-validation, a random forest and
gradient boosting; and how well the default chains mix. With `--peers` also an EBM and BART, on the
tables of two classes, as stochtree's classifier has no more. Every fit is a job on one core.
Results are kept one line per fit in OUT.jsonl; a run that was interrupted continues where it
stopped.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import warnings
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import raw_tables
from maptree import MAPTreeClassifier, MCMCTreeClassifier, MixingWarning, SMCTreeClassifier
from raw_generalisation import (
    FOLDS,
    LEAST,
    LIMIT_IS_FOR,
    LONGEST,
    Row,
    cart,
    each,
    folds,
    means,
    measure,
    scores,
)
from report import facts, number, table

TREE, CHAINS, PARTICLES = "tree", "chains", "particles"
CART, FOREST, BOOSTING = "CART", "forest", "boosting"
SETTINGS = [TREE, CHAINS, PARTICLES, CART, FOREST, BOOSTING]
EBM, BART, SHORT_BART = "EBM", "BART", "BART, 100 draws"
# And the packages that have them.
PEERS = {EBM: "interpret-core", BART: "stochtree", SHORT_BART: "stochtree"}
# From 150 to 32,561 rows, of numbers and mixed.
TABLES = [
    *("iris", "wine", "fgl", "ionosphere", "breast-cancer", "pima", "digits", "segment", "spam7"),
    *("page-blocks", "birthwt", "crabs", "penguins", "saheart", "crx", "titanic", "attrition"),
    *("hypothyroid", "churn", "compas", "adult"),
]
# Those of two classes. An EBM takes up to minutes for each fit: the quickest come first.
TWO_CLASSES = [
    *("birthwt", "crabs", "titanic", "saheart", "pima", "crx", "compas", "spam7", "ionosphere"),
    *("hypothyroid", "breast-cancer", "attrition", "churn", "digits", "adult"),
]


def job(name: str, fold: int, setting: str, limit: float) -> Row:
    """Fit on all folds but one, score on that one."""
    X, y, parts = folds(name)
    train, test = parts[fold]
    limit = max(limit, min(LONGEST, limit * len(X) / LIMIT_IS_FOR))
    started, processor = time.monotonic(), time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model, about = FITS[setting](X.iloc[train], y.iloc[train], limit)
    seconds, processor = time.monotonic() - started, time.process_time() - processor
    if setting == CHAINS:
        about["warned"] = float(any(w.category is MixingWarning for w in caught))
        about |= repeated(model, X, y, train, test) if fold == 0 else {}
    return {
        "table": name,
        "fold": fold,
        "setting": setting,
        **scores(model, X.iloc[test], y.iloc[test]),
        "seconds": seconds,
        "processor_seconds": processor,
        "rows": len(X),
        **about,
    }


def tree(X: Any, y: Any, limit: float) -> tuple[Any, Row]:
    model = MAPTreeClassifier(time_limit=limit).fit(X, y)
    return model, {"leaves": model.tree_.n_leaves}


def chains(X: Any, y: Any, limit: float) -> tuple[Any, Row]:
    model = MCMCTreeClassifier(random_state=0).fit(X, y)
    found = model.diagnostics()
    iterations = model.burn_in_ + model.n_samples * model.thin_
    known = not math.isnan(found.r_hat)
    return model, {
        "r_hat": found.r_hat if known else None,
        "ess": found.ess if known else None,
        "iterations": iterations,
        "leaves": float(model.weights_ @ model.trees_.n_leaves()),
    }


def repeated(model: Any, X: Any, y: Any, train: Any, test: Any) -> Row:
    """Compare the probabilities with those of chains with another seed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = MCMCTreeClassifier(random_state=1).fit(X.iloc[train], y.iloc[train])
    held_out = X.iloc[test]
    apart = np.abs(model.predict_proba(held_out) - other.predict_proba(held_out)).max(axis=1)
    return {"apart": float(apart.mean())}


def particles(X: Any, y: Any, limit: float) -> tuple[Any, Row]:
    model = SMCTreeClassifier(random_state=0).fit(X, y)
    return model, {"leaves": float(model.weights_ @ model.trees_.n_leaves())}


def forest(X: Any, y: Any, limit: float) -> tuple[Any, Row]:
    return _pipeline(RandomForestClassifier(500, random_state=0, n_jobs=1), X, y), {}


def boosting(X: Any, y: Any, limit: float) -> tuple[Any, Row]:
    return _pipeline(HistGradientBoostingClassifier(random_state=0), X, y), {}


def ebm(X: Any, y: Any, limit: float) -> tuple[Any, Row]:
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(random_state=0, n_jobs=1).fit(X, y), {}


def bart(X: Any, y: Any, limit: float) -> tuple[Any, Row]:
    """Sample as long as is usual for BART: stochtree's default is too short for some tables."""
    return _bart(X, y, num_gfr=0, num_burnin=1000, num_mcmc=1000)


def short_bart(X: Any, y: Any, limit: float) -> tuple[Any, Row]:
    return _bart(X, y)


def _bart(X: Any, y: Any, **lengths: int) -> tuple[Any, Row]:
    from stochtree import StochTreeBARTBinaryClassifier

    known = SimpleImputer(add_indicator=True)  # stochtree knows no missing values
    model = StochTreeBARTBinaryClassifier(general_params={"random_seed": 0}, **lengths)
    return _pipeline(make_pipeline(known, model), X, y), {}


def _pipeline(model: Any, X: Any, y: Any) -> Any:
    """Return a fitted pipeline with the preparation that CART has."""
    prepare = make_column_transformer(
        (
            OneHotEncoder(handle_unknown="ignore", max_categories=32),
            make_column_selector(dtype_exclude="number"),
        ),
        remainder="passthrough",
        sparse_threshold=0,
    )
    return make_pipeline(prepare, model).fit(X, y)


FITS = {
    TREE: tree,
    CHAINS: chains,
    PARTICLES: particles,
    CART: lambda X, y, limit: cart(X, y),
    FOREST: forest,
    BOOSTING: boosting,
    EBM: ebm,
    BART: bart,
    SHORT_BART: short_bart,
}

_SYSTEMS = {
    TREE: "`MAPTreeClassifier` within the limit",
    CHAINS: "`MCMCTreeClassifier()`",
    PARTICLES: "`SMCTreeClassifier()`",
    CART: "scikit-learn's tree with `max_depth` and `ccp_alpha` chosen by log loss in 3-fold "
    "cross-validation",
    FOREST: "`RandomForestClassifier(500)`",
    BOOSTING: "`HistGradientBoostingClassifier()`",
    EBM: "interpret's `ExplainableBoostingClassifier()`",
    BART: "stochtree's `StochTreeBARTBinaryClassifier` (200 trees, probit), 1,000 draws after "
    "1,000 that are not kept, missing numbers replaced by the mean, with a column that says where",
    SHORT_BART: "the same with its defaults, 100 draws after ten passes that grow the trees anew",
}
_CAPTION = (
    "Means over the folds. {}. All but the trees of this library and EBM come after one-hot "
    "encoding of the categories. Probabilities below "
    f"{LEAST} count as that. Processor seconds are those of `fit`, CART's with its tuning."
)
_MIXING = (
    "The default chains: the largest R-hat and the smallest effective sample size of the folds, "
    "iterations of a chain on average, on how many folds `fit` warned that they have not mixed, "
    "and the mean over held-out rows of the largest difference between the probabilities of two "
    "fits that differ in the seed alone (first fold)."
)


def markdown(document: dict[str, Any]) -> str:
    rows, settings = document["rows"], document["settings"]["settings"]
    about = {k: v for k, v in document["settings"].items() if k != "settings"}
    about["folds"] = f"{1 + max((row['fold'] for row in rows), default=-1)} of {FOLDS}"
    about |= {PEERS[name]: version(PEERS[name]) for name in settings if name in PEERS}
    systems = "; ".join(f"*{name}*: {_SYSTEMS[name]}" for name in settings)
    parts = [
        "# Averages over trees" + (", EBM and BART" if EBM in settings else ""),
        facts(document["environment"] | about),
        _CAPTION.format(systems),
    ]
    losses = means(rows, settings, "log_loss")
    if not losses:
        return "\n\n".join([*parts, "No table is complete yet."]) + "\n"
    accuracies = means(rows, settings, "accuracy")
    seconds = means(rows, settings, "processor_seconds")
    parts += ["## Summary", summary(losses, accuracies, seconds, settings)]
    if CHAINS in settings:
        parts += ["## Mixing", _MIXING, mixing([r for r in rows if r["table"] in losses])]
    parts += [
        "## Log loss",
        each(losses, settings, 4, least=True),
        "## Accuracy",
        each(accuracies, settings, 4, least=False),
        "## Processor seconds",
        each(seconds, settings, 2),
    ]
    return "\n\n".join(parts) + "\n"


def summary(
    losses: dict[str, list[float]],
    accuracies: dict[str, list[float]],
    seconds: dict[str, list[float]],
    settings: list[str],
) -> str:
    loss, accuracy, spent = (
        np.array([of[name] for name in losses]) for of in (losses, accuracies, seconds)
    )
    lines = []
    for i, setting in enumerate(settings):
        below = [
            str(int((loss[:, i] < loss[:, settings.index(other)]).sum()))
            if other in settings and other != setting
            else "-"
            for other in (TREE, BOOSTING)
        ]
        lines.append([
            setting,
            number(loss[:, i].mean(), 4),
            *below,
            str(int((loss[:, i] <= loss.min(axis=1) + 1e-6).sum())),
            number(accuracy[:, i].mean(), 4),
            str(int((accuracy[:, i] >= accuracy.max(axis=1) - 1e-6).sum())),
            number(np.median(spent[:, i]), 2),
            number(spent[:, i].max(), 1),
        ])  # fmt: skip
    header = ["", "log loss", "less than the tree's on", "than boosting's on", "least on"]
    header += ["accuracy", "most on", "median s", "most s"]
    return f"{len(losses)} tables: {', '.join(losses)}.\n\n" + table(header, lines)


def mixing(rows: list[Row]) -> str:
    of_chains = [row for row in rows if row["setting"] == CHAINS]
    lines = []
    for name in dict.fromkeys(row["table"] for row in of_chains):
        here = [row for row in of_chains if row["table"] == name]
        known = [row for row in here if row["r_hat"] is not None]
        apart = [row["apart"] for row in here if "apart" in row]
        lines.append([
            name,
            f"{here[0]['rows']:,}",
            number(max((row["r_hat"] for row in known), default=None), 3),
            number(min((row["ess"] for row in known), default=None), 0),
            f"{np.mean([row['iterations'] for row in here]):,.0f}",
            f"{sum(row['warned'] for row in here):.0f} of {len(here)}",
            number(apart[0] if apart else None, 3),
        ])  # fmt: skip
    header = ["table", "rows", "R-hat", "effective size", "iterations", "warned", "between seeds"]
    return table(header, lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--limit", type=float, default=1.0, help="seconds of a search of up to 10,000 rows (1)"
    )
    parser.add_argument("--jobs", type=int, default=1, help="fits at the same time (1)")
    parser.add_argument("--folds", type=int, default=FOLDS, help="of the five, this many (5)")
    parser.add_argument("--tables", nargs="+", metavar="NAME", choices=list(raw_tables.TABLES))
    parser.add_argument("--settings", nargs="+", default=SETTINGS, choices=SETTINGS)
    parser.add_argument("--peers", action="store_true",
                        help="also EBM and BART, on tables of two classes")  # fmt: skip
    parser.add_argument("--processor", action="store_true",
                        help="limits go by processor time, for a busy machine")  # fmt: skip
    parser.add_argument("--summary", action="store_true", help="only write the report again")
    parser.add_argument("--out", help="output path (bench/results/averages or averages-peers)")
    options = parser.parse_args()
    if options.peers:
        options.settings = [*options.settings, *PEERS]
    options.tables = options.tables or (TWO_CLASSES if options.peers else TABLES)
    options.out = options.out or f"bench/results/averages{'-peers' if options.peers else ''}"
    return measure(options, "averages", job, markdown)


if __name__ == "__main__":
    sys.exit(main())
