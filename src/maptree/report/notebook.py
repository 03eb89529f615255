"""A fitted tree as a notebook shows it: a still picture whose style touches nothing else."""

from __future__ import annotations

from typing import Any

from maptree.drawing.search_view import headline
from maptree.drawing.tree_view import view_tree
from maptree.report.markup import piece, text
from maptree.report.tree_svg import legend, palette_css, tree_svg
from maptree.text import TreeText

_SCOPE = ".maptree-notebook"
# Of the room for the tree, in pixels, as in notebook.css.
_HEIGHT = 640


def notebook_html(classifier: Any) -> str:
    """Return a piece of HTML without scripts."""
    whole = view_tree(classifier, isolated=True)
    view = whole.fold(_HEIGHT)
    rules = f"{piece('tree.css')}\n{palette_css()}"
    certificate = getattr(classifier, "certificate_", None)
    words = "" if certificate is None else f"<p>{text(headline(certificate))}.</p>"
    if len(view.nodes) < len(whole.nodes):
        words += f"<p>The first levels of {len(whole.leaves)} leaves; to_html() has all.</p>"
    return (
        f"<style>{piece('notebook.css')}\n{_SCOPE} {{\n{rules}\n}}</style>\n"
        f'<div class="maptree-notebook"><p><b>{type(classifier).__name__}</b></p>{words}'
        f'{legend(view)}<div class="room">{tree_svg(view)}</div></div>'
    )


def notebook_text(classifier: Any) -> str:
    """Return the tree as ``export_text`` does, but with names as short as in the picture."""
    view = view_tree(classifier)
    tree = TreeText(classifier.tree_, view.words, view.classes, classifier.rho_)
    return f"{tree.export()}\n{classifier.certificate_}"
