"""``save_model`` and ``load_model``: classifiers as files."""

from __future__ import annotations

from os import PathLike
from typing import Any

from sklearn.utils.validation import check_is_fitted

from maptree.encoding.encoder import BinaryEncoder
from maptree.estimators.map_classifier import MAPTreeClassifier
from maptree.model_file import PARAMETERS, StoredModel
from maptree.model_file.reading import read_model
from maptree.model_file.writing import write_model


def save_model(classifier: MAPTreeClassifier, path: str | PathLike[str]) -> None:
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
        raise TypeError(
            f"{type(classifier).__name__} cannot be saved as a model file, which holds the one "
            "tree of a MAPTreeClassifier: use pickle for others."
        )
    check_is_fitted(classifier)
    write_model(stored(classifier), path)


def stored(classifier: MAPTreeClassifier) -> StoredModel:
    """Return what a file holds of a fitted classifier."""
    encoder = classifier.encoder_
    given = classifier.get_params(deep=False)
    parameters = {name: _limits(given[name]) for name in PARAMETERS}
    return StoredModel(classifier.fitted_, parameters, _limits(encoder))


def _limits(value: Any) -> Any:
    """Return the parameters of an encoder; other values as they are."""
    return value.get_params() if isinstance(value, BinaryEncoder) else value


def load_model(path: str | PathLike[str]) -> MAPTreeClassifier:
    """Return the fitted classifier that ``save_model`` wrote.

    It predicts, explains and certifies exactly as the one that was saved. Nothing in the file is
    executed, so a file of unknown origin can do no harm. OSError says that a file cannot be read,
    ValueError what is wrong in it and where.
    """
    return restored(read_model(path))


def restored(model: StoredModel) -> MAPTreeClassifier:
    """Return the fitted classifier that a file holds."""
    parameters = dict(model.parameters)
    if isinstance(parameters["encoder"], dict):
        parameters["encoder"] = BinaryEncoder(**parameters["encoder"])
    classifier = MAPTreeClassifier(**parameters)
    encoder = None
    if model.encoder is not None:
        encoder = BinaryEncoder.of_schema(model.fitted.schema, **model.encoder)
    classifier._keep(model.fitted, encoder)
    return classifier
