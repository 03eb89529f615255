"""Every figure of the paper, with the tables behind it, from the rows alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.figures import generalisation, hyperparameters, quality, speed, synthetic
from experiments.figures.sheet import Sheet
from experiments.results import Results, select

_SHEETS = {
    "speed": (speed.sheets, quality.sheets),
    "generalisation": (generalisation.sheets,),
    "synthetic": (synthetic.sheets,),
    "hyperparameters": (hyperparameters.sheets,),
}


def draw(
    rows: Iterable[Mapping[str, Any]],
    folder: Path,
    budget: str = "quick",
    sets: Sequence[str] | None = None,
) -> list[Path]:
    """Draw all that the rows of a budget suffice for into FOLDER/figures; return the files."""
    into = Path(folder) / "figures"
    into.mkdir(parents=True, exist_ok=True)
    for old in (*into.glob("*.png"), *into.glob("*.svg"), *into.glob("*.md")):
        old.unlink()  # of another budget, perhaps
    results = select(rows, budget, sets)
    return [
        path
        for family in _SHEETS
        for sheet in sheets_of(family, results)
        for path in sheet.write(into)
    ]


def sheets_of(family: str, results: Results) -> list[Sheet]:
    """Return the sheets of a family, none if it has no rows; their pictures are not drawn yet."""
    if not results.of(family):
        return []
    return [sheet for make in _SHEETS[family] for sheet in make(results)]
