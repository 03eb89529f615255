"""Tables of the report: baselines, precision and recall, probability thresholds, costs."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from maptree.trees.training import HeldOutScores
from maptree.words.baselines import comparison_cells
from maptree.words.decisions import (
    Decisions,
    best_rows,
    class_cells,
    cost_sentences,
    marks_sentence,
    threshold_cells,
    threshold_sentence,
)
from maptree.words.html_parts import noted, paragraphs, table


def baselines_html(name: str, scores: HeldOutScores) -> str:
    """Return the scores that a model keeps next to those of baselines, if it has some."""
    if not scores.baselines:
        return ""
    cells = comparison_cells(scores.as_baseline(name), scores.baselines)
    return _captioned(
        cells, "Compared on the same rows, in cross-validation fitted on the same folds."
    )


def decisions_html(decisions: Decisions) -> str:
    """Return what thresholds and costs do."""
    parts = [
        "<h3>Decisions</h3>",
        _captioned(class_cells(decisions), "Each row predicted as its most probable class."),
    ]
    if decisions.thresholds is not None:
        cells = threshold_cells(decisions)
        words = threshold_sentence(decisions)
        parts.append(_captioned(_what_decides_first(cells), words, best_rows(cells)))
        parts.append(paragraphs([marks_sentence(decisions)], "hint"))
    if decisions.costs is not None:
        parts.append(paragraphs(cost_sentences(decisions)))
    return "\n".join(parts)


def _what_decides_first(cells: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return thresholds with their marks and costs first: a phone shows only the first columns."""
    order = ["cost", "recall", "precision", "TP", "FP", "TN", "FN"]
    head, *rows = cells
    places = [head.index(name) for name in order if name in head]
    return [
        [head[0], *(head[j] for j in places)],
        *([noted(row[0], row[-1].replace(" ", ", ")), *(row[j] for j in places)] for row in rows),
    ]


def _captioned(cells: Sequence[Sequence[str]], caption: str, marked: Collection[int] = ()) -> str:
    # The words stand outside of what scrolls: on a phone they would be cut.
    return paragraphs([caption], "hint") + table(cells, caption, marked=marked)
