"""What all pictures of a tree say: the lines of each node, and the words on each edge."""

from __future__ import annotations

from maptree.export.plain_tree import Node, PlainTree, short

_LINE = 60  # longer texts are cut in the middle


def node_lines(tree: PlainTree, node: Node) -> list[str]:
    """Return the test of an inner node, or the class, probability and rows of a leaf."""
    if not node.is_leaf:
        return [short(tree.words.test(node.test), _LINE)]
    label = short(str(tree.labels[node.prediction]), _LINE)
    return [f"{label} {max(node.probabilities):.2f}", f"n = {sum(node.counts):,}"]


def edge_words(tree: PlainTree, node: Node) -> tuple[str, str]:
    """Return the words on the edges for yes and for no.

    Where values were missing in training, the edge that they take says so.
    """
    asked = node.asks is not None and node.asks.asks == "missing"
    missing = tree.columns[node.column].has_missing and not asked
    return "yes", "no or missing" if missing else "no"
