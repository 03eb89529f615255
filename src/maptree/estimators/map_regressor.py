"""``MAPTreeRegressor``: the most probable decision tree for a number or a count."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from maptree.encoding.encoder import BinaryEncoder
from maptree.engine.progress import Progress
from maptree.estimators.alternatives import list_alternatives
from maptree.estimators.base import ReadOutcome
from maptree.estimators.presentation import Presentation
from maptree.estimators.searched import SearchedTree
from maptree.parameters.numbers import bad_type, bad_value, real_number
from maptree.parameters.outcomes import (
    NU,
    SHAPE,
    NumberPrior,
    read_count_prior,
    read_likelihood,
    read_number_prior,
)
from maptree.parameters.prior import Prior, read_alpha, read_beta
from maptree.tables.numbers import read_counts, read_exposure, read_numbers
from maptree.tables.standard_units import exposure_units
from maptree.tables.weights import read_score_weights
from maptree.trees.leaf_probabilities import read_level
from maptree.trees.outcomes import Amounts, Counts, Measured, Numbers, constant_of_counts
from maptree.trees.predictive import Predictive

if TYPE_CHECKING:
    from maptree.words.alternatives import Alternatives


class MAPTreeRegressor(Presentation, RegressorMixin, SearchedTree):  # type: ignore[misc]
    r"""The decision tree with the highest posterior probability for a number or a count.

    The prior on trees is that of ``MAPTreeClassifier``, and so are the search, its limits and its
    proofs; the leaves differ. For numbers, every leaf has a normal distribution with a mean and a
    variance of its own; for counts a Poisson distribution with a rate of its own. Predictions are
    those of the posterior in the leaf: Student's t, and negative binomial distributions.

    The result does not depend on the unit of y: numbers are standardised, and rounded to 1/256 of
    their standard deviation; rates are relative to that of all rows. docs/design/outcomes.md has
    the definitions.

    Parameters
    ----------
    alpha, beta : float, default=0.95, 0.5
        Prior on splits, as in ``MAPTreeClassifier``.
    likelihood : "normal" or "poisson", default="normal"
        "normal" is for numbers; "poisson" for counts, whole numbers of at least 0, perhaps with an
        exposure.
    noise : float or None, default=None
        For numbers, the prior of a leaf: its variance is about this share of the variance of y.
        None takes the share that is left within the leaves of a tree that is grown greedily.
    nu : float, default=3.0
        For numbers, how many rows ``noise`` counts for in a leaf.
    kappa : float or None, default=None
        For numbers, how many rows the mean of y counts for in the mean of a leaf. None is
        ``noise_``, so that the means of leaves vary as much as y does.
    shape : float, default=1.0
        For counts, the prior of a leaf: its rate is near that of all rows, as if this many events
        had been seen.
    time_limit, max_expansions, memory_limit, max_depth, min_samples_leaf, max_leaf_nodes
        As in ``MAPTreeClassifier``.
    encoder : "auto", BinaryEncoder or None, default="auto"
        As in ``MAPTreeClassifier``. Thresholds are those nearest to dividing the rows equally, as
        every place between two values can matter to a number. With
        ``BinaryEncoder(max_thresholds=None)`` the answers to all thresholds are packed, one bit
        per row and threshold.
    n_jobs, random_state, verbose, callback, patience
        As in ``MAPTreeClassifier``.
    split_prior, column_weights, first_columns, without_columns
        As in ``MAPTreeClassifier``.

    Attributes
    ----------
    tree_ : Tree
        Over the binary tests of ``encoder_``, or the columns if that is None, without those of
        weight 0.
    certificate_ : Certificate
        What is proved about ``tree_``. For numbers, log posteriors are of the density of y divided
        by its standard deviation, and may be positive.
    noise_, kappa_ : float
        For numbers, the prior that was used.
    trace_, encoder_, test_weights_, feature_importances_, training_, fitted_
        As in ``MAPTreeClassifier``.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from maptree import MAPTreeRegressor
    >>> X = [[48], [55], [61], [66], [72], [80]] * 5
    >>> y = [640 + 9 * (i % 7) + 400 * (area > 63) for i, (area,) in enumerate(X)]
    >>> model = MAPTreeRegressor().fit(X, y)
    >>> print(*model.rules(["area"]), sep="\n")
    area <= 63.5  ->  y 669 [624, 713], n = 15
    area > 63.5  ->  y 1,062 [1,026, 1,098], n = 15
    >>> model.predict([[50]]).round(-1)
    array([670.])

    Counts, some of which were counted for longer:

    >>> visits, years = [2, 1, 3, 9, 8, 12] * 5, [1, 1, 2, 1, 1, 1.5] * 5
    >>> model = MAPTreeRegressor(likelihood="poisson").fit(X, visits, exposure=years)
    >>> print(*model.rules(["area"]), sep="\n")
    area <= 63.5  ->  rate of y 1.5 [1.0, 2.1], n = 15
    area > 63.5  ->  rate of y 8.2 [7.0, 9.6], n = 15
    >>> model.predict([[70]], exposure=[2]).round()
    array([16.])
    """

    def __init__(
        self,
        alpha: float = 0.95,
        beta: float = 0.5,
        likelihood: str = "normal",
        noise: float | None = None,
        nu: float = NU,
        kappa: float | None = None,
        shape: float = SHAPE,
        time_limit: float | None = 10.0,
        max_expansions: int | None = None,
        memory_limit: int | str | None = None,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        encoder: str | BinaryEncoder | None = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callable[[Progress], object] | None = None,
        split_prior: str = "columns",
        column_weights: Mapping[str | int, float] | None = None,
        max_leaf_nodes: int | None = None,
        first_columns: str | int | Sequence[str | int] | None = None,
        without_columns: str | int | Sequence[str | int] | None = None,
        patience: float | None = None,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.likelihood = likelihood
        self.noise = noise
        self.nu = nu
        self.kappa = kappa
        self.shape = shape
        self.time_limit = time_limit
        self.max_expansions = max_expansions
        self.memory_limit = memory_limit
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback
        self.split_prior = split_prior
        self.column_weights = column_weights
        self.max_leaf_nodes = max_leaf_nodes
        self.first_columns = first_columns
        self.without_columns = without_columns
        self.patience = patience

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.likelihood == "poisson"
        return tags

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> Self:
        """Find the most probable tree.

        Parameters
        ----------
        X : array, data frame, sparse matrix or ParquetTable of shape (rows, columns)
            As in ``MAPTreeClassifier.fit``.
        y : array of shape (rows,)
            Numbers; with ``likelihood="poisson"`` whole ones of at least 0. Text is not converted.
        sample_weight : array of shape (rows,), optional
            Whole numbers of at least 0: a weight of w means w copies of the row.
        exposure : array of shape (rows,), or a number, optional
            With ``likelihood="poisson"``, for how long or among how many the events of each row
            were counted; above 0. None is 1 for all rows.

        Returns
        -------
        self
            Ctrl-C during the search keeps the best tree so far. Before that, while the table is
            read, it raises KeyboardInterrupt. If ``fit`` raises, the estimator is unchanged.
        """
        return self._fit(X, y, sample_weight, exposure)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        read_likelihood(self.likelihood)
        read_number_prior(self.kappa, self.nu, self.noise)
        read_count_prior(self.shape)

    def _read_outcome(
        self, y: Any, exposure: Any, weights: NDArray[np.int64] | None, n_rows: int
    ) -> ReadOutcome:
        if read_likelihood(self.likelihood) == "normal":
            self._refuse_exposure(exposure)
            amounts, known_by, doubt = self._read_numbers(y, weights, n_rows)
        else:
            amounts, known_by, doubt = self._read_counts(y, exposure, weights, n_rows)
        return ReadOutcome(
            classes=np.empty(0),
            codes=np.zeros(n_rows, dtype=np.uint8),
            prior=Prior(read_alpha(self.alpha), read_beta(self.beta), np.empty(0)),
            deciding=None,
            known_by=known_by,
            doubt=doubt,
            amounts=amounts,
        )

    def _read_numbers(
        self, y: Any, weights: NDArray[np.int64] | None, n_rows: int
    ) -> tuple[Amounts, NDArray[np.int64], str]:
        numbers = read_numbers(y, n_rows)
        wanted = read_number_prior(self.kappa, self.nu, self.noise)
        prior = wanted.known() if wanted.is_known else wanted.start
        outcome, amounts = Numbers.of(numbers, weights, prior)
        doubt = ""
        if outcome.sd == 0:
            doubt = (
                f"y is {outcome.mean:g} in every row: every leaf predicts just that, with "
                "intervals of no width."
            )
        to_find = None if wanted.is_known else wanted
        return Amounts(amounts, outcome, wanted=to_find), numbers.view(np.int64), doubt

    def _read_counts(
        self, y: Any, exposure: Any, weights: NDArray[np.int64] | None, n_rows: int
    ) -> tuple[Amounts, NDArray[np.int64], str]:
        counts = read_counts(y, n_rows)
        found = read_exposure(1 if exposure is None else exposure, n_rows)
        exposures = exposure_units(found, weights)
        prior = read_count_prior(self.shape)
        outcome, amounts = Counts.of(counts, exposures, weights, exposure is not None, prior)
        constant = constant_of_counts(counts, exposures, weights)
        return Amounts(amounts, outcome, constant), counts, ""

    def _refuse_exposure(self, exposure: Any) -> None:
        if exposure is not None:
            raise TypeError(
                'exposure is for counts: pass likelihood="poisson", or divide y by it and fit the '
                "rates without it."
            )

    @property
    def _measured(self) -> Measured:
        measured = self.fitted_.measured
        assert measured is not None  # a regressor always has it
        return measured

    @property
    def _number_prior(self) -> NumberPrior:
        measured = self._measured
        if not isinstance(measured, Numbers):
            raise AttributeError("noise_ and kappa_ are of numbers, not of counts.")
        return measured.prior

    @property
    def noise_(self) -> float:
        """The share of the variance of y that the prior takes for that of a leaf."""
        return self._number_prior.noise

    @property
    def kappa_(self) -> float:
        """How many rows the mean of y counts for in the mean of a leaf."""
        return self._number_prior.kappa

    def _in_rows(self, X: Any, exposure: Any) -> Predictive:
        """Return the predictive distribution of each row."""
        leaves, measured = self.apply(X), self._measured
        if isinstance(measured, Numbers):
            self._refuse_exposure(exposure)
            return measured.predictive(self.tree_).take(leaves)
        if exposure is None:
            return measured.predictive(self.tree_).take(leaves)
        return measured.predictive(self.tree_, leaves, read_exposure(exposure, len(leaves)))

    def _by_leaf(
        self, X: Any, exposure: Any, of: Callable[[Predictive], NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Return what a function makes of the distribution of each row, once per leaf if it can."""
        if exposure is None:
            leaves = self.apply(X)
            return of(self._measured.predictive(self.tree_)).take(leaves, axis=0)
        return of(self._in_rows(X, exposure))

    def predict(self, X: Any, exposure: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return the mean of the predictive distribution of each row.

        Parameters
        ----------
        X : as in ``fit``
        exposure : array of shape (rows,), or a number, optional
            With ``likelihood="poisson"``, the exposure of each row. None is 1, for which the mean
            is the rate.
        """
        return self._by_leaf(X, exposure, lambda dist: dist.mean)

    def predict_interval(
        self, X: Any, level: float = 0.95, exposure: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Return a central predictive interval for each row: shape (rows, 2).

        A new row with these values lies in it with probability ``level``, given the tree; a count
        with this probability or a little more.

        >>> from maptree import MAPTreeRegressor
        >>> model = MAPTreeRegressor().fit([[0], [1]] * 9, range(18))
        >>> model.predict_interval([[0]], level=0.5).round()
        array([[ 4., 12.]])
        """
        tail = (1.0 - read_level(level)) / 2.0
        return self._by_leaf(
            X,
            exposure,
            lambda dist: np.stack([dist.quantile(tail), dist.quantile(1.0 - tail)], axis=-1),
        )

    def predict_quantile(
        self, X: Any, q: float | Sequence[float], exposure: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Return a quantile of the predictive distribution of each row, or several.

        Parameters
        ----------
        X, exposure : as in ``predict``
        q : float or sequence of floats, above 0 and below 1
            0.5 is the median.

        Returns
        -------
        array of shape (rows,), or (rows, number of q) for a sequence
        """
        quantiles = _read_quantiles(q)
        found = self._by_leaf(
            X, exposure, lambda dist: np.stack([dist.quantile(one) for one in quantiles], axis=-1)
        )
        return found if np.ndim(q) else found[:, 0]

    def predict_dist(self, X: Any, exposure: ArrayLike | None = None) -> Predictive:
        """Return the predictive distribution of each row: its parameters, as arrays.

        For numbers a ``StudentT``, for counts a ``NegativeBinomial``; ``to_scipy`` of both makes a
        distribution of ``scipy.stats``.

        >>> from maptree import MAPTreeRegressor
        >>> model = MAPTreeRegressor().fit([[0], [1]] * 9, range(18))
        >>> model.predict_dist([[0], [1]]).to_scipy().cdf(8.5).round(2)
        array([0.53, 0.47])
        """
        return self._in_rows(X, exposure)

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> float:
        """Return R^2 of the predictions, as scikit-learn's regressors do."""
        from sklearn.metrics import r2_score

        predicted = self.predict(X, exposure)
        return float(r2_score(y, predicted, sample_weight=sample_weight))

    def log_score(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> float:
        """Return the mean log density of rows with known y, in nats; of counts, log probability.

        It is that of the predictive distributions, best on rows that were not used for fitting;
        higher is better. The log density of numbers depends on their unit.
        """
        dist = self._in_rows(X, exposure)
        measured, n_rows = self._measured, len(dist.mean)
        if isinstance(measured, Numbers) and measured.sd == 0:
            raise ValueError(
                f"y was {measured.mean:g} in every row of fit, so the predictions have no density: "
                "fit rows with different y."
            )
        numbers = read_numbers(y, n_rows)
        if isinstance(measured, Counts):
            numbers = read_counts(y, n_rows).astype(np.float64)
        weights = read_score_weights(sample_weight, n_rows)
        return float(np.average(dist.log_density(numbers), weights=weights))

    def alternatives(
        self,
        n: int | None = None,
        within: float | None = None,
        *,
        max_depth: int | None = None,
        monotone: Mapping[str | int, int] | None = None,
        X: Any = None,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> Alternatives:
        """Return the most probable trees in order, and up to where the list is proved complete.

        As in ``MAPTreeClassifier``; ``monotone`` is about the mean that a tree predicts.
        """
        check_is_fitted(self)
        return list_alternatives(
            self, n, within, max_depth, monotone, X, y, sample_weight, exposure
        )


def _read_quantiles(q: object) -> list[float]:
    """Return the quantiles that were asked for, checked."""
    remedy = "pass a number above 0 and below 1, such as 0.5, or several"
    if isinstance(q, (str, bytes)) or (np.ndim(q) != 0 and np.ndim(q) != 1):  # type: ignore[arg-type]
        raise bad_type("q", q, "is not a number", remedy)
    given = [q] if np.ndim(q) == 0 else list(q)  # type: ignore[arg-type, call-overload]
    if not given:
        raise bad_value("q", q, "has no quantile", remedy)
    found = [real_number("q", one, remedy) for one in given]
    if not all(0 < one < 1 for one in found):
        raise bad_value("q", q, "is out of range", remedy)
    return found
