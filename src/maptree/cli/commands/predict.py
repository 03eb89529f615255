"""``maptree predict``: classes and probabilities of new rows."""

from __future__ import annotations

from typing import Annotated

import typer

from maptree.cli import options
from maptree.cli.mistakes import refuse_absent


def predict(
    model: options.Model,
    data: options.Data,
    proba: Annotated[
        bool, typer.Option("--proba", metavar="", help="Add the probability of each class.")
    ] = (False),
    interval: Annotated[
        bool,
        typer.Option("--interval", metavar="", help="Add a credible interval for the probability."),
    ] = False,
    level: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", help="Credible level of the interval. Default: 0.95."),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", metavar="", help="Add the rule that fired.")
    ] = False,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Columns of DATA to copy to the output, such as an id, separated by commas. "
            "Repeatable.",
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File to write: .csv, .tsv, .parquet, .feather or .jsonl. "
            "Default: CSV on standard output.",
        ),
    ] = None,
    json: options.Json = False,
    format: options.Format = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    decimal: options.Decimal = None,
    missing: options.Missing = None,
) -> None:
    """Predict the class of new rows.

    DATA must have the columns that the tree tests, under the same names. Other
    columns are ignored. Missing values and unknown categories are allowed.

    \b
    Example:
      maptree predict people.model.json new.csv --proba --keep id -o out.csv
    """
    refuse_absent(data)  # before anything slow is imported
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

    if level is not None and not interval:
        raise Refusal("--level has no effect without --interval: pass both.", USAGE)
    if output is not None:
        options.refuse_overwriting(output, model, data)
        options.refuse_foreign(output, "a table of predictions", is_predictions)
    fitted = read_model(model).fitted
    source = options.read_data(data, format, delimiter, encoding, missing, decimal)
    wanted = Wanted(proba, interval, 0.95 if level is None else level, explain, keep or [])
    table = predictions(fitted, source, wanted)
    if output is not None:
        write(table, output)
        written(output)
    if json:
        emit_predictions(table, output)
    elif output is None:
        write(table, "-")
    else:
        note(f"{table.num_rows:,} predictions written to {output}.")
