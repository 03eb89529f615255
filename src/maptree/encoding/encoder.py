"""``BinaryEncoder``: turns the columns of a table into binary tests, and puts them into words."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from maptree import _core
from maptree.encoding.answering import Answers
from maptree.encoding.choosing import Ranks, Rows, TablePass, binary_schema
from maptree.parameters.numbers import ParameterError, bad_value, whole_number
from maptree.parameters.outcomes import NumberPrior
from maptree.parameters.split_prior import by_column, read_column_weights, read_split_prior
from maptree.schema.columns import Column, EncoderParameters, Schema, Threshold
from maptree.schema.kept_thresholds import Kept, NotKeptError
from maptree.schema.schema_json import read_schema, write_schema
from maptree.schema.weights_of_tests import weights_of_tests
from maptree.tables.binary import (
    add_binary_table,
    binary_columns,
    is_binary_matrix,
    pack_columns,
    pack_matrix,
)
from maptree.tables.labels import Codes, read_labels
from maptree.tables.numbers import are_fractions, read_numbers
from maptree.tables.row_hashes import RowHashes
from maptree.tables.table import Table, read_table
from maptree.tables.weights import read_weights
from maptree.tables.written_dates import ORDERS
from maptree.tables.written_numbers import MARKS
from maptree.trees.outcomes import Amounts, Numbers
from maptree.words.column_report import ColumnReport, report, row_numbers, text_in_doubt
from maptree.words.tests import TestWords


class IdentifierWarning(UserWarning):
    """A column looks like an identifier: nearly all values differ.

    Text then gets no test. Whole numbers that rise or fall with the rows keep theirs.
    """


class AmbiguousTextWarning(UserWarning):
    """Text could be read in several ways: the decimal mark, day and month, or the currency."""


class BinaryEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn the columns of a table into named binary tests.

    Tables are numpy arrays, lists of rows, data frames (pandas, polars, pyarrow), sparse matrices
    (scipy; what they do not store is 0, not missing), and Parquet files opened with
    ``scan_parquet``. As in scikit-learn, column names are kept if all of them are text;
    otherwise columns are called x0, x1, ... Multi-level names are joined: ``price / 2021``.

    - **Numbers** become tests such as ``age <= 45.5``, with thresholds halfway between
      neighbouring distinct values (rounded to as few digits as possible, but by no more than a
      hundredth of the gap). With ``max_thresholds=None`` these are all. Otherwise, if labels
      are given, only thresholds where the class can change are kept: none between two values whose
      rows all have the same class. If more than ``max_thresholds`` remain, they are chosen by
      quantile: those nearest to dividing the rows into ``max_thresholds + 1`` equal groups, the
      lower one on ties. A value with more rows than an equal share is a group of its own, and the
      rest is divided equally.
    - **Dates, times, durations** are treated as numbers, ``joined <= 2021-03-04``. A column of
      datetimes that are all at midnight is treated as dates and compared by day.
    - **Text that is written like numbers or dates** is read as such: ``4,321``, ``1.234,50 EUR``,
      ``12 %`` (which is 12), ``31.12.2020``, ``Jan 01, 2020``, ``2:30 PM``, and dates as in ISO
      8601; but plain numbers as text stay categories. All values must agree, and there must be one
      way to read them; ``report()`` says what was read. If only the decimal mark is in doubt, it is
      the point, so ``4,321`` is 4321, and ``fit`` warns about it. If day and month cannot be told
      apart, the column stays text, and ``fit`` warns about that.
    - **Ordered categories** are treated as numbers, too: ``size <= medium``.
    - **Text and other categories** become ``colour = red``: one test per category, or for the
      ``max_categories`` most frequent if there are more. With ``category_sets``, sets of them may
      then take their place, ``city in {Bonn, Kiel}``, if labels are given: the categories are put
      in the order of their rates of the classes and divided into groups of like rates, and the
      sets are the first and the last groups. An unknown category is in no set.
    - **Two values** give one test, not two: ``smoker = yes``, ``x3 = 1``. One value gives none.
    - **Missing values** (NaN, None, NA, NaT, null, masked) get a test of their own, ``age is
      missing``, if there are any. Every other test of their column is false for them.
    - **Identifiers**: text with more than ten different values, and more than one for every two
      rows, gets no test, and ``fit`` warns about it. It also warns about whole numbers that all
      differ and rise or fall with the rows; these keep their tests.
    - **An all-0/1 table** is used as it is: one test per column, with the column's name, constant
      columns included. It must then be 0/1 in ``transform``, too.

    In ``transform``, every test of a column is false for a category that was not seen in ``fit``
    (except ``not in`` a set), and every test except ``is missing`` for a missing value, whether or
    not there were any in ``fit``. Infinities are compared like other numbers. A column may change
    its type if the meaning stays the same, such as whole numbers for floats, and values are still
    compared exactly; otherwise an error names the column.

    Parameters
    ----------
    max_thresholds : int or None, default=32
        The largest number of thresholds per column. None: one between every two neighbouring
        values. ``MAPTreeClassifier`` then searches over ranks, and needs 4 bytes per value for them
        whatever the number of thresholds; ``transform`` and the samplers need the answers to all
        tests.
    max_categories : int, default=32
        The largest number of tests for single categories per column.
    dates : "dmy", "mdy" or None, default=None
        Whether dates such as ``01/02/2020`` have the day or the month first, where the values of a
        column do not show it.
    decimal : "." or ",", default=None
        The decimal mark of numbers in text. By default each column shows it.
    category_sets : bool, default=False
        Whether columns of text with more than ``max_categories`` categories are tested in sets,
        where these explain the labels so much better than single categories that it outweighs how
        many sets there are. The sets follow the labels of the rows that the tree is fitted to.
        Where categories have few rows, it then predicts better than with tests of single ones, but
        its probabilities are too extreme and its credible intervals too narrow: score it on
        held-out rows.

    Attributes
    ----------
    schema_ : tuple of Column
        For every column its name, kind and type, the values its tests compare with, and a note on
        how it was handled. ``report()`` prints it.
    passthrough_ : bool
        True if the fitted table was all 0/1.
    test_columns_ : int32 array (tests,)
        The column that each test uses.
    test_thresholds_ : float64 array (tests,)
        The thresholds of numbers, rounded to floats; NaN for other tests.
    n_columns_read_ : int
        Number of columns read before a time limit; later columns have no tests.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from maptree import BinaryEncoder
    >>> X = [[25, "red"], [45, "blue"], [46, None], [60, "red"]]
    >>> encoder = BinaryEncoder().fit(X, ["no", "no", "yes", "yes"])
    >>> encoder.get_feature_names_out(["age", "colour"])
    array(['age <= 45.5', 'colour = red', 'colour is missing'], dtype=object)
    >>> encoder.transform(X)
    array([[1, 1, 0],
           [1, 0, 0],
           [0, 0, 1],
           [0, 1, 0]], dtype=uint8)

    All thresholds, whatever the labels:

    >>> encoder = BinaryEncoder(max_thresholds=None).fit(X, ["no", "no", "yes", "yes"])
    >>> encoder.schema_[0].thresholds
    (35.0, 45.5, 53.0)
    """

    passthrough_: bool
    n_features_in_: int
    _columns: Sequence[Column]

    def __init__(
        self,
        max_thresholds: int | None = 32,
        max_categories: int = 32,
        dates: str | None = None,
        decimal: str | None = None,
        category_sets: bool = False,
    ) -> None:
        self.max_thresholds = max_thresholds
        self.max_categories = max_categories
        self.dates = dates
        self.decimal = decimal
        self.category_sets = category_sets

    @property
    def schema_(self) -> tuple[Column, ...]:
        """The columns with their tests."""
        return tuple(self._columns)

    @property
    def test_columns_(self) -> NDArray[np.int32]:
        """The column that each test uses."""
        columns = np.arange(len(self._columns), dtype=np.int32)
        return np.repeat(columns, np.diff(self.schema().first_tests))

    @property
    def test_thresholds_(self) -> NDArray[np.float64]:
        """The thresholds of numbers, rounded to floats; NaN for other tests.

        NaN also for thresholds that are not kept, of a model that has only those of its tree.
        """
        first = self.schema().first_tests
        found = np.full(first[-1], np.nan)
        for column, start in zip(self._columns, first, strict=False):
            if column.kind != "number":
                continue
            thresholds: Sequence[Threshold] = column.thresholds
            places: Sequence[int] = range(len(thresholds))
            if isinstance(thresholds, Kept):
                places, thresholds = thresholds.positions, thresholds.items
            found[start + np.array(places, dtype=np.intp)] = [_as_float(t) for t in thresholds]
        return found

    @property
    def n_columns_read_(self) -> int:
        """Number of columns read before a time limit; later columns have no tests."""
        return sum(column.kind != "unread" for column in self._columns)

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Choose the tests.

        Parameters
        ----------
        X : array or data frame of shape (rows, columns)
            Numbers, booleans, text, categories, dates, times, durations, and missing values.
        y : array of shape (rows,), optional
            Labels. If given, thresholds that cannot separate classes are left out. Numbers that
            are not all whole are no labels: between any two values there may be a threshold.
        sample_weight : array of shape (rows,), optional
            Whole numbers: how often each row counts.
        """
        scratch = BinaryEncoder()
        table = read_table(scratch, X, reset=True)
        weights = read_weights(sample_weight, table.n_rows)
        codes, amounts = None, None
        if y is not None and are_fractions(y):
            numbers = read_numbers(y, table.n_rows)
            outcome, of_rows = Numbers.of(numbers, weights, NumberPrior())
            amounts = Amounts(of_rows, outcome)
        elif y is not None:
            codes = read_labels(y, table.n_rows)[1]
        self.fit_table(table, codes, weights, amounts)
        warn_of_identifiers(self._columns)
        warn_of_text(self._columns)
        return self

    def fit_table(
        self,
        table: Table,
        codes: Codes | None,
        weights: NDArray[np.int64] | None,
        amounts: Amounts | None = None,
    ) -> Self:
        """Choose the tests for a table that was validated already."""
        parameters = self._parameters()
        if is_binary_matrix(table):
            self._keep(table, binary_schema(table), passthrough=True)
            return self
        chosen = TablePass(table, Rows(codes, weights, amounts), parameters, pack=False)
        chosen.run()
        self._keep(table, chosen.schema, chosen.binary)
        return self

    def encode_table(
        self,
        table: Table,
        codes: Codes | None,
        weights: NDArray[np.int64] | None,
        deadline: float = np.inf,
        hashes: RowHashes | None = None,
        unused: Collection[int] = (),
        ranks: dict[int, Ranks] | None = None,
        amounts: Amounts | None = None,
    ) -> _core.PackedTable:
        """Choose the tests and pack their answers, reading every column once.

        Columns not read before ``deadline`` (in ``time.perf_counter`` seconds) get no test. Columns
        with a test are added to ``hashes``, of the rows. Columns that are ``unused`` get no test,
        and are not read. With ``max_thresholds=None``, ``ranks`` gets the ranks of columns with
        thresholds, by column, and their answers are not packed. ``amounts`` of rows with numbers or
        counts take the place of class numbers.
        """
        parameters = self._parameters()
        packed = None if unused else pack_matrix(table)
        if packed is not None:
            self._keep(table, binary_schema(table), passthrough=True)
            if hashes is not None:
                add_binary_table(hashes, table)
            return packed
        rows = Rows(codes, weights, amounts)
        chosen = TablePass(
            table, rows, parameters, pack=True, hashes=hashes, unused=unused, ranks=ranks
        )
        chosen.run(deadline)
        self._keep(table, chosen.schema, chosen.binary)
        return pack_columns(table.n_rows, chosen.packed)

    def _parameters(self) -> EncoderParameters:
        for name, known in (("dates", ORDERS), ("decimal", MARKS)):
            value = getattr(self, name)
            if value is not None and value not in known:
                remedy = f"pass {' or '.join(map(repr, known))}, or None"
                raise bad_value(name, value, "is unknown", remedy)
        if not isinstance(self.category_sets, (bool, np.bool_)):
            raise bad_value("category_sets", self.category_sets, "is unknown", "pass True or False")
        return EncoderParameters(
            _read_max_thresholds(self.max_thresholds),
            whole_number("max_categories", self.max_categories, least=1),
            self.dates,
            self.decimal,
            bool(self.category_sets),
        )

    def _keep(self, table: Table, columns: Sequence[Column], passthrough: bool) -> None:
        """Set the fitted attributes, all in one step: an interrupt finds the old or the new."""
        kept = vars(self) | {"_columns": columns, "passthrough_": passthrough}
        kept["n_features_in_"] = table.n_columns
        kept.pop("feature_names_in_", None)
        if table.names is not None:
            kept["feature_names_in_"] = table.names
        self.__dict__ = kept

    def keep_columns(self, columns: Sequence[Column]) -> None:
        """Take columns that have the same tests, of which some cannot be looked at any more."""
        self._columns = columns

    def transform(self, X: Any) -> NDArray[np.uint8]:
        """Return the answers to the tests: a 0/1 matrix of shape (rows, tests)."""
        check_is_fitted(self)
        answers = self._answers(X)
        encoded = np.empty((answers.n_rows, len(self.test_columns_)), dtype=np.uint8)
        first = 0
        for j, column in enumerate(self._columns):
            if not column.tests:
                continue
            prepared = answers.column(j)
            for test in range(len(column.tests)):
                encoded[:, first + test] = prepared.answer(test)
            first += len(column.tests)
        return encoded

    def transform_packed(self, X: Any) -> NDArray[np.uint8]:
        """Return the answers packed by column: shape (tests, ceil(rows / 8)), one bit per row.

        Row r is bit r % 8 of byte r // 8. This takes an eighth of the memory of ``transform``
        and never holds the unpacked answers.

        >>> BinaryEncoder().fit([[1.0], [2.0]]).transform_packed([[1.0], [2.0], [0.0]])
        array([[5]], dtype=uint8)
        """
        check_is_fitted(self)
        table = read_table(self, X, reset=False)
        answers = Answers(self.schema(), table)
        if self.passthrough_:
            tested = self.schema().tested
            whole = len(tested) == table.n_columns
            packed = pack_matrix(table) if whole else None
            if packed is None:
                packed = pack_columns(table.n_rows, list(binary_columns(table, tested)))
            return packed.take()
        columns = [answers.column(j).pack() for j, c in enumerate(self._columns) if c.tests]
        return pack_columns(table.n_rows, columns).take()

    def _answers(self, X: Any) -> Answers:
        return Answers(self.schema(), read_table(self, X, reset=False))

    def schema(self) -> Schema:
        """Return the columns and tests as one value."""
        named = hasattr(self, "feature_names_in_")
        return Schema(self._columns, named, self.passthrough_, self._parameters())

    @classmethod
    def of_schema(cls, schema: Schema) -> Self:
        """Return a fitted encoder with these columns and tests."""
        encoder = cls() if schema.encoder is None else cls(**asdict(schema.encoder))
        encoder._columns = schema.columns
        encoder.passthrough_ = schema.binary
        encoder.n_features_in_ = len(schema.columns)
        if schema.named:
            encoder.feature_names_in_ = np.array(schema.names, dtype=object)
        return encoder

    def words(self, feature_names: ArrayLike | None = None) -> TestWords:
        """Return an object that puts tests, and conditions made of several, into words.

        >>> encoder = BinaryEncoder().fit([[20.0], [40.0], [60.0]])
        >>> encoder.words(["age"]).condition([(0, False), (1, True)])
        '30 < age <= 50'
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, feature_names)
        return TestWords(self.schema().renamed(names))

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Return the tests in words, such as ``age <= 45.5``."""
        words = self.words(input_features)
        if self.passthrough_:
            names = words.schema.names
            return np.array([names[j] for j in words.schema.tested], dtype=object)
        tests = [words.test(test) for test in range(len(words.schema.tests))]
        return np.array(tests, dtype=object)

    def test_weights(
        self,
        split_prior: str = "columns",
        column_weights: Mapping[str | int, float] | None = None,
    ) -> NDArray[np.uint32]:
        """Return the weight of every test under a prior on splits, for ``log_posterior``.

        The parameters are those of ``MAPTreeClassifier``; a weight of 0 is one that its columns
        had in ``fit``.

        >>> encoder = BinaryEncoder().fit([[20, "a"], [40, "b"], [60, "a"], [80, "b"]])
        >>> encoder.get_feature_names_out(["age", "group"]).tolist()
        ['age <= 30', 'age <= 50', 'age <= 70', 'group = b']
        >>> encoder.test_weights()
        array([1, 2, 1, 4], dtype=uint32)
        """
        check_is_fitted(self)
        prior = read_split_prior(split_prior)
        names = [column.name for column in self.schema_]
        of_columns = by_column(read_column_weights(column_weights), names)
        for column, weight in zip(self.schema_, of_columns, strict=True):
            if weight == 0 and column.tests:
                remedy = "pass it to a classifier, which fits without the column"
                fault = "leaves out a column that has tests"
                raise bad_value(f"column_weights[{column.name!r}]", weight, fault, remedy)
        found = weights_of_tests(self.schema_, prior, of_columns)
        if found is not None and not found.all():
            raise NotKeptError()
        return np.ones(len(self.test_columns_), dtype=np.uint32) if found is None else found

    def report(self) -> ColumnReport:
        """Return a table of the columns: kind, number of tests, and notes on how they were used.

        It is text, which a notebook shows as a table.
        """
        check_is_fitted(self)
        return report(self._columns)

    def to_dict(self) -> dict[str, Any]:
        """Return the fitted encoder as JSON values; ``from_dict`` reads them back exactly.

        >>> encoder = BinaryEncoder().fit([[20.0], [40.0], [60.0]])
        >>> BinaryEncoder.from_dict(encoder.to_dict()).schema_ == encoder.schema_
        True
        """
        check_is_fitted(self)
        return write_schema(self.schema())

    @classmethod
    def from_dict(cls, values: object) -> Self:
        """Return the encoder that ``to_dict`` wrote; a ValueError says what is wrong, and where."""
        return cls.of_schema(read_schema(values))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []  # always uint8
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        # Not input_tags.string, although text is accepted: it would promise to accept dicts, too.
        tags.input_tags.categorical = True
        return tags


def _read_max_thresholds(given: object) -> int | None:
    if given is None:
        return None
    try:
        return whole_number("max_thresholds", given, least=1)
    except ParameterError as error:
        remedy = "pass a whole number of at least 1, or None for all thresholds"
        raise type(error)("max_thresholds", given, error.fault, remedy) from None


def _as_float(value: Any) -> float:
    try:
        return np.nan if value is None else float(value)
    except OverflowError:  # a whole number too large for a float
        return np.inf if value > 0 else -np.inf


def warn_of_identifiers(schema: Sequence[Column], stacklevel: int = 3) -> None:
    """Warn about columns that look like identifiers: text, which got no test, and numbers."""
    found = [column for column in schema if column.kind == "identifier"]
    if found:
        listed = "; ".join(f"{column.name!r}: {column.note}" for column in found)
        warnings.warn(
            f"Some columns were left out. {listed}. Drop them, or merge their categories.",
            IdentifierWarning,
            stacklevel=stacklevel,
        )
    _warn(schema, row_numbers, IdentifierWarning, stacklevel + 1)


def warn_of_text(schema: Sequence[Column], stacklevel: int = 3) -> None:
    """Warn about text that could be read in several ways, if it did not end up as an identifier."""
    others = [column for column in schema if column.kind != "identifier"]
    _warn(others, text_in_doubt, AmbiguousTextWarning, stacklevel + 1)


def _warn(
    schema: Sequence[Column],
    about: Callable[[Column], list[str]],
    category: type[Warning],
    stacklevel: int,
) -> None:
    listed = [f"{column.name!r}: {part}" for column in schema for part in about(column)]
    if listed:
        warnings.warn(f"{'; '.join(listed)}.", category, stacklevel=stacklevel)
