"""A fitted tree, drawn with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from maptree.pictures import layout as at
from maptree.pictures.colours import PALETTE, bar
from maptree.pictures.layout import Places
from maptree.pictures.lettering import Lettering, import_pyplot
from maptree.pictures.tree_view import NodeView, TreeView, view_tree
from maptree.trees.fitted import FittedTree, HasFittedTree, fitted_tree

_INK, _FAINT, _PAPER, _LINE = "#1a1a1a", "#555555", "#ffffff", "#b0b0b0"
_UNITS_PER_INCH = 110.0
_LONGEST_SIDE = 100.0  # inches; at 300 dots per inch still within matplotlib's limits
_LEGEND_ROW = 20.0


def plot_tree(
    classifier: FittedTree | HasFittedTree,
    ax: Any = None,
    feature_names: Sequence[str] | None = None,
) -> Any:
    """Draw the tree of a fitted classifier.

    Each box has the test in terms of the table's columns, or a leaf's class; the class
    probabilities as a bar, the most probable class first; under the bar its 95% credible interval;
    and the number of training rows. The true branch goes up, the false branch down. Missing values
    go down, and branches say so where there were any.

    Parameters
    ----------
    classifier : fitted MAPTreeClassifier, MCMCTreeClassifier or SMCTreeClassifier
        What is drawn is its ``tree_``.
    ax : matplotlib Axes, optional
        Where to draw; the picture is scaled to fit. By default a new figure that is large enough
        for the tree.
    feature_names : sequence of str, optional
        Names of the columns if the table had none.

    Returns
    -------
    matplotlib Axes
        ``plot_tree(model).figure.savefig("tree.svg")`` writes it; png and pdf work, too.

    Examples
    --------
    >>> import io
    >>> from maptree import MAPTreeClassifier, plot_tree
    >>> model = MAPTreeClassifier().fit([[25.0], [31.0], [47.0], [60.0]] * 5, [0, 0, 1, 1] * 5)
    >>> ax = plot_tree(model, feature_names=["age"])
    >>> ax.figure.savefig(io.BytesIO(), format="svg")
    """
    view = view_tree(fitted_tree(classifier).named(feature_names))
    plt = import_pyplot()
    drawing = _Drawing(view, view.place())
    if ax is None:
        size = [
            min(units / _UNITS_PER_INCH, _LONGEST_SIDE) for units in (drawing.width, drawing.height)
        ]
        figure = plt.figure(figsize=size)
        ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    drawing.add_to(ax)
    return ax


class _Drawing:
    """Collects shapes, so that hundreds of nodes need only a dozen artists; y grows upwards."""

    def __init__(self, view: TreeView, places: Places) -> None:
        self.view, self.places = view, places
        self.width = max(places.width, 2.2 * places.box)
        self.title = Lettering(at.TITLE_SIZE, "bold")
        self.small = Lettering(at.SMALL_SIZE)
        self.boxes: list[Any] = []
        self.bars: list[list[Any]] = [[] for _ in PALETTE]
        self.whiskers: list[Any] = []
        self.edges: list[Any] = []
        self.top = self._legend()
        self.height = places.height + self.top
        for number, node in enumerate(view.nodes):
            self._node(number, node)

    def _node(self, number: int, node: NodeView) -> None:
        from matplotlib.path import Path

        x, y = self.places.x[number], -self.places.y[number]
        left, room = x + at.INSET, self.places.bar
        self.boxes.append(_rectangle(x, y - at.BOX_HEIGHT, self.places.box, at.BOX_HEIGHT))
        label = self.view.classes[node.best]
        if node.children is None:
            colour = self.view.colours[node.best]
            self.bars[colour].append(_rectangle(x, y - at.BOX_HEIGHT, 4, at.BOX_HEIGHT))
            self.title.write(left, y - at.TITLE_BASELINE, label, room=room)
        else:
            self.title.write(left, y - at.TITLE_BASELINE, node.name, node.rest, room)
        self.small.write(left, y - at.SMALL_BASELINE, *self.view.small(node), room)
        for colour, start, end in bar(node.mean, node.best, self.view.colours):
            width = (end - start) * room
            bottom = y - at.BAR_TOP - at.BAR_HEIGHT
            self.bars[colour].append(_rectangle(left + start * room, bottom, width, at.BAR_HEIGHT))
        low, high = left + node.interval[node.best] * room
        line = y - at.WHISKER
        self.whiskers += [
            [(low, line), (high, line)],
            [(low, line - 2), (low, line + 2)],
            [(high, line - 2), (high, line + 2)],
        ]
        if node.parent >= 0:
            start_x = self.places.x[node.parent] + self.places.box
            start_y = -self.places.y[node.parent] - at.BOX_HEIGHT / 2
            end_y, bend = y - at.BOX_HEIGHT / 2, start_x + at.COLUMN_GAP * 0.4
            corners = [
                (start_x, start_y),
                (bend, start_y),
                (start_x, end_y),
                (bend, end_y),
                (x, end_y),
            ]
            codes = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4, Path.LINETO]
            self.edges.append(Path(corners, codes))
            below = -9.5 if end_y < start_y else 3.5
            self.small.write(x - 4, end_y + below, node.side, align=1)

    def _legend(self) -> float:
        """Draw the legend above the tree, in as many rows as it needs; return its height."""
        entries: list[tuple[int | None, str]] = [*self.view.legend(24)]
        x, row = at.MARGIN, 0
        places = []
        note = "line under a bar: 95% credible interval"
        for colour, text in [*entries, (None, note)]:
            wide = self.small.width(text) + 14
            if x > at.MARGIN and x + wide > self.width:
                x, row = at.MARGIN, row + 1
            places.append((x, row, colour, text))
            x += wide + 14
        height = (row + 1) * _LEGEND_ROW
        for x, line, colour, text in places:
            y = height - (line + 1) * _LEGEND_ROW + 2
            if colour is not None:
                self.bars[colour].append(_rectangle(x, y - 1, 10, 10))
            self.small.write(x + (0 if colour is None else 14), y, text)
        return height

    def add_to(self, ax: Any) -> None:
        from matplotlib.collections import LineCollection, PathCollection

        # Line widths are in points, so in a small Axes they are reduced.
        points = ax.get_window_extent().width / ax.figure.dpi * 72
        line, hair = (min(1.0, units * points / self.width) for units in (1.5, 0.8))
        ax.add_collection(
            PathCollection(self.edges, facecolors="none", edgecolors=_LINE, linewidths=line)
        )
        ax.add_collection(
            PathCollection(self.boxes, facecolors=_PAPER, edgecolors=_LINE, linewidths=line)
        )
        for colour, shapes in zip(PALETTE, self.bars, strict=True):
            ax.add_collection(
                PathCollection(shapes, facecolors=colour, edgecolors=_FAINT, linewidths=hair / 2)
            )
        ax.add_collection(LineCollection(self.whiskers, colors=_INK, linewidths=hair))
        for lettering in (self.title, self.small):
            ax.add_collection(PathCollection(lettering.shapes, facecolors=_INK, edgecolors="none"))
        ax.set(xlim=(0, self.width), ylim=(-self.places.height, self.top), aspect="equal")
        ax.axis("off")


def _rectangle(x: float, y: float, width: float, height: float) -> Any:
    from matplotlib.path import Path

    corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height), (x, y)]
    return Path(corners, closed=True)
