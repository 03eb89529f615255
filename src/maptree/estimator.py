"""What the classifiers share: reading what ``fit`` is given, asking a table, words for the tree."""

from __future__ import annotations

import copy
import warnings
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from maptree import _core
from maptree.class_weight import refuse_class_weight
from maptree.encoding.answering import Answers
from maptree.encoding.choosing import binary_schema
from maptree.encoding.encoder import BinaryEncoder, warn_of_identifiers
from maptree.encoding.schema import Column
from maptree.encoding.wording import TestWords
from maptree.limits import whole_number
from maptree.prior import read_alpha, read_beta, read_prior
from maptree.problem import Problem
from maptree.tables.binary import binary_columns, pack_columns, refuse_not_binary
from maptree.tables.labels import Codes, read_labels
from maptree.tables.table import Matrix, Table, read_table
from maptree.tables.weights import read_weights
from maptree.text import TreeText
from maptree.tree import Tree

_NOT_BINARY = (
    'with encoder=None every value must be 0 or 1. Pass encoder="auto" to turn columns into tests.'
)


class InterruptedWarning(UserWarning):
    """Ctrl-C stopped a fit; what was found until then was kept."""


class TimeLimitWarning(UserWarning):
    """The time limit left no time to look at all columns; the tree is over the others."""


@dataclass(frozen=True)
class Reading:
    """What ``fit`` has read: the problem for the core, and what the estimator keeps."""

    problem: Problem
    classes: NDArray[Any]
    encoder: BinaryEncoder | None
    schema: tuple[Column, ...]
    names: NDArray[np.object_] | None

    @property
    def n_columns(self) -> int:
        """Number of columns of the table."""
        return len(self.schema)

    @property
    def n_unread(self) -> int:
        """Number of columns that a time limit left without tests."""
        return sum(column.kind == "unread" for column in self.schema)


class TreeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The base of the classifiers. They differ in how they come to trees, and in predictions."""

    alpha: float
    beta: float
    rho: float | ArrayLike | None
    time_limit: float | None
    encoder: str | BinaryEncoder | None
    random_state: Any
    verbose: int
    callback: Any

    classes_: NDArray[Any]
    tree_: Tree
    encoder_: BinaryEncoder | None
    rho_: NDArray[np.float64]
    n_features_in_: int

    def __new__(cls, *args: Any, **params: Any) -> Self:
        refuse_class_weight(params, TypeError, cls.__name__)
        made: Self = super().__new__(cls)
        return made

    def set_params(self, **params: Any) -> Self:
        """Set parameters, as scikit-learn does."""
        refuse_class_weight(params, ValueError, type(self).__name__)
        inside = [name for name in params if name.startswith("encoder__")]
        if inside and not isinstance(params.get("encoder", self.encoder), BinaryEncoder):
            raise ValueError(
                f"{inside[0]} is a parameter of an encoder, and encoder={self.encoder!r} has none: "
                "make the classifier with encoder=BinaryEncoder()."
            )
        super().set_params(**params)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.encoder is not None
        # Not input_tags.string, although text is taken: it would promise to take dicts as well.
        tags.input_tags.categorical = self.encoder is not None
        return tags

    def _check_parameters(self) -> None:
        """Validate the parameters that all have and that do not depend on the data."""
        read_alpha(self.alpha)
        read_beta(self.beta)
        try:
            check_random_state(self.random_state)
        except ValueError as error:
            raise ValueError(
                f"random_state={self.random_state!r} cannot seed anything: pass None, an int or "
                "a numpy RandomState."
            ) from error
        if not isinstance(self.verbose, bool):
            whole_number("verbose", self.verbose, least=0)
        if self.callback is not None and not callable(self.callback):
            raise TypeError(
                f"callback={self.callback!r} cannot be called: pass a function of one argument."
            )

    def _read(self, X: Any, y: Any, sample_weight: ArrayLike | None, deadline: float) -> Reading:
        """Read a table with labels and turn it into tests; nothing is set on the estimator.

        Columns whose tests are not chosen by ``deadline`` get none.
        """
        encoder = _read_encoder(self.encoder)
        scratch = copy.copy(self)  # takes what validation sets, so that a failure leaves no trace
        table = read_table(scratch, X, reset=True)
        weights = read_weights(sample_weight, table.n_rows)
        classes, codes = _classes_that_count(y, weights, table.n_rows)
        prior = read_prior(self.alpha, self.beta, self.rho, len(classes))
        if encoder is not None:
            packed = encoder.encode_table(table, codes, weights, deadline)
            schema = encoder.schema_
        else:
            packed, schema = _pack(table), binary_schema(table)
        problem = Problem(packed, codes, weights, prior)
        # The table itself, which may be a copy, ends here: what follows wants the memory.
        return Reading(problem, classes, encoder, schema, table.names)

    def _keep(self, reading: Reading) -> None:
        """Set the attributes that say what was fitted on."""
        self.classes_ = reading.classes
        self.rho_ = reading.problem.prior.rho
        self.encoder_ = reading.encoder
        self.n_features_in_ = reading.n_columns
        if reading.names is not None:
            self.feature_names_in_ = reading.names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _warn_of_columns(self, reading: Reading) -> None:
        """Say which columns were left without tests. To be called by ``fit`` itself."""
        warn_of_identifiers(reading.schema, stacklevel=4)
        if reading.n_unread > 0:
            warnings.warn(
                f"Choosing thresholds took half of time_limit={self.time_limit}: the last "
                f"{reading.n_unread} of {reading.n_columns} columns got no tests. "
                "Raise time_limit, or pass fewer columns.",
                TimeLimitWarning,
                stacklevel=3,
            )

    def _ask(self, X: Any) -> Answers:
        """Read a table to predict on, and return what gives the answers of its rows."""
        check_is_fitted(self)
        table = read_table(self, X, reset=False)
        if self.encoder_ is not None:
            return self.encoder_.answers(table)
        refuse_not_binary(table, _NOT_BINARY)
        return Answers(tuple(_plain_column(f"x{j}") for j in range(table.n_columns)), table, {})

    @abstractmethod
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the class probabilities of each row."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row; of equals the first in ``classes_``."""
        probabilities = self.predict_proba(X)
        labels: NDArray[Any] = self.classes_[np.argmax(probabilities, axis=1)]
        return labels

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of ``predict_proba``."""
        logs: NDArray[np.float64] = np.log(self.predict_proba(X))
        return logs

    def rules(self, feature_names: Sequence[str] | None = None) -> list[str]:
        """Return one rule per leaf of ``tree_``, in the words of the table's columns.

        Each ends with the most probable class, its probability with a 95% credible interval, and
        the number of training rows. ``feature_names`` names the columns if the table did not.

        Missing values answer no to every test but ``is missing``, and rules say where they go:
        ``age > 45.5 or missing``. Columns in which none was missing at ``fit`` leave that unsaid;
        there, too, a missing value goes the way of the noes.
        """
        return self._text(feature_names).rules()

    def export_text(self, feature_names: Sequence[str] | None = None) -> str:
        """Return ``tree_`` as indented text: leaves as in ``rules``, and their class counts.

        >>> from maptree import MAPTreeClassifier
        >>> model = MAPTreeClassifier().fit([[0], [1]] * 6, ["no", "yes"] * 6)
        >>> print(model.export_text(["member"]))
        member = 1: yes 0.77 [0.50, 0.96], n = 6 (0 no, 6 yes)
        member = 0: no 0.77 [0.50, 0.96], n = 6 (6 no, 0 yes)
        """
        return self._text(feature_names).export()

    def _text(self, feature_names: Sequence[str] | None) -> TreeText:
        words = self._words(feature_names)
        return TreeText(self.tree_, words, [str(label) for label in self.classes_], self.rho_)

    def _words(self, feature_names: Sequence[str] | None) -> TestWords:
        check_is_fitted(self)
        try:
            names = [str(name) for name in _check_feature_names_in(self, feature_names)]
        except ValueError as error:  # in the words of scikit-learn's transformers
            raise ValueError(str(error).replace("input_features", "feature_names")) from None
        if self.encoder_ is None:
            return TestWords(tuple(_plain_column(name) for name in names), names)
        return TestWords(self.encoder_.schema_, names)


def _plain_column(name: str) -> Column:
    """Return a column of a 0/1 matrix."""
    return Column(name, "boolean", "", categories=(0, 1))


def importances(
    tests: NDArray[np.int32],
    amounts: NDArray[np.float64],
    encoder: BinaryEncoder | None,
    n_columns: int,
) -> NDArray[np.float64]:
    """Sum what nodes with these tests contribute by column of the table, scaled to sum to 1."""
    columns = tests if encoder is None else encoder.test_columns_[tests]
    sums = np.bincount(columns, amounts, minlength=n_columns)
    total = sums.sum()
    return sums / total if total > 0 else np.zeros(n_columns)


def _read_encoder(encoder: object) -> BinaryEncoder | None:
    if encoder is None:
        return None
    if isinstance(encoder, BinaryEncoder):
        cloned: BinaryEncoder = clone(encoder)
        return cloned
    if isinstance(encoder, str) and encoder == "auto":
        return BinaryEncoder()
    error = ValueError if isinstance(encoder, str) else TypeError
    raise error(f'encoder={encoder!r} is unknown: pass "auto", a BinaryEncoder or None.')


def _classes_that_count(
    y: Any, weights: NDArray[np.int64] | None, n_rows: int
) -> tuple[NDArray[Any], Codes]:
    """Return the classes and class numbers; a class whose rows all weigh 0 is no class."""
    classes, codes = read_labels(y, n_rows)
    if weights is None or weights.all():
        return classes, codes
    kept = np.unique(codes[weights > 0])
    # Rows without weight need some valid number; clipping gives them one.
    position = np.searchsorted(kept, codes).clip(max=len(kept) - 1)
    few = codes.dtype == np.uint8
    return classes[kept], position.astype(np.uint8) if few else position.astype(np.int32)


def _pack(table: Table) -> _core.PackedTable:
    """Pack a table that has to be 0/1 throughout."""
    packed = table.pack() if isinstance(table, Matrix) else None
    if packed is None:
        refuse_not_binary(table, _NOT_BINARY)
        packed = pack_columns(table.n_rows, list(binary_columns(table)))
    return packed
