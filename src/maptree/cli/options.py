"""Options shared by several commands."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maptree.cli.header import MISSING, Dialect
from maptree.cli.mistakes import USAGE, Refusal

if TYPE_CHECKING:
    from maptree.cli.files import Source


def _about_file(metavar: str, help: str, *names: str) -> Any:
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel="Input file")


Format = Annotated[
    str | None,
    _about_file(
        "NAME", "csv, tsv, parquet, feather or jsonl. Default: by the file extension.", "--format"
    ),
]
Delimiter = Annotated[
    str | None,
    _about_file("CHAR", "Character between cells, or tab. Default: detected from the header."),
]
Encoding = Annotated[
    str | None,
    _about_file(
        "NAME",
        "Text encoding, such as latin-1. Default: UTF-8, or UTF-16 with a byte order mark.",
    ),
]
Decimal = Annotated[
    str | None,
    _about_file(
        "CHAR",
        "Decimal mark in numbers, . or , where a column does not show it: 4,321 is 4321, and 4.321 "
        "with --decimal ,",
    ),
]
Dates = Annotated[
    str | None,
    _about_file(
        "ORDER",
        "dmy or mdy: how to read dates such as 01/02/2020, where a column does not show it.",
    ),
]
Missing = Annotated[
    list[str] | None,
    _about_file(
        "WORD",
        "Another word for a missing value, in addition to NA, N/A, NaN, null, None, ? and empty "
        "cells. Repeatable.",
    ),
]
Json = Annotated[
    bool, typer.Option("--json", metavar="", help="Print one JSON document instead of text.")
]
KnownTarget = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        metavar="NAME",
        help="Column with the known classes. Default: the target of fit.",
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


def read_data(
    path: str,
    format_: str | None,
    delimiter: str | None,
    encoding: str | None,
    missing: list[str] | None,
    decimal: str | None,
) -> Source:
    """Read the table that the options describe."""
    dialect = read_dialect(delimiter, encoding, missing, decimal)
    from maptree.cli.files import read_source

    return read_source(path, format_, dialect)


def read_dialect(
    delimiter: str | None, encoding: str | None, missing: list[str] | None, decimal: str | None
) -> Dialect:
    """Return how a text file is written, as far as the options specify it."""
    if decimal not in (".", ",", None):
        raise Refusal(f"--decimal {decimal} is unknown: pass . or ,", USAGE)
    if delimiter is not None:
        delimiter = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
        if len(delimiter) != 1 or not delimiter.isascii():
            raise Refusal(f"--delimiter {delimiter}: pass one character, or tab.", USAGE)
    words = (*MISSING, *(missing or ()))
    return Dialect(delimiter, encoding, words, decimal)


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
