"""A fitted tree, drawn with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from maptree.pictures import layout as at
from maptree.pictures.boxes import Entry, Marks, NodeView, TreeView
from maptree.pictures.layout import Places
from maptree.pictures.lettering import Lettering, import_pyplot
from maptree.pictures.tree_view import view_tree
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
    """Draw the tree of a fitted classifier or regressor.

    Each box has the test in terms of the table's columns, or a leaf's class; the class
    probabilities as a bar, the most probable class first; under the bar its 95% credible interval;
    and the number of training rows. The true branch goes up, the false branch down. Missing values
    go down, and branches say so where there were any.

    Of numbers and counts, a leaf has the mean or the rate, and its 95% interval in words and as a
    line; above it the distribution of a new row as a shape, on the same scale in every box, with a
    mark at the mean of all rows. The lighter the colour, the higher the mean.

    Parameters
    ----------
    classifier : fitted MAPTreeClassifier, MAPTreeRegressor, MCMCTreeClassifier or SMCTreeClassifier
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
    fitted = fitted_tree(classifier)
    view = view_tree(fitted.named(feature_names))
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

    def __init__(self, view: TreeView[Any], places: Places) -> None:
        self.view, self.places = view, places
        self.width = max(places.width, 2.2 * places.box)
        self.title = Lettering(at.TITLE_SIZE, "bold")
        self.small = Lettering(at.SMALL_SIZE)
        self.boxes: list[Any] = []
        self.bars: list[list[Any]] = [[] for _ in view.palette]
        self.common: list[Any] = []  # the mean of all rows
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
        colour = self.view.colour(node)
        if node.children is None:
            self.bars[colour].append(_rectangle(x, y - at.BOX_HEIGHT, 4, at.BOX_HEIGHT))
        self.title.write(left, y - at.TITLE_BASELINE, *self.view.parts(node), room)
        self.small.write(left, y - at.SMALL_BASELINE, *self.view.small(node), room)
        self._marks(left, y, room, self.view.marks(node), colour)
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

    def _marks(self, left: float, y: float, room: float, marks: Marks, colour: int) -> None:
        """Draw a bar or a shape, and the interval below it."""
        from matplotlib.path import Path

        line = y - (at.SHAPE_WHISKER if marks.shape else at.WHISKER)
        for part, start, end in marks.parts:
            width = (end - start) * room
            bottom = y - at.BAR_TOP - at.BAR_HEIGHT
            self.bars[part].append(_rectangle(left + start * room, bottom, width, at.BAR_HEIGHT))
        if marks.shape:
            base, height = y - at.SHAPE_BASE, at.SHAPE_BASE - at.SHAPE_TOP
            corners = [(left + x * room, base + up * height) for x, up in marks.shape]
            self.bars[colour].append(Path([*corners, corners[0]], closed=True))
            self.whiskers.append([(left, base), (left + room, base)])
        if marks.common is not None:
            x = left + marks.common * room
            self.common.append([(x, y - at.SHAPE_BASE), (x, y - at.SHAPE_TOP)])
        low, high = (left + end * room for end in marks.interval)
        ticks = [low, high] if marks.mean is None else [low, high, left + marks.mean * room]
        self.whiskers.append([(low, line), (high, line)])
        self.whiskers += [[(tick, line - 2), (tick, line + 2)] for tick in ticks]

    def _legend(self) -> float:
        """Draw the legend above the tree, in as many rows as it needs; return its height."""
        x, row = at.MARGIN, 0
        places = []
        for entry in [*self.view.legend(24), Entry("", (), self.view.note)]:
            before, colours, after = entry
            squares = 10.0 * len(colours) + 4 * (len(colours) > 0)
            first = self.small.width(before) + 4 if before else 0.0
            wide = first + squares + self.small.width(after)
            if x > at.MARGIN and x + wide > self.width:
                x, row = at.MARGIN, row + 1
            places.append((x, x + first, x + first + squares, row, entry))
            x += wide + 14
        height = (row + 1) * _LEGEND_ROW
        for x, middle, last, line, (before, colours, after) in places:
            y = height - (line + 1) * _LEGEND_ROW + 2
            for i, colour in enumerate(colours):
                self.bars[colour].append(_rectangle(middle + 10 * i, y - 1, 10, 10))
            if before:
                self.small.write(x, y, before)
            self.small.write(last, y, after)
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
        for colour, shapes in zip(self.view.palette, self.bars, strict=True):
            ax.add_collection(
                PathCollection(shapes, facecolors=colour, edgecolors=_FAINT, linewidths=hair / 2)
            )
        ax.add_collection(LineCollection(self.common, colors=_FAINT, linewidths=hair))
        ax.add_collection(LineCollection(self.whiskers, colors=_INK, linewidths=hair))
        for lettering in (self.title, self.small):
            ax.add_collection(PathCollection(lettering.shapes, facecolors=_INK, edgecolors="none"))
        ax.set(xlim=(0, self.width), ylim=(-self.places.height, self.top), aspect="equal")
        ax.axis("off")


def _rectangle(x: float, y: float, width: float, height: float) -> Any:
    from matplotlib.path import Path

    corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height), (x, y)]
    return Path(corners, closed=True)
