"""A tree in Graphviz's language."""

from __future__ import annotations

from maptree.export.plain_tree import PlainTree, edge_words, node_lines
from maptree.trees.fitted import FittedTree


def write_dot(fitted: FittedTree) -> str:
    """Return a digraph."""
    tree = PlainTree.of(fitted)
    lines = [
        "digraph tree {",
        "  ordering=out;",  # yes on the left
        '  node [shape=box, fontname="sans-serif"];',
        '  edge [fontname="sans-serif"];',
    ]
    for node in tree.nodes:
        style = ", style=rounded" if node.is_leaf else ""
        label = "\\n".join(dot_text(line) for line in node_lines(tree, node))
        lines.append(f'  {node.number} [label="{label}"{style}];')
    for node in tree.nodes:
        if not node.is_leaf:
            yes, no = edge_words(tree, node)
            lines.append(f'  {node.number} -> {node.yes} [label="{yes}"];')
            lines.append(f'  {node.number} -> {node.no} [label="{no}"];')
    return "\n".join([*lines, "}"]) + "\n"


def dot_text(text: str) -> str:
    r"""Escape text for a quoted label, where entities such as &amp; are read, too.

    >>> print(dot_text('a "b" \\N &lt;'))
    a \"b\" \\N &amp;lt;
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in escaped)
