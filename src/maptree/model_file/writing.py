"""Writing a fitted model into a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from maptree.files.json_values import write_number
from maptree.files.strict_json import dump, parse
from maptree.files.whole_file import write_whole
from maptree.model_file import FORMAT, PARAMETERS, VERSION, VERSION_OF_CLASSES, StoredModel
from maptree.model_file.average import write_average
from maptree.model_file.labels import write_labels
from maptree.model_file.outcome import write_outcome
from maptree.model_file.reading import parse_model
from maptree.model_file.training import write_training
from maptree.schema.kept_thresholds import keep_thresholds
from maptree.schema.schema_json import write_schema
from maptree.trees.fitted import FittedTree


def write_model(model: StoredModel, path: str | os.PathLike[str]) -> None:
    """Write a model as JSON; ``read_model`` reads it back exactly.

    The file appears under its name only after it was written completely and read back.
    """
    content = dump(_values(model))
    try:
        parse_model(parse(content))
    except ValueError as error:
        raise ValueError(
            f"The model cannot be saved, because the file could not be loaded again: {error}"
        ) from None
    write_whole(path, content)


def _values(model: StoredModel) -> dict[str, Any]:
    fitted, schema = model.fitted, model.fitted.schema
    matrix = {"columns": len(schema.columns), "names": schema.names if schema.named else None}
    certificate = None
    if fitted.certificate is not None:
        certificate = fitted.certificate.numbers()
        for name in ("proved_depth", "log_posterior_bound", "gap"):
            certificate[name] = write_number(certificate[name])
    encoded = None
    if schema.encoder is not None:
        encoded = write_schema(keep_thresholds(schema, fitted.needed_tests))
    classes = fitted.measured is None
    return {
        "format": FORMAT,
        "version": VERSION_OF_CLASSES if classes else VERSION,
        "training": _training(fitted),
        **_outcome(fitted),
        "schema": encoded,
        "matrix": matrix if encoded is None else None,
        "tree": _tree(fitted),
        **({"rho": fitted.prior.rho.tolist()} if classes else {}),
        "certificate": certificate,
        "feature_importances": None if fitted.importances is None else fitted.importances.tolist(),
        "parameters": {
            name: _parameter(name, model.parameters[name]) for name in PARAMETERS[model.found_by]
        },
        "trace": {
            name: [write_number(value) for value in fitted.trace[name].tolist()]
            for name in fitted.trace.dtype.names or ()
        },
        **({"average": write_average(fitted.average)} if classes else {}),
    }


def _training(fitted: FittedTree) -> dict[str, Any]:
    values = write_training(fitted.training)
    if fitted.measured is not None:
        del values["class_counts"]
    return values


def _outcome(fitted: FittedTree) -> dict[str, Any]:
    if fitted.measured is None:
        return {"classes": write_labels(fitted.classes)}
    return {"outcome": write_outcome(fitted.measured)}


def _tree(fitted: FittedTree) -> dict[str, Any]:
    tree = fitted.tree
    values = {name: getattr(tree, name).tolist() for name in ("feature", "left", "right")}
    if fitted.measured is None:
        return values | {"counts": tree.counts.tolist()}
    return values | {"rows": tree.rows.tolist(), "sums": tree.sums.tolist()}


def _parameter(name: str, value: Any) -> Any:
    """Return a parameter as plain numbers, text and lists."""
    if name == "random_state":
        return int(value) if isinstance(value, Integral) else None
    if name == "initial_tree":
        return None if value is None else "search"
    if name == "column_weights" and isinstance(value, Mapping):
        # As pairs: the keys of JSON objects are always text.
        return [[_parameter("", key), _parameter("", weight)] for key, weight in value.items()]
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, dict):
        return {inner: _parameter("", limit) for inner, limit in value.items()}
    if isinstance(value, Iterable):
        return [_parameter("", inner) for inner in value]
    raise TypeError(f"{name}={value!r} cannot be saved: pass numbers, text or None.")
