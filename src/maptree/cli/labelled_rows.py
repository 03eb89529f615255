"""Rows whose class is known, to hold a model against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from maptree.cli.files import Source
from maptree.cli.names import refuse_unknown
from maptree.cli.new_rows import rows_for
from maptree.cli.refusal import USAGE, Refusal
from maptree.cli.target import class_texts, known_labels
from maptree.map_classifier import MAPTreeClassifier


@dataclass(frozen=True)
class LabelledRows:
    """A table for ``predict``, and the class numbers of its rows; -1 is unknown to the model."""

    target: str
    X: Any
    codes: NDArray[Any]
    without: int  # rows that were left out because they have no class at all


def labelled_rows(model: MAPTreeClassifier, source: Source, target: str | None) -> LabelledRows:
    """Find the model's columns and its target in a table."""
    name = target or model.training_.target
    if name is None:
        raise Refusal("The model does not say what it predicts: pass --target.", USAGE)
    refuse_unknown([name], source.columns, source.name)
    codes, unknown = known_labels(source, name, model.classes_)
    rows = np.flatnonzero(codes != -2)
    if len(rows) == unknown:
        raise Refusal(
            f"{source.name}: no row has a class of the model in {name!r}. It knows "
            f"{', '.join(class_texts(model.classes_)[:12])}."
        )
    X = take(rows_for(model, source), rows)
    return LabelledRows(name, X, codes[rows], len(codes) - len(rows))


def take(X: Any, rows: NDArray[np.intp]) -> Any:
    """Return some rows of a table or a matrix."""
    return X.take(pa.array(rows)) if isinstance(X, pa.Table) else X[rows]
