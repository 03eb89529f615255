"""Writing a fitted model into a file."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maptree.encoding.encoder import BinaryEncoder
from maptree.json_values import write_number
from maptree.map_classifier import MAPTreeClassifier
from maptree.model_file import FORMAT, VERSION
from maptree.model_file.labels import write_labels
from maptree.model_file.loading import read_model
from maptree.model_file.strict_json import dump, parse
from maptree.whole_file import write_whole


def save_model(classifier: MAPTreeClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier as JSON; ``load_model`` reads it back exactly.

    The file takes its place only when it is written whole and has been read back. All that was
    fitted is in it and all parameters, but for ``callback`` and a ``random_state`` that is no
    whole number. It holds no code, and no rows of the training table: names of columns,
    thresholds, categories, and counts.

    >>> import tempfile, pathlib
    >>> from maptree import MAPTreeClassifier, load_model, save_model
    >>> model = MAPTreeClassifier().fit([[25.0], [31.0], [47.0], [52.0]] * 5, [0, 0, 1, 1] * 5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "model.json")
    ...     save_model(model, path)
    ...     again = load_model(path)
    >>> again.predict([[30.0], [50.0]])
    array([0, 1])
    >>> again.certificate_ == model.certificate_
    True
    """
    if not isinstance(classifier, MAPTreeClassifier):
        raise unsuited(classifier)
    check_is_fitted(classifier)
    content = dump(_write_model(classifier))
    try:
        read_model(parse(content))
    except ValueError as error:
        raise ValueError(
            f"The model cannot be saved, because nobody could load it: {error}"
        ) from None
    write_whole(path, content)


def unsuited(classifier: object) -> TypeError:
    """Say that a classifier is not of the kind that a model file holds."""
    return TypeError(
        f"{type(classifier).__name__} cannot be saved as a model file, which holds the one "
        "tree of a MAPTreeClassifier: use pickle for others."
    )


def _write_model(model: MAPTreeClassifier) -> dict[str, Any]:
    encoder, tree = model.encoder_, model.tree_
    names = getattr(model, "feature_names_in_", None)
    matrix = {
        "columns": model.n_features_in_,
        "names": None if names is None else [str(name) for name in names],
    }
    certificate = asdict(model.certificate_)
    certificate["proved_depth"] = write_number(model.certificate_.proved_depth)
    return {
        "format": FORMAT,
        "version": VERSION,
        "training": asdict(model.training_),
        "classes": write_labels(model.classes_),
        "schema": None if encoder is None else encoder.to_dict(),
        "matrix": matrix if encoder is None else None,
        "tree": {
            "feature": tree.feature.tolist(),
            "left": tree.left.tolist(),
            "right": tree.right.tolist(),
            "counts": tree.counts.tolist(),
        },
        "rho": model.rho_.tolist(),
        "certificate": certificate,
        "feature_importances": model.feature_importances_.tolist(),
        "parameters": {
            name: _parameter(name, value)
            for name, value in model.get_params(deep=False).items()
            if name != "callback"
        },
        "trace": {
            name: [write_number(value) for value in model.trace_[name].tolist()]
            for name in model.trace_.dtype.names or ()
        },
    }


def _parameter(name: str, value: Any) -> Any:
    """Return a parameter as plain numbers, text and lists."""
    if name == "random_state":
        return int(value) if isinstance(value, Integral) else None
    if isinstance(value, BinaryEncoder):
        return {name: int(most) for name, most in value.get_params().items()}
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, Iterable):
        return [_parameter("", inner) for inner in value]
    raise TypeError(f"{name}={value!r} cannot be saved: pass numbers, text or None.")
