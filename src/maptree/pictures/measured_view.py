"""A tree of numbers or counts, as pictures show it: the mean of each node, and its distribution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from maptree.pictures.boxes import (
    LONGEST,
    Corner,
    Entry,
    Marks,
    NodeView,
    TreeView,
    names_cut,
    places_in_order,
    with_short_names,
)
from maptree.pictures.colours import RAMP, shade
from maptree.pictures.short_text import isolate, shorten, visible
from maptree.pictures.spread import Scale, spread_of
from maptree.trees.fitted import FittedTree
from maptree.trees.outcomes import Counts, Measured
from maptree.words.measured import LeafWords, measured_texts
from maptree.words.measured_scores import short_number


@dataclass(frozen=True)
class MeasuredNode(NodeView):
    """One node, and what it predicts: a number, or the rate of a count."""

    mean: float
    low: float  # of the 95% interval: of a new row's number, or of the rate
    high: float
    held: str  # what the training rows have
    shape: Sequence[Corner]

    @property
    def texts(self) -> tuple[str, str, str]:
        """The mean and the ends of its interval, in as many digits as make sense."""
        return measured_texts(self.mean, self.low, self.high)

    @property
    def estimate(self) -> str:
        """The mean and its interval."""
        mean, low, high = self.texts
        return f"{mean} [{low}, {high}]"


@dataclass(frozen=True)
class MeasuredTree(TreeView[MeasuredNode]):
    """A tree of numbers or counts."""

    measured: Measured
    target: str  # the name of y
    name: str  # of what is predicted: y, or its rate
    scale: Scale  # of y, for counts at the mean exposure
    least: MeasuredNode  # the leaves with the least and the greatest mean
    greatest: MeasuredNode

    @property
    def usual(self) -> float:
        """The exposure that the pictures are about: the mean of all rows, or 1."""
        return self.measured.exposure if isinstance(self.measured, Counts) else 1.0

    @property
    def palette(self) -> Sequence[str]:
        """The colours, from low to high."""
        return RAMP

    @property
    def note(self) -> str:
        """What the marks in the boxes mean, in a few words."""
        if isinstance(self.measured, Counts):
            return "line under a shape: 95% credible interval of the rate"
        return "line under a curve: 95% of new rows"

    @property
    def scale_words(self) -> str:
        """What the shapes are about, and from where to where they go."""
        kind = "shapes" if isinstance(self.measured, Counts) else "curves"
        low, high = max(self.scale.low, 0.0), self.scale.high
        if not isinstance(self.measured, Counts):
            low = self.scale.low
        exposed = ""
        if isinstance(self.measured, Counts) and self.measured.exposed:
            exposed = f" with an exposure of {short_number(self.usual)}"
        _, first, last = measured_texts(low, low, high)
        return f"{kind}: {self.target}{exposed} from {first} to {last}"

    def leaf_title(self, node: MeasuredNode) -> tuple[str, str]:
        """Return what a leaf predicts."""
        return self.name, f" {node.texts[0]}"

    def small(self, node: MeasuredNode) -> tuple[str, str]:
        """Return the small text of a box; the first part may be cut."""
        mean, low, high = node.texts
        if node.test < 0:
            return f"[{low}, {high}]", f", n = {node.n:,}"
        return self.name, f" {mean}, n = {node.n:,}"

    def colour(self, node: MeasuredNode) -> int:
        """Return the colour of the mean."""
        return shade(node.mean, self.least.mean, self.greatest.mean)

    def marks(self, node: MeasuredNode) -> Marks:
        """Return the distribution of y, and the interval."""
        low, mean, high, common = (
            self.scale.place(value * self.usual)
            for value in (node.low, node.mean, node.high, self.nodes[0].mean)
        )
        return Marks((low, high), (), node.shape, mean, common)

    def legend(self, most: int) -> list[Entry]:
        """Return the colours with the least and the greatest mean, and the scale."""
        name = shorten(self.name, most)
        ends = [node.texts[0] for node in (self.least, self.greatest)]
        colours = range(len(RAMP))
        if ends[0] == ends[1]:
            colours = range(self.colour(self.least), self.colour(self.least) + 1)
        return [
            Entry(f"{name} {ends[0]}", colours, ends[1]),
            Entry("", (), shorten(self.scale_words, most + 60)),
        ]


def view_measured(fitted: FittedTree, measured: Measured, isolated: bool) -> MeasuredTree:
    """Return the view of a tree of numbers or counts."""
    shown, full = with_short_names(fitted, isolated)
    given = fitted.training.target or "y"
    target = shorten(visible(given), LONGEST)
    full |= names_cut([given], [target])
    shown = shown.with_training(target=target)
    words, tree = LeafWords(shown, measured), shown.tree
    named = isolate(words.target) if isolated else words.target
    spread = spread_of(measured, tree)
    nodes = {
        node: MeasuredNode(
            *place,
            int(tree.rows[node]),
            float(words.mean[node]),
            float(words.low[node]),
            float(words.high[node]),
            words.held(node),
            spread.shapes[node],
        )
        for node, place in places_in_order(shown)
    }
    in_order = [nodes[i] for i in range(tree.node_count)]
    leaves = [node for node in in_order if node.test < 0]
    return MeasuredTree(
        in_order,
        list(nodes),
        shown,
        full,
        measured,
        named,
        words.name.removesuffix(words.target) + named,
        spread.scale,
        min(leaves, key=lambda node: node.mean),
        max(leaves, key=lambda node: node.mean),
    )
