"""``maptree compare``: two models next to each other, and what the second costs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from maptree.cli import options


def compare(
    model: options.Model,
    other: Annotated[
        str,
        typer.Argument(metavar="OTHER", help="Model file to compare it with.", show_default=False),
    ],
    *,
    data: Annotated[
        str | None,
        typer.Option(
            "--data",
            metavar="DATA",
            help="Rows with known classes, to score both models on; best those that neither was "
            "fitted to.",
        ),
    ] = None,
    target: options.KnownTarget = None,
    json: options.Json = False,
    file: options.FileOptions,
) -> None:
    """Compare two models: what does the second cost?

    Prints by how much its tree is less probable, what is proved about that,
    which columns only one of the trees tests, and the scores of both on the
    rows of --data or, without it, those of fit --cv.

    \b
    Example:
      maptree fit people.csv -t income -m without.json --without postcode
      maptree compare people.model.json without.json --data test.csv
    """
    from maptree.cli.mistakes import Refusal, refuse_absent

    if data is not None:
        refuse_absent(data)  # before anything slow is imported
    from maptree.cli.averaged import alone
    from maptree.cli.rows import labelled_rows
    from maptree.cli.screen import emit, say
    from maptree.estimators.comparing import compare_trees, refuse_other_classes
    from maptree.model_file.reading import read_model

    pair = read_model(model).fitted, read_model(other).fitted
    for path, fitted in zip((model, other), pair, strict=True):
        if fitted.measured is not None:
            raise Refusal(
                f"maptree compare is for classes so far, and {path} predicts "
                f"{fitted.measured.name}: compare the log posteriors and scores that maptree show "
                "prints."
            )
    refuse_other_classes(*pair)
    seen, without = None, 0
    if data is not None:
        source = file.read(data)
        first, second = (labelled_rows(alone(one), source, target) for one in pair)
        seen = first, second
        without = seen[0].without
    found = compare_trees(*pair, seen)
    if json:
        emit(
            {
                "command": "compare",
                "model_file": model,
                "other_file": other,
                "data": data,
                "rows_without_target": without,
                "summary": found.summary,
                "proof": found.proof,
                **asdict(found),
            }
        )
        return
    say(f"First: {model}\nSecond: {other}\n")
    say(str(found))
    if without:
        say(f"{without:,} rows without a target were left out.")
