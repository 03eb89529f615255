"""What the boxes of a picture show, whatever the tree predicts: tests, paths, names, marks.

``class_view`` and ``measured_view`` add what the leaves predict: classes, or numbers and counts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NamedTuple, Self, TypeVar

from maptree.pictures.layout import Children, Places, place
from maptree.pictures.short_text import distinct, isolate, shorten
from maptree.trees.fitted import FittedTree
from maptree.words.tests import Answered, TestWords

# Characters of a name, category or label; longer ones are cut in the middle.
LONGEST = 60
# Characters of a rule, which may list dozens of categories.
_LONGEST_RULE = 1200

Part = tuple[int, float, float]  # colour, start, end
Corner = tuple[float, float]


class Place(NamedTuple):
    """Where a node is in its tree, and how to get there. ``name`` + ``rest`` is its test in words;
    both are empty at a leaf."""

    parent: int
    children: Children
    depth: int
    name: str
    rest: str
    side: str  # of the parent's test: "yes", "no" or "no / missing"
    rule: str  # the condition that all rows here satisfy
    test: int  # -1 at a leaf


@dataclass(frozen=True)
class NodeView:
    """One node; its fields are those of ``Place``, and the number of its training rows."""

    parent: int
    children: Children
    depth: int
    name: str
    rest: str
    side: str
    rule: str
    test: int
    n: int
    folded: int = field(default=0, kw_only=True)  # number of leaves below that are left out


class Entry(NamedTuple):
    """An entry of the legend: colours, and the words before and after them."""

    before: str
    colours: Sequence[int]
    after: str


@dataclass(frozen=True)
class Marks:
    """What is drawn inside of a box. Across and up, everything goes from 0 to 1."""

    interval: tuple[float, float]
    parts: Sequence[Part] = ()  # of a bar
    shape: Sequence[Corner] = ()  # the outline of a distribution, from left to right
    mean: float | None = None  # of that distribution
    common: float | None = None  # the mean of all rows, which is the same in every box


Node = TypeVar("Node", bound=NodeView)


@dataclass(frozen=True)
class TreeView(ABC, Generic[Node]):
    """A fitted tree as pictures show it, all names visible and short.

    ``nodes`` are in the order of the tree's arrays; ``order`` is the reading order: a node, then
    its whole true branch, then its whole false branch.
    """

    nodes: list[Node]
    order: list[int]
    fitted: FittedTree  # with short names
    full: dict[str, str]  # the full form of names that were cut

    @property
    @abstractmethod
    def palette(self) -> Sequence[str]:
        """The colours."""

    @property
    @abstractmethod
    def note(self) -> str:
        """What the marks in the boxes mean, in a few words."""

    @abstractmethod
    def leaf_title(self, node: Node) -> tuple[str, str]:
        """Return the title of a leaf's box; the first part may be cut."""

    @abstractmethod
    def small(self, node: Node) -> tuple[str, str]:
        """Return the small text of a box; the first part may be cut."""

    @abstractmethod
    def colour(self, node: Node) -> int:
        """Return the colour of what a node predicts, as a position in the palette."""

    @abstractmethod
    def marks(self, node: Node) -> Marks:
        """Return what is drawn inside of a box."""

    @abstractmethod
    def legend(self, most: int) -> list[Entry]:
        """Return what the colours mean; names are cut to a number of characters."""

    def parts(self, node: Node) -> tuple[str, str]:
        """Return the title of a box, the test or what a leaf predicts; the first may be cut."""
        return self.leaf_title(node) if node.test < 0 else (node.name, node.rest)

    def title(self, node: Node) -> str:
        """Return the title of a box in full."""
        return "".join(self.parts(node))

    def place(self) -> Places:
        """Return the positions of the boxes."""
        return place(
            [node.children for node in self.nodes],
            [node.depth for node in self.nodes],
            [self.title(node) for node in self.nodes],
            ["".join(self.small(node)) for node in self.nodes],
        )

    def fold(self, height: float) -> Self:
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

    def _first(self, depth: int) -> Self:
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

    @property
    def leaves(self) -> list[Node]:
        """The leaves in reading order."""
        return [self.nodes[i] for i in self.order if self.nodes[i].children is None]


def places_in_order(shown: FittedTree) -> Iterator[tuple[int, Place]]:
    """Yield the nodes in reading order, and where they are."""
    tree, words = shown.tree, TestWords(shown.schema)
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
        rule = shorten(words.condition(path), _LONGEST_RULE)
        yield node, Place(parent, children, len(path), name, rest, side, rule, test)


def with_short_names(fitted: FittedTree, isolated: bool) -> tuple[FittedTree, dict[str, str]]:
    """Return the tree with short names of columns and categories, and the full names."""
    given = fitted.schema.names
    names = distinct(given, LONGEST)
    full = names_cut(given, names)
    if isolated:
        names = [isolate(name) for name in names]
    columns = []
    for column, name in zip(fitted.schema.columns, names, strict=True):
        seen = (*column.categories, *(column.others or ()))
        if any(isinstance(category, str) for category in seen):
            long = [str(category) for category in seen]
            seen = tuple(distinct(long, LONGEST))
            full |= names_cut(long, seen)
        n = len(column.categories)
        others = None if column.others is None else seen[n:]
        columns.append(replace(column, name=name, categories=seen[:n], others=others))
    return replace(fitted, schema=replace(fitted.schema, columns=tuple(columns))), full


def names_cut(texts: Sequence[str], shown: Sequence[Any]) -> dict[str, str]:
    """Return the full form of what was cut."""
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
