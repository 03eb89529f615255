"""Options shared by several commands."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maptree.cli.header import MISSING, Dialect, quick_names
from maptree.cli.mistakes import USAGE, Refusal

if TYPE_CHECKING:
    from maptree.cli.files import Source
    from maptree.trees.fitted import FittedTree


def _about_file(metavar: str, help: str, *names: str) -> Any:
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel="Input file")


@dataclass(frozen=True)
class FileOptions:
    """How the file with the table is written."""

    format: Annotated[
        str | None,
        _about_file(
            "NAME",
            "csv, tsv, parquet, feather or jsonl. Default: by the file extension.",
            "--format",
        ),
    ] = None
    delimiter: Annotated[
        str | None,
        _about_file("CHAR", "Character between cells, or tab. Default: detected from the header."),
    ] = None
    encoding: Annotated[
        str | None,
        _about_file(
            "NAME",
            "Text encoding, such as latin-1. Default: UTF-8, or UTF-16 with a byte order mark.",
        ),
    ] = None
    decimal: Annotated[
        str | None,
        _about_file(
            "CHAR",
            "Decimal mark in numbers, . or , where a column does not show it: 4,321 is 4321, and "
            "4.321 with --decimal ,",
        ),
    ] = None
    missing: Annotated[
        list[str] | None,
        _about_file(
            "WORD",
            "Another word for a missing value, in addition to NA, N/A, NaN, null, None, ? and "
            "empty cells. Repeatable.",
        ),
    ] = None

    def read(self, path: str) -> Source:
        """Read the table."""
        dialect = self.dialect()
        from maptree.cli.files import read_source

        return read_source(path, self.format, dialect)

    def dialect(self) -> Dialect:
        """Return how a text file is written, as far as the options specify it."""
        if self.decimal not in (".", ",", None):
            raise Refusal(f"--decimal {self.decimal} is unknown: pass . or ,", USAGE)
        delimiter = self.delimiter
        if delimiter is not None:
            delimiter = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
            if len(delimiter) != 1 or not delimiter.isascii():
                raise Refusal(f"--delimiter {delimiter}: pass one character, or tab.", USAGE)
        return Dialect(delimiter, self.encoding, (*MISSING, *(self.missing or ())), self.decimal)

    def quick_names(self, path: str) -> list[str] | None:
        """Return the names of columns without reading the table; None if that takes all of it."""
        if self.format is not None or not path.endswith((".csv", ".tsv", ".txt")):
            return None
        tab = "\t" if path.endswith(".tsv") else None
        return quick_names(path, replace(self, delimiter=self.delimiter or tab).dialect())


@dataclass(frozen=True)
class TrainingOptions:
    """What to learn from the table, and where the model goes."""

    target: Annotated[
        str,
        typer.Option(
            "--target",
            "-t",
            metavar="NAME",
            help="Column to predict. Rows in which it is missing are left out.",
            show_default=False,
        ),
    ]
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            metavar="FILE",
            help="Model file to write; an existing file is replaced only if it is a model. "
            "Default: DATA.model.json in the current folder.",
        ),
    ] = None
    task: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What the target is: classes; number, with a normal distribution in each leaf; "
            "count, whole numbers with a Poisson rate in each leaf. Default: number if it has more "
            "than 20 different numbers, else classes.",
        ),
    ] = None
    exposure: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="For counts, the column that says for how long or among how many the events of a "
            "row were counted. It is not tested.",
        ),
    ] = None
    drop: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES", help="Columns to leave out, separated by commas. Repeatable."
        ),
    ] = None
    positive: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS",
            help="Predict this class against all others combined, which become 'not CLASS'.",
        ),
    ] = None
    dates: Annotated[
        str | None,
        _about_file(
            "ORDER",
            "dmy or mdy: how to read dates such as 01/02/2020, where a column does not show it.",
        ),
    ] = None


Json = Annotated[
    bool, typer.Option("--json", metavar="", help="Print one JSON document instead of text.")
]
KnownTarget = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        metavar="NAME",
        help="Column with the known classes or numbers. Default: the target of fit.",
    ),
]
KnownExposure = Annotated[
    str | None,
    typer.Option(
        "--exposure",
        metavar="COLUMN",
        help="For a model of counts, the column with the exposure of each row.",
    ),
]
Costs = Annotated[
    list[str] | None,
    typer.Option(
        "--costs",
        metavar="COSTS",
        help="What wrong predictions cost: CLASS=COST for every error in rows of a class, "
        "TRUE:PREDICTED=COST for one class predicted as another, separated by commas; other errors "
        "cost 1. Or a CSV file with a matrix.",
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(
        "--positive",
        metavar="CLASS",
        help="Class that probability thresholds are about. Default: the second of two.",
    ),
]
SingleTree = Annotated[
    bool,
    typer.Option(
        "--single-tree",
        metavar="",
        help="Of a model that averages many trees, take the most probable tree alone.",
    ),
]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="Model file.", show_default=False)]
Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="Table: .csv, .tsv, .parquet, .feather or .jsonl; - for standard input.",
        show_default=False,
    ),
]


def refuse_for_measured(fitted: FittedTree, given: Mapping[str, object]) -> None:
    """Refuse options that are about classes, if a model predicts numbers or counts."""
    measured = fitted.measured
    for option, value in given.items():
        if measured is not None and value:
            raise Refusal(
                f"{option} is for classes, and this model predicts {measured.name}: leave it out.",
                USAGE,
            )


def refuse_overwriting(output: str, *inputs: str) -> None:
    """Refuse to overwrite an input file, even under another name."""
    for path in inputs:
        there = os.path.exists(output) and os.path.exists(path)
        if there and os.path.samefile(output, path):
            raise Refusal(f"--output {output} would replace {path}: name another file.", USAGE)


def default_output(model: str, extension: str) -> str:
    """Return the name of a file that belongs to a model.

    >>> default_output("people.model.json", ".html"), default_output("tree.json", ".html")
    ('people.html', 'tree.html')
    """
    return model.removesuffix(".json").removesuffix(".model") + extension


def refuse_model(path: str, model: str) -> None:
    """Refuse to replace the model that is read."""
    if os.path.exists(path) and os.path.samefile(path, model):
        raise Refusal(f"--output {path} is the model itself: name another file.")


def refuse_foreign(path: str, what: str, is_own: Callable[[str], bool]) -> None:
    """Refuse to replace a file, unless it is empty or what the command writes."""
    if not os.path.isfile(path) or os.path.getsize(path) == 0 or is_own(path):
        return
    raise Refusal(f"--output {path} exists and is not {what}: name another file, or delete it.")
