"""A fitted tree in a notebook: a static picture whose style affects nothing else."""

from __future__ import annotations

from maptree.pictures.report.markup import piece, text
from maptree.pictures.report.tree_svg import legend, palette_css, tree_svg
from maptree.pictures.tree_view import view_tree
from maptree.trees.fitted import FittedTree
from maptree.words.certificate import headline
from maptree.words.tree_text import indented

_SCOPE = ".maptree-notebook"
# Size of the tree's area in pixels, as in notebook.css.
_HEIGHT = 640


def notebook_html(fitted: FittedTree, name: str) -> str:
    """Return an HTML fragment without scripts, headed by the name of the classifier."""
    whole = view_tree(fitted, isolated=True)
    view = whole.fold(_HEIGHT)
    rules = f"{piece('tree.css')}\n{palette_css()}"
    words = f"<p>{text(headline(fitted))}.</p>" if fitted.certificate is not None else ""
    if len(view.nodes) < len(whole.nodes):
        words += f"<p>The first levels of {len(whole.leaves):,} leaves; to_html() shows all.</p>"
    return (
        f"<style>{piece('notebook.css')}\n{_SCOPE} {{\n{rules}\n}}</style>\n"
        f'<div class="maptree-notebook"><p><b>{name}</b></p>{words}'
        f'{legend(view)}<div class="room">{tree_svg(view)}</div></div>'
    )


def notebook_text(fitted: FittedTree) -> str:
    """Return the tree as ``export_text`` does, but with the short names of the picture."""
    return f"{indented(view_tree(fitted).fitted)}\n{fitted.certificate}"
