"""A decision tree over binary tests, as flat arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

# Answers of some rows to one binary test: answer(test, rows) -> one bool per row.
Answer = Callable[[int, NDArray[np.intp]], NDArray[np.bool_]]


class TreeError(ValueError):
    """Arrays that do not form a tree."""


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Tree:
    """A decision tree over binary tests. Node 0 is the root; children follow their parents.

    Attributes
    ----------
    feature : int32 array (nodes,)
        The test at an inner node, -1 at a leaf.
    left, right : int32 array (nodes,)
        The child where the test is false, and where it is true; -1 at a leaf.
    counts : int64 array (nodes, classes)
        Training rows of each class that reach the node; if the tree predicts numbers or counts,
        one column for all of them.
    sums : int64 array (nodes, 2)
        What these rows add up to: of numbers z and z^2, of counts the events and the exposure
        (docs/design/outcomes.md). No columns if the tree predicts classes.
    depths : int32 array (nodes,)
        Edges from the root to the node.

    Examples
    --------
    >>> tree = Tree([1, -1, -1], [1, -1, -1], [2, -1, -1], [[3, 4], [3, 0], [0, 4]])
    >>> tree
    Tree(node_count=3, n_leaves=2, depth=1, n_classes=2)
    >>> tree.apply([[0, 0], [0, 1]])
    array([1, 2])
    """

    feature: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    counts: NDArray[np.int64]
    sums: NDArray[np.int64]
    depths: NDArray[np.int32]

    def __init__(
        self,
        feature: ArrayLike,
        left: ArrayLike,
        right: ArrayLike,
        counts: ArrayLike,
        sums: ArrayLike | None = None,
    ) -> None:
        if sums is None:
            sums = np.empty((len(np.atleast_1d(feature)), 0), dtype=np.int64)
        for name, values, dtype, ndim in (
            ("feature", feature, np.int32, 1),
            ("left", left, np.int32, 1),
            ("right", right, np.int32, 1),
            ("counts", counts, np.int64, 2),
            ("sums", sums, np.int64, 2),
        ):
            object.__setattr__(self, name, _whole_array(name, values, dtype, ndim))
        self._check()
        object.__setattr__(self, "depths", self._measure_depths())

    def _check(self) -> None:
        """Check every invariant: lengths agree, and the children form one tree below node 0."""
        n = len(self.feature)
        if n == 0:
            raise TreeError("feature is empty: a tree has at least one node.")
        for name in ("left", "right", "counts", "sums"):
            if len(getattr(self, name)) != n:
                raise TreeError(
                    f"{name} has {len(getattr(self, name))} entries but feature has {n}: "
                    "every array must have one entry per node."
                )
        if self.counts.shape[1] == 0 or (self.counts < 0).any():
            raise TreeError("counts has a negative entry or no classes: pass (nodes, classes).")
        if self.sums.shape[1] and (self.sums.shape[1] != 2 or self.n_classes != 1):
            raise TreeError("sums are two for every node, next to one count: pass (nodes, 2).")
        leaf = self.feature < 0
        if (self.feature[leaf] != -1).any():
            raise TreeError("feature is below -1 at some node: it must be -1 at a leaf.")
        for name in ("left", "right"):
            child = getattr(self, name)
            if (child[leaf] != -1).any():
                raise TreeError(f"{name} gives a leaf a child: it must be -1 where feature is -1.")
            # Children after their parents rule out cycles.
            if (child[~leaf] <= np.flatnonzero(~leaf)).any() or (child >= n).any():
                raise TreeError(f"{name} must name a later node at every inner node.")
        children = np.concatenate([self.left[~leaf], self.right[~leaf]])
        if len(np.unique(children)) != len(children) or len(children) != n - 1:
            raise TreeError("Every node but the root must be the child of exactly one node.")

    def _measure_depths(self) -> NDArray[np.int32]:
        depths = np.zeros(self.node_count, dtype=np.int32)
        for node in np.flatnonzero(self.feature >= 0):
            depths[self.left[node]] = depths[self.right[node]] = depths[node] + 1
        depths.setflags(write=False)
        return depths

    @property
    def node_count(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.feature)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int((self.feature < 0).sum())

    @property
    def depth(self) -> int:
        """Number of edges from the root to the deepest leaf."""
        return int(self.depths.max())

    @property
    def n_classes(self) -> int:
        """Number of classes; 1 if the tree predicts numbers or counts."""
        return int(self.counts.shape[1])

    @property
    def rows(self) -> NDArray[np.int64]:
        """Training rows that reach each node, counted with their weights."""
        rows: NDArray[np.int64] = self.counts.sum(axis=1)
        return rows

    def parents(self) -> NDArray[np.int32]:
        """Return the parent of each node; -1 for the root.

        >>> Tree([0, -1, -1], [1, -1, -1], [2, -1, -1], [[2, 2], [2, 0], [0, 2]]).parents()
        array([-1,  0,  0], dtype=int32)
        """
        parents = np.full(self.node_count, -1, dtype=np.int32)
        inner = np.flatnonzero(self.feature >= 0)
        parents[self.left[inner]] = inner
        parents[self.right[inner]] = inner
        return parents

    def route(self, n_rows: int, answer: Answer) -> NDArray[np.intp]:
        """Return the leaf of each row, evaluating each test only for the rows that reach it."""
        leaves = np.zeros(n_rows, dtype=np.intp)
        at: dict[int, NDArray[np.intp]] = {0: np.arange(n_rows, dtype=np.intp)}
        for node in range(self.node_count):  # parents come before their children
            rows = at.pop(node)
            if self.feature[node] < 0:
                leaves[rows] = node
                continue
            true = answer(int(self.feature[node]), rows)
            at[int(self.left[node])] = rows[~true]
            at[int(self.right[node])] = rows[true]
        return leaves

    def apply(self, X: ArrayLike) -> NDArray[np.intp]:
        """Return the leaf that each row of a 0/1 matrix of test answers ends in."""
        answers = np.asarray(X)
        if answers.ndim != 2 or answers.shape[1] <= self.feature.max():
            raise ValueError(
                f"X has shape {answers.shape} but the tree uses test {self.feature.max()}: "
                "pass one row per sample and one column per test."
            )
        return self.route(len(answers), lambda test, rows: answers[rows, test] != 0)

    def decision_path(self, X: ArrayLike) -> csr_matrix:
        """Return a (rows, nodes) CSR matrix with a one at every node on a row's path."""
        return self.paths(self.apply(X))

    def paths(self, leaves: NDArray[np.intp]) -> csr_matrix:
        """Return the decision path, as a CSR matrix, of rows that end in these leaves."""
        from scipy.sparse import csr_matrix  # slow to import, and little else needs it

        parents = self.parents()
        path_of: dict[int, list[int]] = {}
        for leaf in np.unique(leaves).tolist():
            path = [leaf]
            while path[-1] != 0:
                path.append(int(parents[path[-1]]))
            path_of[leaf] = path[::-1]
        indptr = np.concatenate([[0], np.cumsum(self.depths[leaves] + 1, dtype=np.int64)])
        indices = np.array([node for leaf in leaves.tolist() for node in path_of[leaf]], dtype=int)
        ones = np.ones(len(indices), dtype=np.int64)
        return csr_matrix((ones, indices, indptr), shape=(len(leaves), self.node_count))

    def __repr__(self) -> str:
        classes = "" if self.sums.shape[1] else f", n_classes={self.n_classes}"
        return (
            f"Tree(node_count={self.node_count}, n_leaves={self.n_leaves}, "
            f"depth={self.depth}{classes})"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return all(
            np.array_equal(a, b) for a, b in zip(self._arrays(), other._arrays(), strict=True)
        )

    def __hash__(self) -> int:
        return hash(tuple(array.tobytes() for array in self._arrays()))

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, so that what is unpickled is checked and read-only again.
        return Tree, self._arrays()

    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return self.feature, self.left, self.right, self.counts, self.sums


def _whole_array(name: str, values: ArrayLike, dtype: type, ndim: int) -> NDArray[Any]:
    given = np.asarray(values)
    if given.ndim != ndim or given.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be a {ndim}-dimensional array of whole numbers, "
            f"not {given.ndim}-dimensional {given.dtype}."
        )
    # What nobody can write any more is not copied: with many classes counts take 100 MB.
    final = not given.flags.writeable and not isinstance(given.base, np.ndarray)
    array: NDArray[Any] = np.array(given, dtype=dtype, order="C", copy=None if final else True)
    array.setflags(write=False)
    return array
