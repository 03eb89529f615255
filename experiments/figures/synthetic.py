"""Synthetic: test accuracy against training rows, a panel for each noise."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.figures.sheet import SYSTEM_COLOURS, Sheet, head
from experiments.intervals import Mean, mean_interval
from experiments.markdown import interval, table
from experiments.results import Results, Rows, ok, shortfall
from experiments.settings import COMPARED, MAIN, MAPTREE, NOISES, Setting, in_words

CAPTION = (
    "Accuracy on 1000 clean test rows against the number of training rows, whose labels are "
    "flipped with probability {noises}. Mean over {trees} random trees of 15 inner nodes over 40 "
    "fair features, with its bootstrapped 95% interval; {limit:g} s a fit. Equal curves cover each "
    "other."
)
BASELINES = {
    "cart": ("CART", ("cart", "cart-cv")),
    "dl85": ("DL8.5", ("dl85",)),
    "gosdt": ("GOSDT", ("gosdt",)),
    "streed": ("STreeD", ("streed",)),
}
MARKERS = "os^Dvp*X"


def sheets(results: Results) -> list[Sheet]:
    """Return the main figure and one for each baseline, with all settings of the budget."""
    made = [_sheet(results, "synthetic-main", "Synthetic trees, main settings", MAIN)]
    for name, (label, systems) in BASELINES.items():
        settings = [MAPTREE, *(one for one in COMPARED if one.system in systems)]
        made.append(_sheet(results, f"synthetic-{name}", f"Synthetic trees, {label}", settings))
    return made


def _sheet(results: Results, name: str, title: str, settings: Sequence[Setting]) -> Sheet:
    budget = results.budget
    present = [one for one in settings if results.of("synthetic", one)]
    rows = {one.label: results.of("synthetic", one) for one in present}
    lines = _lines(present, by_system=name == "synthetic-main")
    absent = [one for one in settings if one not in present]
    without = f"Not in this budget: {in_words(absent)}." if absent else ""
    return Sheet(
        name=name,
        title=title,
        caption=CAPTION.format(
            noises=", ".join(f"{noise:g}" for noise in NOISES),
            trees=len(budget.trees),
            limit=budget.limit,
        )
        + (f" {without}" if without else ""),
        picture=partial(_picture, rows, lines, budget.rows, without),
        tables=[_table(rows, budget.rows)],
    )


def _lines(settings: Sequence[Setting], by_system: bool) -> dict[str, dict[str, Any]]:
    """How each setting is drawn. By system: a colour each, settings told apart by line and marker.

    Otherwise settings go from dark to light in their order.
    """
    drawn: dict[str, dict[str, Any]] = {}
    seen: dict[str, int] = {}
    others = [one for one in settings if one.system != "maptree"]
    shades = mpl.colormaps["viridis"].resampled(max(2, len(others)) + 1)
    for place, one in enumerate(settings):
        number = seen.setdefault(one.system, 0)
        seen[one.system] += 1
        if by_system or one.system == "maptree":
            colour, style = SYSTEM_COLOURS[one.system], ("-", "--", ":")[number]
        else:
            colour, style = shades(others.index(one)), "-"
        width = 2.4 if one.system == "maptree" else 1.4
        marker = MARKERS[place % len(MARKERS)]
        drawn[one.label] = {
            "color": colour, "linestyle": style, "linewidth": width, "marker": marker,
            "markersize": 5, "zorder": 4 if one.system == "maptree" else 3,
        }  # fmt: skip
    return drawn


def _picture(
    rows: dict[str, Rows], lines: dict[str, dict[str, Any]], sizes: Sequence[int], without: str
) -> Figure:
    figure = Figure(figsize=(11, 4.4), layout="constrained")
    axes = figure.subplots(1, len(NOISES), sharey=True)
    notes = [
        _panel(axis, rows, lines, noise, sizes) for axis, noise in zip(axes, NOISES, strict=True)
    ]
    figure.set_figheight(4.4 + 0.13 * max(notes))
    axes[0].set_ylabel("test accuracy")
    handles = []
    for label, how in lines.items():
        result = "" if ok(rows[label]) else " (no result)"
        handles.append(Line2D([], [], label=label + result, **how))
    columns = min(5, len(handles))
    legend = figure.legend(handles=handles, loc="outside lower center", ncols=columns)
    legend.set_title(without or None, prop={"size": 8})
    return figure


def _panel(
    axis: Axes,
    rows: dict[str, Rows],
    lines: dict[str, dict[str, Any]],
    noise: float,
    sizes: Sequence[int],
) -> int:
    missing = {}
    for label, of_setting in rows.items():
        means = [(size, _mean(of_setting, noise, size)) for size in sizes]
        shown = [(size, mean) for size, mean in means if mean is not None]
        at = [size for size, _ in shown]
        axis.plot(at, [mean.value for _, mean in shown], **lines[label])
        low, high = [mean.low for _, mean in shown], [mean.high for _, mean in shown]
        axis.fill_between(at, low, high, color=lines[label]["color"], alpha=0.12, linewidth=0)
        of_noise = [row for row in of_setting if row["data"]["noise"] == noise]
        missing[label] = shortfall(of_noise)
    title = "no noise" if noise == 0 else f"{noise:.0%} of the labels flipped"
    axis.set_xlabel("training rows")
    return head(axis, title, missing)


def _mean(rows: Rows, noise: float, size: int) -> Mean | None:
    values = [
        row["test_accuracy"]
        for row in ok(rows)
        if row["data"]["noise"] == noise and row["data"]["rows"] == size
    ]
    return mean_interval(values) if values else None


def _table(rows: dict[str, Rows], sizes: Sequence[int]) -> str:
    header = ["setting", "noise", "fits", *(f"{size} rows" for size in sizes), "no result"]
    lines = []
    for label, of_setting in rows.items():
        for noise in NOISES:
            wanted = [row for row in of_setting if row["data"]["noise"] == noise]
            means = [interval(_mean(of_setting, noise, size)) for size in sizes]
            fits = f"{len(ok(wanted))}/{len(wanted)}"
            lines.append([label, f"{noise:g}", fits, *means, shortfall(wanted) or "-"])
    return table(header, lines)
