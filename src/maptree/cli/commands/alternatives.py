"""``maptree alternatives``: what else is nearly as probable as the tree of a model."""

from __future__ import annotations

from typing import Annotated

import typer

from maptree.cli import options, search_options
from maptree.cli.mistakes import refuse_absent


def alternatives(
    model: options.Model,
    data: options.Data,
    *,
    n: Annotated[
        int | None,
        typer.Option(
            "-n",
            metavar="N",
            help="List this many trees. Default: 10, or up to 1,000 with --within.",
        ),
    ] = None,
    within: Annotated[
        float | None,
        typer.Option(
            metavar="NATS",
            help="List only trees at most this many nats below the best: 2.0 is about 7 times less "
            "probable.",
        ),
    ] = None,
    max_depth: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="List trees of depth N or less: where nothing is proved about all trees, it often "
            "is about small ones.",
        ),
    ] = None,
    choose: Annotated[
        int | None,
        typer.Option(
            metavar="TREE",
            help="Write the tree with this number as a model file: --output, or MODEL with the "
            "number in its name.",
        ),
    ] = None,
    report: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write a report with the trees side by side."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Model file that --choose writes."),
    ] = None,
    rising: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="List only trees whose probability of the second class, or whose mean of a number "
            "or count, never falls with these columns, separated by commas. Repeatable.",
            rich_help_panel=search_options.WISHES,
        ),
    ] = None,
    falling: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="The same for columns with which it must never rise.",
            rich_help_panel=search_options.WISHES,
        ),
    ] = None,
    time_limit: Annotated[
        str,
        typer.Option(
            metavar="SECONDS",
            help="Stop after this many seconds, and list what is proved until then; none: go on "
            "until all is listed.",
            rich_help_panel=search_options.LIMITS,
        ),
    ] = "60",
    limits: search_options.LimitOptions,
    target: options.KnownTarget = None,
    exposure: options.KnownExposure = None,
    json: options.Json = False,
    file: options.FileOptions,
) -> int:
    """List the most probable trees for the table that a model was fitted to.

    Trees that part the rows alike are one. The list says up to where it is
    proved complete. Ctrl-C stops the search and lists what is proved until
    then; the exit code is 130.

    \b
    Example:
      maptree alternatives people.model.json people.csv -n 5
    """
    refuse_absent(data)  # before anything slow is imported
    from maptree.cli.rivals import Request, run_alternatives
    from maptree.cli.settings import read_limits

    request = Request(
        model=model,
        data=data,
        n=n,
        within=within,
        max_depth=max_depth,
        choose=choose,
        report=report,
        output=output,
        rising=rising or [],
        falling=falling or [],
        limits=read_limits(time_limit, limits),
        target=target,
        exposure=exposure,
        as_json=json,
    )

    return run_alternatives(request, file)
