"""What a picture of a fitted tree shows: the test, counts and probabilities of each node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maptree.pictures.colours import OTHERS, class_colours
from maptree.pictures.layout import Children, Places, place
from maptree.pictures.short_text import distinct, isolate, shorten
from maptree.trees.fitted import FittedTree
from maptree.trees.leaf_probabilities import LEVEL, credible_interval
from maptree.words.numbers import estimate_text, probability_text
from maptree.words.tests import Answered, TestWords

# Characters of a name, category or label; longer ones are cut in the middle.
LONGEST = 60
# Characters of a rule, which may list dozens of categories.
_LONGEST_RULE = 1200


@dataclass(frozen=True)
class NodeView:
    """One node. ``name`` + ``rest`` is the test in words; both are empty at a leaf."""

    parent: int
    children: Children
    depth: int
    name: str
    rest: str
    side: str  # of the parent's test: "yes", "no" or "no / missing"
    rule: str  # the condition that all rows here satisfy
    test: int  # -1 at a leaf
    counts: NDArray[np.int64]
    mean: NDArray[np.float64]
    interval: NDArray[np.float64]  # (classes, 2)
    folded: int = 0  # number of leaves below that are left out

    @property
    def n(self) -> int:
        """Number of training rows."""
        return int(self.counts.sum())

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
class TreeView:
    """A fitted tree as pictures show it, all names visible and short.

    ``nodes`` are in the order of the tree's arrays; ``order`` is the reading order: a node, then
    its whole true branch, then its whole false branch.
    """

    nodes: list[NodeView]
    order: list[int]
    fitted: FittedTree  # with short names
    colours: list[int]  # by class, positions in the palette
    full: dict[str, str]  # the full form of names that were cut

    @property
    def classes(self) -> list[str]:
        """The names of the classes."""
        return self.fitted.labels

    def title(self, node: NodeView) -> str:
        """Return the title of a box: the test, or a leaf's class."""
        return node.name + node.rest or self.classes[node.best]

    def small(self, node: NodeView) -> tuple[str, str]:
        """Return the small text of a box; the first part may be cut."""
        if node.test < 0:
            return node.estimate, f", n = {node.n:,}"
        return self.classes[node.best], f" {node.probability}, n = {node.n:,}"

    def place(self) -> Places:
        """Return the positions of the boxes."""
        return place(
            [node.children for node in self.nodes],
            [node.depth for node in self.nodes],
            [self.title(node) for node in self.nodes],
            ["".join(self.small(node)) for node in self.nodes],
        )

    def fold(self, height: float) -> TreeView:
        """Return the tree, or if it is too high its first levels: three, or as many as fit."""
        if self.place().height <= height:
            return self
        fits = self._first(2)
        for depth in range(3, max(node.depth for node in self.nodes)):
            deeper = self._first(depth)
            if deeper.place().height > height:
                break
            fits = deeper
        return fits

    def _first(self, depth: int) -> TreeView:
        """Fold everything below the tests of a depth."""
        leaves = [1] * len(self.nodes)
        for i in reversed(range(len(self.nodes))):  # children come after their parents
            if (pair := self.nodes[i].children) is not None:
                leaves[i] = leaves[pair[0]] + leaves[pair[1]]
        kept = [i for i, node in enumerate(self.nodes) if node.depth <= depth]
        number = {-1: -1} | {old: new for new, old in enumerate(kept)}
        nodes = []
        for i in kept:
            pair, folded = self.nodes[i].children, 0
            if pair is not None and pair[0] in number:
                pair = number[pair[0]], number[pair[1]]
            elif pair is not None:
                pair, folded = None, leaves[i]
            parent = number[self.nodes[i].parent]
            nodes.append(replace(self.nodes[i], parent=parent, children=pair, folded=folded))
        return replace(self, nodes=nodes, order=[number[i] for i in self.order if i in number])

    def legend(self, most: int) -> list[tuple[int, str]]:
        """Return the colours and the names of their classes, cut to a number of characters."""
        entries = [
            (colour, shorten(label, most))
            for label, colour in zip(self.classes, self.colours, strict=True)
            if colour != OTHERS
        ]
        grey = self.colours.count(OTHERS)
        if grey:
            entries.append((OTHERS, "1 other class" if grey == 1 else f"{grey:,} other classes"))
        return entries

    @property
    def leaves(self) -> list[NodeView]:
        """The leaves in reading order."""
        return [self.nodes[i] for i in self.order if self.nodes[i].children is None]


def view_tree(fitted: FittedTree, isolated: bool = False) -> TreeView:
    """Return the view of a fitted tree.

    ``isolated`` puts marks around right-to-left names, for renderers that understand them.
    """
    shown, full = _shortened(fitted, isolated)
    tree, words = shown.tree, TestWords(shown.schema)
    interval = credible_interval(tree.counts, shown.prior.rho, LEVEL)
    nodes: dict[int, NodeView] = {}
    stack: list[tuple[int, int, list[Answered], str]] = [(0, -1, [], "")]
    while stack:
        node, parent, path, side = stack.pop()
        test = int(tree.feature[node])
        name = rest = ""
        children: Children = None
        if test >= 0:
            name, rest = _name_and_rest(words, test)
            children = int(tree.right[node]), int(tree.left[node])
            stack.append((children[1], node, [*path, (test, False)], _no(words, test, path)))
            stack.append((children[0], node, [*path, (test, True)], "yes"))
        nodes[node] = NodeView(
            parent, children, len(path), name, rest, side,
            shorten(words.condition(path), _LONGEST_RULE), test,
            tree.counts[node], shown.probabilities[node], interval[node],
        )  # fmt: skip
    in_order = [nodes[i] for i in range(tree.node_count)]
    return TreeView(in_order, list(nodes), shown, class_colours(tree.counts[0]), full)


def _shortened(fitted: FittedTree, isolated: bool) -> tuple[FittedTree, dict[str, str]]:
    """Return the tree with short names of columns, categories and classes, and the full names."""
    given = fitted.schema.names
    names = distinct(given, LONGEST)
    classes = distinct(fitted.labels, LONGEST)
    full = _cut(given, names) | _cut(fitted.labels, classes)
    if isolated:
        names = [isolate(name) for name in names]
    columns = []
    for column, name in zip(fitted.schema.columns, names, strict=True):
        seen = (*column.categories, *(column.others or ()))
        if any(isinstance(category, str) for category in seen):
            long = [str(category) for category in seen]
            seen = tuple(distinct(long, LONGEST))
            full |= _cut(long, seen)
        n = len(column.categories)
        others = None if column.others is None else seen[n:]
        columns.append(replace(column, name=name, categories=seen[:n], others=others))
    schema = replace(fitted.schema, columns=tuple(columns))
    return replace(fitted, schema=schema, classes=np.array(classes, dtype=object)), full


def _cut(texts: Sequence[str], shown: Sequence[Any]) -> dict[str, str]:
    return {short: text for text, short in zip(texts, shown, strict=True) if short != text}


def _name_and_rest(words: TestWords, test: int) -> tuple[str, str]:
    """Split a test into the column's name and the comparison, so that the name can be cut."""
    text = words.test(test)
    name = words.schema.columns[words.schema.column_of_test[test]].name
    return (name, text[len(name) :]) if text.startswith(name) else ("", text)


def _no(words: TestWords, test: int, path: list[Answered]) -> str:
    """Name the false branch; missing values may take it."""
    missing = words.condition([(test, False)], given=path).endswith(" or missing")
    return "no / missing" if missing else "no"
