"""The steps of ``maptree fit``."""

from __future__ import annotations

import contextlib
import math
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from maptree.cli.averaged import say_average
from maptree.cli.baselines import Baselines
from maptree.cli.descriptions import (
    certificate_text,
    classes_text,
    columns_in_sets,
    columns_of_many_categories,
    left_out,
    model_document,
    pointed_out,
    reasons,
    scores_document,
    scores_text,
    thinned_columns,
)
from maptree.cli.files import Source
from maptree.cli.mistakes import UNUSABLE, Refusal, interrupted_code
from maptree.cli.screen import Panel, complain, emit, heading, say
from maptree.cli.settings import Averaging, Plan
from maptree.cli.streams import OutputLost, written
from maptree.cli.target import Target
from maptree.cli.training_table import TrainingTable
from maptree.engine.interrupts import Noted
from maptree.files.controls import shown
from maptree.model_file import SHARED, StoredModel
from maptree.model_file.writing import write_model
from maptree.trees.fitted import FittedTree
from maptree.trees.scores import Scores, score
from maptree.trees.training import BaselineScores
from maptree.words.baselines import AVERAGE, TREE, comparison_cells
from maptree.words.certificate import size_sentence
from maptree.words.text_table import columns_of
from maptree.words.tree_text import indented, shown_depth

Rows = NDArray[np.intp]

_MOST_LINES = 64  # of a tree on a terminal


def run_fit(plan: Plan, given: TrainingTable) -> int:
    """Fit, save, score and report; return the exit code."""
    source, target, table, set_aside = given.source, given.target, given.table, given.set_aside
    plan = replace(plan, parameters=plan.parameters | given.wishes)
    fit_on = np.arange(len(target.labels), dtype=np.intp)
    test_on: Rows | None = None
    held = plan.holding_out
    if held.test_fraction is not None:
        fit_on, test_on = _split(target.labels, held.test_fraction, held.seed)
    if held.cv is not None and held.cv > len(fit_on):
        raise Refusal(f"--cv {held.cv}: there are only {len(fit_on):,} rows. Pass fewer folds.")
    if not plan.as_json:
        # If nobody reads it, the model may still be wanted; what is printed later raises again.
        with contextlib.suppress(OutputLost):
            say_what_was_read(source, target)
    # What was found is saved before anything else can go wrong, such as printing it.
    with Noted() as interrupt:
        model = _fit(plan, table, target, fit_on, "Searching for the most probable tree")
        model = replace(model, fitted=model.fitted.with_training(target=target.name))
        saved = _save(model, plan.model_path)
        interrupted = interrupt.arrived() or was_interrupted(model.fitted)
    if not plan.as_json:
        _say_model(model.fitted, set_aside, saved)
    scores, method, baselines = None, "", list[BaselineScores]()
    if not interrupted and (test_on is not None or held.cv is not None):
        if not plan.as_json:
            heading("On held-out rows")
        with Noted() as interrupt:
            scores, baselines, method = _measure(plan, model.fitted, table, target, test_on)
            interrupted = scores is None
            if scores is not None:
                kept = scores.kept(method, baselines)
                scored = model.fitted.with_training(held_out=kept)
                model = replace(model, fitted=scored)
                saved = _save(model, saved.place or plan.model_path, saved)
            interrupted = interrupt.arrived() or interrupted
    if plan.as_json:
        document = _document(
            plan, model.fitted, source, target, set_aside, scores, method, baselines
        )
        fault = {"error": {"code": UNUSABLE, "message": saved.fault}} if saved.fault else {}
        emit(document | {"model_file": saved.place} | fault)
    else:
        name = TREE if model.fitted.average is None else AVERAGE
        _say_end(saved, scores, method, name, baselines, interrupted)
    if saved.fault:
        return UNUSABLE
    return interrupted_code() if interrupted else 0


@dataclass(frozen=True)
class Saved:
    """Where a model was saved, if anywhere, and what went wrong."""

    place: str | None
    fault: str = ""


