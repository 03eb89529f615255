"""Compute the cells that have no row yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator
from contextlib import closing
from typing import Any

from experiments.cells import OUTCOMES, Cell, Row
from experiments.store import Store

Rows = Callable[[list[Cell]], Generator[Row]]


def missing(cells: list[Cell], store: Store, retry: bool = False) -> list[Cell]:
    """Return the cells to compute: each once, the longest first.

    This way a run on many cores does not end with one of them busy and the others idle.
    """
    done = store.done(retry)
    left = {cell.key: cell for cell in cells if cell.key not in done}
    return sorted(left.values(), key=lambda cell: -(cell.limit or 0.0))


def run(cells: list[Cell], store: Store, rows_of: Rows, seen: Callable[[Row], None]) -> int:
    """Compute cells and store each row as it comes; return their number."""
    count = 0
    with closing(rows_of(cells)) as rows:
        for row in rows:
            store.append(row)
            seen(row)
            count += 1
    return count


def summary(rows: list[dict[str, Any]]) -> str:
    """Return a table of outcomes by system, and the reasons for failures."""
    counts = Counter((row["system"], row["outcome"]) for row in rows)
    reasons = Counter(
        (row["system"], row["outcome"], row["reason"]) for row in rows if row["outcome"] != "ok"
    )
    lines = [" ".join([f"{'system':16}", *(f"{outcome:>8}" for outcome in OUTCOMES)])]
    for system in sorted({str(system) for system, _ in counts}):
        numbers = (f"{counts[system, outcome] or '-':>8}" for outcome in OUTCOMES)
        lines.append(" ".join([f"{system:16}", *numbers]))
    for (system, outcome, reason), count in reasons.most_common(20):
        first = str(reason).partition("\n")[0]
        lines.append(f"{count} x {system} {outcome}: {first}")
    return "\n".join(lines)
