"""A fitted model in a notebook: a static picture whose style affects nothing else."""

from __future__ import annotations

import re

from maptree.engine.diagnostics import diagnose
from maptree.pictures.report.average import shown_of
from maptree.pictures.report.markup import piece
from maptree.pictures.report.tree_svg import legend, palette_css, tree_svg
from maptree.pictures.tree_view import view_tree
from maptree.trees.average import Chains
from maptree.trees.fitted import FittedTree
from maptree.words.average import average_sentences
from maptree.words.certificate import certificate_sentences, headline, size_sentence, stated
from maptree.words.glossary import GLOSSARY
from maptree.words.html_parts import folded, fragment, glossary, html, paragraphs, verdict
from maptree.words.tree_text import indented

# Size of the tree's area in pixels, as in notebook.css.
_HEIGHT = 640


def notebook_html(fitted: FittedTree, name: str) -> str:
    """Return an HTML fragment without scripts, headed by the name of the classifier."""
    whole = view_tree(fitted, isolated=True)
    view = whole.fold(_HEIGHT)
    parts = [f"<p><b>{html(name)}</b>{html(shown_of(fitted))}</p>"]
    if fitted.certificate is not None:
        parts.append(verdict(f"{headline(fitted)}.", fitted.certificate.optimal))
    parts.append(paragraphs(_of_average(fitted)))
    if len(view.nodes) < len(whole.nodes):
        cut = f"The first levels of {len(whole.leaves):,} leaves; to_html() shows all."
        parts.append(paragraphs([cut]))
    # The style knows how wide it is: a picture shrinks a little before it scrolls. Several pictures
    # may be in one page, so the name says the width, too.
    picture = tree_svg(view)
    found = re.search(r'class="tree".*?width="(\d+)"', picture, re.DOTALL)
    assert found is not None
    wide = f"w{found[1]}"
    parts += [legend(view), f'<div class="room {wide}" tabindex="0">{picture}</div>']
    if fitted.certificate is not None:
        sentences = [size_sentence(fitted), *certificate_sentences(fitted)]
        parts.append(folded("What is proved", paragraphs(sentences) + glossary(GLOSSARY)))
    css = f".{wide} {{ --width: {found[1]}px; }}\n{piece('tree.css')}\n{palette_css(view)}"
    return fragment(*parts, style=f".maptree-notebook {{\n{css}\n}}")


def _of_average(fitted: FittedTree) -> list[str]:
    """Return how the trees of an average were drawn, and whether they are enough."""
    average = fitted.average
    if average is None:
        return []
    found = diagnose(average.draws) if isinstance(average.origin, Chains) else None
    return average_sentences(average, found)[1:]  # the first is in the heading


def notebook_text(fitted: FittedTree) -> str:
    """Return the tree as ``export_text`` does, but with the short names of the picture."""
    lines = [indented(view_tree(fitted).fitted)]
    certificate = stated(fitted)
    if fitted.average is not None:
        lines += [shown_of(fitted).strip(), *_of_average(fitted)]
    if certificate is not None:
        lines.append(str(certificate))
    return "\n".join(line for line in lines if line)
