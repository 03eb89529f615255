"""What all estimators share: parameters, reading X and y, and the fitted tree."""

from __future__ import annotations

import copy
import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from maptree.encoding.answering import Answers
from maptree.encoding.choosing import column_name
from maptree.encoding.encoder import BinaryEncoder, warn_of_identifiers, warn_of_text
from maptree.engine.ordered_columns import OrderedColumns
from maptree.engine.problem import Problem
from maptree.engine.uses import uses_of_columns
from maptree.parameters.budget import Constraints
from maptree.parameters.columns import find_wishes
from maptree.parameters.numbers import bad_type, bad_value, whole_number
from maptree.parameters.prior import Prior, read_alpha, read_beta
from maptree.parameters.split_prior import by_column, read_column_weights, read_split_prior
from maptree.schema.columns import Schema
from maptree.schema.weights_of_tests import weights_of_tests
from maptree.tables.binary import add_binary_table, pack_binary
from maptree.tables.labels import Codes
from maptree.tables.row_hashes import RowHashes
from maptree.tables.table import read_table
from maptree.tables.weights import read_weights
from maptree.trees.fitted import FittedTree
from maptree.trees.outcomes import Amounts
from maptree.trees.seen_rows import SeenRows
from maptree.trees.tree import Tree
from maptree.words.tree_text import indented, rules

# The part of a time limit in which the columns must be read; the rest is at least for the trees.
FOR_READING = 7 / 8


class InterruptedWarning(UserWarning):
    """Ctrl-C stopped a fit; the results so far were kept."""


class TargetWarning(UserWarning):
    """The labels look like measurements or identifiers, or are too many; they were fitted."""


class TimeLimitWarning(UserWarning):
    """The time limit left no time to read all columns; the tree uses only those that were read."""


@dataclass(frozen=True)
class ReadOutcome:
    """What y was read as."""

    classes: NDArray[Any]  # none: numbers or counts
    codes: Codes  # the class of each row; 0 for numbers and counts
    prior: Prior
    deciding: Codes | None  # where a column changes between these, it gets thresholds; None: all
    known_by: NDArray[Any]  # whole numbers, by which the outcomes of rows are recognised
    doubt: str = ""  # what to warn about
    amounts: Amounts | None = None  # of numbers and counts


@dataclass(frozen=True)
class Reading:
    """What ``fit`` has read: the problem for the core, and what the estimator keeps."""

    problem: Problem
    classes: NDArray[Any]  # none: numbers or counts
    encoder: BinaryEncoder | None
    schema: Schema
    seen: SeenRows | None
    wishes: Constraints  # about columns: which come first, which are not tested

    def constrained(self, constraints: Constraints) -> Constraints:
        """Return constraints that were read before the table, with the wishes about columns."""
        return replace(
            constraints,
            first_columns=self.wishes.first_columns,
            without_columns=self.wishes.without_columns,
        )


