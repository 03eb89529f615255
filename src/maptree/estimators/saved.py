"""``save_model`` and ``load_model``: fitted estimators as files."""

from __future__ import annotations

from os import PathLike
from typing import Any

from sklearn.utils.validation import check_is_fitted

from maptree.encoding.encoder import BinaryEncoder
from maptree.estimators.map_classifier import MAPTreeClassifier
from maptree.estimators.map_regressor import MAPTreeRegressor
from maptree.estimators.mcmc_classifier import MCMCTreeClassifier
from maptree.estimators.smc_classifier import SMCTreeClassifier
from maptree.estimators.tree_classifier import TreeClassifier
from maptree.model_file import PARAMETERS, StoredModel, found_by
from maptree.model_file.reading import read_model
from maptree.model_file.writing import write_model
from maptree.schema.schema_json import without_none

Model = MAPTreeClassifier | MAPTreeRegressor | MCMCTreeClassifier | SMCTreeClassifier

# By what found the trees.
_CLASSES: dict[str, type[Model]] = {
    "search": MAPTreeClassifier,
    "measured": MAPTreeRegressor,
    "chains": MCMCTreeClassifier,
    "particles": SMCTreeClassifier,
}


def save_model(classifier: TreeClassifier | MAPTreeRegressor, path: str | PathLike[str]) -> None:
    """Write a fitted classifier or regressor as JSON; ``load_model`` reads it back exactly.

    The file appears under its name only after it was written completely and read back. It holds
    the fitted trees and all parameters, except ``callback``, a ``random_state`` that is not a whole
    number, and an ``initial_tree`` that is a tree. It contains no code and no rows of the training
    table, but names of columns, thresholds, categories, counts or sums of numbers, and hashes by
    which training rows are recognised.

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
    if not isinstance(classifier, (TreeClassifier, MAPTreeRegressor)):
        raise TypeError(
            f"{type(classifier).__name__} is not a classifier or regressor of maptree, so it "
            "cannot be saved as a model file: pass a fitted MAPTreeClassifier, MAPTreeRegressor, "
            "MCMCTreeClassifier or SMCTreeClassifier."
        )
    check_is_fitted(classifier)
    write_model(stored(classifier), path)


def stored(model: TreeClassifier | MAPTreeRegressor) -> StoredModel:
    """Return the part of a fitted estimator that a file holds."""
    given = model.get_params(deep=False)
    names = PARAMETERS[found_by(model.fitted_)]
    return StoredModel(model.fitted_, {name: _plain(given[name]) for name in names})


def _plain(value: Any) -> Any:
    """Return the parameters of an encoder; other values unchanged."""
    return without_none(value.get_params()) if isinstance(value, BinaryEncoder) else value


def load_model(path: str | PathLike[str]) -> Model:
    """Return the fitted classifier or regressor that ``save_model`` wrote, of the class it had.

    Its predictions, rules and certificate are exactly those of the saved one. Nothing in the file
    is executed, so a file from an unknown source is safe to load. An OSError says why a file cannot
    be read, a ValueError what is wrong in it and where.
    """
    return restored(read_model(path))


def restored(stored_model: StoredModel) -> Model:
    """Return the fitted estimator that a file holds."""
    parameters = dict(stored_model.parameters)
    if isinstance(parameters["encoder"], dict):
        parameters["encoder"] = BinaryEncoder(**parameters["encoder"])
    model = _CLASSES[stored_model.found_by](**parameters)
    schema = stored_model.fitted.schema
    model._keep(
        stored_model.fitted, BinaryEncoder.of_schema(schema) if schema.takes_missing else None
    )
    return model
