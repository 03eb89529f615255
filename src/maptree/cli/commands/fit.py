"""``maptree fit``: find the most probable tree for a table, and write a model file."""

from __future__ import annotations

from typing import Annotated

import typer

from maptree.cli import options
from maptree.cli.header import quick_names
from maptree.cli.mistakes import refuse_absent, refuse_unknown

_SEARCH, _SCORES = "The search", "Scores on held-out rows"


def fit(
    data: options.Data,
    target: Annotated[
        str,
        typer.Option(
            "--target", "-t", metavar="NAME", help="The column to predict.", show_default=False
        ),
    ],
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            metavar="FILE",
            help="Where to write the model; DATA.model.json if not given.",
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Columns to leave out, with commas or again and again."),
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(metavar="CLASS", help="Of several classes, tell this one from all others."),
    ] = None,
    test_fraction: Annotated[
        float | None,
        typer.Option(
            metavar="PART",
            help="Fit on the rest, and test on this part of the rows, such as 0.2.",
            rich_help_panel=_SCORES,
        ),
    ] = None,
    cv: Annotated[
        int | None,
        typer.Option(
            metavar="FOLDS",
            help="Fit on all rows, and measure by cross-validation in so many folds, each with "
            "the time limit.",
            rich_help_panel=_SCORES,
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(metavar="N", help="For held-out rows.", rich_help_panel=_SCORES),
    ] = 0,
    time_limit: Annotated[
        str,
        typer.Option(
            metavar="SECONDS", help="Seconds, or none: until it is proved.", rich_help_panel=_SEARCH
        ),
    ] = "10",
    memory_limit: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Such as 2GiB or 500MB.", rich_help_panel=_SEARCH),
    ] = None,
    max_expansions: Annotated[
        int | None,
        typer.Option(metavar="N", help="So runs repeat exactly.", rich_help_panel=_SEARCH),
    ] = None,
    jobs: Annotated[
        int, typer.Option(metavar="N", help="Threads; -1 for all cores.", rich_help_panel=_SEARCH)
    ] = 1,
    max_depth: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Only trees of this depth or less.", rich_help_panel=_SEARCH
        ),
    ] = None,
    min_samples_leaf: Annotated[
        int, typer.Option(metavar="N", help="Only leaves of so many rows.", rich_help_panel=_SEARCH)
    ] = 1,
    alpha: Annotated[
        float,
        typer.Option(
            metavar="NUMBER", help="Prior: chance of a split at the root.", rich_help_panel=_SEARCH
        ),
    ] = 0.95,
    beta: Annotated[
        float,
        typer.Option(
            metavar="NUMBER", help="Prior: how it falls with depth.", rich_help_panel=_SEARCH
        ),
    ] = 0.5,
    rho: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBERS",
            help="Prior: pseudo-counts in a leaf, one number or one a class with commas; 5 divided "
            "by the number of classes if not given.",
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    json: options.Json = False,
    format: options.Format = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    decimal: options.Decimal = ".",
    missing: options.Missing = None,
) -> int:
    """Find the most probable tree for a table, and write a model file.

    Ctrl-C keeps the best tree so far: it is printed and saved, and the exit
    code is 130.

    \b
    Example:
      maptree fit people.csv --target income --drop id --cv 5
    """
    from maptree.cli.settings import HoldingOut, Plan, Settings

    settings = Settings(
        alpha=alpha,
        beta=beta,
        rho=rho,
        time_limit=time_limit,
        max_expansions=max_expansions,
        memory_limit=memory_limit,
        max_depth=max_depth,
        min_samples_leaf=min_samples_leaf,
        jobs=jobs,
    )
    plan = Plan(
        data=data,
        target=target,
        model=model,
        drop=drop or [],
        positive=positive,
        holding_out=HoldingOut(test_fraction, cv, seed),
        parameters=settings.parameters(),
        as_json=json,
    )
    # Mistakes are told at once: what is slow to import comes after them.
    refuse_absent(data)
    if data.endswith((".csv", ".tsv", ".txt")) and format is None:
        tab = "\t" if data.endswith(".tsv") else None
        dialect = options.read_dialect(delimiter or tab, encoding, missing, decimal)
        names = quick_names(data, dialect)
        if names is not None:
            refuse_unknown([target], names, data)
    from maptree.cli.fitting import run_fit

    return run_fit(
        plan, lambda: options.read_data(data, format, delimiter, encoding, missing, decimal)
    )
