"""From columns of numbers to binary tests, and the words for them."""

from __future__ import annotations

import time
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from maptree import _core
from maptree.labels import Codes, read_labels
from maptree.limits import whole_number
from maptree.table import Table, first_not_binary, read_table
from maptree.thresholds import choose_gaps, place_cuts
from maptree.weights import read_weights
from maptree.wording import number_text, yes_and_no

# Thresholds of one column that are compared together: 8 bools a row, the size of the column.
_BATCH = 8


class BinaryEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn a matrix of numbers into named binary tests.

    - A column of numbers becomes tests such as ``age <= 45.5``, with thresholds halfway between
      neighbouring distinct values (rounded to as few digits as keep them within a hundredth of
      the gap from the middle, so that the text says exactly what is tested). If labels are given,
      only cuts where the class can change are kept: none between two values whose rows are all
      of one and the same class.
    - If more than ``max_thresholds`` cuts remain, they are chosen by quantile: those nearest to
      dividing the rows into ``max_thresholds + 1`` even groups, the lower cut on ties. A value
      with more rows than an even group has a group of its own, and the others share the rest.
    - A column of 0 and 1 among others becomes one test, ``x3 = 1``; another column with two
      values gives one test too, and a constant column none.
    - A matrix that is 0/1 throughout passes untouched: one test per column, named as the column,
      constant columns included. It must then be 0/1 in ``transform`` too.

    Values are compared as float64, so whole numbers beyond 2**53 that differ by less than their
    rounding count as equal.

    Parameters
    ----------
    max_thresholds : int, default=16
        At most so many tests per column.

    Attributes
    ----------
    passthrough_ : bool
        True if the fitted matrix was 0/1 throughout.
    test_columns_ : int32 array (tests,)
        The column that each test looks at.
    test_thresholds_ : float64 array (tests,)
        A test is true where the value is at most this; NaN for a test that is true where the
        value is 1.
    n_columns_read_ : int
        The columns from this one on have no tests, because a time limit came first.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from maptree import BinaryEncoder
    >>> X = [[25, 0], [45, 1], [46, 1], [60, 0]]
    >>> encoder = BinaryEncoder().fit(X, ["no", "no", "yes", "yes"])
    >>> encoder.get_feature_names_out(["age", "member"])
    array(['age <= 45.5', 'member = 1'], dtype=object)
    >>> encoder.transform(X)
    array([[1, 0],
           [1, 1],
           [0, 1],
           [0, 0]], dtype=uint8)
    """

    passthrough_: bool
    test_columns_: NDArray[np.int32]
    test_thresholds_: NDArray[np.float64]
    n_columns_read_: int
    n_features_in_: int

    def __init__(self, max_thresholds: int = 16) -> None:
        self.max_thresholds = max_thresholds

    def fit(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Choose the tests.

        Parameters
        ----------
        X : array or data frame of shape (rows, columns)
            Finite numbers or booleans.
        y : array of shape (rows,), optional
            Labels; with them, cuts that cannot separate classes are left out.
        sample_weight : array of shape (rows,), optional
            Whole numbers: how often each row counts.
        """
        scratch = BinaryEncoder()
        table = read_table(scratch, X, reset=True)
        codes = None if y is None else read_labels(y, table.n_rows)[1]
        return self.fit_table(table, codes, read_weights(sample_weight, table.n_rows))

    def fit_table(
        self,
        table: Table,
        codes: Codes | None,
        weights: NDArray[np.int64] | None,
        deadline: float = np.inf,
    ) -> Self:
        """Choose the tests for a table that has been read already.

        Columns that are not reached before ``deadline`` (of ``time.perf_counter``) get no test.
        """
        limit = whole_number("max_thresholds", self.max_thresholds, least=1)
        passthrough = table.packed is not None or first_not_binary(table.values) is None
        n_read = table.n_columns
        if passthrough:
            columns = np.arange(table.n_columns, dtype=np.int32)
            thresholds = np.full(table.n_columns, np.nan)
        else:
            gaps = []
            for j in range(table.n_columns):
                if j > 0 and time.perf_counter() > deadline:
                    break
                gaps.append(choose_gaps(_column(table.values, j), codes, weights, limit))
            n_read = len(gaps)
            counts = [gap.shape[1] for gap in gaps]
            columns = np.repeat(np.arange(len(gaps), dtype=np.int32), counts)
            thresholds = place_cuts(*np.concatenate(gaps, axis=1))
        self.passthrough_ = passthrough
        self.test_columns_ = columns
        self.test_thresholds_ = thresholds
        self.n_columns_read_ = n_read
        self.n_features_in_ = table.n_columns
        if table.names is not None:
            self.feature_names_in_ = table.names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.uint8]:
        """Return the answers to the tests: a 0/1 matrix of shape (rows, tests)."""
        check_is_fitted(self)
        table = read_table(self, X, reset=False)
        self.check_table(table)
        answers = np.empty((table.n_rows, len(self.test_columns_)), dtype=np.uint8)
        for test in range(answers.shape[1]):
            answers[:, test] = self.answer(table.values, test)
        return answers

    def transform_packed(self, X: ArrayLike) -> NDArray[np.uint8]:
        """Return the answers packed by column: shape (tests, ceil(rows / 8)), one bit per row.

        Row r is bit r % 8 of byte r // 8. This takes an eighth of the memory of ``transform``
        and never holds the unpacked answers.

        >>> BinaryEncoder().fit([[1.0], [2.0]]).transform_packed([[1.0], [2.0], [0.0]])
        array([[5]], dtype=uint8)
        """
        check_is_fitted(self)
        table = read_table(self, X, reset=False)
        self.check_table(table)
        return self.pack_table(table).take()

    def pack_table(self, table: Table) -> _core.PackedTable:
        """Pack the answers for a table that has been read and checked already."""
        if self.passthrough_:
            packed = table.packed if table.packed is not None else _core.pack(table.values)
            assert packed is not None
            return packed
        n_tests = len(self.test_columns_)
        packed = _core.PackedTable(table.n_rows, n_tests)
        test = 0
        while test < n_tests:
            # Tests of one column are neighbours: read the column once for several of them.
            column = self.test_columns_[test]
            end = test + 1
            while end < min(n_tests, test + _BATCH) and self.test_columns_[end] == column:
                end += 1
            thresholds = self.test_thresholds_[test:end, np.newaxis]
            answers = _holds(_column(table.values, column), thresholds)
            packed.write(test, np.packbits(answers, axis=1, bitorder="little"))
            test = end
        return packed

    def answer(
        self, values: NDArray[Any], test: int, rows: NDArray[np.intp] | None = None
    ) -> NDArray[np.bool_]:
        """Return the answers of some rows of a checked matrix, or of all, to one test."""
        column = self.test_columns_[test]
        asked = values[:, column] if rows is None else values[rows, column]
        return _holds(asked.astype(np.float64), self.test_thresholds_[test])

    def check_table(self, table: Table) -> None:
        """Refuse values that the fitted tests have no meaning for."""
        bad = first_not_binary(table.values) if self.passthrough_ else None
        if bad is not None:
            raise ValueError(
                f"X has {table.values[bad]!s} at row {bad[0]}, {table.label(bad[1])}: the matrix "
                "was 0/1 throughout when fitted, so only 0 and 1 have a meaning. Encode X the "
                "same way as then."
            )

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Return the tests in words, such as ``age <= 45.5``."""
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        if self.passthrough_:
            return np.asarray(names, dtype=object)
        tests = zip(self.test_columns_, self.test_thresholds_, strict=True)
        words = [_test_name(str(names[column]), threshold) for column, threshold in tests]
        return np.array(words, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []  # always uint8
        return tags


def _test_name(name: str, threshold: float) -> str:
    return yes_and_no(name)[0] if np.isnan(threshold) else f"{name} <= {number_text(threshold)}"


def _column(values: NDArray[Any], column: int) -> NDArray[np.float64]:
    return np.ascontiguousarray(values[:, column], dtype=np.float64)


def _holds(values: NDArray[np.float64], thresholds: Any) -> NDArray[np.bool_]:
    """Answer tests: value = 1 where the threshold is NaN, else value <= threshold."""
    answers: NDArray[np.bool_] = np.where(np.isnan(thresholds), values == 1.0, values <= thresholds)
    return answers
