"""The steps of ``maptree path``."""

from __future__ import annotations

import contextlib
import warnings
from dataclasses import asdict, dataclass, replace
from typing import Any

import pyarrow as pa

from maptree.cli.fitting import estimator_of, say_columns, say_what_was_read
from maptree.cli.mistakes import Refusal, interrupted_code
from maptree.cli.screen import Panel, emit, heading, note, say
from maptree.cli.settings import Plan
from maptree.cli.streams import OutputLost, written
from maptree.cli.training_table import TrainingTable
from maptree.files.whole_file import write_whole
from maptree.model_file import StoredModel
from maptree.model_file.writing import write_model
from maptree.words.certificate import certificate_sentences
from maptree.words.size_path import SizePath
from maptree.words.tree_text import indented
from maptree.words.values import count


@dataclass(frozen=True)
class Request:
    """What the user asked for, in addition to what a fit is asked for."""

    most: int
    cv: int | None
    choose: int | None
    plot: str | None
    report: str | None


def run_path(plan: Plan, request: Request, given: TrainingTable) -> int:
    """Find the best tree of each size, print them, and write the chosen one; return the code."""
    target = given.target
    if target.measured:
        raise Refusal(
            f"maptree path is for classes so far, but the target is taken as a {target.task}: pass "
            "--task classes if it is one of classes, or limit the size of a fit, as in maptree fit "
            "--max-leaf-nodes 8."
        )
    if request.cv is not None and request.cv > len(target.labels):
        rows = f"there are only {len(target.labels):,} rows"
        raise Refusal(f"--cv {request.cv}: {rows}. Pass fewer folds.")
    plan = replace(plan, parameters=plan.parameters | given.wishes)
    if not plan.as_json:
        # If nobody reads it, the model may still be wanted; what is printed later raises again.
        with contextlib.suppress(OutputLost):
            say_what_was_read(given)
    path, model, interrupted = _find(plan, request, given)
    fitted = model.fitted
    write_model(model, plan.model_path)
    written(plan.model_path)
    if plan.as_json:
        emit(_document(plan, path, fitted.tree.n_leaves))
    else:
        say_columns(fitted, given.set_aside)
        heading("Trees by size")
        say(str(path))
        heading(f"The tree of {count(fitted.tree.n_leaves, 'leaf', 'leaves')}")
        say(indented(fitted), indent="    ")
        say("\n".join(certificate_sentences(fitted)))
        note(f"Model written to {plan.model_path}.")
    if request.plot is not None:
        _draw(path, request.plot)
    if request.report is not None:
        from maptree.pictures.report.write import report_page

        page = report_page(fitted, None, title=target.name, sizes=path)
        write_whole(request.report, page.encode())
        written(request.report)
    return interrupted_code() if interrupted else 0


def _find(plan: Plan, request: Request, given: TrainingTable) -> tuple[SizePath, StoredModel, bool]:
    # scikit-learn is slow to import: only after everything else was checked.
    from maptree.estimators.base import InterruptedWarning
    from maptree.estimators.saved import stored
    from maptree.estimators.size_path import choose_size, size_path

    target = given.target
    y = pa.array(target.labels) if target.labels.dtype.kind == "O" else target.labels
    title = f"Searching for the best trees of 1 to {request.most:,} leaves"
    limit = plan.parameters["time_limit"]
    with (
        warnings.catch_warnings(record=True) as warned,
        Panel(title, None if limit is None else 3 * limit) as panel,
    ):
        warnings.simplefilter("always")
        estimator = estimator_of(plan, given, panel.update)
        path = size_path(given.table, y, estimator, max_leaf_nodes=request.most, cv=request.cv)
    interrupted = any(issubclass(one.category, InterruptedWarning) for one in warned)
    found = stored(choose_size(path, request.choose))
    named = replace(found, fitted=found.fitted.with_training(target=target.name))
    return path, named, interrupted


def _draw(path: SizePath, file: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from maptree.pictures.size_plot import plot_sizes

    try:
        plot_sizes(path).figure.savefig(file, dpi=150)
    except (OSError, ValueError) as error:
        raise Refusal(f"--plot {file}: {error}") from None
    written(file)


def _document(plan: Plan, path: SizePath, chosen: int) -> dict[str, Any]:
    return {
        "command": "path",
        "data": plan.data,
        "model_file": plan.model_path,
        "elbow": None if path.folds is None else path.elbow,
        "chosen": chosen,
        "folds": path.folds,
        "seconds": path.seconds,
        "sizes": [
            {
                "leaves": entry.leaves,
                "depth": entry.fitted.tree.depth,
                **entry.certificate.numbers(),
                "log_loss": None if entry.log_loss is None else asdict(entry.log_loss),
                "accuracy": None if entry.accuracy is None else asdict(entry.accuracy),
            }
            for entry in path
        ],
    }
