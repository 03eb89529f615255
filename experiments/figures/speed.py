"""Speed: log posterior of the best tree against time, one panel a set."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

from experiments.curves import LABELS, Point, curve, sets_of
from experiments.figures.sheet import ALARM, GREY, SYSTEM_COLOURS, Sheet, head
from experiments.markdown import interval, number, seconds, table
from experiments.results import Results, Rows, ok, shortfall

FIRST = 4  # the paper shows the first four sets in the text, the others in its appendix
MARKERS = {"maptree": "o", "maptree-paper": "s", "mcmc": "^", "smc": "D"}
CAPTION = (
    "Log posterior of the best tree against seconds of `fit`, as nats below the best that any run "
    "found (on top; by logarithm from 1 nat on). MAPTree as built and in paper mode: runs of 10, "
    "30, 100, ... 100,000 expansions, and one of {run:g} s, which limits the others, too. MCMC: "
    "10, 30, ... 1000 iterations of one chain. SMC: 10, 30, ... 1000 particles. Samplers: mean "
    "over seeds 42 to 51 with its bootstrapped 95% interval, seconds averaged. A star: proved "
    "optimal by the run of {run:g} s, at its end. All systems are this library's, on one core."
)


def sheets(results: Results) -> list[Sheet]:
    """Return the figure of the first four sets and that of the others."""
    rows = results.of("speed")
    names = sets_of(rows)
    title = "Speed, first four sets" if names[FIRST:] else f"Speed: {', '.join(names)}"
    made = [_sheet(results, rows, names[:FIRST], "speed-main", title)]
    if names[FIRST:]:
        made.append(_sheet(results, rows, names[FIRST:], "speed-others", "Speed, other sets"))
    return made


def _sheet(results: Results, rows: Rows, names: list[str], file: str, title: str) -> Sheet:
    curves = {name: {system: curve(rows, system, name) for system in LABELS} for name in names}
    return Sheet(
        name=file,
        title=title,
        caption=CAPTION.format(run=results.budget.long_run),
        picture=partial(_picture, curves, columns=2 if len(names) <= FIRST else 3),
        tables=[_summary(curves)],
        details=[_details(curves)],
    )


def _picture(curves: dict[str, dict[str, list[Point]]], columns: int) -> Figure:
    lines = math.ceil(len(curves) / columns)
    columns = min(columns, len(curves))
    figure = Figure(figsize=(3.4 * columns + 0.4, 2.7 * lines + 0.9), layout="constrained")
    # The same seconds in every panel: sets compare, and none spans less than a decade.
    axes = figure.subplots(lines, columns, squeeze=False, sharex=True).ravel()
    for axis, (name, systems) in zip(axes, curves.items(), strict=False):
        _panel(axis, name, systems)
        axis.tick_params(labelbottom=True)
    for axis in axes[len(curves) :]:
        axis.set_visible(False)
    for axis in axes[max(0, len(curves) - columns) : len(curves)]:
        axis.set_xlabel("seconds")
    figure.supylabel("nats below the best log posterior of all runs", fontsize="medium")
    figure.legend(handles=_legend(curves), loc="outside lower center", ncols=5)
    return figure


def _legend(curves: dict[str, dict[str, list[Point]]]) -> list[Line2D]:
    """Every system, one without any result too, and the star."""
    handles = []
    for system, label in LABELS.items():
        points = [point for systems in curves.values() for point in systems[system]]
        if not any(point.value for point in points):
            label = f"{label} (no result)"
        handles.append(Line2D([], [], label=label, **_line(system)))
    proved = {"marker": "*", "markersize": 11, "linestyle": "none", "color": GREY}
    return [*handles, Line2D([], [], label="proved optimal", **proved)]


def _line(system: str) -> dict[str, Any]:
    return {
        "color": SYSTEM_COLOURS[system],
        "marker": MARKERS[system],
        "markersize": 4,
        "linewidth": 1.4,
    }


def _panel(axis: Axes, name: str, systems: dict[str, list[Point]]) -> None:
    missing = {
        LABELS[system]: shortfall([row for point in points for row in point.rows])
        for system, points in systems.items()
    }
    # In the order of settings: times of a few milliseconds may be in another.
    shown = {
        system: [point for point in points if point.value is not None]
        for system, points in systems.items()
    }
    axis.set_xscale("log")
    if any(shown.values()):
        best = max(_values(shown))
        for system, points in shown.items():
            _curve(axis, system, points, best)
        _nats_below(axis, best - min(p.value.low for points in shown.values() for p in points))
        head(axis, f"{name}, best {best:,.2f}", missing)
    else:
        axis.set_yticks([])
        axis.text(0.5, 0.5, "no result", transform=axis.transAxes, ha="center", color=ALARM)
        head(axis, name, missing)


def _values(shown: dict[str, list[Point]]) -> list[float]:
    """Return the log posteriors of all runs that a panel shows."""
    rows = [row for points in shown.values() for point in points for row in ok(point.rows)]
    return [row["log_posterior"] for row in rows if row["log_posterior"] is not None]


def _curve(axis: Axes, system: str, points: list[Point], best: float) -> None:
    colour = SYSTEM_COLOURS[system]
    at = [point.seconds for point in points]
    axis.plot(at, [best - point.value.value for point in points], **_line(system))
    low, high = ([best - getattr(p.value, end) for p in points] for end in ("low", "high"))
    axis.fill_between(at, low, high, color=colour, alpha=0.2, linewidth=0)
    last = points[-1] if points else None
    # Of the run by time, as everywhere: a run by expansions may have proved it, too.
    if last and last.setting is None and any(row["status"] == "optimal" for row in last.rows):
        star = {"marker": "*", "markersize": 13, "markeredgecolor": "white", "zorder": 5}
        axis.plot(last.seconds, best - last.value.value, color=colour, **star)


def _nats_below(axis: Axes, worst: float) -> None:
    """Put the best on top; by logarithm but for the last nat.

    SMC often ends within a few nats of the best, where other systems begin a thousand below.
    """
    axis.set_yscale("symlog", linthresh=1, linscale=0.7)
    axis.set_ylim(max(worst * 1.5, 1.5), -0.35)
    axis.yaxis.set_major_locator(FixedLocator([0, 1, 10, 100, 1000, 10_000]))
    axis.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    axis.yaxis.set_minor_locator(NullLocator())


def _summary(curves: dict[str, dict[str, list[Point]]]) -> str:
    """The last point of each system: what its largest setting comes to."""
    header = ["set"]
    for label in LABELS.values():
        header += [label, "s", "runs"]
    lines = []
    for name, systems in curves.items():
        line = [name]
        for points in systems.values():
            last = points[-1]
            value = number(last.value and last.value.value, 3)
            runs = f"{sum(p.count for p in points)}/{sum(len(p.rows) for p in points)}"
            line += [value, seconds(last.seconds), runs]
        lines.append(line)
    return (
        "Log posterior and seconds of the largest setting of each system (mean over seeds); runs "
        "with a result, of all its settings.\n\n" + table(header, lines)
    )


def _details(curves: dict[str, dict[str, list[Point]]]) -> str:
    header = ["set", "system", "setting", "runs", "mean s", "mean log posterior", "no result"]
    lines = []
    for name, systems in curves.items():
        for system, points in systems.items():
            for point in points:
                setting = "by time" if point.setting is None else number(point.setting, 0)
                runs = f"{point.count}/{len(point.rows)}"
                value = interval(point.value, 3)
                why = shortfall(point.rows) or "-"
                lines.append(
                    [name, LABELS[system], setting, runs, seconds(point.seconds), value, why]
                )
    return table(header, lines, words=2)
