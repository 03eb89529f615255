"""Scores of a tree next to those of others on the same rows."""

from __future__ import annotations

from collections.abc import Sequence

from maptree.trees.training import BaselineScores
from maptree.words.numbers import probability_text

TREE, AVERAGE = "this tree", "this average"


def comparison_cells(tree: BaselineScores, baselines: Sequence[BaselineScores]) -> list[list[str]]:
    """Return a table of scores, the tree first.

    >>> comparison_cells(BaselineScores(TREE, 0.9, 0.25, 0.95), [])
    [['', 'accuracy', 'log loss', 'ROC AUC'], ['this tree', '0.900', '0.250', '0.950']]
    """
    each = [tree, *baselines]
    areas = any(one.roc_auc is not None for one in each)
    rows = [["", "accuracy", "log loss", *["ROC AUC"] * areas]]
    for one in each:
        numbers = [one.accuracy, one.log_loss, *[one.roc_auc] * areas]
        rows.append([one.name, *("-" if x is None else probability_text(x, 3) for x in numbers)])
    return rows
