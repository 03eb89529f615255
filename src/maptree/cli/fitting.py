"""What ``maptree fit`` does, step by step."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from maptree.cli.column_lists import reasons
from maptree.cli.files import Source
from maptree.cli.held_out import Rows, cross_validate, split
from maptree.cli.names import listed, refuse_unknown, split_names
from maptree.cli.panel import Panel
from maptree.cli.refusal import INTERRUPTED, USAGE, Refusal
from maptree.cli.scoring import scores_document, scores_text
from maptree.cli.screen import emit, heading, note, say, shown
from maptree.cli.target import Target, class_numbers, class_texts, read_target
from maptree.cli.text_columns import has_commas
from maptree.cli.words import certificate_words, left_out, model_document, size_words
from maptree.map_classifier import MAPTreeClassifier
from maptree.model_file import FORMAT
from maptree.prior import read_rho
from maptree.scoring import Scores, score

# Where a parameter takes in Python what an option does not.
_REMEDIES = {
    "time-limit": "pass seconds, a number above 0, or none to search until the tree is proved.",
    "jobs": "pass a number of threads, or -1 for all cores.",
    "memory-limit": "pass a size such as 4GiB or 500MB.",
    "rho": "pass a number from 1e-9 to 1e8, or one a class with commas, in their order.",
}


@dataclass(frozen=True)
class Settings:
    """The classifier's parameters as the command line has them."""

    alpha: float
    beta: float
    rho: str | None
    time_limit: str
    max_expansions: int | None
    memory_limit: str | None
    max_depth: int | None
    min_samples_leaf: int
    jobs: int

    def classifier(self) -> MAPTreeClassifier:
        """Return the classifier; wrong values are refused before any file is read."""
        made = MAPTreeClassifier(
            alpha=self.alpha,
            beta=self.beta,
            rho=_numbers(self.rho),
            time_limit=_seconds(self.time_limit),
            max_expansions=self.max_expansions,
            memory_limit=self.memory_limit,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            n_jobs=self.jobs,
        )
        try:
            made._read_budget()
        except (ValueError, TypeError) as error:
            raise Refusal(_as_option(str(error)), USAGE) from None
        try:
            read_rho(made.rho, len(made.rho) if isinstance(made.rho, list) else 1)
        except ValueError:
            fault = f"--rho {self.rho} is out of range"
            raise Refusal(f"{fault}: {_REMEDIES['rho']}", USAGE) from None
        return made


def _as_option(message: str) -> str:
    """Name a parameter, and what to pass, as the command line does.

    >>> _as_option("max_depth=-1 is too small: pass an int of at least 0.")
    '--max-depth -1 is too small: pass a whole number of at least 0.'
    """
    name, _, rest = message.partition("=")
    option = {"n_jobs": "jobs"}.get(name, name).replace("_", "-")
    fault, _, remedy = rest.rpartition(": ")
    remedy = _REMEDIES.get(option, remedy.replace("an int", "a whole number"))
    return f"--{option} {fault}: {remedy}"


def _seconds(text: str) -> float | None:
    if text.lower() == "none":
        return None
    try:
        return float(text)
    except ValueError:
        raise Refusal(f"--time-limit {text}: pass seconds, or none.", USAGE) from None


def _numbers(text: str | None) -> float | list[float] | None:
    if text is None:
        return None
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        raise Refusal(f"--rho {text}: {_REMEDIES['rho']}", USAGE) from None
    return numbers[0] if len(numbers) == 1 else numbers


@dataclass(frozen=True)
class Scoring:
    """How to see what a tree is worth on new rows."""

    test_fraction: float | None
    cv: int | None
    seed: int

    def __post_init__(self) -> None:
        if self.test_fraction is not None and self.cv is not None:
            raise Refusal("--test-fraction and --cv exclude each other: pass one.", USAGE)
        if self.test_fraction is not None and not 0 < self.test_fraction < 1:
            given = f"--test-fraction {self.test_fraction:g}"
            raise Refusal(f"{given} is no part of the rows: pass a number like 0.2.", USAGE)
        if self.cv is not None and self.cv < 2:
            raise Refusal(f"--cv {self.cv}: pass 2 folds or more.", USAGE)
        if not 0 <= self.seed < 2**32:
            raise Refusal(f"--seed {self.seed}: pass a whole number from 0 to 4294967295.", USAGE)


