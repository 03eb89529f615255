"""Box plots over sets: accuracy and likelihood relative to CART 4, and the number of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator, StrMethodFormatter

from experiments.comparison import MEASURES, Standing
from experiments.figures.sheet import ALARM, GREY, SYSTEM_COLOURS
from experiments.markdown import number, table
from experiments.results import shortfall
from experiments.settings import CART_4

FEW_TICKS = (1, 3, 10, 30, 100, 300, 1000)
MANY_TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
RELATIVE = ("test_accuracy", "ll_marginal", "ll_predictive")


def picture(standings: Sequence[Standing], settings: str = "") -> Figure:
    """Draw a line of boxes for each setting, a panel for each measure."""
    height = 0.42 * len(standings) + 1.5
    figure = Figure(figsize=(12, height), layout="constrained")
    axes = figure.subplots(1, 4, sharey=True)
    for axis, measure in zip(axes, (*RELATIVE, "nodes"), strict=True):
        _panel(axis, measure, standings)
    axes[0].set_yticks(range(len(standings)), [one.setting.label for one in standings])
    axes[0].set_ylabel(settings)
    axes[0].set_ylim(len(standings) - 0.4, -0.6)  # the first on top
    for line, one in enumerate(standings):
        _count(axes[-1], line, one)
    return figure


def _panel(axis: Axes, measure: str, standings: Sequence[Standing]) -> None:
    relative = measure in RELATIVE
    for line, one in enumerate(standings):
        values = one.differences(measure) if relative else one.values(measure)
        if not values:
            _say(axis, line, "no result", ALARM)
            continue
        if relative and one.setting is CART_4:
            _say(axis, line, "the reference", GREY)
            continue
        colour = SYSTEM_COLOURS[one.setting.system]
        axis.boxplot(
            values,
            positions=[line],
            orientation="horizontal",
            widths=0.6,
            whis=1.5,
            showfliers=False,  # every set is a dot anyway
            patch_artist=True,
            manage_ticks=False,
            boxprops={"facecolor": colour, "alpha": 0.35, "edgecolor": colour},
            medianprops={"color": colour, "linewidth": 2},
            whiskerprops={"color": colour},
            capprops={"color": colour},
        )
        apart = np.random.default_rng(line).uniform(-0.18, 0.18, len(values))
        axis.plot(values, line + apart, ".", color=colour, markersize=4, alpha=0.8)
    words = MEASURES[measure]
    if relative:
        axis.axvline(0, color=GREY, linewidth=1, linestyle="--")
        axis.xaxis.set_major_locator(MaxNLocator(4))
        axis.set_xlabel(f"{words}\n(minus CART 4's)")
    else:
        _by_logarithm(axis)
        axis.set_xlabel(words)
    axis.grid(visible=False, axis="y")


def _by_logarithm(axis: Axes) -> None:
    """Ticks in words that people use, two at least and not too close."""
    axis.set_xscale("log")
    low, high = axis.get_xlim()
    ticks = FEW_TICKS if high / low > 30 else MANY_TICKS
    below = max((tick for tick in ticks if tick <= low), default=low)
    above = min((tick for tick in ticks if tick >= high), default=high)
    axis.set_xlim(below * 0.95, above * 1.05)
    axis.xaxis.set_major_locator(FixedLocator(ticks))
    axis.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.xaxis.set_minor_locator(NullLocator())


def _say(axis: Axes, line: int, words: str, colour: str) -> None:
    """Write in the place of a box."""
    how = {"ha": "center", "va": "center", "fontsize": 8, "backgroundcolor": "white"}
    axis.text(0.5, line, words, transform=axis.get_yaxis_transform(), color=colour, **how)


def _count(axis: Axes, line: int, one: Standing) -> None:
    """Beside the last panel: how many sets the boxes are of, and what is missing."""
    why = shortfall(one.rows)
    axis.annotate(
        f"{len(one.sets)} sets" + (f"\n{why}" if why else ""),
        (1, line),
        xycoords=axis.get_yaxis_transform(),
        xytext=(6, 0),
        textcoords="offset points",
        va="center",
        fontsize=7,
        color=ALARM if why else GREY,
    )


def summary(standings: Sequence[Standing]) -> str:
    """A line a setting: means over sets, and medians of what the boxes show."""
    header = ["setting", "sets", "fits", "accuracy", "ll published", "ll predictive", "ll own"]
    header += ["nodes", "median accuracy - CART 4", "median ll published - CART 4"]
    header += ["median ll predictive - CART 4", "no result"]
    lines = []
    for one in standings:
        fits = f"{sum(on.folds for on in one.sets)}/{len(one.rows)}"
        line = [one.setting.label, str(len(one.sets)), fits]
        for measure in ("test_accuracy", "ll_marginal", "ll_predictive", "ll_own"):
            line.append(number(_mean(one.values(measure)), 4))
        line.append(number(_mean(one.values("nodes")), 1))
        for measure in RELATIVE:
            values = one.differences(measure)
            line.append(number(median(values) if values else None, 4, sign=True))
        lines.append([*line, shortfall(one.rows) or "-"])
    return "Means over the sets, and medians of the differences.\n\n" + table(header, lines)


def details(standings: Sequence[Standing]) -> str:
    """A line a setting and set, with the folds counted."""
    header = ["set", "setting", "folds", "accuracy", "ll published", "ll predictive", "ll own"]
    header += ["nodes"]
    lines = []
    for name in dict.fromkeys(row["set"] for one in standings for row in one.rows):
        for one in standings:
            on = next((on for on in one.sets if on.name == name), None)
            wanted = sum(row["set"] == name for row in one.rows)
            line = [name, one.setting.label, f"{on.folds if on else 0}/{wanted}"]
            values = on.values if on else {}
            for measure in ("test_accuracy", "ll_marginal", "ll_predictive", "ll_own"):
                line.append(number(values.get(measure), 4))
            lines.append([*line, number(values.get("nodes"), 1)])
    return table(header, lines, words=2)


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None
