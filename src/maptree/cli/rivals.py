"""The steps of ``maptree alternatives``."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from maptree.cli.descriptions import task_of
from maptree.cli.files import Source
from maptree.cli.measured_rows import exposure_in, need_exposure, refuse_exposure_of_classes
from maptree.cli.mistakes import (
    USAGE,
    Refusal,
    hint,
    interrupted_code,
    listed,
    refuse_unknown,
    split_names,
)
from maptree.cli.options import FileOptions, default_output, refuse_foreign, refuse_model
from maptree.cli.rows import target_in
from maptree.cli.screen import emit, heading, note, say
from maptree.cli.settings import as_option, refuse_place
from maptree.cli.streams import written
from maptree.cli.target import read_target
from maptree.files.whole_file import write_whole
from maptree.model_file.reading import read_model
from maptree.parameters.numbers import ParameterError
from maptree.trees.fitted import FittedTree
from maptree.words.alternatives import Alternative, Alternatives
from maptree.words.tree_text import indented

_DRAWN = 5  # trees that are printed
# What a list advises, and the option for it.
_OPTIONS = {
    "max_depth, such as max_depth=3": "--max-depth, such as --max-depth 3",
    "a smaller max_depth": "a smaller --max-depth",
    "Raise time_limit": "Raise --time-limit",
    "Raise memory_limit": "Raise --memory-limit",
    "Raise max_expansions": "Raise --max-expansions",
}


@dataclass(frozen=True)
class Request:
    """What the user asked for."""

    model: str
    data: str
    n: int | None
    within: float | None
    max_depth: int | None
    choose: int | None
    report: str | None
    output: str | None
    rising: list[str]
    falling: list[str]
    limits: dict[str, Any]  # parameters of the estimator
    target: str | None
    exposure: str | None
    as_json: bool


def run_alternatives(request: Request, file: FileOptions) -> int:
    """List the alternatives, and write what was asked for; return the exit code."""
    stored = read_model(request.model)
    if stored.fitted.average is not None:
        raise Refusal(
            f"{request.model} averages many trees, and alternatives are to the tree of a search: "
            "name a model that was fitted without --average."
        )
    if request.choose is not None and request.choose < 1:
        raise Refusal(f"--choose {request.choose}: trees are numbered from 1.", USAGE)
    chosen_path = None
    if request.choose is not None:
        ending = f".{request.choose}.model.json"
        chosen_path = request.output or default_output(request.model, ending)
        refuse_model(chosen_path, request.model)
        refuse_place(chosen_path)
    elif request.output is not None:
        raise Refusal("--output names the model that --choose writes: pass --choose.", USAGE)
    if request.report is not None:
        from maptree.cli.commands.report import is_page

        refuse_foreign(request.report, "a report", is_page)
    found = _find(request, stored.fitted, file.read(request.data), stored)
    # Files first: what is printed may not be read.
    notes = []
    if chosen_path is not None:
        notes.append(_write_chosen(request, found, stored, chosen_path))
    if request.report is not None:
        from maptree.pictures.report.write import report_page

        title = stored.fitted.training.target
        page = report_page(stored.fitted, None, title=title, alternatives=found)
        write_whole(request.report, page.encode())
        written(request.report)
        notes.append(f"Report written to {request.report}.")
    if request.as_json:
        files = {"chosen_file": chosen_path, "report": request.report}
        emit(_document(request, found) | files)
    else:
        said, *tables = str(found).split("\n\n")
        said = " ".join(said.split())  # which wraps anew, with the options in it
        for advice, option in _OPTIONS.items():
            said = said.replace(advice, option)
        say("\n\n".join([said, *tables]))
        for one in found[:_DRAWN]:
            heading(f"Tree {one.rank:,}")
            say(indented(one.fitted), indent="    ")
        for words in notes:
            note(words)
    return interrupted_code() if found.status == "interrupted" else 0


def _find(request: Request, fitted: FittedTree, source: Source, stored: Any) -> Alternatives:
    # scikit-learn is slow to import: only after everything else was checked.
    X, labels, exposure = _training_rows(request, fitted, source)
    names = fitted.schema.names
    wishes: dict[str | int, int] = dict.fromkeys(split_names(request.rising, names), 1)
    falling = split_names(request.falling, names)
    refuse_unknown([*map(str, wishes), *falling], names, request.model)
    if both := [name for name in falling if name in wishes]:
        raise Refusal(f"{listed(both)} cannot both rise and fall: pass one.", USAGE)
    wishes |= dict.fromkeys(falling, -1)
    from maptree.estimators.saved import restored

    model: Any = restored(stored)  # which searches: averages were refused before
    model.set_params(**request.limits, verbose=int(sys.stderr.isatty()))
    y = pa.array(labels) if labels.dtype.kind == "O" else labels
    exposed = {} if exposure is None else {"exposure": exposure}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is printed has the same information
        try:
            found: Alternatives = model.alternatives(
                request.n,
                request.within,
                max_depth=request.max_depth,
                monotone=wishes or None,
                X=X,
                y=y,
                **exposed,
            )
            return found
        except ParameterError as error:
            if error.parameter.startswith("monotone"):
                fault = f"The wish of --rising or --falling {error.fault}"
                raise Refusal(f"{fault}: {error.remedy}.", USAGE) from None
            raise Refusal(as_option(error), USAGE) from None
        except ValueError as error:
            raise Refusal(f"{source.name}: {error}") from None


def _training_rows(
    request: Request, fitted: FittedTree, source: Source
) -> tuple[Any, Any, NDArray[np.float64] | None]:
    """Return the columns, labels and exposures of a file, as ``fit`` took them."""
    name = target_in(fitted, source, request.target)
    names, measured = fitted.schema.names, fitted.measured
    absent = [one for one in names if one not in source.columns]
    if absent:
        raise Refusal(
            f"{source.name} has no {'columns' if len(absent) > 1 else 'column'} {listed(absent)}, "
            f"which the model was fitted to. {hint(absent, source.columns)}"
        )
    refuse_exposure_of_classes(fitted, request.exposure)
    exposure = None
    if measured is not None:
        need_exposure(measured, request.exposure)
    target = read_target(source, name, _positive(fitted), task_of(fitted))
    if measured is not None:
        exposure = exposure_in(measured, source, request.exposure, target.rows)
    table = source.typed(names)
    return (table.take(target.rows) if target.n_unlabelled else table), target.labels, exposure


def _positive(fitted: FittedTree) -> str | None:
    """Return the class that ``--positive`` set against all others, if it did."""
    if fitted.measured is not None:
        return None
    classes = fitted.labels
    found = [one for one in classes if f"not {one}" in classes]
    return found[0] if len(classes) == 2 and found else None


def _write_chosen(request: Request, found: Alternatives, stored: Any, path: str) -> str:
    """Write a tree of the list as a model file; return a note on it."""
    from maptree.model_file import StoredModel
    from maptree.model_file.writing import write_model

    one = next((one for one in found if one.rank == request.choose), None)
    if one is None:
        numbers = ", ".join(f"{one.rank:,}" for one in found[:12]) or "none"
        raise Refusal(f"--choose {request.choose}: no such tree was listed ({numbers}).")
    write_model(StoredModel(one.fitted, stored.parameters), path)
    written(path)
    return f"Tree {one.rank:,} written to {path}."


def _document(request: Request, found: Alternatives) -> dict[str, Any]:
    return {
        "command": "alternatives",
        "model_file": request.model,
        "data": request.data,
        "status": found.status,
        "log_posterior": found.log_posterior,
        "log_posterior_bound": found.log_posterior_bound,
        "complete_within": found.complete_within,
        "wish": found.wish or None,
        "examined": found.examined,
        "expansions": found.expansions,
        "seconds": found.seconds,
        "peak_bytes": found.peak_bytes,
        "columns": [use._asdict() for use in found.columns],
        "first_splits": [first._asdict() for first in found.first_splits],
        "trees": [_tree_document(one) for one in found],
    }


def _tree_document(one: Alternative) -> dict[str, Any]:
    return {
        "rank": one.rank,
        "log_posterior": one.log_posterior,
        "odds": one.odds,
        "leaves": one.tree.n_leaves,
        "depth": one.tree.depth,
        "first_test": one.first_test,
        "columns": one.columns,
        "rules": one.rules(),
    }