@dataclass(frozen=True)
class Plan:
    """What was asked for."""

    data: str
    target: str
    model: str | None
    drop: list[str]
    positive: str | None
    scoring: Scoring
    classifier: MAPTreeClassifier
    as_json: bool

    @property
    def model_path(self) -> str:
        """Where the model goes: beside nothing, in the folder where the command runs."""
        if self.model is not None:
            return self.model
        name = "model" if self.data == "-" else Path(self.data).name.partition(".")[0] or "model"
        return f"{name}.model.json" if name != "model" else "model.json"


def run_fit(plan: Plan, read: Callable[[], Source]) -> int:
    """Read, fit, save, score and report; return the exit code."""
    refuse_place(plan.model_path)
    source = read()
    target, table, set_aside = _prepare(plan, source)
    fit_on = np.arange(len(target.labels), dtype=np.intp)
    test_on: Rows | None = None
    if plan.scoring.test_fraction is not None:
        fit_on, test_on = split(target.labels, plan.scoring.test_fraction, plan.scoring.seed)
    if plan.scoring.cv is not None and plan.scoring.cv > len(fit_on):
        raise Refusal(f"--cv {plan.scoring.cv}: there are {len(fit_on)} rows. Pass fewer folds.")
    commas = _with_commas(source, table)
    if not plan.as_json:
        _say_what_was_read(source, target)
        if commas:
            note(f"Note: {commas}")
    model = _fit(plan, table, target, fit_on, "Searching for the most probable tree")
    interrupted = model.certificate_.status == "interrupted"
    if not plan.as_json:
        _say_model(model, set_aside)
    model.training_ = replace(model.training_, target=target.name)
    model.save(plan.model_path)
    scores, method = None, ""
    if not interrupted and (test_on is not None or plan.scoring.cv is not None):
        if not plan.as_json:
            heading("On held-out rows")
        scores, method = _measure(plan, model, table, target, test_on)
        interrupted = scores is None
        if scores is not None:
            model.training_ = replace(model.training_, held_out=scores.kept(method))
            model.save(plan.model_path)
    if plan.as_json:
        document = _document(plan, model, source, target, set_aside, scores, method)
        emit(document | {"notes": [commas] if commas else []})
    else:
        _say_end(plan, scores, method, interrupted)
    return INTERRUPTED if interrupted else 0


def refuse_place(path: str) -> None:
    """Refuse a place for the model before the search, and not after it."""
    file = Path(path)
    folder = file.resolve().parent
    if file.is_dir():
        raise Refusal(f"--model {path} is a folder: name a file in it.")
    if not folder.is_dir():
        raise Refusal(f"--model {path}: there is no folder {folder}. Make it first.")
    if not os.access(folder, os.W_OK):
        raise Refusal(f"--model {path}: the folder {folder} cannot be written to.")
    if file.exists():
        with open(file, "rb") as old:
            start = old.read(200)
        if start.strip() and FORMAT.encode() not in start:
            raise Refusal(f"--model {path} is there and is no model file: name another.")


def _prepare(plan: Plan, source: Source) -> tuple[Target, pa.Table, list[tuple[str, str]]]:
    """Return labels, columns to fit on, and columns that were set aside with the reason."""
    names = source.columns
    refuse_unknown([plan.target], names, source.name)
    drop = split_names(plan.drop, names)
    refuse_unknown(drop, names, source.name)
    if plan.target in drop:
        fault = f"--drop {plan.target} is the target"
        raise Refusal(f"{fault}: drop other columns, or name another target.", USAGE)
    target = read_target(source, plan.target, plan.positive)
    rho, n_classes = plan.classifier.rho, len(target.counts())
    if isinstance(rho, list) and len(rho) != n_classes:
        fault = f"--rho has {len(rho)} values but there are {n_classes} classes"
        raise Refusal(f"{fault}: {_REMEDIES['rho']}")
    set_aside = [(name, "dropped") for name in drop]
    kept = [name for name in names if name != plan.target and name not in drop]
    table = source.typed(kept)
    for name in kept:
        if name.startswith("column_") and _counts_rows(table.column(name)):
            set_aside.append((name, "no name in the header, and it only counts the rows"))
            table = table.drop_columns([name])
    if table.num_columns == 0:
        raise Refusal(f"{source.name} has no column beside the target and those left out.")
    if len(target.rows) < table.num_rows:
        table = table.take(target.rows)
    return target, table, set_aside


