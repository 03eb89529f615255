"""A tree in Mermaid's language, which many documentation sites render."""

from __future__ import annotations

from maptree.export.plain_tree import PlainTree, edge_words, node_lines
from maptree.trees.fitted import FittedTree


def write_mermaid(fitted: FittedTree) -> str:
    """Return a flowchart."""
    tree = PlainTree.of(fitted)
    lines = ["flowchart TD"]
    for node in tree.nodes:
        label = "<br/>".join(mermaid_text(line) for line in node_lines(tree, node))
        opening, closing = ("(", ")") if node.is_leaf else ("[", "]")
        lines.append(f'  n{node.number}{opening}"{label}"{closing}')
    for node in tree.nodes:
        if not node.is_leaf:
            yes, no = edge_words(tree, node)
            lines.append(f'  n{node.number} -->|"{yes}"| n{node.yes}')
            lines.append(f'  n{node.number} -->|"{no}"| n{node.no}')
    return "\n".join(lines) + "\n"


def mermaid_text(text: str) -> str:
    """Escape text for a quoted label: everything but letters and digits becomes a number.

    >>> mermaid_text('age <= 45.5 "é"')
    'age #60;#61; 45#46;5 #34;é#34;'
    """
    shown = (c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return "".join(c if c.isalnum() or c == " " else f"#{ord(c)};" for c in shown)