class TreeEstimator(BaseEstimator):  # type: ignore[misc]
    """The base of all estimators. They differ in what y is, how they find trees, and predict.

    The fitted state is one value, ``fitted_``; the attributes that end in ``_`` are views of it.
    """

    alpha: float
    beta: float
    split_prior: str
    column_weights: Mapping[str | int, float] | None
    time_limit: float | None
    encoder: str | BinaryEncoder | None
    random_state: Any
    verbose: int
    callback: Any

    _takes_ranks = False  # or packed answers to all thresholds

    fitted_: FittedTree
    encoder_: BinaryEncoder | None
    n_features_in_: int

    def set_params(self, **params: Any) -> Self:
        """Set parameters, as scikit-learn does."""
        inside = [name for name in params if name.startswith("encoder__")]
        if inside and not isinstance(params.get("encoder", self.encoder), BinaryEncoder):
            raise ValueError(
                f"{inside[0]} is a parameter of an encoder, but encoder={self.encoder!r} has no "
                "parameters: create the estimator with encoder=BinaryEncoder()."
            )
        super().set_params(**params)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.encoder is not None
        tags.input_tags.sparse = True
        # Not input_tags.string, although text is accepted: it would promise to accept dicts, too.
        tags.input_tags.categorical = self.encoder is not None
        return tags

    def __getattr__(self, name: str) -> Any:
        # Only called for what is not there. Properties of an unfitted estimator end here, too:
        # the message is to name the attribute that was asked for, not the one behind it.
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute {name!r}"
            + (": call fit first" if isinstance(getattr(type(self), name, None), property) else "")
        )

    @property
    def tree_(self) -> Tree:
        """The fitted tree, over the tests of ``encoder_`` or the columns of a 0/1 matrix."""
        return self.fitted_.tree

    @property
    def test_weights_(self) -> NDArray[np.uint32]:
        """The weights that the prior gives to the tests."""
        found = self.fitted_.test_weights
        return np.ones(len(self.fitted_.schema.tests), np.uint32) if found is None else found

    @property
    def trace_(self) -> NDArray[Any]:
        """The course of the run: a structured array."""
        return self.fitted_.trace

    def _check_parameters(self) -> None:
        """Validate the shared parameters that do not depend on the data."""
        read_alpha(self.alpha)
        read_beta(self.beta)
        read_split_prior(self.split_prior)
        read_column_weights(self.column_weights)
        try:
            check_random_state(self.random_state)
        except ValueError as error:
            remedy = "pass None, an int or a numpy RandomState"
            raise bad_value("random_state", self.random_state, "is not a seed", remedy) from error
        if not isinstance(self.verbose, bool):
            whole_number("verbose", self.verbose, least=0)
        if self.callback is not None and not callable(self.callback):
            remedy = "pass a function of one argument"
            raise bad_type("callback", self.callback, "cannot be called", remedy)

    def _wished_columns(self) -> tuple[tuple[str | int, ...], tuple[str | int, ...]]:
        """Return the columns that come first, and those that are not tested, as they were named.

        None of both: samplers draw from all trees.
        """
        return (), ()

    @abstractmethod
    def _read_outcome(
        self, y: Any, exposure: Any, weights: NDArray[np.int64] | None, n_rows: int
    ) -> ReadOutcome:
        """Read y for a table with this many rows; ``exposure`` is that of counts."""

    def _read(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
        deadline: float,
        exposure: Any = None,
        stacklevel: int = 4,
    ) -> Reading:
        """Read a table with its outcome and encode it as tests; nothing is set on the estimator.

        Columns not read before ``deadline`` get no tests. ``stacklevel`` is that of the user's
        call, by default through ``fit`` and ``raising``.
        """
        encoder = _read_encoder(self.encoder)
        scratch = copy.copy(self)  # validation sets attributes here, so a failure leaves no trace
        table = read_table(scratch, X, reset=True)
        column_weights, wishes = (1.0,) * table.n_columns, Constraints()
        odds, wished = read_column_weights(self.column_weights), self._wished_columns()
        names = [
            column_name(table, j) for j in range(table.n_columns if odds or any(wished) else 0)
        ]
        if odds:
            column_weights = by_column(odds, names)
        unused = {j for j, weight in enumerate(column_weights) if weight == 0}
        if any(wished):
            first, without = find_wishes(*wished, names, unused)
            wishes = Constraints(first_columns=first, without_columns=without)
        weights = read_weights(sample_weight, table.n_rows)
        read = self._read_outcome(y, exposure, weights, table.n_rows)
        if read.doubt:
            # Before the search, which may take long.
            warnings.warn(read.doubt, TargetWarning, stacklevel=stacklevel)
        hashes = RowHashes(table.n_rows, deadline)
        ranks: dict[int, NDArray[np.uint32]] | None = {} if self._takes_ranks else None
        if encoder is not None:
            packed = encoder.encode_table(
                table, read.deciding, weights, deadline, hashes, unused, ranks, read.amounts
            )
            schema = encoder.schema()
        else:
            schema = Schema.of_matrix(table.n_columns, table.names, unused)
            packed = pack_binary(table, schema.tested if unused else None)
            add_binary_table(hashes, table, schema.tested if unused else None)
        prior = replace(
            read.prior,
            split_prior=read_split_prior(self.split_prior),
            column_weights=column_weights if self.column_weights else (),
        )
        of_tests = weights_of_tests(schema.columns, self.split_prior, column_weights)
        seen = SeenRows.of(hashes, read.known_by, weights)
        problem = Problem(
            packed,
            read.codes,
            weights,
            prior,
            None if ranks else of_tests,
            OrderedColumns(schema, ranks, of_tests) if ranks else None,
            uses_of_columns(schema, wishes, ranks or ()),
            read.amounts,
        )
        # The table, where it is a copy, is released here: the next steps need the memory.
        return Reading(problem, read.classes, encoder, schema, seen, wishes)

    def _keep(self, fitted: FittedTree, encoder: BinaryEncoder | None, **others: Any) -> None:
        """Set the fitted attributes, all in one step: an interrupt finds the old or the new."""
        kept = vars(self) | others | {"fitted_": fitted, "encoder_": encoder}
        kept["n_features_in_"] = len(fitted.schema.columns)
        kept.pop("feature_names_in_", None)
        if fitted.schema.named:
            kept["feature_names_in_"] = np.array(fitted.schema.names, dtype=object)
        self.__dict__ = kept

    def _warn_of_columns(self, schema: Schema, stacklevel: int = 3) -> None:
        """Warn about columns without tests or in doubt; by default to be called by ``fit``."""
        if schema.binary:
            return
        warn_of_identifiers(schema.columns, stacklevel=stacklevel + 1)
        warn_of_text(schema.columns, stacklevel=stacklevel + 1)
        if schema.n_unread > 0:
            warnings.warn(
                f"time_limit={self.time_limit} left no time to read all columns, so the last "
                f"{schema.n_unread:,} of {len(schema.columns):,} columns got no tests. "
                "Raise time_limit, or pass fewer columns.",
                TimeLimitWarning,
                stacklevel=stacklevel,
            )

    def _answers(self, X: Any) -> Answers:
        """Read a table to predict on; return the answers of its rows to the tests."""
        check_is_fitted(self)
        return Answers(self.fitted_.schema, read_table(self, X, reset=False))

    def get_depth(self) -> int:
        """Return the depth of ``tree_``: the number of tests on its longest path."""
        check_is_fitted(self)
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves of ``tree_``."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    def rules(self, feature_names: Sequence[str] | None = None) -> list[str]:
        """Return one rule per leaf of ``tree_``, in terms of the table's columns.

        Each ends with what the leaf predicts, with a 95% interval, and the number of training rows:
        the most probable class with its probability, a number with the interval of a new row, or
        the rate of a count. ``feature_names`` names the columns if the table did not.

        Every test except ``is missing`` is false for a missing value, and rules say where it goes:
        ``age > 45.5 or missing``. For columns without missing values in ``fit`` the rules do not
        mention it; there, too, a missing value takes the false branch. Where few of the categories
        seen in ``fit`` remain, a rule names these, ``sex = men`` instead of ``sex != women``; a
        category that was not seen in ``fit`` takes the false branch, too.
        """
        check_is_fitted(self)
        return rules(self.fitted_.named(feature_names))

    def export_text(self, feature_names: Sequence[str] | None = None) -> str:
        """Return ``tree_`` as indented text: leaves as in ``rules``, and what they hold.

        >>> from maptree import MAPTreeClassifier
        >>> model = MAPTreeClassifier().fit([[0], [1]] * 6, ["no", "yes"] * 6)
        >>> print(model.export_text(["member"]))
        member = 1: yes 0.77 [0.50, 0.96], n = 6 (0 no, 6 yes)
        member = 0: no 0.77 [0.50, 0.96], n = 6 (6 no, 0 yes)
        """
        check_is_fitted(self)
        return indented(self.fitted_.named(feature_names))


def importances(
    tests: NDArray[np.int32], amounts: NDArray[np.float64], schema: Schema
) -> NDArray[np.float64]:
    """Sum the contributions of nodes by the column they test, scaled to sum to 1."""
    sums = np.bincount(schema.columns_of(tests), amounts, minlength=len(schema.columns))
    total = sums.sum()
    return sums / total if total > 0 else np.zeros(len(schema.columns))


def _read_encoder(encoder: object) -> BinaryEncoder | None:
    if encoder is None:
        return None
    if isinstance(encoder, BinaryEncoder):
        cloned: BinaryEncoder = clone(encoder)
        return cloned
    if isinstance(encoder, str) and encoder == "auto":
        return BinaryEncoder()
    bad = bad_value if isinstance(encoder, str) else bad_type
    raise bad("encoder", encoder, "is unknown", 'pass "auto", a BinaryEncoder or None')
