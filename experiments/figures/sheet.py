"""A sheet: a figure with its caption and the tables behind it; and how all of them look."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

# Okabe and Ito's colours: told apart by people of every colour vision.
BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, RED, PURPLE = (
    "#000000",
    "#E69F00",
    "#56B4E9",
    "#009E73",
    "#F0E442",
    "#0072B2",
    "#D55E00",
    "#CC79A7",
)
GREY = "#666666"
SYSTEM_COLOURS = {
    "maptree": BLACK,
    "maptree-paper": PURPLE,
    "mcmc": ORANGE,
    "smc": BLUE,
    "cart": ORANGE,
    "cart-cv": RED,
    "dl85": BLUE,
    "gosdt": GREEN,
    "streed": PURPLE,
}
LOOK: dict[str, Any] = {
    "font.size": 10,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "svg.hashsalt": "maptree",  # the same figure gives the same file
}
DPI = 150
ALARM = "#a00000"


@dataclass(frozen=True)
class Sheet:
    """What is shown together."""

    name: str  # of the files
    title: str
    caption: str
    picture: Figure | None  # None: tables alone
    tables: list[str]  # Markdown, shown in the report
    details: list[str] = field(default_factory=list)  # longer ones, in a file of their own

    def write(self, folder: Path) -> list[Path]:
        """Write NAME.png and .svg, NAME.md, and NAME-details.md if there are details."""
        written = []
        parts = [f"### {self.title}", self.caption]
        if self.picture is not None:
            FigureCanvasAgg(self.picture)
            for ending, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
                path = folder / f"{self.name}.{ending}"
                with mpl.rc_context(LOOK):
                    self.picture.savefig(path, dpi=DPI, metadata=metadata)
                written.append(path)
            parts.insert(1, f"![{self.title}]({self.name}.png)")
        if self.details:
            parts.append(f"All rows behind it: [{self.name}-details.md]({self.name}-details.md).")
        parts += self.tables
        written.append(_write(folder / f"{self.name}.md", parts))
        if self.details:
            head = [f"# {self.title}: all rows behind it"]
            written.append(_write(folder / f"{self.name}-details.md", head + self.details))
        return written


def mark_missing(axis: Axes, notes: list[str]) -> None:
    """Write above a panel what it does not show, and why."""
    if notes:
        axis.annotate(
            "\n".join(notes),
            (0, 1),
            xycoords="axes fraction",
            xytext=(0, 3),
            textcoords="offset points",
            fontsize=7,
            color=ALARM,
            va="bottom",
        )


def _write(path: Path, parts: list[str]) -> Path:
    path.write_text("\n\n".join(part for part in parts if part) + "\n")
    return path
