"""The most probable trees next to each other, for notebooks and for the report."""

from __future__ import annotations

from collections.abc import Sequence

from maptree.words.alternatives import Alternative, Alternatives, cut
from maptree.words.html_parts import MARK, folded, fragment, paragraphs, preformatted, table
from maptree.words.nats import odds_text, times_text
from maptree.words.tree_text import indented
from maptree.words.values import count

# Trees that are columns of the table, rows of the table, trees in full and their lines;
# characters of a name.
_COMPARED, _ROWS, _DRAWN, _LINES, _NAME = 12, 40, 5, 32, 60


def alternatives_html(found: Alternatives) -> str:
    """Return the list for a notebook: what is proved, a table, and the first trees folded."""
    return fragment(
        paragraphs([" ".join(found.sentences)]),
        comparison(found) if found else "",
        *(_tree(one) for one in found.trees[:_DRAWN]),
        _more(len(found)),
    )


def comparison(found: Alternatives) -> str:
    """Return a table with a column for every tree: what they share, and where they differ."""
    trees = found.trees[:_COMPARED]
    cells: list[list[str]] = [
        # Short numbers: on a phone, six trees fit next to each other.
        ["tree", *(f"{one.rank:,}" for one in trees)],
        ["odds, 1 to", *(times_text(one.nats) for one in trees)],
        ["nats below", *(f"{one.nats:.2f}" for one in trees)],
        ["leaves", *(f"{one.tree.n_leaves:,}" for one in trees)],
    ]
    firsts = [one.first_test for one in trees]
    for test in dict.fromkeys(firsts):
        name = "a single leaf" if test is None else f"begins with {cut(test, _NAME)}"
        cells.append([name, *_marks([first == test for first in firsts])])
    uses = [set(one.columns) for one in trees]
    names = dict.fromkeys(name for one in trees for name in one.columns)
    for name in sorted(names, key=lambda name: -sum(name in use for use in uses)):
        cells.append([f"tests {cut(name, _NAME)}", *_marks([name in use for use in uses])])
    return table(cells, "Comparison of the trees", kind="rivals", most=_ROWS)


def _marks(here: Sequence[bool]) -> list[str]:
    return [MARK if one else "" for one in here]


def _tree(one: Alternative) -> str:
    lines = indented(one.fitted).split("\n")
    if len(lines) > _LINES:
        lines = [*lines[:_LINES], f"and {len(lines) - _LINES:,} more lines"]
    size = count(one.tree.n_leaves, "leaf", "leaves")
    odds = f"log posterior {one.log_posterior:.2f}, odds {odds_text(one.nats)}"
    summary = f"Tree {one.rank:,}: {odds}, {size}"
    return folded(summary, preformatted("\n".join(lines)))


def _more(n: int) -> str:
    words = []
    if n > _COMPARED:
        words.append(f"The table shows the first {_COMPARED} of {n:,} trees.")
    if n > _DRAWN:
        words.append(
            f"{count(n - _DRAWN, 'more tree')} not shown in full: print(found[{_DRAWN}]) shows one."
        )
    return paragraphs([" ".join(words)], "hint")
