"""Rows to predict: the columns that a model asks about, found in another table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from maptree.cli.files import Source
from maptree.cli.names import hint, listed
from maptree.cli.refusal import Refusal
from maptree.encoding.schema import Column
from maptree.map_classifier import MAPTreeClassifier


def rows_for(model: MAPTreeClassifier, source: Source) -> Any:
    """Return a table with the model's columns, for ``predict``.

    Only the columns that the tree asks about have to be there. Others may lack: they are passed as
    missing, and nobody looks at them.
    """
    schema = _schema(model)
    names = [column.name for column in schema]
    if not hasattr(model, "feature_names_in_"):
        return _by_position(model, source, schema)
    lacking = [names[j] for j in asked_columns(model) if names[j] not in source.columns]
    if lacking:
        raise Refusal(
            f"{source.name} lacks {'columns' if len(lacking) > 1 else 'the column'} "
            f"{listed(lacking)}, which the tree asks about. {hint(lacking, source.columns)}"
        )
    return pa.table(
        {
            column.name: source.as_fitted(column.name, column)
            if column.name in source.columns
            else _nothing(model, source.table.num_rows)
            for column in schema
        }
    )


def asked_columns(model: MAPTreeClassifier) -> list[int]:
    """Return the columns that the tree asks about."""
    tests = np.unique(model.tree_.feature[model.tree_.feature >= 0])
    if model.encoder_ is not None:
        tests = np.unique(model.encoder_.test_columns_[tests])
    return [int(column) for column in tests]


def _schema(model: MAPTreeClassifier) -> tuple[Column, ...]:
    if model.encoder_ is not None:
        return model.encoder_.schema_
    names = getattr(model, "feature_names_in_", [f"x{j}" for j in range(model.n_features_in_)])
    return tuple(Column(str(name), "boolean", "", categories=(0, 1)) for name in names)


def _nothing(model: MAPTreeClassifier, n_rows: int) -> Any:
    # A 0/1 matrix without an encoder has no missing values.
    return pa.nulls(n_rows) if model.encoder_ is not None else pa.array(np.zeros(n_rows, np.int8))


def _by_position(model: MAPTreeClassifier, source: Source, schema: tuple[Column, ...]) -> Any:
    """Take the columns in their order, for a model that was fitted on a table without names."""
    if len(source.columns) != len(schema):
        raise Refusal(
            f"The model was fitted on {len(schema)} columns without names, and {source.name} has "
            f"{len(source.columns)}: pass the same columns in the same order."
        )
    columns = [
        source.as_fitted(name, about) for name, about in zip(source.columns, schema, strict=True)
    ]
    arrays = [column.to_numpy(zero_copy_only=False) for column in columns]
    return np.stack([array.astype(object) for array in arrays], axis=1)
