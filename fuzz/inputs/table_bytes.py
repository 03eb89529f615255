"""Any bytes as a table for the command line: fitted and predicted, or refused with a message.

The first byte chooses how the table is written and read. ``fit`` gives exit code 0 and a model, or
a refusal; ``predict`` does not refuse the same file then.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import typer

from fuzz.inputs.choices import Choices
from maptree.cli.app import make_app
from maptree.cli.mistakes import Refusal

MOST_BYTES = 1_500

_UsageError = typer.BadParameter.__mro__[1]
_WRITTEN = (
    ("csv", ()),
    ("csv", ("--decimal", ",")),
    ("tsv", ()),
    ("jsonl", ()),
    ("csv", ("--delimiter", ";")),
    ("csv", ("--encoding", "latin-1")),
    ("csv", ("--missing", "?")),
    ("csv", ("--encoding", "utf-16")),
)


def try_input(content: bytes) -> None:
    """Fit a table, then predict its rows."""
    extension, options = Choices(content).one_of(_WRITTEN)
    with tempfile.TemporaryDirectory(prefix="maptree-fuzz-") as folder:
        table = Path(folder, f"table.{extension}")
        model, predictions = Path(folder, "table.model.json"), Path(folder, "predictions.csv")
        table.write_bytes(content[1:])
        target = _last_name(content[1:], extension, options)
        limits = ("--max-expansions", "2", "--time-limit", "none")
        said = _run("fit", table, "-t", target, "-m", model, *limits, *options)
        if said is None:
            return
        of_classes = () if "this is a regression" in " ".join(said.split()) else ("--proba",)
        wanted = (*of_classes, "--explain", "-o", predictions)
        if _run("predict", model, table, *wanted, *options) is None:
            # What nobody has read may be of another kind than the rest of its column.
            assert "without a target were left out" in said
            return
        assert predictions.read_bytes().count(b"\n") > 1


@cache
def _program() -> Any:
    return typer.main.get_command(make_app())


def _run(*arguments: object) -> str | None:
    """Run a command; return what it printed, None if it refused."""
    with (
        contextlib.redirect_stdout(io.StringIO()) as printed,
        contextlib.redirect_stderr(io.StringIO()),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        try:
            code = _program().main(list(map(str, arguments)), "maptree", standalone_mode=False)
        except (Refusal, _UsageError, OSError):
            return None
        except ValueError as refused:
            if not str(refused).endswith((".", "?")):  # not a message of ours
                raise
            return None
    assert code in (0, None), code
    return printed.getvalue()


def _last_name(content: bytes, extension: str, options: tuple[str, ...]) -> str:
    """Guess the name of the last column; another one is refused."""
    encoding = options[1] if "--encoding" in options else "utf-8"
    first = content.decode(encoding, "replace").lstrip("\ufeff\r\n").split("\n")[0].strip("\r")
    if extension == "jsonl":
        return first.rpartition('":')[0].rpartition('"')[2] or "y"
    cells = first.replace("\t", ",").replace(";", ",").replace("|", ",").split(",")
    return cells[-1].strip().strip('"') or "y"
