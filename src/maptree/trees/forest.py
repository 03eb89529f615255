"""Many trees over the same tests, as flat arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import overload

import numpy as np
from numpy.typing import NDArray

from maptree.trees.tree import Answer, Tree

# Rows routed at a time: the answers to all tests are held for this many rows.
_BLOCK = 1 << 15


@dataclass(frozen=True, eq=False, repr=False)
class Trees(Sequence[Tree]):
    """A sequence of trees in flat arrays; each ``Tree`` is made on demand.

    Attributes
    ----------
    starts, sizes : int64 array (trees,)
        Tree t has ``sizes[t]`` nodes from ``starts[t]`` on. Other nodes belong to no tree.
    feature, left, right, counts
        As in ``Tree``; children are numbered within their tree.

    Examples
    --------
    >>> trees = Trees(
    ...     starts=np.array([0, 1]), sizes=np.array([1, 3]), feature=np.array([-1, 0, -1, -1]),
    ...     left=np.array([-1, 1, -1, -1]), right=np.array([-1, 2, -1, -1]),
    ...     counts=np.array([[2, 2], [2, 2], [2, 0], [0, 2]]))
    >>> trees
    Trees(2 trees of 1 to 2 leaves)
    >>> trees[1]
    Tree(node_count=3, n_leaves=2, depth=1, n_classes=2)
    """

    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    feature: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    counts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts)

    @overload
    def __getitem__(self, index: int) -> Tree: ...
    @overload
    def __getitem__(self, index: slice) -> Trees: ...
    def __getitem__(self, index: int | slice) -> Tree | Trees:
        if isinstance(index, slice):
            return self.take(np.arange(len(self))[index])
        start = int(self.starts[index])  # raises IndexError beyond the ends
        nodes = slice(start, start + int(self.sizes[index]))
        return Tree(self.feature[nodes], self.left[nodes], self.right[nodes], self.counts[nodes])

    def take(self, numbers: NDArray[np.intp]) -> Trees:
        """Return the trees with these indices, in this order. Nodes are not copied."""
        return replace(self, starts=self.starts[numbers], sizes=self.sizes[numbers])

    def nodes(self) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        """Return the nodes of all trees, tree by tree, and the tree of each."""
        tree = np.repeat(np.arange(len(self)), self.sizes)
        before = np.cumsum(self.sizes) - self.sizes
        return np.arange(len(tree)) + (self.starts - before)[tree], tree

    def splits(self) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
        """Return the test of every inner node of all trees, and the tree of each."""
        nodes, tree = self.nodes()
        inner = self.feature[nodes] >= 0
        return self.feature[nodes[inner]], tree[inner]

    def n_leaves(self) -> NDArray[np.intp]:
        """Return the number of leaves of each tree."""
        return (self.sizes + 1) // 2

    def depths(self) -> NDArray[np.intp]:
        """Return the depth of each tree."""
        depths = np.zeros(len(self), dtype=np.intp)
        nodes, tree, depth = self.starts, np.arange(len(self)), 0
        while len(nodes):  # all nodes of one depth, of all trees
            depths[tree] = depth
            inner = self.feature[nodes] >= 0
            nodes, tree, depth = nodes[inner], tree[inner], depth + 1
            first = self.starts[tree]
            nodes = np.concatenate([first + self.left[nodes], first + self.right[nodes]])
            tree = np.concatenate([tree, tree])
        return depths

    def sum_at_leaves(
        self, values: NDArray[np.float64], n_rows: int, answer: Answer
    ) -> NDArray[np.float64]:
        """Return, for each row, the sum over all trees of the values at the leaf it ends in.

        ``values`` has a row for every node of the flat arrays. Trees with the same upper nodes are
        traversed together, so that rows are split once per distinct path, and each test is
        evaluated once.
        """
        total = np.zeros((n_rows, values.shape[1]))
        children = self._children()
        for start in range(0, n_rows, _BLOCK):
            block = np.arange(start, min(start + _BLOCK, n_rows), dtype=np.intp)
            for rows, leaves in self._reached(children, block, answer):
                total[start + rows] += values[leaves].sum(axis=0)
        return total

    def leaves(self, rows: NDArray[np.intp], answer: Answer) -> NDArray[np.int64]:
        """Return the leaf that each of some rows ends in, in each tree: (rows, trees).

        Leaves are numbered as in the flat arrays.
        """
        tree_of = np.zeros(len(self.feature), dtype=np.intp)
        nodes, tree = self.nodes()
        tree_of[nodes] = tree
        found = np.empty((len(rows), len(self)), dtype=np.int64)
        for some, leaves in self._reached(self._children(), rows, answer):
            found[some[:, np.newaxis], tree_of[leaves]] = leaves
        return found

    def _children(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the children of each node, numbered as in the flat arrays."""
        nodes, tree = self.nodes()
        first = np.zeros(len(self.feature), dtype=np.int64)  # node of each node's tree
        first[nodes] = self.starts[tree]
        return first + self.left, first + self.right

    def _reached(
        self,
        children: tuple[NDArray[np.int64], NDArray[np.int64]],
        block: NDArray[np.intp],
        answer: Answer,
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.int64]]]:
        """Yield rows, by their places in a block, and leaves that exactly these rows end in."""
        left, right = children
        answers = {test: answer(test, block) for test in np.unique(self.splits()[0]).tolist()}
        # Rows, and the nodes of different trees that exactly these rows reach.
        stack = [(np.arange(len(block), dtype=np.intp), self.starts)]
        while stack:
            rows, nodes = stack.pop()
            for test, same in self._by_test(nodes):
                if test < 0:
                    yield rows, same
                    continue
                true = answers[test][rows]
                for child, reached in ((left, rows[~true]), (right, rows[true])):
                    if len(reached):
                        stack.append((reached, child[same]))

    def _by_test(self, nodes: NDArray[np.int64]) -> list[tuple[int, NDArray[np.int64]]]:
        """Group nodes by their test; leaves have test -1."""
        if len(nodes) == 1:  # most groups, far down: no need to sort
            return [(int(self.feature[nodes[0]]), nodes)]
        nodes = nodes[np.argsort(self.feature[nodes], kind="stable")]
        tests, first = np.unique(self.feature[nodes], return_index=True)
        return list(zip(tests.tolist(), np.split(nodes, first[1:]), strict=True))

    def __repr__(self) -> str:
        if not len(self):
            return "Trees(0 trees)"
        leaves = self.n_leaves()
        return f"Trees({len(self):,} trees of {leaves.min():,} to {leaves.max():,} leaves)"


@dataclass(frozen=True)
class WeightedTrees:
    """Distinct trees with weights that sum to 1, in order of decreasing weight."""

    trees: Trees
    weights: NDArray[np.float64]
    log_posteriors: NDArray[np.float64]
    sample: NDArray[np.int32]  # the tree of each sample; -1 where there is none
