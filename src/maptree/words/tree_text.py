"""A fitted tree as text: indented, or as a list of rules."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np

from maptree.trees.fitted import FittedTree
from maptree.trees.leaf_probabilities import LEVEL, credible_interval
from maptree.trees.tree import Tree
from maptree.words.measured import LeafWords
from maptree.words.numbers import estimate_text
from maptree.words.tests import Answered, TestWords
from maptree.words.values import count

# With more classes than this, a leaf does not list the classes without rows.
_FEW = 3
# And of more classes than this, it lists those with the most rows.
_MOST = 12
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def rules(fitted: FittedTree) -> list[str]:
    r"""Return one rule per leaf: the condition, and the outcome.

    >>> from maptree import MAPTreeClassifier
    >>> model = MAPTreeClassifier().fit([[40], [50]] * 9, ["no", "yes"] * 9)
    >>> print(*rules(model.fitted_), sep="\n")
    x0 <= 45  ->  no 0.82 [0.59, 0.97], n = 9
    x0 > 45  ->  yes 0.82 [0.59, 0.97], n = 9
    """
    return list(rules_by_leaf(fitted).values())


def rules_by_leaf(fitted: FittedTree, unseen: bool = False) -> dict[int, str]:
    """Return the rule of each leaf; ``unseen`` as in ``TestWords.condition``."""
    tree, words, found = fitted.tree, TestWords(fitted.schema), {}
    leaves = _leaf_words(fitted)
    stack: list[tuple[int, list[Answered]]] = [(0, [])]
    while stack:
        node, answers = stack.pop()
        test = int(tree.feature[node])
        if test < 0:
            condition = words.condition(answers, unseen=unseen)
            found[node] = f"{condition}  ->  {leaves.predicted(node)}"
        else:  # the true branch comes out first
            stack.append((int(tree.left[node]), [*answers, (test, False)]))
            stack.append((int(tree.right[node]), [*answers, (test, True)]))
    return found


def indented(fitted: FittedTree, most_depth: float = math.inf) -> str:
    """Return the tree as indented text; of what is below a depth, only the number of leaves.

    >>> from maptree import MAPTreeClassifier
    >>> model = MAPTreeClassifier().fit([[40], [50]] * 9, ["no", "yes"] * 9)
    >>> print(indented(model.fitted_))
    x0 <= 45: no 0.82 [0.59, 0.97], n = 9 (9 no, 0 yes)
    x0 > 45: yes 0.82 [0.59, 0.97], n = 9 (0 no, 9 yes)
    """
    tree, words, lines = fitted.tree, TestWords(fitted.schema), []
    below, leaves = _leaves_below(tree), _leaf_words(fitted)
    stack: list[tuple[int, list[Answered], str]] = [(0, [], "")]
    while stack:
        node, path, condition = stack.pop()
        test = int(tree.feature[node])
        if test < 0:
            lines.append(f"{condition}{leaves.predicted(node)} ({leaves.held(node)})")
            continue
        if len(path) >= most_depth:
            lines.append(f"{condition}{below[node]:,} leaves below, {_rows(fitted, node)}")
            continue
        if node != 0:
            lines.append(condition.removesuffix(": "))
        for child, answer in ((tree.left[node], False), (tree.right[node], True)):
            phrase = words.condition([(test, answer)], given=path)
            line = f"{'| ' * len(path)}{phrase}: "
            stack.append((int(child), [*path, (test, answer)], line))
    return "\n".join(lines)


def shown_depth(tree: Tree, most_lines: int) -> float:
    """Return the depth to which a tree can be shown in this many lines; infinite if all of it can.

    >>> from maptree.trees.tree import Tree
    >>> tree = Tree([0, -1, 1, -1, -1], [1, -1, 3, -1, -1], [2, -1, 4, -1, -1], [[1, 1]] * 5)
    >>> shown_depth(tree, 4), shown_depth(tree, 3)
    (inf, 1)
    """
    lines = np.cumsum(np.bincount(tree.depths)) - 1  # the root has none
    if lines[-1] <= most_lines:
        return math.inf
    return max(1, int(np.searchsorted(lines, most_lines, side="right")) - 1)


def _leaves_below(tree: Tree) -> list[int]:
    leaves: list[int] = (tree.feature < 0).astype(int).tolist()
    parents = tree.parents().tolist()
    for node in range(tree.node_count - 1, 0, -1):  # children follow their parents
        leaves[parents[node]] += leaves[node]
    return leaves


def _rows(fitted: FittedTree, node: int) -> str:
    return f"n = {fitted.tree.counts[node].sum():,}"


def _leaf_words(fitted: FittedTree) -> LeafWords | ClassWords:
    measured = fitted.measured
    return ClassWords(fitted) if measured is None else LeafWords(fitted, measured)


@dataclass(frozen=True)
class ClassWords:
    """Says what the nodes of a tree of classes predict, and which rows they hold."""

    fitted: FittedTree

    def predicted(self, node: int) -> str:
        """Return the most probable class of a leaf, its probability, and the number of rows."""
        fitted = self.fitted
        mean = fitted.probabilities[node]
        k = int(np.argmax(mean))
        counts = fitted.tree.counts[node : node + 1]
        low, high = credible_interval(counts, fitted.prior.rho, LEVEL)[0, k]
        return f"{_name(fitted, k)} {estimate_text(mean[k], low, high)}, {_rows(fitted, node)}"

    def held(self, node: int) -> str:
        """Return how many training rows of each class a node has."""
        counts = self.fitted.tree.counts[node]
        listed = np.arange(len(counts)) if len(counts) <= _FEW else np.flatnonzero(counts)
        more = ""
        if len(listed) > _MOST:
            more = f", and {count(len(listed) - _MOST, 'other class', 'other classes')}"
            listed = listed[np.argsort(-counts[listed], kind="stable")[:_MOST]]
        return ", ".join(f"{counts[k]:,} {_name(self.fitted, k)}" for k in listed.tolist()) + more


def _name(fitted: FittedTree, k: int) -> str:
    """Return a class's label; a bare number would be confused with the numbers next to it."""
    label = str(fitted.classes[k])
    return f"class {label}" if _NUMBER.fullmatch(label) else label
