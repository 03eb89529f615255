"""Tables as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from maptree.files.controls import shown


def columns_of(rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """Lay out rows in columns; the first ``left`` are words, the others numbers.

    A column without a head is one of words, too.

    >>> print(columns_of([["", "rows", ""], ["yes", "12", "most"], ["no", "7", ""]]))
         rows
    yes    12  most
    no      7
    """
    table = [[shown(cell) for cell in row] for row in rows]
    widths = [max(len(row[j]) for row in table) for j in range(len(table[0]))]
    lines = [
        "  ".join(
            cell.ljust(widths[j]) if j < left or not table[0][j] else cell.rjust(widths[j])
            for j, cell in enumerate(row)
        )
        for row in table
    ]
    return "\n".join(line.rstrip() for line in lines)
