"""Many trees over the same tests, as flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from maptree.tree import Answer, Tree

# Rows that are routed together: the answers to all tests are held for so many.
_BLOCK = 1 << 15


@dataclass(frozen=True, eq=False, repr=False)
class Trees(Sequence[Tree]):
    """A sequence of trees, one after the other in flat arrays; each is made when asked for.

    Attributes
    ----------
    offsets : int64 array (trees + 1,)
        The nodes of tree t are those from ``offsets[t]`` to ``offsets[t + 1]``.
    feature, left, right, counts
        As in ``Tree``; children are numbered within their tree.

    Examples
    --------
    >>> trees = Trees(
    ...     offsets=np.array([0, 1, 4]), feature=np.array([-1, 0, -1, -1]),
    ...     left=np.array([-1, 1, -1, -1]), right=np.array([-1, 2, -1, -1]),
    ...     counts=np.array([[2, 2], [2, 2], [2, 0], [0, 2]]))
    >>> trees
    Trees(2 trees of 1 to 2 leaves)
    >>> trees[1]
    Tree(node_count=3, n_leaves=2, depth=1, n_classes=2)
    """

    offsets: NDArray[np.int64]
    feature: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    counts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> Tree: ...
    @overload
    def __getitem__(self, index: slice) -> Trees: ...
    def __getitem__(self, index: int | slice) -> Tree | Trees:
        numbers = np.arange(len(self))
        if isinstance(index, slice):
            return self.take(numbers[index])
        tree = int(numbers[index])  # raises IndexError beyond the ends
        nodes = slice(self.offsets[tree], self.offsets[tree + 1])
        return Tree(self.feature[nodes], self.left[nodes], self.right[nodes], self.counts[nodes])

    def take(self, numbers: NDArray[np.intp]) -> Trees:
        """Return the trees of these numbers, in this order."""
        sizes = np.diff(self.offsets)[numbers]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        nodes = np.arange(offsets[-1]) + np.repeat(self.offsets[numbers] - offsets[:-1], sizes)
        return Trees(
            offsets, self.feature[nodes], self.left[nodes], self.right[nodes], self.counts[nodes]
        )

    def tree_of_node(self) -> NDArray[np.intp]:
        """Return the tree that each node is of."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    def n_leaves(self) -> NDArray[np.intp]:
        """Return the number of leaves of each tree."""
        return np.bincount(self.tree_of_node()[self.feature < 0], minlength=len(self))

    def depths(self) -> NDArray[np.intp]:
        """Return the depth of each tree."""
        depths = np.zeros(len(self), dtype=np.intp)
        left, right = self._children()
        tree, nodes, depth = self.tree_of_node(), self.offsets[:-1], 0
        while len(nodes):  # all nodes of one depth, of all trees
            depths[tree[nodes]] = depth
            inner = nodes[self.feature[nodes] >= 0]
            nodes, depth = np.concatenate([left[inner], right[inner]]), depth + 1
        return depths

    def sum_at_leaves(
        self, values: NDArray[np.float64], n_rows: int, answer: Answer
    ) -> NDArray[np.float64]:
        """Return, for each row, the sum over all trees of the values at the leaf it ends in.

        ``values`` has a row for every node. Trees that begin alike are walked together, so that
        rows are parted once for every distinct path, and each test is asked once.
        """
        total = np.zeros((n_rows, values.shape[1]))
        used = np.unique(self.feature[self.feature >= 0]).tolist()
        for start in range(0, n_rows, _BLOCK):
            block = np.arange(start, min(start + _BLOCK, n_rows), dtype=np.intp)
            answers = {test: answer(test, block) for test in used}
            self._add(values, answers, total[start : start + _BLOCK])
        return total

    def _add(
        self,
        values: NDArray[np.float64],
        answers: dict[int, NDArray[np.bool_]],
        total: NDArray[np.float64],
    ) -> None:
        left, right = self._children()
        # Rows, and the nodes of different trees that exactly these rows reach.
        stack = [(np.arange(len(total), dtype=np.intp), self.offsets[:-1])]
        while stack:
            rows, nodes = stack.pop()
            for test, same in self._by_test(nodes):
                if test < 0:
                    total[rows] += values[same].sum(axis=0)
                    continue
                true = answers[test][rows]
                for child, reached in ((left, rows[~true]), (right, rows[true])):
                    if len(reached):
                        stack.append((reached, child[same]))

    def _by_test(self, nodes: NDArray[np.int64]) -> list[tuple[int, NDArray[np.int64]]]:
        """Group nodes by their test; leaves are those of test -1."""
        if len(nodes) == 1:  # most groups, far down: no need to sort
            return [(int(self.feature[nodes[0]]), nodes)]
        nodes = nodes[np.argsort(self.feature[nodes], kind="stable")]
        tests, first = np.unique(self.feature[nodes], return_index=True)
        return list(zip(tests.tolist(), np.split(nodes, first[1:]), strict=True))

    def _children(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return left and right as numbers among the nodes of all trees."""
        base = np.repeat(self.offsets[:-1], np.diff(self.offsets))
        return self.left + base, self.right + base

    def __repr__(self) -> str:
        leaves = self.n_leaves()
        return f"Trees({len(self)} trees of {leaves.min()} to {leaves.max()} leaves)"
