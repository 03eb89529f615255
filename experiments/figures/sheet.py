"""A sheet: a figure with its caption and tables; and the style of all figures."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

# Okabe and Ito's colours: people with any kind of colour vision can tell them apart.
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
NOTE_WIDTH = 58  # letters above a panel of three inches


@dataclass(frozen=True)
class Sheet:
    """A figure, its caption and its tables."""

    name: str  # of the files
    title: str
    caption: str
    picture: Callable[[], Figure] | None  # draws it; None: tables alone
    tables: list[str]  # Markdown, shown in the report
    details: list[str] = field(default_factory=list)  # longer ones, in a file of their own

    def markdown(self, folder: str = "") -> str:
        """Return figure, caption and tables as Markdown; ``folder`` is where the files are."""
        parts = [f"### {self.title}"]
        if self.picture is not None:
            parts.append(f"![{self.title}]({folder}{self.name}.png)")
        parts.append(self.caption)
        if self.details:
            parts.append(f"[By set and setting]({folder}{self.name}-details.md).")
        return "\n\n".join([*parts, *self.tables]) + "\n"

    def write(self, folder: Path) -> list[Path]:
        """Write NAME.png and .svg, NAME.md, and NAME-details.md if there are details."""
        texts = {f"{self.name}.md": self.markdown()}
        if self.details:
            head = f"# {self.title}: by set and setting"
            texts[f"{self.name}-details.md"] = "\n\n".join([head, *self.details]) + "\n"
        written = []
        for name, text in texts.items():
            written.append(folder / name)
            written[-1].write_text(text)
        if self.picture is not None:
            with mpl.rc_context(LOOK):
                figure = self.picture()
                FigureCanvasAgg(figure)
                for ending, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
                    written.append(folder / f"{self.name}.{ending}")
                    figure.savefig(written[-1], dpi=DPI, metadata=metadata)
        return written


def head(axis: Axes, title: str, missing: dict[str, str]) -> int:
    """Write a panel's title, and below it what it does not show, and why; return the lines.

    ``missing``: by the name of a system or setting, the empty text where nothing is.
    """
    by_reason: dict[str, list[str]] = {}
    for name, why in missing.items():
        if why:
            by_reason.setdefault(why, []).append(name)
    notes = []
    for why, names in by_reason.items():
        everything = len(names) == len(missing) > 1
        note = f"{'each of them' if everything else ', '.join(names)}: {why}"
        notes += textwrap.wrap(note, NOTE_WIDTH, subsequent_indent="  ")
    axis.set_title(title, loc="left", fontweight="bold", pad=6 + 9 * len(notes))
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
    return len(notes)
