"""A tree of classes, as pictures show it: counts and probabilities of each node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from maptree.pictures.boxes import (
    LONGEST,
    Entry,
    Marks,
    NodeView,
    TreeView,
    names_cut,
    places_in_order,
    with_short_names,
)
from maptree.pictures.colours import OTHERS, PALETTE, bar, class_colours
from maptree.pictures.short_text import distinct, shorten
from maptree.trees.fitted import FittedTree
from maptree.trees.leaf_probabilities import LEVEL, credible_interval
from maptree.words.numbers import estimate_text, probability_text


@dataclass(frozen=True)
class ClassNode(NodeView):
    """One node, and what it knows about the classes."""

    counts: NDArray[np.int64]
    mean: NDArray[np.float64]
    interval: NDArray[np.float64]  # (classes, 2)

    @property
    def best(self) -> int:
        """The most probable class; ties go to the first."""
        return int(np.argmax(self.mean))

    @property
    def estimate(self) -> str:
        """The probability of the most probable class and its interval."""
        return estimate_text(self.mean[self.best], *self.interval[self.best])

    @property
    def probability(self) -> str:
        """The probability of the most probable class."""
        return probability_text(self.mean[self.best])


@dataclass(frozen=True)
class ClassTree(TreeView[ClassNode]):
    """A tree of classes."""

    colours: list[int]  # by class, positions in the palette

    @property
    def classes(self) -> list[str]:
        """The names of the classes."""
        return self.fitted.labels

    @property
    def palette(self) -> Sequence[str]:
        """The colours."""
        return PALETTE

    @property
    def note(self) -> str:
        """What the marks in the boxes mean, in a few words."""
        return "line under a bar: 95% credible interval"

    def leaf_title(self, node: ClassNode) -> tuple[str, str]:
        """Return the class that a leaf predicts."""
        return self.classes[node.best], ""

    def small(self, node: ClassNode) -> tuple[str, str]:
        """Return the small text of a box; the first part may be cut."""
        if node.test < 0:
            return node.estimate, f", n = {node.n:,}"
        return self.classes[node.best], f" {node.probability}, n = {node.n:,}"

    def colour(self, node: ClassNode) -> int:
        """Return the colour of the most probable class."""
        return self.colours[node.best]

    def marks(self, node: ClassNode) -> Marks:
        """Return the probabilities as a bar, and the interval of the first."""
        low, high = node.interval[node.best].tolist()
        return Marks((low, high), bar(node.mean, node.best, self.colours))

    def legend(self, most: int) -> list[Entry]:
        """Return the colours and the names of their classes, cut to a number of characters."""
        entries = [
            Entry("", (colour,), shorten(label, most))
            for label, colour in zip(self.classes, self.colours, strict=True)
            if colour != OTHERS
        ]
        grey = self.colours.count(OTHERS)
        if grey:
            words = "1 other class" if grey == 1 else f"{grey:,} other classes"
            entries.append(Entry("", (OTHERS,), words))
        return entries


def view_classes(fitted: FittedTree, isolated: bool) -> ClassTree:
    """Return the view of a tree of classes."""
    shown, full = with_short_names(fitted, isolated)
    classes = distinct(fitted.labels, LONGEST)
    full |= names_cut(fitted.labels, classes)
    shown = replace(shown, classes=np.array(classes, dtype=object))
    tree = shown.tree
    interval = credible_interval(tree.counts, shown.prior.rho, LEVEL)
    nodes = {
        node: ClassNode(
            *place,
            int(tree.counts[node].sum()),
            tree.counts[node],
            shown.probabilities[node],
            interval[node],
        )
        for node, place in places_in_order(shown)
    }
    in_order = [nodes[i] for i in range(tree.node_count)]
    return ClassTree(in_order, list(nodes), shown, full, class_colours(tree.counts[0]))
