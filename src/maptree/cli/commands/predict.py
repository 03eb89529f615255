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
        typer.Option("--interval", metavar="", help="Add a credible interval of the probability."),
    ] = False,
    level: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", help="Of the interval; 0.95 if not given."),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", metavar="", help="Add the rule that fired.")
    ] = False,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES", help="Columns of DATA to repeat, such as an id; with commas or again."
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write there, as .csv, .tsv, .parquet, .feather or .jsonl.",
        ),
    ] = None,
    json: options.Json = False,
    format: options.Format = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    decimal: options.Decimal = ".",
    missing: options.Missing = None,
) -> None:
    """Predict the class of new rows: CSV on standard output, or a file.

    DATA needs the columns that the tree asks about, by name; others do no
    harm. Missing values and unknown categories are fine.

    \b
    Example:
      maptree predict people.model.json new.csv --proba --keep id -o out.csv
    """
    refuse_absent(data)  # before anything slow is imported
    from maptree.cli.mistakes import USAGE, Refusal
    from maptree.cli.predictions import Wanted, emit_predictions, predictions, write
    from maptree.cli.screen import note
    from maptree.model_file.reading import read_model

    if level is not None and not interval:
        raise Refusal("--level is that of the interval: pass --interval, too.", USAGE)
    if output is not None:
        options.refuse_overwriting(output, model, data)
    fitted = read_model(model).fitted
    source = options.read_data(data, format, delimiter, encoding, missing, decimal)
    wanted = Wanted(proba, interval, 0.95 if level is None else level, explain, keep or [])
    table = predictions(fitted, source, wanted)
    if output is not None:
        write(table, output)
    if json:
        emit_predictions(table, output)
    elif output is None:
        write(table, "-")
    else:
        note(f"{table.num_rows:,} predictions written to {output}.")
