"""Options that several commands have."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from maptree.cli.header import MISSING, Dialect
from maptree.cli.mistakes import USAGE, Refusal

if TYPE_CHECKING:
    from maptree.cli.files import Source

_FILE = "The file"

Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="csv, tsv, parquet, feather or jsonl; by the extension if not given.",
        rich_help_panel=_FILE,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        metavar="MARK",
        help="Between cells; found in the header if not given.",
        rich_help_panel=_FILE,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Of text, such as latin-1.", rich_help_panel=_FILE),
]
Decimal = Annotated[
    str, typer.Option(metavar="MARK", help="Decimal mark of numbers: . or ,", rich_help_panel=_FILE)
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        metavar="WORD",
        help="A word for missing values, beside NA, N/A, NaN, null, None, ? and empty cells; "
        "may be repeated.",
        rich_help_panel=_FILE,
    ),
]
Json = Annotated[
    bool, typer.Option("--json", metavar="", help="Print one JSON document instead of text.")
]
KnownTarget = Annotated[
    str | None,
    typer.Option(
        "--target", "-t", metavar="NAME", help="The column of classes; as in fit if not given."
    ),
]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="A model file.", show_default=False)]
Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A table: .csv, .tsv, .parquet, .feather or .jsonl; - is standard input.",
        show_default=False,
    ),
]


def read_data(
    path: str,
    format_: str | None,
    delimiter: str | None,
    encoding: str | None,
    missing: list[str] | None,
    decimal: str,
) -> Source:
    """Read the table that the options describe."""
    dialect = read_dialect(delimiter, encoding, missing, decimal)
    from maptree.cli.files import read_source

    return read_source(path, format_, dialect)


def read_dialect(
    delimiter: str | None, encoding: str | None, missing: list[str] | None, decimal: str
) -> Dialect:
    """Return how a file of text is written, as far as options tell."""
    if decimal not in (".", ","):
        raise Refusal(f"--decimal {decimal} is unknown: pass . or ,", USAGE)
    if delimiter is not None:
        delimiter = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
        if len(delimiter) != 1 or not delimiter.isascii():
            raise Refusal(f"--delimiter {delimiter}: pass one character, or tab.", USAGE)
    words = (*MISSING, *(missing or ()))
    return Dialect(delimiter, encoding, words, decimal)


def refuse_overwriting(output: str, *inputs: str) -> None:
    """Refuse to write over a file that is read, by whatever name it is called."""
    for path in inputs:
        there = os.path.exists(output) and os.path.exists(path)
        if there and os.path.samefile(output, path):
            raise Refusal(f"--output {output} would replace {path}: name another file.", USAGE)


def beside(model: str, extension: str) -> str:
    """Return the name of a file that belongs to a model.

    >>> beside("people.model.json", ".html"), beside("tree.json", ".html")
    ('people.html', 'tree.html')
    """
    return model.removesuffix(".json").removesuffix(".model") + extension


def refuse_output(path: str, model: str, own: bytes | None = None) -> None:
    """Refuse to replace the model that is read, or a file that is not the command's own.

    Its own files begin with ``own``. Where they may begin with anything, model files and tables are
    refused; .txt may be either.
    """
    from maptree.cli.files import EXTENSIONS
    from maptree.model_file import FORMAT

    file = Path(path)
    if not file.is_file():
        return
    if file.samefile(model):
        raise Refusal(f"--output {path} is the model itself: name another file.")
    with open(file, "rb") as old:
        start = old.read(200).lstrip()
    if own is not None:
        if start and not start.startswith(own):
            raise Refusal(f"--output {path} is there and is no report: name another file.")
    elif FORMAT.encode() in start:
        raise Refusal(f"--output {path} is there and is a model: name another file.")
    elif start and file.suffix.lower() in set(EXTENSIONS) - {".txt"}:
        raise Refusal(f"--output {path} is there and is a table: name another file.")
