"""A tree in LaTeX, drawn with the package forest."""

from __future__ import annotations

import unicodedata

from maptree.export.plain_tree import PlainTree, edge_words, node_lines
from maptree.trees.fitted import FittedTree

_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "-": "{-}",  # otherwise two of them would become a dash
    "…": r"\dots{}",
}
# Levels of indentation; all of them would make the text grow with the square of the depth.
_DEEPEST = 40
# A page as large as the tree; needs only base LaTeX and forest.
_DOCUMENT = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage{forest}
\newsavebox{\tree}
\begin{document}
\begin{lrbox}{\tree}
%s\end{lrbox}
\ifdefined\pagewidth\else\let\pagewidth\pdfpagewidth\let\pageheight\pdfpageheight\fi
\pagewidth=\dimexpr\wd\tree+10pt\relax
\pageheight=\dimexpr\ht\tree+\dp\tree+10pt\relax
\hoffset=\dimexpr5pt-1in\relax
\voffset=\dimexpr5pt-1in\relax
\shipout\box\tree
\end{document}
"""


def write_latex(fitted: FittedTree, document: bool = False) -> str:
    """Return a forest environment, or a document with it."""
    tree = PlainTree.of(fitted)
    lines = [
        r"\begin{forest}",
        "  for tree={draw, align=center, l sep=12mm, s sep=4mm},",
        "  yes/.style={edge label={node[midway, left, font=\\scriptsize]{yes}}},",
        "  no/.style={edge label={node[midway, right, font=\\scriptsize]{#1}}}",
    ]
    # Nodes to open and brackets to close: recursion would fail at some depth.
    stack: list[tuple[int, str] | str] = [(0, "")]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            lines.append(item)
            continue
        number, edge = item
        node = tree.nodes[number]
        indent = "  " * min(node.depth + 1, _DEEPEST)
        style = f"{edge}{', rounded corners' if node.is_leaf else ''}"
        text = r"\\".join(latex_text(line) for line in node_lines(tree, node))
        opened = f"{indent}[{{{text}}}{', ' if style.strip(', ') else ''}{style.strip(', ')}"
        if node.is_leaf:
            lines.append(f"{opened}]")
            continue
        lines.append(opened)
        yes, no = edge_words(tree, node)
        assert yes == "yes"
        stack += [f"{indent}]", (node.no, f"no={{{no}}}"), (node.yes, "yes")]
    forest = "\n".join([*lines, r"\end{forest}"]) + "\n"
    return _DOCUMENT % forest if document else forest


def latex_text(text: str) -> str:
    r"""Escape text so that LaTeX prints it as it is.

    >>> print(latex_text("50% of A_1 <= 3"))
    50\% of A\_1 \textless{}= 3
    """
    shown = (" " if c.isspace() else c for c in unicodedata.normalize("NFC", text))
    kept = (c if c.isprintable() else "?" for c in shown)
    return "".join(_ESCAPES.get(c, c) for c in kept)
