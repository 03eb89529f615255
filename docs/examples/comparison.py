"""Several systems on the same folds of the same table: how well they predict, how large they are.

A system is a function from a table and its labels to one or more fitted models.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold, StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from maptree import MAPTreeClassifier

# A forest, or a tree with pure leaves, may call a class impossible. One such row that comes true
# would make its log loss infinite, so all probabilities, ours too, are kept this far from 0 and 1.
LEAST = 0.001

CART_GRID = {
    "max_depth": [2, 4, 6, 8, 12, None],
    "min_samples_leaf": [1, 5, 20, 80],
    "ccp_alpha": [0.0, 0.0003, 0.001],
}
N_TREES = 300
N_PAIRS = 10  # of columns in an EBM; its default, three for every column, takes four times as long


@dataclass(frozen=True)
class Fitted:
    """A model with ``predict_proba`` and ``classes_``, what it is called, and how large it is."""

    name: str
    model: Any
    size: int
    unit: str = "leaves"


System = Callable[[pd.DataFrame, pd.Series], Iterator[Fitted]]


def map_tree(**parameters: Any) -> System:
    """Return ours, on the raw table, with these parameters.

    The clock does not stop it, so that the same limit gives the same trees on any machine.
    """
    words = ", ".join(f"{name}={value}" for name, value in parameters.items())

    def fit(X: pd.DataFrame, y: pd.Series) -> Iterator[Fitted]:
        model = MAPTreeClassifier(time_limit=None, **parameters).fit(X, y)
        yield Fitted(f"maptree, {words}", model, model.tree_.n_leaves)

    return fit


def cart(X: pd.DataFrame, y: pd.Series) -> Iterator[Fitted]:
    """Tune scikit-learn's tree by 3-fold cross-validation, once for either score."""
    prepare = _numbers()
    numbers = prepare.fit_transform(X)
    search = GridSearchCV(
        DecisionTreeClassifier(random_state=0),
        CART_GRID,
        scoring={"accuracy": "accuracy", "log loss": _clipped},
        refit=False,
        cv=StratifiedKFold(3, shuffle=True, random_state=0),
    ).fit(numbers, y)
    for score in search.scorer_:
        best = search.cv_results_["params"][search.cv_results_[f"rank_test_{score}"].argmin()]
        tree = DecisionTreeClassifier(random_state=0, **best).fit(numbers, y)
        model = make_pipeline(prepare, tree)
        yield Fitted(f"CART, tuned for {score}", model, tree.get_n_leaves())


def _clipped(tree: DecisionTreeClassifier, X: NDArray[np.float64], y: pd.Series) -> float:
    """Score as we do: scikit-learn's own log loss would punish a single pure leaf without end."""
    return -judge(tree.predict_proba(X), tree.classes_, y)[1]


def random_forest(X: pd.DataFrame, y: pd.Series) -> Iterator[Fitted]:
    """Grow scikit-learn's forest."""
    forest = RandomForestClassifier(N_TREES, random_state=0)
    model = make_pipeline(_numbers(), forest).fit(X, y)
    leaves = sum(tree.get_n_leaves() for tree in forest.estimators_)
    yield Fitted(f"random forest, {N_TREES} trees", model, leaves)


def ebm(X: pd.DataFrame, y: pd.Series) -> Iterator[Fitted]:
    """Fit interpret's explainable boosting machine: a sum of functions of one or two columns."""
    from interpret.glassbox import ExplainableBoostingClassifier

    boosted = ExplainableBoostingClassifier(interactions=N_PAIRS, random_state=0, n_jobs=1)
    model = make_pipeline(FunctionTransformer(_dates_as_days), boosted)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that its pictures leave out missing values and pairs
        model.fit(X, y)
    yield Fitted(f"EBM, {N_PAIRS} pairs", model, len(boosted.term_names_), "terms")


PEERS: tuple[System, ...] = (cart, random_forest, ebm)


def _numbers() -> Pipeline:
    """Return what makes numbers of a table: dates by day, a column of 0 and 1 for each category.

    A missing category is one of them. Missing numbers stay: scikit-learn's trees know them.
    """
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    text = make_column_selector(dtype_exclude=["number", "bool"])
    columns = make_column_transformer((one_hot, text), remainder="passthrough")
    return make_pipeline(FunctionTransformer(_dates_as_days), columns)


def _dates_as_days(X: pd.DataFrame) -> pd.DataFrame:
    dates = X.select_dtypes("datetime").columns
    return X.assign(**{name: (X[name] - pd.Timestamp(0)) / pd.Timedelta("1D") for name in dates})


@dataclass(frozen=True)
class Score:
    """How one model did on one fold."""

    name: str
    accuracy: float
    log_loss: float
    size: int
    unit: str
    seconds: float


def compare(
    X: pd.DataFrame, y: pd.Series, systems: Sequence[System], folds: int, repeats: int
) -> list[Score]:
    """Fit every system on the same parts of a table, and score it on the rows left out."""
    splits = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=0)
    scores = []
    for train, test in splits.split(X, y):
        for system in systems:
            started = time.process_time()
            for fitted in system(X.iloc[train], y.iloc[train]):
                seconds = time.process_time() - started
                model, known = fitted.model, y.iloc[test]
                accuracy, loss = judge(model.predict_proba(X.iloc[test]), model.classes_, known)
                size = int(fitted.size)  # some are numpy's, which JSON does not know
                score = Score(fitted.name, accuracy, loss, size, fitted.unit, seconds)
                scores.append(score)
    return scores


def judge(
    probabilities: NDArray[np.float64], classes: NDArray[Any], y: pd.Series
) -> tuple[float, float]:
    """Return accuracy and log loss, the latter from probabilities kept LEAST away from 0 and 1.

    >>> accuracy, loss = judge(np.array([[0.8, 0.2], [1.0, 0.0]]), np.array(["no", "yes"]),
    ...                        pd.Series(["no", "yes"]))
    >>> accuracy, round(loss, 3)
    (0.5, 3.565)
    """
    truth = np.searchsorted(classes, y)
    accuracy = np.mean(probabilities.argmax(axis=1) == truth)
    kept = probabilities.clip(LEAST, 1 - LEAST)
    kept /= kept.sum(axis=1, keepdims=True)
    return float(accuracy), float(-np.log(kept[np.arange(len(y)), truth]).mean())
