"""Every figure of the paper, with the tables behind it, from the rows alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

from experiments.figures import generalisation, hyperparameters, quality, speed, synthetic
from experiments.figures.sheet import LOOK, Sheet
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
    with mpl.rc_context(LOOK):
        made = sheets(select(rows, budget, sets))
    return [path for one in made for path in one.write(into)]


def sheets(results: Results) -> list[Sheet]:
    """Return the sheets of all families that have rows, in the order of the report."""
    return [
        sheet
        for family, makers in _SHEETS.items()
        if results.of(family)
        for make in makers
        for sheet in make(results)
    ]
