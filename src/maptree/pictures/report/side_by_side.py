"""The part of the report that shows a tree next to its alternatives."""

from __future__ import annotations

from collections.abc import Iterator
from string import Template
from typing import NamedTuple

from maptree.pictures.class_view import ClassTree
from maptree.pictures.report.markup import piece, text
from maptree.pictures.tree_view import AnyTree, view_tree
from maptree.trees.fitted import FittedTree
from maptree.words.alternatives import Alternative, Alternatives
from maptree.words.alternatives_html import comparison
from maptree.words.nats import times_text
from maptree.words.numbers import probability_text
from maptree.words.tests import Answered, TestWords
from maptree.words.tree_text import shown_depth
from maptree.words.values import count

# Trees that are shown in full; lines of a tree, and how far they are indented at most.
_DRAWN, _LINES, _DEEPEST = 6, 32, 9


def side_by_side(found: Alternatives | None) -> str:
    """Return the section; empty if there are no alternatives."""
    if found is None:
        return ""
    return Template(piece("alternatives.html")).substitute(
        sentences=text(" ".join(found.sentences)),
        comparison=comparison(found) if len(found) > 1 else "",
        trees="".join(_card(one, found[0]) for one in found.trees[:_DRAWN]),
        more=_more(found),
    )


def _card(one: Alternative, best: Alternative) -> str:
    """Return a tree as nested lines, with its odds; what the best tree has not is marked."""
    odds = (
        "as probable as the best"
        if one.nats == 0
        else f"the best is {times_text(one.nats)} times as probable"
    )
    caption = (
        f"<b>Tree {one.rank:,}</b>: log posterior {one.log_posterior:.2f}, "
        f"{odds if one.rank > 1 else 'the best'}; {count(one.tree.n_leaves, 'leaf', 'leaves')}"
    )
    view = view_tree(one.fitted, isolated=True)
    known = {line.path for line in _lines(best.fitted)}
    items = "".join(_item(line, view, line.path not in known) for line in _lines(one.fitted, view))
    return f"<figure><figcaption>{caption}</figcaption><ul>{items}</ul></figure>"


class _Line(NamedTuple):
    path: frozenset[str]  # the conditions that lead there, in full
    depth: int
    condition: str
    node: int
    folded: bool  # more is below


def _lines(fitted: FittedTree, view: AnyTree | None = None) -> Iterator[_Line]:
    """Yield the nodes of a tree below the root, or a single leaf, as deep as there is room."""
    tree, words = fitted.tree, TestWords(fitted.schema)
    shown = words if view is None else TestWords(view.fitted.schema)
    most = shown_depth(tree, _LINES)
    if tree.feature[0] < 0:
        yield _Line(frozenset(), 0, "every row", 0, False)
    stack: list[tuple[int, list[Answered]]] = [(0, [])]
    while stack:
        node, path = stack.pop()
        folded = len(path) >= most and tree.feature[node] >= 0
        if path:
            *given, last = path
            said = frozenset(words.condition([answer]) for answer in path)
            yield _Line(said, len(given), shown.condition([last], given=given), node, folded)
        if tree.feature[node] < 0 or folded:
            continue
        test = int(tree.feature[node])
        stack.append((int(tree.left[node]), [*path, (test, False)]))
        stack.append((int(tree.right[node]), [*path, (test, True)]))


def _item(line: _Line, view: AnyTree, new: bool) -> str:
    outcome = ""
    if line.folded:
        outcome = " <i>more below</i>"
    elif view.nodes[line.node].test < 0:
        outcome = _outcome(view, line.node)
    mark = ' class="new"' if new else ""
    return (
        f'<li data-depth="{min(line.depth, _DEEPEST)}"{mark}>{text(line.condition)}{outcome}</li>'
    )


def _outcome(view: AnyTree, number: int) -> str:
    """Return what a leaf predicts, after its colour."""
    if isinstance(view, ClassTree):
        leaf = view.nodes[number]
        colour, name = view.colour(leaf), view.classes[leaf.best]
        predicted, n = probability_text(float(leaf.mean[leaf.best])), leaf.n
    else:
        found = view.nodes[number]
        colour, name, predicted, n = view.colour(found), view.name, found.estimate, found.n
    return (
        f' <span class="outcome"><i class="k{colour}"></i>'
        f"<bdi>{text(name)}</bdi> {predicted}, n = {n:,}</span>"
    )


def _more(found: Alternatives) -> str:
    rest = len(found) - _DRAWN
    return f'<p class="hint">{count(rest, "more tree")} not shown in full.</p>' if rest > 0 else ""
