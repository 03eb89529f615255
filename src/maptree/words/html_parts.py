"""HTML of sentences and tables, for notebooks and for the report; without scripts.

Whatever text comes in is escaped here, and what a terminal would obey is only shown. A notebook
gets a ``fragment``: its style follows the theme, light or dark, and affects nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from html import escape
from importlib.resources import files

from maptree.files.controls import shown, shown_lines


class Html(str):
    """Text that is HTML already."""


MARK = Html('<span class="mark" role="img" aria-label="yes"></span>')


def fragment(*parts: str, style: str = "") -> str:
    """Return what a notebook shows: parts, and the style that they need."""
    css = (files("maptree.words") / "notebook.css").read_text(encoding="utf-8")
    return f'<style>{css}{style}</style>\n<div class="maptree-notebook">{"".join(parts)}</div>'


def html(value: str) -> str:
    r"""Return HTML that shows the text, whatever it contains.

    >>> html('</p>"&\x1b'), html(Html("<b>"))
    ('&lt;/p&gt;&quot;&amp;\\x1b', '<b>')
    """
    return value if isinstance(value, Html) else escape(shown(value), quote=True)


def paragraphs(sentences: Iterable[str], kind: str = "") -> str:
    """Return a paragraph for every sentence that is not empty.

    >>> paragraphs(["Proved.", ""], "hint")
    '<p class="hint">Proved.</p>'
    """
    named = f' class="{kind}"' if kind else ""
    return "".join(f"<p{named}>{html(words)}</p>" for words in sentences if words)


def verdict(words: str, proved: bool) -> str:
    """Return the sentence that is read first, after a green dot, or an orange one."""
    return f'<p class="verdict {"proved" if proved else "open"}">{html(words)}</p>'


def folded(summary: str, content: str) -> str:
    """Return content that is shown by a click on its summary."""
    return f"<details><summary>{html(summary)}</summary>{content}</details>"


def preformatted(lines: str) -> str:
    """Return lines of text in a font whose letters are equally wide."""
    return f"<pre>{escape(shown_lines(lines))}</pre>"


def glossary(terms: Iterable[tuple[str, str]]) -> str:
    """Return terms and what they mean, folded."""
    items = "".join(f"<dt>{html(term)}</dt><dd>{html(words)}</dd>" for term, words in terms)
    return folded("What these words mean", f"<dl>{items}</dl>")


def noted(value: str, note: str) -> Html:
    """Return a cell with a note below its value, which may be empty.

    >>> noted("3", "elbow"), noted("<4", "")
    ('3<span class="note">elbow</span>', '&lt;4')
    """
    below = f'<span class="note">{html(note)}</span>' if note else ""
    return Html(html(value) + below)


def table(
    cells: Sequence[Sequence[str]],
    label: str,
    *,
    words: Collection[int] = (0,),
    marked: Collection[int] = (),
    kind: str = "cells",
    most: int | None = None,
) -> str:
    """Return a table that scrolls sideways where it is too wide.

    The first row and the first column are heads. ``words`` are the columns of words, the others
    are of numbers; one without a head is of words, too. Rows ``marked`` stand out. Of more than
    ``most`` rows, the rest is counted.

    >>> print(table([["size", ""], ["<1", "few"]], "Sizes", marked=[1]))  # doctest: +ELLIPSIS
    <div class="wide" ...><table class="cells" aria-label="Sizes"><thead><tr>...
    """
    head, *rows = cells
    left = [j in words or not head[j] for j in range(len(head))]
    places = [' class="words"' if here else "" for here in left]
    above = "".join(
        f'<th scope="col"{place}>{html(cell)}</th>' if cell else "<td></td>"  # no empty heading
        for cell, place in zip(head, places, strict=True)
    )
    listed = rows if most is None or len(rows) <= most + 1 else rows[:most]
    body = "".join(
        f'<tr{" class=best" if i in marked else ""}><th scope="row"{places[0]}>'
        f"<bdi>{html(row[0])}</bdi></th>"
        + "".join(
            f"<td{place}>{html(cell)}</td>" for cell, place in zip(row[1:], places[1:], strict=True)
        )
        + "</tr>"
        for i, row in enumerate(listed, start=1)
    )
    more = f"and {len(rows) - len(listed):,} more" if len(listed) < len(rows) else ""
    return (
        f'<div class="wide" tabindex="0" role="group" aria-label="{html(label)} (scrollable)">'
        f'<table class="{kind}" aria-label="{html(label)}"><thead><tr>{above}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>{paragraphs([more], 'hint')}"
    )


def bar(share: float) -> Html:
    """Return a share as a bar."""
    return Html(
        '<svg class="share" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        '<path d="M0 5H100" stroke="currentColor" stroke-opacity="0.25" stroke-width="2"/>'
        f'<path d="M0 5H{100 * share:.1f}" stroke="currentColor" stroke-width="10"/></svg>'
    )
