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
from maptree.cli.descriptions import (
    certificate_text,
    columns_in_sets,
    columns_of_many_categories,
    left_out,
    model_document,
    pointed_out,
    reasons,
    target_text,
    thinned_columns,
)
from maptree.cli.files import Source
from maptree.cli.held_out import HeldOut, measure, split_rows
from maptree.cli.mistakes import UNUSABLE, Refusal, interrupted_code
from maptree.cli.screen import Panel, complain, emit, heading, say
from maptree.cli.settings import Averaging, Plan, estimator_parameters
from maptree.cli.streams import OutputLost, written
from maptree.cli.target import Target
from maptree.cli.training_table import TrainingTable
from maptree.engine.interrupts import Noted
from maptree.files.controls import shown
from maptree.model_file import SHARED, StoredModel
from maptree.model_file.writing import write_model
from maptree.trees.fitted import FittedTree
from maptree.words.certificate import size_sentence
from maptree.words.tree_text import indented, shown_depth
from maptree.words.values import count

Rows = NDArray[np.intp]

_MOST_LINES = 64  # of a tree on a terminal


def run_fit(plan: Plan, given: TrainingTable) -> int:
    """Fit, save, score and report; return the exit code."""
    source, target, set_aside = given.source, given.target, given.set_aside
    plan = replace(plan, parameters=plan.parameters | given.wishes)
    held = plan.holding_out
    fit_on, test_on = split_rows(given, held)
    if held.cv is not None and held.cv > len(fit_on):
        raise Refusal(f"--cv {held.cv}: there are only {len(fit_on):,} rows. Pass fewer folds.")
    if not plan.as_json:
        # If nobody reads it, the model may still be wanted; what is printed later raises again.
        with contextlib.suppress(OutputLost):
            say_what_was_read(given)
    # What was found is saved before anything else can go wrong, such as printing it.
    with Noted() as interrupt:
        model = _stored(_fit(plan, given, fit_on, "Searching for the most probable tree"))
        model = replace(model, fitted=model.fitted.with_training(target=target.name))
        saved = _save(model, plan.model_path)
        interrupted = interrupt.arrived() or was_interrupted(model.fitted)
    if not plan.as_json:
        _say_model(model.fitted, set_aside, saved)
    found: HeldOut | None = None
    if not interrupted and (test_on is not None or held.cv is not None):
        if not plan.as_json:
            heading("On held-out rows")
        with Noted() as interrupt:
            found = measure(given, held, model.fitted, test_on, _fit_folds(plan, given))
            interrupted = found is None
            if found is not None:
                scored = model.fitted.with_training(held_out=found.kept)
                model = replace(model, fitted=scored)
                saved = _save(model, saved.place or plan.model_path, saved)
            interrupted = interrupt.arrived() or interrupted
    if plan.as_json:
        document = _document(plan, model.fitted, source, target, set_aside, found)
        fault = {"error": {"code": UNUSABLE, "message": saved.fault}} if saved.fault else {}
        emit(document | {"model_file": saved.place} | fault)
    else:
        _say_end(saved, found, interrupted)
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


def estimator_of(plan: Plan, given: TrainingTable, callback: Any) -> Any:
    """Return the estimator for a target, not fitted."""
    # Imported only after everything else was checked: scikit-learn is slow to import.
    from maptree.estimators.map_classifier import MAPTreeClassifier
    from maptree.estimators.map_regressor import MAPTreeRegressor

    kind = MAPTreeRegressor if given.target.measured else MAPTreeClassifier
    parameters = estimator_parameters(plan.parameters, given.target.task)
    return kind(**parameters, encoder=encoder_of(plan, given.table), callback=callback)


def _fit(plan: Plan, given: TrainingTable, rows: Rows, title: str) -> Any:
    """Return an estimator that is fitted to some rows."""
    table, labels = given.table, given.target.labels
    whole = len(rows) == table.num_rows
    X = table if whole else table.take(rows)
    labels = labels if whole else labels[rows]
    y = pa.array(labels) if labels.dtype.kind == "O" else labels
    exposed = {} if given.exposure is None else {"exposure": given.exposure[rows]}
    with warnings.catch_warnings(), Panel(title, plan.parameters["time_limit"]) as panel:
        warnings.simplefilter("ignore")  # the printed report has the same information
        model = estimator_of(plan, given, panel.update).fit(X, y, **exposed)
    if plan.average is None or was_interrupted(model.fitted_):
        return model
    return _averaged(plan, plan.average, model, X, y)


def _fit_folds(plan: Plan, given: TrainingTable) -> Callable[[Rows, int], FittedTree | None]:
    """Return what fits the trees of folds; they stop early, because nobody reads their proofs."""
    patient = replace(plan, parameters=plan.parameters | {"patience": plan.of_folds["patience"]})

    def fit(rows: Rows, fold: int) -> FittedTree | None:
        fitted: FittedTree = _fit(patient, given, rows, f"Cross-validation, fold {fold}").fitted_
        return None if was_interrupted(fitted) else fitted

    return fit


def _stored(model: Any) -> StoredModel:
    from maptree.estimators.saved import stored

    return stored(model)


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


def say_what_was_read(given: TrainingTable) -> None:
    """Print the size of the table, the target and what it is taken for, and rows left out."""
    source, target = given.source, given.target
    say(f"{source.name}: {source.table.num_rows:,} rows, {len(source.columns):,} columns.")
    say(f"Target {shown(target.name)}: {target_text(target, given.exposure)}.", indent="  ")
    if target.assumed:
        say(target.assumed)
    if target.n_unlabelled:
        say(f"{target.n_unlabelled:,} rows without a target were left out.")
    if target.note:
        joined = ": " if target.measured else " has "
        say(f"{shown(target.name)}{joined}{target.note}.")


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


def _say_end(saved: Saved, found: HeldOut | None, interrupted: bool) -> None:
    if found is not None:
        method = found.kept.method
        say(f"{method[0].upper()}{method[1:]}: {count(found.kept.rows, 'row')}.")
        say(found.text)
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
    found: HeldOut | None,
) -> dict[str, Any]:
    said = [(target.name, text) for text in (target.assumed, target.note) if text]
    return {
        "command": "fit",
        "data": plan.data,
        "task": target.task,
        "rows": source.table.num_rows,
        "rows_without_target": target.n_unlabelled,
        "left_out": [{"name": n, "reason": why} for n, why in [*set_aside, *left_out(fitted)]],
        "held_out": None if found is None else found.document,
        "notes": [f"{name}: {what}" for name, what in [*said, *pointed_out(fitted)]],
        "model_file": plan.model_path,
        "model": model_document(fitted),
    }
