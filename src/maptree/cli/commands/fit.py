"""``maptree fit``: find the most probable tree for a table and write a model file."""

from __future__ import annotations

from typing import Annotated

import typer

from maptree.cli import options, search_options

_SCORES, _AVERAGE = "Scores on held-out rows", "Average over trees"


def fit(
    data: options.Data,
    training: options.TrainingOptions,
    *,
    test_fraction: Annotated[
        float | None,
        typer.Option(
            metavar="FRACTION",
            help="Hold out this fraction of the rows of each class for testing, such as 0.2. Fit "
            "on the rest.",
            rich_help_panel=_SCORES,
        ),
    ] = None,
    cv: Annotated[
        int | None,
        typer.Option(
            metavar="FOLDS",
            help="Fit on all rows, then score by cross-validation with this many folds. Each "
            "fold has the full time limit, but see --patience. Ctrl-C then keeps the model, "
            "without scores.",
            rich_help_panel=_SCORES,
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Random seed that selects the held-out rows, and of --average.",
            rich_help_panel=_SCORES,
        ),
    ] = 0,
    time_limit: Annotated[
        str,
        typer.Option(
            metavar="SECONDS",
            help="Stop after this many seconds; none: search until the tree is proved optimal.",
            rich_help_panel=search_options.LIMITS,
        ),
    ] = "10",
    patience: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="Stop early where a proof is not in sight: at this multiple of the work that it "
            "took to find the best tree, such as 4. none: never. Default: none for the tree, 4 "
            "for the folds of --cv.",
            rich_help_panel=search_options.LIMITS,
        ),
    ] = None,
    max_leaf_nodes: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Consider only trees of at most N leaves (1 to 128).",
            rich_help_panel=search_options.WISHES,
        ),
    ] = None,
    search: search_options.SearchOptions,
    average: Annotated[
        bool,
        typer.Option(
            "--average",
            metavar="",
            help="Predict by the average over trees drawn from the posterior, by Markov chains "
            "that start from the tree found. The model keeps that tree, too. For classes only.",
            rich_help_panel=_AVERAGE,
        ),
    ] = False,
    iterations: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Iterations of each chain that trees are drawn from, after half as many that are "
            "not kept. Default: until the chains have mixed, or some seconds have passed.",
            rich_help_panel=_AVERAGE,
        ),
    ] = None,
    json: options.Json = False,
    file: options.FileOptions,
) -> int:
    """Find the most probable tree for a table and write a model file.

    A target of more than 20 different numbers is taken as a number: a
    regression, with a normal distribution in each leaf. --task decides
    otherwise.

    Ctrl-C stops the search: the best tree so far is printed and saved, and
    the exit code is 130.

    \b
    Examples:
      maptree fit people.csv --target income --drop id --cv 5
      maptree fit people.csv --target income --average
      maptree fit flats.csv --target price --cv 5
      maptree fit claims.csv --target claims --task count --exposure years
    """
    from maptree.cli.settings import Averaging, HoldingOut, Plan, Settings, refuse_at_once

    settings = Settings(search, time_limit, max_leaf_nodes, patience)
    plan = Plan.of(
        data,
        training,
        settings,
        HoldingOut(test_fraction, cv, seed),
        decimal=file.decimal,
        as_json=json,
        average=Averaging.read(average, iterations, settings),
    )
    refuse_at_once(plan, file)
    source = file.read(data)
    from maptree.cli.training_table import read_training_table

    given = read_training_table(plan, source)
    from maptree.cli.fitting import run_fit

    return run_fit(plan, given)
