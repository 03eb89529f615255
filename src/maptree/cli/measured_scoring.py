"""``maptree score`` for a model of numbers or counts."""

from __future__ import annotations

import numpy as np

from maptree.cli.descriptions import measured_document, measured_text
from maptree.cli.files import Source
from maptree.cli.measured_rows import measured_rows
from maptree.cli.screen import emit, heading, say
from maptree.files.controls import shown
from maptree.trees.fitted import FittedTree
from maptree.trees.measured_scores import ONE_LEAF, PredictedRows, score_measured
from maptree.trees.outcomes import Measured, Numbers
from maptree.words.scored_rows import overlap_document, rows_heading, rows_sentences


def run_score(
    fitted: FittedTree,
    measured: Measured,
    source: Source,
    files: dict[str, str],
    target: str | None,
    exposure: str | None,
    as_json: bool,
) -> None:
    """Score predictions on rows with known numbers; ``files`` are named in the document."""
    rows = measured_rows(fitted, measured, source, target, exposure)
    found, one_leaf = (
        score_measured(
            PredictedRows.by_tree(measured, fitted.tree, leaves, rows.y, rows.exposure), rows.y
        )
        for leaves in (rows.leaves, np.zeros_like(rows.leaves))
    )
    scores = found.kept("", [one_leaf.as_baseline(ONE_LEAF)])
    if as_json:
        about = {
            "target": rows.target,
            "rows_without_target": rows.without,
            "training_rows": overlap_document(rows.overlap),
        }
        emit({"command": "score"} | files | about | measured_document(scores))
        return
    name = "number" if isinstance(measured, Numbers) else "count"
    say(f"{source.name}: {scores.rows:,} rows with a {name} in {shown(rows.target)}.")
    if rows.without:
        say(f"{rows.without:,} rows without a target were left out.")
    if rows.note:
        say(f"{shown(rows.target)}: {rows.note}.")
    heading(rows_heading(rows.overlap))
    say(" ".join(rows_sentences(rows.overlap, rows.target)))
    say(measured_text(scores))
