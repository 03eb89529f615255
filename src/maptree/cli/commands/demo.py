"""``maptree demo``: tic-tac-toe, proved, without any file."""

from __future__ import annotations

from typing import Annotated

import typer

from maptree.cli import options


def demo(
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", metavar="FILE", help="Write the model there, too."),
    ] = None,
    json: options.Json = False,
) -> int:
    """Find and prove the tree for tic-tac-toe. No file is needed.

    Has x won? 958 final boards, 27 tests; it takes a second or two.

    \b
    Example:
      maptree demo
    """
    from maptree.cli.demonstration import run_demo

    return run_demo(model, json)
