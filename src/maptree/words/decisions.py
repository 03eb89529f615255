"""``Decisions``: what probability thresholds and costs do on scored rows, in numbers and words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maptree.files.controls import shown
from maptree.trees.decisions import (
    AtThreshold,
    ClassDecisions,
    Floats,
    Scored,
    Thresholds,
    TotalCosts,
    at_thresholds,
    by_class,
    macro_roc_auc,
    total_costs,
)
from maptree.words.html_parts import fragment, paragraphs, table
from maptree.words.numbers import probability_text
from maptree.words.text_table import columns_of

_MOST = 12  # thresholds that are shown
_MOST_CLASSES = 20  # that are listed
_MATRIX = 6  # classes whose costs are shown
_WIDTH = 80  # characters of a line of words
_LABEL = 20  # characters of a class
_HEAD = ("threshold", "TP", "FP", "TN", "FN", "precision", "recall")

Cells = list[list[str]]


@dataclass(frozen=True)
class Decisions:
    """What probability thresholds and costs do on rows with known classes.

    ``print`` and notebooks show it as tables.

    Attributes
    ----------
    rows : float
        Number of rows, or the sum of their weights.
    unknown : float
        Those of classes that the model does not know. They count as wrong, and in nothing else.
    accuracy : float
        The share of rows whose most probable class is right.
    most_frequent, most_frequent_accuracy : str, float
        The most frequent class in training, and the accuracy of always predicting it.
    roc_auc : float or None
        Of two classes; of more the mean over classes, each against all others. None if the rows
        are all of one class.
    classes : tuple of ClassDecisions
        Precision, recall and ROC AUC of every class.
    positive : str or None
        The class that ``thresholds`` are about.
    thresholds : Thresholds or None
        Counts and costs at probability thresholds; None if there are more than two classes and
        none was asked for.
    costs : TotalCosts or None
        What ways to decide cost together, if costs are given.
    """

    rows: float
    unknown: float
    accuracy: float
    most_frequent: str
    most_frequent_accuracy: float
    roc_auc: float | None
    classes: tuple[ClassDecisions, ...]
    positive: str | None = None
    thresholds: Thresholds | None = None
    costs: TotalCosts | None = None

    def __str__(self) -> str:
        parts = [self.summary(), *self.tables()]
        return "\n".join(part if "\n" in part else fill(part, _WIDTH) for part in parts)

    def _repr_html_(self) -> str:
        parts = [paragraphs([self.summary()]), table(class_cells(self), "Classes")]
        if self.thresholds is not None:
            cells = threshold_cells(self)
            parts += [
                paragraphs([threshold_sentence(self)]),
                table(cells, "Thresholds", words=(), marked=best_rows(cells)),
                paragraphs([marks_sentence(self)], "hint"),
            ]
        if self.costs is not None:
            parts.append(paragraphs(cost_sentences(self)))
        return fragment(*parts)

    def tables(self) -> list[str]:
        """Return classes, thresholds and costs as text: tables, and sentences of one line."""
        parts = [columns_of(class_cells(self))]
        if self.thresholds is not None:
            parts += [threshold_sentence(self), columns_of(threshold_cells(self), left=0)]
            parts += [marks_sentence(self)]
        if self.costs is not None:
            parts += cost_sentences(self)
        return [part for part in parts if part]

    def summary(self) -> str:
        """Return ROC AUC and accuracy in a sentence or two."""
        words = (
            f"{auc_sentence(self)} Accuracy {probability_text(self.accuracy, 3)}; always "
            f"{_name(self.most_frequent)}: {probability_text(self.most_frequent_accuracy, 3)}."
        )
        if self.unknown:
            words += (
                f" {_count(self.unknown)} of {_count(self.rows)} rows have a class that the model "
                "does not know; counted as wrong, and in nothing else."
            )
        return words

    def document(self) -> dict[str, Any]:
        """Return the same for JSON."""
        found: dict[str, Any] = {
            "roc_auc": self.roc_auc,
            "most_frequent": {
                "class": self.most_frequent,
                "accuracy": self.most_frequent_accuracy,
            },
            "classes": {
                each.label: {
                    "rows": each.rows,
                    "predicted": each.predicted,
                    "precision": each.precision,
                    "recall": each.recall,
                    "roc_auc": each.roc_auc,
                }
                for each in self.classes
            },
            "positive": self.positive,
            "thresholds": None,
            "costs": None,
        }
        if self.thresholds is not None:
            found["thresholds"] = [
                vars(at)
                | {"precision": at.precision, "recall": at.recall, "marks": _marks(self, i)}
                for i, at in enumerate(self.thresholds.rows)
            ]
        if self.costs is not None:
            found["costs"] = vars(self.costs) | {"matrix": self.costs.matrix.tolist()}
        return found


def decide(
    probabilities: Floats,
    labels: NDArray[np.intp],
    names: Sequence[str],
    training_counts: NDArray[np.int64],
    leaves: NDArray[np.intp] | None = None,
    weights: Floats | None = None,
    costs: Floats | None = None,
    positive: int | None = None,
    thresholds: Floats | None = None,
) -> Decisions:
    """Compare class probabilities with class numbers; -1 is an unknown class.

    ``probabilities`` are those of rows or, with ``leaves``, of nodes. ``positive`` is the class
    that thresholds are about; with more than two classes, None is for no thresholds.

    >>> probabilities = np.array([[0.9, 0.1], [0.4, 0.6]])
    >>> rows = np.array([0, 0, 0, 1, 1])
    >>> print(decide(probabilities, np.array([0, 0, 1, 1, 0]), ["no", "yes"], np.array([6, 4]),
    ...     rows, positive=1, costs=np.array([[0.0, 1.0], [19.0, 0.0]])))
    ROC AUC 0.583. Accuracy 0.600; always no: 0.600.
    class  rows  predicted  precision  recall
    no        3          3      0.667   0.667
    yes       2          2      0.500   0.500
    If yes is predicted where its probability is at least the threshold (TP, FP:
    true and false positives; TN, FN: negatives):
    threshold  TP  FP  TN  FN  precision  recall  cost
          0.0   2   3   0   0      0.400   1.000     3  costs best
          0.5   1   1   2   1      0.500   0.500    20  predict
          1.0   0   0   3   2          -   0.000    38
    predict: the most probable class. costs: the class of least expected cost. best:
    least cost on these rows, found with their labels.
    Costs: no as yes 1, yes as no 19.
    Predicting the class of least expected cost costs 3 (0.600 per row; 0.700 were
    expected), the most probable class 20 (4.000), always yes 3 (0.600).
    """
    each = list(names)
    scored = Scored.of(probabilities, labels, leaves, weights)
    if len(scored.labels) == 0:
        raise ValueError("No row that counts has a class that the model knows: pass others.")
    total = float(len(labels) if weights is None else weights.sum())
    of_classes = by_class(scored, each)
    frequent = int(training_counts.argmax())
    if positive is None and len(each) == 2:
        positive = 1
    table = None
    if positive is not None and len(each) > 1:
        table = at_thresholds(scored, positive, costs if len(each) == 2 else None, thresholds)
    return Decisions(
        rows=total,
        unknown=total - float(scored.weights.sum()) if (labels < 0).any() else 0.0,
        accuracy=sum(k.right for k in of_classes) / total,
        most_frequent=each[frequent],
        most_frequent_accuracy=of_classes[frequent].rows / total,
        roc_auc=macro_roc_auc(scored),
        classes=of_classes,
        positive=None if table is None or positive is None else each[positive],
        thresholds=table,
        costs=None
        if costs is None
        else total_costs(scored, costs, training_counts / training_counts.sum(), each),
    )


def auc_sentence(decisions: Decisions) -> str:
    """Return the ROC AUC, or why there is none."""
    if decisions.roc_auc is None:
        return "No ROC AUC: the rows are all of one class."
    digits = probability_text(decisions.roc_auc, 3)
    if len(decisions.classes) <= 2:
        return f"ROC AUC {digits}."
    without = sum(each.roc_auc is None for each in decisions.classes)
    rest = f"; {without:,} without rows left out" if without else ""
    return f"ROC AUC {digits}, the mean over classes, each against all others{rest}."


def class_cells(decisions: Decisions) -> Cells:
    """Return precision and recall of the classes as a table."""
    listed = decisions.classes
    if len(listed) > _MOST_CLASSES:
        listed = tuple(sorted(listed, key=lambda each: -each.rows)[:_MOST_CLASSES])
    areas = len(listed) > 2  # of two classes, both are the same
    rows = [["class", "rows", "predicted", "precision", "recall", *["ROC AUC"] * areas]]
    for each in listed:
        shares = [each.precision, each.recall, *[each.roc_auc] * areas]
        counts = [_count(each.rows), _count(each.predicted)]
        rows.append([_name(each.label), *counts, *map(_share, shares)])
    if len(listed) < len(decisions.classes):
        rows.append([f"{len(decisions.classes) - len(listed):,} more", *[""] * (len(rows[0]) - 1)])
    return rows


def threshold_sentence(decisions: Decisions) -> str:
    """Return what the table of thresholds shows."""
    return (
        f"If {_name(decisions.positive)} is predicted where its probability is at least the "
        "threshold (TP, FP: true and false positives; TN, FN: negatives):"
    )


def threshold_cells(decisions: Decisions) -> Cells:
    """Return counts and costs at thresholds as a table; the last column has the marks."""
    table = decisions.thresholds
    assert table is not None
    priced = table.rows[0].cost is not None
    rows = [[*_HEAD, *["cost"] * priced, ""]]
    for i in table.few(_MOST):
        at = table.rows[i]
        cost = [] if at.cost is None else [_amount(at.cost)]
        rows.append([*_counts(at), *cost, " ".join(_marks(decisions, i))])
    return rows


def best_rows(cells: Cells) -> list[int]:
    """Return the rows of the table of thresholds that are marked as the best."""
    return [i for i, row in enumerate(cells) if i and "best" in row[-1]]


def _counts(at: AtThreshold) -> list[str]:
    numbers = (at.true_positives, at.false_positives, at.true_negatives, at.false_negatives)
    threshold = "none" if at.threshold == math.inf else str(at.threshold)
    return [threshold, *map(_count, numbers), _share(at.precision), _share(at.recall)]


def _marks(decisions: Decisions, i: int) -> list[str]:
    table = decisions.thresholds
    assert table is not None
    places = {
        "predict": table.most_probable,
        "costs": table.least_expected,
        "best": table.best,
    }
    return [mark for mark, place in places.items() if place == i]


def marks_sentence(decisions: Decisions) -> str:
    """Return what the marks mean, and how many thresholds are not shown."""
    table = decisions.thresholds
    assert table is not None
    words = []
    if table.most_probable is not None:
        words.append("predict: the most probable class.")
    if table.least_expected is not None:
        words.append("costs: the class of least expected cost.")
    if table.best is not None:
        words.append("best: least cost on these rows, found with their labels.")
    hidden = len(table.rows) - len(table.few(_MOST))
    if hidden:
        words.append(f"{hidden:,} thresholds in between are not shown.")
    return " ".join(words)


def cost_sentences(decisions: Decisions) -> list[str]:
    """Return what predictions cost, and what ways to decide cost together."""
    costs = decisions.costs
    assert costs is not None
    known = decisions.rows - decisions.unknown

    def each(total: float) -> str:
        return f"{_amount(total)} ({_amount(total / known, 3)}"

    sentences = [
        f"Predicting the class of least expected cost costs {each(costs.least_expected)} per row; "
        f"{_amount(costs.expected / known, 3)} were expected), the most probable class "
        f"{each(costs.most_probable)}), always {_name(costs.constant_label)} "
        f"{each(costs.constant)})."
    ]
    names = [_name(of_class.label) for of_class in decisions.classes]
    if len(names) <= _MATRIX:
        entries = [
            f"{names[i] if i != j else f'right {names[i]}'}"
            f"{f' as {names[j]}' if i != j else ''} {_amount(cost)}"
            for i, row in enumerate(costs.matrix.tolist())
            for j, cost in enumerate(row)
            if i != j or cost
        ]
        sentences.insert(0, f"Costs: {', '.join(entries)}.")
    return sentences


def _name(label: str | None) -> str:
    """Return a class, shortened in the middle: long names often differ at the end."""
    name = shown(label)
    if len(name) <= _LABEL:
        return name
    tail = _LABEL // 2 - 2
    return f"{name[: _LABEL - tail - 3]}...{name[-tail:]}"


def _count(number: float) -> str:
    return f"{number:,.0f}" if number == round(number) else f"{number:,.1f}"


def _amount(cost: float, digits: int = 2) -> str:
    if digits == 2 and cost == round(cost):
        return f"{cost:,.0f}"
    return f"{cost:,.{digits}f}" if cost == 0 or cost >= 0.01 else f"{cost:.2g}"


def _share(value: float | None) -> str:
    return "-" if value is None else probability_text(value, 3)