def _save(model: StoredModel, path: str, earlier: Saved | None = None) -> Saved:
    """Save a model; if it cannot be written where it should be, in a folder for temporary files.

    ``earlier``: where the same model was saved without its scores.
    """
    try:
        write_model(model, path)
        written(path)
        if earlier is not None and earlier.place == path:
            return earlier
        return Saved(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        fault = f"The model could not be written to {path}: {reason.removesuffix('.')}."
        if earlier is not None and earlier.place is not None:
            return Saved(earlier.place, f"{fault} That file has it without its scores.")
        if isinstance(error, ValueError):
            return Saved(None, f"{fault} It was not saved.")
    try:
        other = str(Path(tempfile.mkdtemp(prefix="maptree-")) / Path(path).name)
        write_model(model, other)
        written(other)
        return Saved(other, f"{fault} It was written to {other} instead: move it from there.")
    except OSError:
        return Saved(None, f"{fault} It was not saved.")


def _fit(plan: Plan, table: pa.Table, target: Target, rows: Rows, title: str) -> StoredModel:
    # Imported only after everything else was checked: scikit-learn is slow to import.
    from maptree.estimators.map_classifier import MAPTreeClassifier
    from maptree.estimators.saved import stored

    whole = len(rows) == table.num_rows
    X = table if whole else table.take(rows)
    labels = target.labels if whole else target.labels[rows]
    y = pa.array(labels) if labels.dtype.kind == "O" else labels
    with warnings.catch_warnings(), Panel(title, plan.parameters["time_limit"]) as panel:
        warnings.simplefilter("ignore")  # the printed report has the same information
        encoder = encoder_of(plan, table)
        model = MAPTreeClassifier(**plan.parameters, encoder=encoder, callback=panel.update)
        model.fit(X, y)
    if plan.average is None or was_interrupted(model.fitted_):
        return stored(model)
    return stored(_averaged(plan, plan.average, model, X, y))


def _averaged(plan: Plan, average: Averaging, model: Any, X: Any, y: Any) -> Any:
    """Draw trees by chains that start from the tree of a fitted classifier."""
    from maptree.estimators.mcmc_classifier import MCMCTreeClassifier

    # The search has parameters of its own: limits of its work, and constraints, which were refused.
    shared = {name: plan.parameters[name] for name in SHARED if name in plan.parameters}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chains = MCMCTreeClassifier(
            **shared,
            **average.parameters(),
            encoder=model.encoder,
            initial_tree=model,
            random_state=plan.holding_out.seed,
        )
        return chains.fit(X, y)


def encoder_of(plan: Plan, table: pa.Table) -> Any:
    """Return the encoder: the usual one, unless an option changes its parameters."""
    from maptree.encoding.encoder import BinaryEncoder

    types = [field.type for field in table.schema]
    text = any(pa.types.is_string(kind) or pa.types.is_large_string(kind) for kind in types)
    dates, decimal = (plan.reading.dates, plan.reading.decimal) if text else (None, None)
    encoder = BinaryEncoder(
        plan.max_thresholds, dates=dates, decimal=decimal, category_sets=plan.category_sets
    )
    return "auto" if encoder.get_params() == BinaryEncoder().get_params() else encoder


def was_interrupted(fitted: FittedTree) -> bool:
    """Return whether Ctrl-C ended the search, or the sampling after it."""
    searching = fitted.certificate is not None and fitted.certificate.status == "interrupted"
    return searching or (fitted.average is not None and fitted.average.status == "interrupted")


def _measure(
    plan: Plan, fitted: FittedTree, table: pa.Table, target: Target, test_on: Rows | None
) -> tuple[Scores | None, list[BaselineScores], str]:
    """Return the scores (None if Ctrl-C ended it), the scores of baselines, and the method."""
    from maptree.tables.labels import numbers_among

    held = plan.holding_out
    if test_on is not None:
        codes = numbers_among(fitted.classes, target.labels[test_on], len(test_on))
        method = f"{held.test_fraction:g} of the rows, seed {held.seed}"
        probabilities, at = _predicted(fitted, table.take(test_on))
        scores = score(probabilities, codes, at)
        others = Baselines(table, target.labels, codes, fitted.classes, held.seed)
        fit_on = np.delete(np.arange(len(target.labels)), test_on)
        if not others.add(fitted, fit_on, test_on, np.arange(len(test_on))):
            return None, [], method
        return scores, others.scores(), method
    assert held.cv is not None
    fold = iter(range(1, held.cv + 1))

    patient = replace(plan, parameters=plan.parameters | {"patience": plan.of_folds["patience"]})

    def fit(rows: Rows) -> FittedTree:
        return _fit(patient, table, target, rows, f"Cross-validation, fold {next(fold)}").fitted

    method = f"{held.cv}-fold cross-validation, seed {held.seed}"
    return *_cross_validate(fit, table, target.labels, held.cv, held.seed), method


def _predicted(fitted: FittedTree, X: pa.Table) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return class probabilities, and for each row which of them are its own."""
    from maptree.encoding.answering import predicted, read_answers

    # Text that only held-out rows have may not be readable like that of the others.
    return predicted(fitted, read_answers(fitted.schema, X, strict=False))


def _split(labels: NDArray[Any], fraction: float, seed: int) -> tuple[Rows, Rows]:
    """Return the rows to fit on and the rows to hold out, with the same share of each class."""
    held_out = round(len(labels) * fraction)
    _, counts = np.unique(labels, return_counts=True)
    if not 1 <= held_out < len(labels):
        raise Refusal(
            f"--test-fraction {fraction:g} of {len(labels):,} rows leaves none to fit on or none "
            "to test on: pass another fraction, or --cv."
        )
    from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

    even = counts.min() >= 2 and min(held_out, len(labels) - held_out) >= len(counts)
    kind = StratifiedShuffleSplit if even else ShuffleSplit
    splitter = kind(n_splits=1, test_size=held_out, random_state=seed)
    fit_on, test_on = next(splitter.split(labels, labels))
    return np.sort(fit_on), np.sort(test_on)


def _cross_validate(
    fit: Callable[[Rows], FittedTree],
    table: pa.Table,
    labels: NDArray[Any],
    n_folds: int,
    seed: int,
) -> tuple[Scores | None, list[BaselineScores]]:
    """Return the scores of all rows, each predicted by a tree fitted on other folds.

    Baselines are fitted on the same folds. The scores are None if Ctrl-C ended it.
    """
    from sklearn.model_selection import KFold, StratifiedKFold

    classes, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    kind = StratifiedKFold if counts.min() >= n_folds else KFold
    splitter = kind(n_splits=n_folds, shuffle=True, random_state=seed)
    # Of the nodes of all trees; with many classes, those of the rows would take far more memory.
    # An average has those of the rows.
    nodes: list[NDArray[np.float64]] = []
    leaves = np.empty(len(labels), dtype=np.intp)
    others = Baselines(table, labels, codes, classes, seed)
    for fit_on, test_on in splitter.split(labels, labels):
        fitted = fit(fit_on)
        if was_interrupted(fitted) or not others.add(fitted, fit_on, test_on, test_on):
            return None, []
        known = np.searchsorted(classes, fitted.classes)
        probabilities, at = _predicted(fitted, table.take(test_on))
        leaves[test_on] = sum(map(len, nodes)) + at
        nodes.append(np.zeros((len(probabilities), len(classes))))
        nodes[-1][:, known] = probabilities
    return score(np.concatenate(nodes), codes, leaves), others.scores()


def say_what_was_read(source: Source, target: Target) -> None:
    """Print the size of the table, the classes, and rows that were left out."""
    say(f"{source.name}: {source.table.num_rows:,} rows, {len(source.columns):,} columns.")
    shares = classes_text(target.counts.items())
    say(f"Target {shown(target.name)}: {shares}.", indent="  ")
    if target.n_unlabelled:
        say(f"{target.n_unlabelled:,} rows without a target were left out.")
    if target.note:
        say(f"{shown(target.name)} has {target.note}.")


def say_columns(fitted: FittedTree, set_aside: list[tuple[str, str]]) -> None:
    """Print which columns were left out, and what to know of the others."""
    without = [*set_aside, *left_out(fitted)]
    if without:
        heading("Columns left out")
        for line in reasons(without):
            say(f"  {line}", indent="    ")
    found = [*pointed_out(fitted), *columns_in_sets(fitted), *columns_of_many_categories(fitted)]
    notes = [*reasons(found), *thinned_columns(fitted)]
    if notes:
        heading("Notes on columns")
        for line in notes:
            say(f"  {line}", indent="    ")


def _say_model(fitted: FittedTree, set_aside: list[tuple[str, str]], saved: Saved) -> None:
    say_columns(fitted, set_aside)
    heading("The tree" if fitted.average is None else "The most probable tree")
    # A terminal keeps few lines in sight; a pipe or a file takes all of them.
    whole = saved.place is None or not sys.stdout.isatty()
    depth = math.inf if whole else shown_depth(fitted.tree, _MOST_LINES)
    say(indented(fitted, depth), indent="    ")
    say(size_sentence(fitted))
    if depth < math.inf:
        say(f"Shown to depth {depth}. All of it: maptree show {saved.place}")
    heading("Certificate")
    say(certificate_text(fitted))
    if fitted.average is not None:
        say_average(fitted)


def _say_end(
    saved: Saved,
    scores: Scores | None,
    method: str,
    name: str,
    baselines: list[BaselineScores],
    interrupted: bool,
) -> None:
    if scores is not None:
        say(f"{method[0].upper()}{method[1:]}: {scores.rows:,} rows.")
        say(scores_text(scores))
        say(columns_of(comparison_cells(scores.as_baseline(name), baselines)))
    elif interrupted:
        kept = "" if saved.place is None else " the best tree so far was kept. It"
        say(f"\nInterrupted:{kept or ' the tree'} was not scored.")
    else:
        say("\nNo rows were held out. Pass --cv 5 or --test-fraction 0.2 to score it on new rows.")
    if saved.fault:
        complain(saved.fault, UNUSABLE, as_json=False)
    else:
        say(f"\nModel written to {saved.place}.")


def _document(
    plan: Plan,
    fitted: FittedTree,
    source: Source,
    target: Target,
    set_aside: list[tuple[str, str]],
    scores: Scores | None,
    method: str,
    baselines: list[BaselineScores],
) -> dict[str, Any]:
    held_out = None
    if scores is not None:
        classes = [str(label) for label in np.unique(target.labels)]
        held_out = {"method": method} | scores_document(scores, classes)
        held_out["baselines"] = [vars(baseline) for baseline in baselines]
    notes = [*([(target.name, target.note)] if target.note else []), *pointed_out(fitted)]
    return {
        "command": "fit",
        "data": plan.data,
        "rows": source.table.num_rows,
        "rows_without_target": target.n_unlabelled,
        "left_out": [{"name": n, "reason": why} for n, why in [*set_aside, *left_out(fitted)]],
        "held_out": held_out,
        "notes": [f"{name}: {what}" for name, what in notes],
        "model_file": plan.model_path,
        "model": model_document(fitted),
    }
