"""Options of a search: ``fit`` and ``path`` take all of them, ``alternatives`` the limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from maptree.parameters.outcomes import NU, SHAPE

LIMITS, WISHES, _PRIOR = "Limits", "Wishes", "Prior and tests"  # panels of the help


def _option(panel: str, metavar: str, help: str, *names: str) -> Any:
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel=panel)


@dataclass(frozen=True)
class LimitOptions:
    """Limits of any search, apart from its time."""

    memory_limit: Annotated[
        str | None,
        _option(
            LIMITS,
            "SIZE",
            "Limit on the memory that the search adds to the process, such as 2GiB or 500MB.",
        ),
    ] = None
    max_expansions: Annotated[
        int | None,
        _option(
            LIMITS,
            "N",
            "Stop after N node expansions. Unlike a time limit, this makes runs reproducible, on "
            "one thread and if no other limit is reached first.",
        ),
    ] = None


@dataclass(frozen=True)
class SearchOptions(LimitOptions):
    """Limits, the prior, and what is wished of the trees."""

    jobs: Annotated[int, _option(LIMITS, "N", "Number of threads; -1 for all cores.")] = 1
    max_depth: Annotated[
        int | None, _option(WISHES, "N", "Consider only trees of depth N or less.")
    ] = None
    min_samples_leaf: Annotated[
        int, _option(WISHES, "N", "Consider only trees with at least N rows in every leaf.")
    ] = 1
    alpha: Annotated[
        float, _option(_PRIOR, "NUMBER", "Prior: probability that the root splits.")
    ] = 0.95
    beta: Annotated[
        float, _option(_PRIOR, "NUMBER", "Prior: how fast the split probability falls with depth.")
    ] = 0.5
    rho: Annotated[
        str | None,
        _option(
            _PRIOR,
            "NUMBERS",
            "Prior of classes: pseudo-counts in a leaf. One number, or one per class in sorted "
            "order, separated by commas. Default: 5 divided by the number of classes.",
        ),
    ] = None
    kappa: Annotated[
        float | None,
        _option(
            _PRIOR,
            "NUMBER",
            "Prior of a number: the mean of a leaf is near that of all rows, as if this many rows "
            "had it. Default: --noise.",
        ),
    ] = None
    nu: Annotated[
        float | None,
        _option(
            _PRIOR,
            "NUMBER",
            f"Prior of a number: how many rows what is assumed about the variance of a leaf is "
            f"worth. Default: {NU:g}.",
        ),
    ] = None
    noise: Annotated[
        float | None,
        _option(
            _PRIOR,
            "NUMBER",
            "Prior of a number: the variance of a leaf, as a share of that of all rows. Default: "
            "what a first tree leaves.",
        ),
    ] = None
    shape: Annotated[
        float | None,
        _option(
            _PRIOR,
            "NUMBER",
            f"Prior of a count: the rate of a leaf is near that of all rows, as if this many "
            f"events had been seen. Default: {SHAPE:g}.",
        ),
    ] = None
    split_prior: Annotated[
        str,
        _option(
            _PRIOR,
            "NAME",
            "Prior: tests, where every test has the same probability; or columns, where every "
            "column has, and thresholds go from coarse to fine.",
        ),
    ] = "columns"
    column_weights: Annotated[
        list[str] | None,
        _option(
            WISHES,
            "NAME=WEIGHT",
            "Prior: odds of columns, such as age=2,postcode=0, separated by commas; others weigh "
            "1, and 0 leaves a column out. Repeatable.",
        ),
    ] = None
    first: Annotated[
        list[str] | None,
        _option(
            WISHES,
            "NAMES",
            "Consider only trees whose first test is of one of these columns, separated by "
            "commas, or that are a single leaf. Repeatable.",
        ),
    ] = None
    without: Annotated[
        list[str] | None,
        _option(
            WISHES,
            "NAMES",
            "Consider only trees that do not test these columns, separated by commas. Unlike "
            "--drop it leaves the prior as it is, so that maptree compare says what it costs. "
            "Repeatable.",
        ),
    ] = None
    max_thresholds: Annotated[
        str,
        _option(
            _PRIOR,
            "N|all",
            "Thresholds that a column of numbers, dates or ordered categories gets at most, by "
            "quantile; all: one between every two neighbouring values.",
        ),
    ] = "32"
    category_sets: Annotated[
        bool,
        _option(
            _PRIOR,
            "",
            "Test columns of more than 32 categories in sets, learnt from the target, in place of "
            "the 32 most frequent categories, where that explains more.",
            "--category-sets",
        ),
    ] = False
