"""``maptree fit``: find the most probable tree for a table and write a model file."""

from __future__ import annotations

from typing import Annotated

import typer

from maptree.cli import options
from maptree.cli.header import quick_names
from maptree.cli.mistakes import refuse_absent, refuse_unknown, split_names

_SEARCH, _SCORES = "Search and prior", "Scores on held-out rows"


def fit(
    data: options.Data,
    target: Annotated[
        str,
        typer.Option(
            "--target", "-t", metavar="NAME", help="Column to predict.", show_default=False
        ),
    ],
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            metavar="FILE",
            help="Model file to write. Default: DATA.model.json in the current folder.",
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES", help="Columns to leave out, separated by commas. Repeatable."
        ),
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(metavar="CLASS", help="Predict this class against all others combined."),
    ] = None,
    test_fraction: Annotated[
        float | None,
        typer.Option(
            metavar="FRACTION",
            help="Hold out this fraction of the rows for testing, such as 0.2. Fit on the rest.",
            rich_help_panel=_SCORES,
        ),
    ] = None,
    cv: Annotated[
        int | None,
        typer.Option(
            metavar="FOLDS",
            help="Fit on all rows, then score by cross-validation with this many folds. Each "
            "fold has the full time limit.",
            rich_help_panel=_SCORES,
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            metavar="N", help="Random seed that selects the held-out rows.", rich_help_panel=_SCORES
        ),
    ] = 0,
    time_limit: Annotated[
        str,
        typer.Option(
            metavar="SECONDS",
            help="Stop after this many seconds; none: search until the tree is proved optimal.",
            rich_help_panel=_SEARCH,
        ),
    ] = "10",
    memory_limit: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Limit on the memory that fit adds to the process, such as 2GiB or 500MB.",
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    max_expansions: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Stop after N node expansions. Unlike a time limit, this makes runs reproducible.",
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    jobs: Annotated[
        int,
        typer.Option(
            metavar="N", help="Number of threads; -1 for all cores.", rich_help_panel=_SEARCH
        ),
    ] = 1,
    max_depth: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Consider only trees of depth N or less.", rich_help_panel=_SEARCH
        ),
    ] = None,
    min_samples_leaf: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Consider only trees with at least N rows in every leaf.",
            rich_help_panel=_SEARCH,
        ),
    ] = 1,
    alpha: Annotated[
        float,
        typer.Option(
            metavar="NUMBER",
            help="Prior: probability that the root splits.",
            rich_help_panel=_SEARCH,
        ),
    ] = 0.95,
    beta: Annotated[
        float,
        typer.Option(
            metavar="NUMBER",
            help="Prior: how fast the split probability falls with depth.",
            rich_help_panel=_SEARCH,
        ),
    ] = 0.5,
    rho: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBERS",
            help="Prior: pseudo-counts in a leaf. One number, or one per class, separated by "
            "commas. Default: 5 divided by the number of classes.",
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    split_prior: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Prior: tests, where every test has the same probability; or columns, where every "
            "column has, and thresholds go from coarse to fine.",
            rich_help_panel=_SEARCH,
        ),
    ] = "columns",
    column_weights: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=WEIGHT",
            help="Prior: odds of columns, such as age=2,postcode=0, separated by commas; others "
            "weigh 1, and 0 leaves a column out. Repeatable.",
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    max_thresholds: Annotated[
        str,
        typer.Option(
            metavar="N|all",
            help="Thresholds that a column of numbers or dates gets at most, by quantile; all: one "
            "between every two neighbouring values.",
            rich_help_panel=_SEARCH,
        ),
    ] = "32",
    category_sets: Annotated[
        bool,
        typer.Option(
            "--category-sets",
            metavar="",
            help="Test columns of more than 32 categories in sets, learnt from the labels, in "
            "place of the 32 most frequent categories, where that explains more.",
            rich_help_panel=_SEARCH,
        ),
    ] = False,
    json: options.Json = False,
    format: options.Format = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    decimal: options.Decimal = None,
    dates: options.Dates = None,
    missing: options.Missing = None,
) -> int:
    """Find the most probable tree for a table and write a model file.

    Ctrl-C stops the search: the best tree so far is printed and saved, and
    the exit code is 130.

    \b
    Example:
      maptree fit people.csv --target income --drop id --cv 5
    """
    from maptree.cli.column_weights import parse_weights
    from maptree.cli.settings import (
        HoldingOut,
        Plan,
        Settings,
        TextReading,
        read_max_thresholds,
        refuse_place,
    )

    settings = Settings(
        alpha=alpha,
        beta=beta,
        rho=rho,
        split_prior=split_prior,
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
        column_weights=column_weights or [],
        positive=positive,
        holding_out=HoldingOut(test_fraction, cv, seed),
        parameters=settings.parameters(),
        reading=TextReading(dates, decimal),
        max_thresholds=read_max_thresholds(max_thresholds),
        category_sets=category_sets,
        as_json=json,
    )
    # Report mistakes at once, before the slow imports.
    refuse_absent(data)
    refuse_place(plan.model_path)
    if data.endswith((".csv", ".tsv", ".txt")) and format is None:
        tab = "\t" if data.endswith(".tsv") else None
        dialect = options.read_dialect(delimiter or tab, encoding, missing, decimal)
        names = quick_names(data, dialect)
        if names is not None:
            refuse_unknown([target, *split_names(plan.drop, names)], names, data)
            parse_weights(plan.column_weights, names, data)
    source = options.read_data(data, format, delimiter, encoding, missing, decimal)
    from maptree.cli.training_table import read_training_table

    given = read_training_table(plan, source)
    from maptree.cli.fitting import run_fit

    return run_fit(plan, given)
