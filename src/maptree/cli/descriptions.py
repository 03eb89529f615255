"""A fitted tree, its columns and its scores, as commands print them and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maptree.cli.averaged import average_json
from maptree.cli.task import CLASSES, COUNT, NUMBER
from maptree.files.controls import shown
from maptree.schema.columns import Column
from maptree.trees.fitted import FittedTree
from maptree.trees.measured_scores import MeasuredScores
from maptree.trees.outcomes import Measured, Numbers
from maptree.trees.scores import Scores
from maptree.trees.training import HeldOutScores
from maptree.words.baselines import TREE
from maptree.words.certificate import certificate_sentences
from maptree.words.column_report import categories_tested, report, thinned, to_check
from maptree.words.measured_scores import (
    ABOUT_ERRORS,
    measured_cells,
    measured_sentences,
    short_number,
)
from maptree.words.numbers import probability_text, probability_texts
from maptree.words.text_table import columns_of
from maptree.words.tree_text import rules
from maptree.words.values import count

if TYPE_CHECKING:
    from maptree.cli.target import Target

# What notes advise, and the option for it.
_OPTIONS = {
    "set decimal to a comma": "pass --decimal ,",
    "set dates to dmy or mdy": "pass --dates dmy or --dates mdy",
    "drop the column": "pass --drop {name}",
}
_MOST = 20  # columns or classes in a list
_WHOLE = 50  # tables of up to this many columns are shown whole
_ALL_CLASSES = 60  # up to this many classes are all listed
_ALIKE = 5  # more columns with the same reason are counted, not listed
_MOST_CLASSES = 6  # in a confusion matrix
_MOST_ZEROS = 100  # classes, up to which a confusion matrix in JSON has all its zeros
_SHOWN = 16  # characters of a class name


# The target


def classes_text(counts: Iterable[tuple[object, int]]) -> str:
    """List the classes with their rows; of very many, those with the most rows.

    >>> classes_text([("no", 1200), ("yes", 7)])
    'no 1,200, yes 7'
    """
    listed = list(counts)
    more = ""
    if len(listed) > _ALL_CLASSES:
        more = f" and {len(listed) - _MOST:,} more classes"
        listed = sorted(listed, key=lambda each: -each[1])[:_MOST]
    return ", ".join(f"{shown(label)} {n:,}" for label, n in listed) + more


def target_text(target: Target, exposure: NDArray[np.float64] | None = None) -> str:
    """Describe the target of a fit: its classes, or its numbers."""
    if not target.measured:
        return classes_text(target.counts.items())
    y = target.labels
    least, most = short_number(y.min()), short_number(y.max())
    if target.task == NUMBER:
        unit = float(np.abs(y).max()) or 1.0  # sums of large numbers would be infinite
        mean, sd = (
            short_number(unit * float(one)) for one in ((y / unit).mean(), (y / unit).std())
        )
        return f"numbers from {least} to {most}, mean {mean}, standard deviation {sd}"
    events = f"counts from {least} to {most}, {count(int(y.sum()), 'event')} in {len(y):,} rows"
    return events if exposure is None else f"{events} with exposure {short_number(exposure.sum())}"


def outcome_text(fitted: FittedTree) -> str:
    """Describe what a model predicts, from what it knows about its training rows."""
    measured, training = fitted.measured, fitted.training
    if measured is None:
        shares = zip(fitted.classes, training.class_counts, strict=True)
        return f"Classes: {classes_text(shares)}."
    if isinstance(measured, Numbers):
        mean, sd = short_number(measured.mean), short_number(measured.sd)
        return f"A number: mean {mean}, standard deviation {sd}."
    rate = short_number(measured.rate / measured.exposure)
    events = count(int(fitted.tree.sums[0, 0]), "event")
    per = f", {rate} per unit of exposure" if measured.exposed else f", {rate} per row"
    return f"A count: {events}{per}."


# The tree


def certificate_text(fitted: FittedTree) -> str:
    """Return what is proved, and what to do if that is not enough."""
    lines = certificate_sentences(fitted)
    if fitted.certificate is not None and fitted.certificate.status == "time_limit":
        lines.insert(-1, "A longer --time-limit may find a better tree, or prove this one.")
    return "\n".join(lines)


def model_document(fitted: FittedTree) -> dict[str, Any]:
    """Return a fitted tree for ``--json``."""
    training = asdict(replace(fitted.training, seen=None))
    del training["seen"]  # hashes, which say nothing to a reader
    importances = fitted.importances if fitted.importances is not None else ()
    shares = zip(fitted.schema.names, importances, strict=False)
    return {
        "target": training["target"],
        "task": task_of(fitted),
        "classes": fitted.classes.tolist(),
        "outcome": None if fitted.measured is None else _outcome_document(fitted.measured),
        "training": training,
        "prior": _prior_document(fitted),
        "constraints": _constraints_document(fitted),
        "certificate": None if fitted.certificate is None else fitted.certificate.numbers(),
        "tree": {
            "leaves": fitted.tree.n_leaves,
            "depth": fitted.tree.depth,
            "rules": rules(fitted),
        },
        "average": average_json(fitted),
        "importances": {name: share for name, share in shares if share > 0},
        "columns": [_column_document(fitted, column) for column in fitted.schema.columns],
    }


def task_of(fitted: FittedTree) -> str:
    """Return what ``--task`` would be."""
    if fitted.measured is None:
        return CLASSES
    return NUMBER if isinstance(fitted.measured, Numbers) else COUNT


def _outcome_document(measured: Measured) -> dict[str, Any]:
    """Return what is known about the numbers or counts of all training rows."""
    if isinstance(measured, Numbers):
        return {"mean": measured.mean, "standard_deviation": measured.sd}
    rate = measured.rate / measured.exposure
    return {"rate": rate, "mean_exposure": measured.exposure if measured.exposed else None}


def _prior_document(fitted: FittedTree) -> dict[str, Any]:
    prior = fitted.prior
    weights = zip(fitted.schema.names, prior.column_weights, strict=False)
    return {
        "alpha": prior.alpha,
        "beta": prior.beta,
        **(
            {"rho": prior.rho.tolist()}
            if fitted.measured is None
            else asdict(fitted.measured.prior)
        ),
        "split_prior": prior.split_prior,
        "column_weights": {name: weight for name, weight in weights if weight != 1},
    }


def _constraints_document(fitted: FittedTree) -> dict[str, Any]:
    """Return the constraints on trees, with the names of columns in place of their positions."""
    names = fitted.schema.names
    return {
        name: [names[j] for j in value] if isinstance(value, tuple) else value
        for name, value in asdict(fitted.constraints).items()
    }


def _column_document(fitted: FittedTree, column: Column) -> dict[str, Any]:
    document: dict[str, Any] = {
        "name": column.name,
        "kind": column.kind,
        "tests": len(column.tests),
    }
    if fitted.schema.takes_missing:
        document["missing"] = column.has_missing
    return document | {"note": column.note}


# Columns


def left_out(fitted: FittedTree) -> list[tuple[str, str]]:
    """Return the columns that no tree can test, and why."""
    return [(column.name, _why(column)) for column in fitted.schema.columns if not column.tests]


def _why(column: Column) -> str:
    if column.kind == "unread":
        return "not read before the time limit; raise --time-limit"
    if column.note:
        return _as_options(column, column.note)
    return "one value in all rows" if column.kind == "constant" else f"{column.kind}, no test"


def pointed_out(fitted: FittedTree) -> list[tuple[str, str]]:
    """Return the columns with something to check, and what: how text was read, row numbers."""
    return [
        (column.name, _as_options(column, part))
        for column in fitted.schema.columns
        if column.tests
        for part in to_check(column)
    ]


def columns_in_sets(fitted: FittedTree) -> list[tuple[str, str]]:
    """Return the columns whose categories are tested in sets, and of how many."""
    return [(column.name, column.note) for column in fitted.schema.columns if column.kind == "sets"]


def columns_of_many_categories(fitted: FittedTree) -> list[tuple[str, str]]:
    """Return the columns of which only the most frequent categories are tested, and how many."""
    columns = [column for column in fitted.schema.columns if column.kind != "sets"]
    return [(column.name, said) for column in columns if (said := categories_tested(column))]


def thinned_columns(fitted: FittedTree) -> list[str]:
    """Return a line about the columns that have more thresholds than tests, if there are any."""
    columns = [column for column in fitted.schema.columns if column.kind != "sets"]
    found = {c.name: numbers for c in columns if (numbers := thinned(c))}
    if not found:
        return []
    names = [shown(name) for name in found]
    named = ", ".join(names) if len(names) <= _ALIKE else f"{len(names):,} columns"
    most = max(n for n, _ in found.values())
    of = max(n for _, n in found.values())
    at_most = f"{most:,} thresholds" if len(names) == 1 else f"at most {most:,} thresholds each"
    return [f"{named}: {at_most}, by quantile, of {'' if len(names) == 1 else 'up to '}{of:,}"]


def _as_options(column: Column, note: str) -> str:
    """Return a note in terms of command-line options."""
    for advice, option in _OPTIONS.items():
        note = note.replace(advice, option.format(name=shown(column.name)))
    return note


def reasons(columns: Sequence[tuple[str, str]]) -> list[str]:
    """Return lines for columns that were left out, with the reason.

    >>> reasons([("id", "dropped"), *((f"x{j}", "one value in all rows") for j in range(4000))])
    ['id: dropped', "4,000 columns, such as 'x0': one value in all rows"]
    """
    n_with = Counter(why for _, why in columns)
    first = {why: name for name, why in reversed(columns)}
    lines = [f"{shown(name)}: {shown(why)}" for name, why in columns if n_with[why] <= _ALIKE]
    if len(lines) > _MOST:
        lines = [*lines[:_MOST], f"and {len(lines) - _MOST:,} more; --json lists all"]
    return lines + [
        f"{n:,} columns, such as {first[why]!r}: {shown(why)}"
        for why, n in n_with.items()
        if n > _ALIKE
    ]


def columns_text(fitted: FittedTree) -> str:
    """Return how each column was used; in wide tables, those that the tree tests come first."""
    schema, used = fitted.schema, fitted.used_columns
    if not schema.takes_missing:
        listed, n_more = _first(range(len(schema.columns)), used, len(schema.columns))
        about = [(column.name, column.note or "0 or 1") for column in schema.columns]
        return columns_of([[*about[j]] for j in listed], left=2) + _and_more(n_more)
    columns = [
        replace(column, name=shown(column.name), note=_as_options(column, column.note))
        for column in schema.columns
    ]
    if len(columns) <= _WHOLE:
        return report(columns)
    with_tests = [j for j, column in enumerate(columns) if column.tests]
    listed, n_more = _first(with_tests, used, len(columns))
    without = "".join(f"\n{line}" for line in reasons(left_out(fitted)))
    return report([columns[j] for j in listed]) + _and_more(n_more) + without


def _first(columns: Sequence[int], used: Sequence[int], n_columns: int) -> tuple[list[int], int]:
    """Return the columns to list, in their order, and how many others there are."""
    most = len(columns) if n_columns <= _WHOLE else max(_MOST, len(used))
    listed = sorted(sorted(columns, key=lambda j: j not in used)[:most])
    return listed, len(columns) - len(listed)


def _and_more(n_more: int) -> str:
    return f"\nand {n_more:,} more that the tree does not test" if n_more else ""


# Scores


def scores_sentence(scores: Scores | HeldOutScores) -> str:
    """Return the numbers that a model file holds, too."""
    accuracy, log_loss, calibration = (
        probability_text(value, 3)
        for value in (scores.accuracy, scores.log_loss, scores.calibration_error)
    )
    area = "" if scores.roc_auc is None else f", ROC AUC {probability_text(scores.roc_auc, 3)}"
    return f"Accuracy {accuracy}, log loss {log_loss} nats, calibration error {calibration}{area}."


def scores_text(scores: Scores) -> str:
    """Put scores into words."""
    lines = [scores_sentence(scores)]
    if scores.unknown:
        lines.append(
            f"{scores.unknown:,} rows have a class that the model does not know; counted as wrong "
            "and left out of the log loss."
        )
    lines.append("Calibration: predicted probability, and share of correct predictions.")
    rows = [["  probability", "rows", "predicted", "right"]]
    shares = (
        probability_texts((b.probability for b in scores.bins), 3),
        probability_texts((b.right for b in scores.bins), 3),
    )
    rows += [
        [f"  {b.low:.1f} to {b.high:.1f}", f"{b.rows:,}", predicted, right]
        for b, predicted, right in zip(scores.bins, *shares, strict=True)
    ]
    return "\n".join([*lines, columns_of(rows)])


def measured_text(scores: MeasuredScores) -> str:
    """Put scores of numbers or counts into words, next to those of others."""
    lines = measured_sentences(scores)
    if scores.rows > 1:
        lines.append(ABOUT_ERRORS)
    cells = measured_cells(scores.as_baseline(TREE), scores.baselines)
    return "\n".join([*lines, *([columns_of(cells)] if scores.baselines else [])])


def confusion_text(scores: Scores, classes: Sequence[str]) -> str:
    """Return the confusion matrix as text."""
    short = [name if len(name) <= _SHOWN else f"{name[: _SHOWN - 3]}..." for name in classes]
    if len(classes) <= _MOST_CLASSES and sum(map(len, short)) + 2 * len(short) + _SHOWN < 78:
        table = scores.confusion
        rows = [["  label", *short]]
        rows += [[f"  {name}", *(f"{n:,}" for n in table[k])] for k, name in enumerate(short)]
        if table[-1].any():
            rows.append(["  (unknown)", *(f"{n:,}" for n in table[-1])])
        return f"Confusion: labels down, predictions across.\n{columns_of(rows)}"
    names = [*short, "(unknown)"]  # which is label -1
    wrong: list[tuple[int, str, str]] = [
        (n, names[i], short[j])
        for i, j, n in sorted(scores.confusions.tolist(), key=lambda pair: pair[0] % len(names))
        if i != j
    ]
    wrong.sort(key=lambda entry: -entry[0])
    rows = [["  label", "prediction", "rows"]]
    rows += [[f"  {a}", b, f"{n:,}"] for n, a, b in wrong[:10]]
    return f"The most frequent confusions:\n{columns_of(rows, left=2)}"


def scores_document(scores: Scores, classes: Sequence[str]) -> dict[str, Any]:
    """Return scores for ``--json``."""
    return {
        "rows": scores.rows,
        "accuracy": scores.accuracy,
        "log_loss": scores.log_loss,
        "calibration_error": scores.calibration_error,
        "roc_auc": scores.roc_auc,
        "unknown": scores.unknown,
        "calibration": [vars(b) for b in scores.bins],
        "confusion": _confusion_document(scores, classes),
    }


def _confusion_document(scores: Scores, classes: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return the rows of each label by prediction; with many classes, without those of 0 rows."""
    zeros = dict.fromkeys(classes, 0) if len(classes) <= _MOST_ZEROS else {}
    document = {name: dict(zeros) for name in classes}
    for label, prediction, rows in scores.confusions.tolist():
        if label >= 0:
            document[classes[label]][classes[prediction]] = rows
    return document


def measured_document(scores: MeasuredScores) -> dict[str, Any]:
    """Return scores of numbers or counts for ``--json``."""
    return {name: value for name, value in asdict(scores).items() if value != ""}
