"""The part of the report about an average: what its trees share, next to the most probable one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from maptree.engine.diagnostics import diagnose
from maptree.pictures.boxes import LONGEST
from maptree.pictures.report.markup import text
from maptree.pictures.short_text import shorten, visible
from maptree.pictures.tree_view import AnyTree
from maptree.trees.average import Average, Chains
from maptree.trees.fitted import FittedTree
from maptree.trees.scores import Scores
from maptree.words.average import average_sentences, shared_by
from maptree.words.numbers import probability_text, probability_texts

_MOST = 12  # columns, first splits or numbers of leaves in a table
_APART = 0.2  # shares of chains that differ by more are shown
_CUT = 2 * LONGEST  # characters of a test


def average_html(view: AnyTree) -> str:
    """Return the section about the average; empty for a single tree."""
    fitted = view.fitted
    if fitted.average is None:
        return ""
    shared = shared_by(fitted)
    return (
        '<section aria-labelledby="average-heading">'
        f'<h2 id="average-heading">{_heading(len(fitted.average.weighted.trees))}</h2>'
        f"{_how(fitted.average)}"
        f'<div class="pair">{_columns(fitted)}<div>'
        + _table(
            "The first split, by column, and the most frequent test",
            ("column", "trees", ""),
            [
                (
                    f"<bdi>{_name(first.name)}</bdi>"
                    + (
                        ""
                        if first.test == first.name
                        else f'<br><span class="hint"><bdi>{_name(first.test)}</bdi>: '
                        f"{text(probability_text(first.test_probability))}</span>"
                    ),
                    first.probability,
                    "",
                )
                for first in shared.first_splits[:_MOST]
            ],
            len(shared.first_splits),
        )
        + _leaves(shared.leaves, fitted.tree.n_leaves)
        + "</div></div></section>"
    )


def shown_of(fitted: FittedTree) -> str:
    """Return a sentence that says which tree is shown; empty for a single tree."""
    if fitted.average is None:
        return ""
    n_trees = len(fitted.average.weighted.trees)
    if n_trees == 1:
        return ""
    return f" Predictions are averaged over {n_trees:,} trees; the most probable is shown."


def what_if_note(fitted: FittedTree) -> str:
    """Return what the form shows, if that differs from what the model predicts."""
    if fitted.average is None:
        return ""
    return (
        '<p class="hint">This is the prediction of the tree shown. The average over all trees, '
        "which <code>predict</code> gives, may differ.</p>"
    )


def of_tree_html(scores: Scores | None) -> str:
    """Return the scores of the most probable tree alone; empty if there are no others."""
    if scores is None:
        return ""
    return (
        '<p class="hint">These are scores of the average. The most probable tree alone: accuracy '
        f"{text(probability_text(scores.accuracy, 3))}, log loss "
        f"{text(probability_text(scores.log_loss, 3))}.</p>"
    )


def _heading(n_trees: int) -> str:
    return "The average" if n_trees == 1 else f"What {n_trees:,} trees share"


def _how(average: Average) -> str:
    found = diagnose(average.draws) if isinstance(average.origin, Chains) else None
    sentences = "".join(f"<p>{text(words)}</p>" for words in average_sentences(average, found))
    if found is not None and not found.mixed:
        return f'<div class="caution">{sentences}</div>'
    return sentences


def _columns(fitted: FittedTree) -> str:
    """Return how often trees test each column, and how often the most probable tree does."""
    shared = shared_by(fitted)
    tree = fitted.tree
    of_tree = fitted.schema.columns_of(tree.feature[tree.feature >= 0])
    splits = np.bincount(of_tree, minlength=len(fitted.schema.columns))
    shown = dict(zip(fitted.schema.names, splits.tolist(), strict=True))
    rows = [
        (
            f"<bdi>{_name(column.name)}</bdi>"
            + (
                f'<br><span class="hint">by chain {column.low:.2f} to {column.high:.2f}</span>'
                if column.high - column.low > _APART
                else ""
            ),
            column.probability,
            f"{shown[column.name]:,}",
        )
        for column in shared.columns[:_MOST]
    ]
    return _table(
        "Columns, the share of trees that test them, and splits in the most probable tree",
        ("column", "trees", "splits shown"),
        rows,
        len(shared.columns),
    )


def _leaves(leaves: dict[int, float], n_shown: int) -> str:
    """Return how large trees are, the most frequent sizes first."""
    likely = sorted(leaves, key=lambda n: -leaves[n])[:_MOST]
    rows = [(f"{n:,}", leaves[n], "the tree shown" if n == n_shown else "") for n in likely]
    return _table(
        "Number of leaves, the most frequent first", ("leaves", "trees", ""), rows, len(leaves)
    )


def _table(
    caption: str,
    head: tuple[str, str, str],
    rows: Sequence[tuple[str, float, str]],
    n_rows: int,
) -> str:
    if not rows:
        return f'<p class="hint">{text(caption)}: none, every tree is a single leaf.</p>'
    shares = probability_texts((round(share, 12) for _, share, _ in rows), 2)
    last = bool(head[2]) or any(note for _, _, note in rows)
    lines = [
        f'<tr><th scope="row">{name}</th><td>{text(written)}</td><td>{_bar(share)}</td>'
        + (f"<td>{text(note)}</td>" if last else "")
        + "</tr>"
        for (name, share, note), written in zip(rows, shares, strict=True)
    ]
    more = f'<p class="hint">and {n_rows - len(rows):,} more</p>' if n_rows > len(rows) else ""
    return (
        '<div><div class="wide" tabindex="0" role="group" '
        f'aria-label="{text(caption)} (scrollable)"><table class="shares">'
        f"<caption>{text(caption)}</caption><thead><tr>"
        f'<th scope="col">{text(head[0])}</th><th scope="col" colspan="2">{text(head[1])}</th>'
        + (f'<th scope="col">{text(head[2])}</th>' if last else "")
        + f"</tr></thead><tbody>{''.join(lines)}</tbody></table></div>{more}</div>"
    )


def _bar(share: float) -> str:
    """Return a share as a bar."""
    return (
        '<svg class="share" viewBox="0 0 100 10" aria-hidden="true"><path class="rail" '
        f'd="M0 5H100"/><path d="M0 5H{100 * share:.1f}"/></svg>'
    )


def _name(name: str) -> str:
    return text(shorten(visible(name), _CUT))
