"""What is shown: text that fits the terminal, or one JSON document."""

from __future__ import annotations

import json
import math
import shutil
import sys
from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import Any, TextIO
from unicodedata import category

_PIPE_WIDTH = 80
_LEAST_WIDTH = 40


def width(stream: TextIO | None = None) -> int:
    """Return how many characters fit a line: 80 where there is no terminal."""
    stream = sys.stdout if stream is None else stream
    columns = shutil.get_terminal_size().columns if stream.isatty() else _PIPE_WIDTH
    return max(_LEAST_WIDTH, columns)


def say(text: str = "", stream: TextIO | None = None, indent: str = "") -> None:
    """Print text, its lines wrapped; what is wrapped is indented below its own indent."""
    stream = sys.stdout if stream is None else stream
    for line in text.split("\n"):
        print("\n".join(fold(shown(line), width(stream), indent)), file=stream)


def shown(text: object) -> str:
    """Return text with escapes for what is no letter: names from files may command a terminal.

    >>> print(shown("caf\u00e9\x1b[2J"))
    caf\u00e9\\x1b[2J
    """
    return "".join(
        c if c.isprintable() or category(c) == "Zs" else c.encode("unicode_escape").decode()
        for c in str(text)
    )


def heading(text: str) -> None:
    """Print the title of a part, bold on a terminal."""
    bold = ("\033[1m", "\033[0m") if _has_colour(sys.stdout) else ("", "")
    print(f"\n{bold[0]}{text}{bold[1]}")


def _has_colour(stream: TextIO) -> bool:
    from rich.console import Console

    console = Console(file=stream)
    return console.is_terminal and not console.no_color and console.color_system is not None


def note(text: str) -> None:
    """Print a remark that is not part of the output to standard error."""
    say(text, stream=sys.stderr)


def fold(line: str, columns: int, indent: str = "") -> list[str]:
    """Wrap one line of text or of a tree, and never lose what it says.

    >>> fold("| | colour not in {blue, red}: yes", 24)
    ['| | colour not in {blue,', '| |     red}: yes']
    """
    start = line[: len(line) - len(line.lstrip("| "))]
    below = f"{start}{indent or ('    ' if start else '')}"
    return wrap(
        line,
        max(columns, len(below) + 20),
        subsequent_indent=below,
        break_on_hyphens=False,
        drop_whitespace=True,
    ) or [""]


def columns_of(rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """Lay out rows in columns; the first ``left`` are words, the others numbers.

    >>> print(columns_of([["", "rows"], ["yes", "12"], ["no", "7"]]))
         rows
    yes    12
    no      7
    """
    table = [[shown(cell) for cell in row] for row in rows]
    widths = [max(len(row[j]) for row in table) for j in range(len(table[0]))]
    lines = [
        "  ".join(
            cell.ljust(widths[j]) if j < left else cell.rjust(widths[j])
            for j, cell in enumerate(row)
        )
        for row in table
    ]
    return "\n".join(line.rstrip() for line in lines)


def emit(document: dict[str, Any]) -> None:
    """Print the one JSON document of ``--json``."""
    print(json.dumps(_plain(document), indent=2, ensure_ascii=False, allow_nan=False))


def _plain(value: Any) -> Any:
    """Return what JSON can hold; infinities as text."""
    if isinstance(value, dict):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if hasattr(value, "item"):  # a number of numpy
        value = value.item()
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def complain(message: str, code: int, as_json: bool) -> int:
    """Show an error where the user looks for it; return the exit code."""
    if as_json:
        emit({"error": {"code": code, "message": message}})
    else:
        say(f"maptree: {message}", stream=sys.stderr)
    return code
