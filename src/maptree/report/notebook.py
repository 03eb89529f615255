"""A fitted tree as a notebook shows it: a still picture whose style touches nothing else."""

from __future__ import annotations

from typing import Any

from maptree.drawing.search_view import headline
from maptree.drawing.tree_view import view_tree
from maptree.report.markup import piece, text
from maptree.report.tree_svg import legend, palette_css, tree_svg

_SCOPE = ".maptree-notebook"


def notebook_html(classifier: Any) -> str:
    """Return a piece of HTML without scripts."""
    view = view_tree(classifier, isolated=True)
    rules = f"{piece('tree.css')}\n{palette_css()}"
    certificate = getattr(classifier, "certificate_", None)
    words = "" if certificate is None else f"<p>{text(headline(certificate))}.</p>"
    return (
        f"<style>{piece('notebook.css')}\n{_SCOPE} {{\n{rules}\n}}</style>\n"
        f'<div class="maptree-notebook"><p><b>{type(classifier).__name__}</b></p>{words}'
        f'{legend(view)}<div class="room">{tree_svg(view)}</div></div>'
    )
