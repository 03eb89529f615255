"""Scores in words, as tables and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from maptree.cli.screen import columns_of
from maptree.scoring import Scores

_MOST_CLASSES = 6  # in a table of confusions
_SHOWN = 16  # characters of a class


def scores_text(scores: Scores) -> str:
    """Put scores into words."""
    lines = [
        f"Accuracy {scores.accuracy:.3f}, log loss {scores.log_loss:.3f} nats, calibration "
        f"error {scores.calibration_error:.3f}.",
    ]
    if scores.unknown:
        lines.append(
            f"{scores.unknown:,} rows have a class that the model does not know: counted as wrong, "
            "and left out of the log loss."
        )
    lines.append("Calibration: the probability of the predicted class, and how often it is right.")
    rows = [["  probability", "rows", "predicted", "right"]]
    rows += [
        [f"  {b.low:.1f} to {b.high:.1f}", f"{b.rows:,}", f"{b.probability:.3f}", f"{b.right:.3f}"]
        for b in scores.bins
    ]
    return "\n".join([*lines, columns_of(rows)])


def confusion_text(scores: Scores, classes: Sequence[str]) -> str:
    """Put into words what was taken for what."""
    short = [name if len(name) <= _SHOWN else f"{name[: _SHOWN - 3]}..." for name in classes]
    table = scores.confusion
    if len(classes) <= _MOST_CLASSES and sum(map(len, short)) + 2 * len(short) + _SHOWN < 78:
        rows = [["  label", *short]]
        rows += [[f"  {name}", *map(str, table[k])] for k, name in enumerate(short)]
        if table[-1].any():
            rows.append(["  (unknown)", *map(str, table[-1])])
        return f"Confusion: labels down, predictions across.\n{columns_of(rows)}"
    wrong: list[tuple[int, str, str]] = [
        (int(table[i, j]), name, short[j])
        for i, name in enumerate([*short, "(unknown)"])
        for j in range(len(short))
        if i != j and table[i, j]
    ]
    wrong.sort(key=lambda entry: -entry[0])
    rows = [["  label", "prediction", "rows"]]
    rows += [[f"  {a}", b, f"{n:,}"] for n, a, b in wrong[:10]]
    return f"The most frequent confusions:\n{columns_of(rows, left=2)}"


def scores_document(scores: Scores, classes: Sequence[str]) -> dict[str, Any]:
    """Return scores for ``--json``."""
    return {
        "rows": scores.rows,
        "accuracy": scores.accuracy,
        "log_loss": scores.log_loss,
        "calibration_error": scores.calibration_error,
        "unknown": scores.unknown,
        "calibration": [vars(b) for b in scores.bins],
        "confusion": {
            name: dict(zip(classes, scores.confusion[k].tolist(), strict=True))
            for k, name in enumerate(classes)
        },
    }