def _with_commas(source: Source, table: pa.Table) -> str:
    """Say which columns of text are numbers with commas, if any."""
    if source.format not in ("csv", "tsv") or source.decimal == ",":
        return ""
    names = [
        name
        for name, column in zip(table.column_names, table.columns, strict=True)
        if pa.types.is_string(column.type) and has_commas(column)
    ]
    if not names:
        return ""
    return (
        f"{listed(names)} {'looks' if len(names) == 1 else 'look'} like decimal commas, and "
        "every number is read as a category: pass --decimal , (or take out commas that mark "
        "thousands)."
    )


def _counts_rows(column: Any) -> bool:
    if not pa.types.is_integer(column.type) or column.null_count or len(column) < 2:
        return False
    steps = np.diff(column.to_numpy())
    return bool((steps == 1).all())


def _fit(plan: Plan, table: pa.Table, target: Target, rows: Rows, title: str) -> MAPTreeClassifier:
    whole = len(rows) == table.num_rows
    X = table if whole else table.take(rows)
    labels = target.labels if whole else target.labels[rows]
    y = pa.array(labels) if labels.dtype.kind == "O" else labels
    with warnings.catch_warnings(), Panel(title, plan.classifier.time_limit) as panel:
        warnings.simplefilter("ignore")  # what they say is said in the report
        model = MAPTreeClassifier(
            **(plan.classifier.get_params(deep=False) | {"callback": panel.update})
        ).fit(X, y)
    model.callback = None
    return model


def _measure(
    plan: Plan, model: MAPTreeClassifier, table: pa.Table, target: Target, test_on: Rows | None
) -> tuple[Scores | None, str]:
    scoring = plan.scoring
    if test_on is not None:
        labels = target.labels[test_on]
        codes = class_numbers(labels, model.classes_)
        probabilities = model.predict_proba(table.take(test_on))
        method = f"{scoring.test_fraction:g} of the rows, seed {scoring.seed}"
        return score(probabilities, codes), method
    assert scoring.cv is not None
    fold = iter(range(1, scoring.cv + 1))

    def fit(rows: Rows) -> MAPTreeClassifier:
        return _fit(plan, table, target, rows, f"Cross-validation, fold {next(fold)}")

    method = f"{scoring.cv}-fold cross-validation, seed {scoring.seed}"
    return cross_validate(fit, table, target.labels, scoring.cv, scoring.seed), method


def _say_what_was_read(source: Source, target: Target) -> None:
    say(f"{source.name}: {source.table.num_rows:,} rows, {len(source.columns)} columns.")
    shares = ", ".join(f"{shown(label)} {count:,}" for label, count in target.counts().items())
    say(f"Target {shown(target.name)}: {shares}.", indent="  ")
    if target.n_unlabelled:
        say(f"{target.n_unlabelled:,} rows without a target are left out.")


def _say_model(model: MAPTreeClassifier, set_aside: list[tuple[str, str]]) -> None:
    without = [*set_aside, *left_out(model)]
    if without:
        heading("Columns left out")
        for line in reasons(without):
            say(f"  {line}", indent="    ")
    heading("The tree")
    say(model.export_text(), indent="    ")
    say(size_words(model))
    heading("Certificate")
    say(certificate_words(model))


def _say_end(plan: Plan, scores: Scores | None, method: str, interrupted: bool) -> None:
    if scores is not None:
        say(f"{method[0].upper()}{method[1:]}: {scores.rows:,} rows.")
        say(scores_text(scores))
    elif interrupted:
        say("\nInterrupted: the best tree so far was kept, and nothing was measured after it.")
    else:
        say("\nNo rows were held out. --cv 5 or --test-fraction 0.2 measures it on new rows.")
    say(f"\nModel written to {plan.model_path}.")


def _document(
    plan: Plan,
    model: MAPTreeClassifier,
    source: Source,
    target: Target,
    set_aside: list[tuple[str, str]],
    scores: Scores | None,
    method: str,
) -> dict[str, Any]:
    held_out = None
    if scores is not None:
        held_out = {"method": method} | scores_document(
            scores, class_texts(np.unique(target.labels))
        )
    return {
        "command": "fit",
        "data": plan.data,
        "rows": source.table.num_rows,
        "rows_without_target": target.n_unlabelled,
        "left_out": [{"name": n, "reason": why} for n, why in [*set_aside, *left_out(model)]],
        "held_out": held_out,
        "model_file": plan.model_path,
        "model": model_document(model),
    }
