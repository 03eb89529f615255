"""``maptree path``: the best tree of each number of leaves."""

from __future__ import annotations

from typing import Annotated

import typer

from maptree.cli import options, search_options
from maptree.cli.mistakes import USAGE, Refusal


def path(
    data: options.Data,
    training: options.TrainingOptions,
    *,
    max_leaf_nodes: Annotated[
        int, typer.Option(metavar="N", help="The largest size, up to 128 leaves.")
    ] = 16,
    cv: Annotated[
        int,
        typer.Option(
            metavar="FOLDS",
            help="Score every size by cross-validation with this many folds; 0: do not.",
        ),
    ] = 5,
    choose: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Write the best tree of at most N leaves. Default: the elbow, the smallest size "
            "within one standard error of the least log loss.",
        ),
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Draw the path: .png, .svg or .pdf. Needs matplotlib."),
    ] = None,
    report: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write a report of the chosen tree, with the path."),
    ] = None,
    time_limit: Annotated[
        str,
        typer.Option(
            metavar="SECONDS",
            help="Seconds of one fit; all sizes together take at most three times as long, and "
            "every fold once. none: until all sizes are proved.",
            rich_help_panel=search_options.LIMITS,
        ),
    ] = "10",
    search: search_options.SearchOptions,
    json: options.Json = False,
    file: options.FileOptions,
) -> int:
    """Find the best tree of each number of leaves, and write one as a model file.

    Prints for every size worth having its log posterior, what is proved about
    trees as small, and log loss and accuracy on held-out rows.

    \b
    Examples:
      maptree path people.csv --target income --choose 6 --plot path.png
      maptree path people.csv --target income --without postcode
    """
    from maptree.cli.settings import HoldingOut, Plan, Settings, refuse_at_once

    settings = Settings(search, time_limit, max_leaf_nodes)
    plan = Plan.of(
        data,
        training,
        settings,
        HoldingOut(None, cv or None, 0),
        decimal=file.decimal,
        as_json=json,
    )
    if choose is not None and not 1 <= choose <= max_leaf_nodes:
        raise Refusal(f"--choose {choose}: pass 1 to {max_leaf_nodes} leaves.", USAGE)
    refuse_at_once(plan, file)
    if report is not None:
        from maptree.cli.commands.report import is_page

        options.refuse_foreign(report, "a report", is_page)
    source = file.read(data)
    from maptree.cli.training_table import read_training_table

    given = read_training_table(plan, source)
    from maptree.cli.sizes import Request, run_path

    request = Request(max_leaf_nodes, plan.holding_out.cv, choose, plot, report)
    return run_path(plan, request, given)
