"""``maptree report``: a model as an HTML page to read and to share."""

from __future__ import annotations

from typing import Annotated

import typer

from maptree.cli import options


def report(
    model: options.Model,
    *,
    data: Annotated[
        str | None,
        typer.Option(
            "--data", metavar="DATA", help="Rows with known classes, to score the model on."
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="HTML file to write. Default: MODEL with .html."
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Title of the page.")] = None,
    target: options.KnownTarget = None,
    costs: options.Costs = None,
    positive: options.Positive = None,
    json: options.Json = False,
    file: options.FileOptions,
) -> None:
    """Write a report: one HTML file that works offline.

    It has the tree, which can be zoomed and folded; a form that shows the path
    of a case through the tree; the rules; the certificate in plain words; and,
    with --data, accuracy, calibration, a confusion matrix, and what
    probability thresholds and --costs do.

    \b
    Example:
      maptree report people.model.json --data test.csv -o people.html
    """
    from maptree.cli.deciding import read_deciding
    from maptree.cli.mistakes import USAGE, Refusal
    from maptree.cli.rows import labelled_rows
    from maptree.cli.screen import emit, note
    from maptree.cli.streams import written
    from maptree.files.whole_file import write_whole
    from maptree.model_file.reading import read_model
    from maptree.pictures.report.held_out import hold_out
    from maptree.pictures.report.write import report_page
    from maptree.words.scored_rows import overlap_document, rows_sentences

    fitted = read_model(model).fitted
    if fitted.measured is not None and (data or costs or positive):
        raise Refusal(
            "--data, --costs and --positive are for classes: run maptree report without them; in "
            "Python, model.to_html(path, X=X, y=y) takes held-out rows of numbers and counts.",
            USAGE,
        )
    path = output or options.default_output(model, ".html")
    options.refuse_model(path, model)
    options.refuse_foreign(path, "a report", is_page)
    for option, value in (("--costs", costs), ("--positive", positive)):
        if value and data is None:
            raise Refusal(f"{option} has no effect without --data: pass both.", USAGE)
    held_out, without = None, 0
    if data is not None:
        deciding = read_deciding(fitted.labels, costs, positive)
        source = file.read(data)
        rows = labelled_rows(fitted, source, target)
        held_out = hold_out(
            fitted,
            rows.of_tree,
            rows.codes,
            rows.overlap,
            deciding.costs,
            deciding.positive,
            rows.averaged,
        )
        without = rows.without
    page = report_page(fitted, held_out, title=title or fitted.training.target)
    write_whole(path, page.encode())
    written(path)
    unknown = 0 if held_out is None else held_out.scores.unknown
    if json:
        emit(
            {
                "command": "report",
                "model_file": model,
                "report": path,
                "rows_without_target": without,
                "rows_of_unknown_classes": unknown,
                "training_rows": None if held_out is None else overlap_document(held_out.overlap),
            }
        )
        return
    if without:
        note(f"{without:,} rows without a target were left out.")
    if unknown:
        note(f"{unknown:,} rows have a class that the model does not know; counted as wrong.")
    if held_out is not None and (held_out.overlap.equal or not held_out.overlap.checked):
        note(" ".join(rows_sentences(held_out.overlap)))
    note(f"Report written to {path}.")


def is_page(path: str) -> bool:
    """Return whether a file is an HTML page."""
    with open(path, "rb") as file:
        return file.read(200).lstrip().startswith(b"<!doctype html>")
