"""``maptree predict``: classes and probabilities of new rows, or numbers with an interval."""

from __future__ import annotations

from typing import Annotated

import typer

from maptree.cli import options
from maptree.cli.mistakes import refuse_absent


def predict(
    model: options.Model,
    data: options.Data,
    *,
    proba: Annotated[
        bool,
        typer.Option(
            "--proba", metavar="", help="Add the probability of each class: probability_CLASS."
        ),
    ] = False,
    interval: Annotated[
        bool,
        typer.Option(
            "--interval",
            metavar="",
            help="Add a credible interval for the probability: probability, low and high of the "
            "predicted class; with --proba, low_CLASS and high_CLASS for every class. Predicted "
            "numbers and counts always have low and high.",
        ),
    ] = False,
    level: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            help="Level of the interval: the probability that it holds. Default: 0.95.",
        ),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            metavar="",
            help="Add the rule that fired, worded so that it is true for the row.",
        ),
    ] = False,
    costs: options.Costs = None,
    exposure: options.KnownExposure = None,
    single_tree: options.SingleTree = False,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Columns of DATA to copy to the output, such as an id, before the others; "
            "separated by commas. Repeatable.",
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File to write: .csv, .tsv, .parquet, .feather or .jsonl. An existing file is "
            "replaced only if it has a column prediction. Default: CSV on standard output.",
        ),
    ] = None,
    json: options.Json = False,
    file: options.FileOptions,
) -> None:
    """Predict the class, number or count of new rows.

    DATA must have the columns that the tree tests, under the same names. Other
    columns are ignored. Missing values and unknown categories are allowed.

    With --costs, the prediction is the class of least expected cost, which is
    added as expected_cost.

    Of a number or count, the prediction is the mean; a new row is between low
    and high with a probability of 95%, or --level. Counts are those for an
    exposure of 1, or for --exposure.

    \b
    Examples:
      maptree predict people.model.json new.csv --proba --keep id -o out.csv
      maptree predict people.model.json new.csv --costs yes=5
      maptree predict flats.model.json new.csv --level 0.9 --explain
    """
    refuse_absent(data)  # before anything slow is imported
    from maptree.cli.averaged import alone
    from maptree.cli.deciding import parse_costs
    from maptree.cli.measured_rows import refuse_exposure_of_classes
    from maptree.cli.mistakes import USAGE, Refusal
    from maptree.cli.predictions import (
        Wanted,
        emit_predictions,
        is_predictions,
        predictions,
        write,
    )
    from maptree.cli.screen import note
    from maptree.cli.streams import written
    from maptree.model_file.reading import read_model
    from maptree.trees.outcomes import Counts

    if output is not None:
        options.refuse_overwriting(output, model, data)
        options.refuse_foreign(output, "a table of predictions", is_predictions)
    fitted = read_model(model).fitted
    if single_tree:
        fitted = alone(fitted)
    options.refuse_for_measured(fitted, {"--proba": proba, "--costs": costs})
    refuse_exposure_of_classes(fitted, exposure)
    if level is not None and not interval and fitted.measured is None:
        raise Refusal("--level has no effect without --interval: pass both.", USAGE)
    source = file.read(data)
    matrix = parse_costs(costs, fitted.labels) if costs else None
    shown = 0.95 if level is None else level
    wanted = Wanted(proba, interval, shown, explain, keep or [], matrix, exposure)
    table = predictions(fitted, source, wanted)
    if isinstance(fitted.measured, Counts) and fitted.measured.exposed and exposure is None:
        note("Predicted for an exposure of 1. Pass --exposure COLUMN for that of each row.")
    if output is not None:
        write(table, output)
        written(output)
    if json:
        emit_predictions(table, output)
    elif output is None:
        write(table, "-")
    else:
        note(f"{table.num_rows:,} predictions written to {output}.")
