"""A fitted tree as text: indented, or as a list of rules."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maptree.encoding.wording import Answered, TestWords
from maptree.leaf_probabilities import credible_interval, posterior_mean
from maptree.tree import Tree

LEVEL = 0.95
# With more classes than this, those without a row in a leaf are not listed there.
_FEW = 3
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


@dataclass(frozen=True)
class TreeText:
    r"""A tree with all that its text needs: the words of its tests and classes, and the prior.

    >>> from maptree.encoding.schema import Column
    >>> tree = Tree([0, -1, -1], [1, -1, -1], [2, -1, -1], [[9, 8], [9, 0], [0, 8]])
    >>> words = TestWords((Column("age", "number", "int64", thresholds=(45.5,)),))
    >>> text = TreeText(tree, words, ["no", "yes"], np.array([2.5, 2.5]))
    >>> print(*text.rules(), sep="\n")
    age <= 45.5  ->  yes 0.81 [0.56, 0.96], n = 8
    age > 45.5  ->  no 0.82 [0.59, 0.97], n = 9
    >>> print(text.export())
    age <= 45.5: yes 0.81 [0.56, 0.96], n = 8 (0 no, 8 yes)
    age > 45.5: no 0.82 [0.59, 0.97], n = 9 (9 no, 0 yes)
    """

    tree: Tree
    words: TestWords
    classes: Sequence[str]
    rho: NDArray[np.float64]

    def rules(self) -> list[str]:
        """Return one rule per leaf: the condition, and what holds there."""
        return list(self.rules_by_leaf().values())

    def rules_by_leaf(self, unseen: bool = False) -> dict[int, str]:
        """Return the rule of each leaf; ``unseen`` as in ``TestWords.condition``."""
        tree, rules = self.tree, {}
        stack: list[tuple[int, list[Answered]]] = [(0, [])]
        while stack:
            node, answers = stack.pop()
            test = int(tree.feature[node])
            if test < 0:
                condition = self.words.condition(answers, unseen=unseen)
                rules[node] = f"{condition}  ->  {self._outcome(node)}"
            else:  # the branch where the test holds comes out first
                stack.append((int(tree.left[node]), [*answers, (test, False)]))
                stack.append((int(tree.right[node]), [*answers, (test, True)]))
        return rules

    def export(self) -> str:
        """Return the tree as indented text."""
        tree, lines = self.tree, []
        stack: list[tuple[int, list[Answered], str]] = [(0, [], "")]
        while stack:
            node, path, condition = stack.pop()
            test = int(tree.feature[node])
            if test < 0:
                lines.append(f"{condition}{self._outcome(node)} ({self._counts(node)})")
                continue
            if node != 0:
                lines.append(condition.removesuffix(": "))
            for child, answer in ((tree.left[node], False), (tree.right[node], True)):
                words = self.words.condition([(test, answer)], given=path)
                line = f"{'| ' * len(path)}{words}: "
                stack.append((int(child), [*path, (test, answer)], line))
        return "\n".join(lines)

    def _outcome(self, node: int) -> str:
        """Say which class is the most probable in a leaf, how probable, and from how many rows."""
        counts = self.tree.counts[node : node + 1]
        mean = posterior_mean(counts, self.rho)[0]
        k = int(np.argmax(mean))
        low, high = credible_interval(counts, self.rho, LEVEL)[0, k]
        return f"{self._name(k)} {mean[k]:.2f} [{low:.2f}, {high:.2f}], n = {counts.sum()}"

    def _counts(self, node: int) -> str:
        few = len(self.classes) <= _FEW
        return ", ".join(
            f"{count} {self._name(k)}"
            for k, count in enumerate(self.tree.counts[node])
            if few or count > 0
        )

    def _name(self, k: int) -> str:
        """Call a class by its label; a number by itself would run into the numbers beside it."""
        label = self.classes[k]
        return f"class {label}" if _NUMBER.fullmatch(label) else label
