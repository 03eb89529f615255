"""``MAPTreeClassifier``: the most probable decision tree, as a scikit-learn classifier."""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from maptree import _core
from maptree.certificate import Certificate
from maptree.encoding import BinaryEncoder
from maptree.labels import Codes, read_labels
from maptree.leaf_probabilities import credible_interval, posterior_mean
from maptree.limits import max_expansions, memory_limit, n_threads, time_limit, whole_number
from maptree.prior import read_alpha, read_beta, read_prior
from maptree.progress import Progress, ProgressLine
from maptree.search import Budget, Outcome, Problem, find_tree
from maptree.table import Table, first_not_binary, read_table
from maptree.text import TreeText
from maptree.tree import Tree
from maptree.weights import read_weights
from maptree.wording import TestWords


class InterruptedWarning(UserWarning):
    """Ctrl-C stopped a search; the best tree found until then was kept."""


class TimeLimitWarning(UserWarning):
    """The time limit left no time to look at all columns; the tree is over the others."""


class MAPTreeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""The decision tree with the highest posterior probability, and proof of it.

    The prior is that of Bayesian CART: a node at depth d splits with probability
    ``alpha * (1 + d)**-beta``, on a test chosen evenly among those that are not constant on its
    rows, and every leaf has Dirichlet(rho) class probabilities. ``fit`` searches all trees for
    the one with the highest posterior probability given the labels. It stops when that tree is
    proved to be the best or when a limit is reached, and ``certificate_`` says which, and how
    much more probable any other tree could be.

    Parameters
    ----------
    alpha, beta : float, default=0.95, 0.5
        Prior on splits; 0 < alpha < 1, beta >= 0. Larger beta gives smaller trees.
    rho : float or array of one per class, default=None
        Pseudo-counts of each class in a leaf, above 0; None is 5 / number of classes.
    time_limit : float or None, default=10.0
        Seconds for all of ``fit``; None searches until the tree is proved.
    max_expansions : int or None, default=None
        Limit on the number of expanded nodes. Without other limits, and with one thread, results
        then repeat exactly.
    memory_limit : int, str or None, default=None
        Bytes, or text such as "4GiB" or "500MB": by how much ``fit`` may let the process grow.
        The search goes on at the limit by dropping what it can find again, and uses fewer
        threads where there is no room for all of them.
        A table that is not an array of numbers (a list, a frame of several types) is first
        copied into one, which is not counted.
    max_depth : int or None, default=None
        Consider only trees with at most so many tests on a path.
    min_samples_leaf : int, default=1
        Consider only trees whose leaves hold at least so many rows, weights counted. The tree
        of a single leaf is always considered.
    encoder : "auto", BinaryEncoder or None, default="auto"
        How columns become binary tests. "auto" is ``BinaryEncoder()``, which takes a 0/1 matrix
        as it is and cuts numbers at thresholds; None demands a 0/1 matrix. An encoder is cloned.
        The certificate is about trees over these tests.
    n_jobs : int or None, default=None
        Threads of the search: None is one (or what a joblib context says), -1 all cores. One
        thread repeats its steps exactly; several prove the same, in an order that may differ, so
        of equally probable trees another one may be returned. The interpreter's lock is
        released, so fits in several threads run side by side, too.
    random_state : int, RandomState or None, default=None
        Accepted for the sake of scikit-learn's conventions; the search draws no random numbers
        that change its result.
    verbose : int, default=0
        1 shows a line of progress on stderr.
    callback : callable or None, default=None
        Called with a ``Progress`` about 20 times a second; a true return value stops the search
        and keeps the best tree so far. An exception in it ends ``fit``.

    Attributes
    ----------
    classes_ : array (K,)
        The distinct labels, sorted.
    tree_ : Tree
        Over the binary tests of ``encoder_``, or the columns if that is None.
    certificate_ : Certificate
        What is proved about ``tree_``.
    trace_ : structured array
        seconds, expansions, log_posterior, log_posterior_bound: the search as it went.
    encoder_ : BinaryEncoder or None
        The fitted encoder.
    rho_ : float64 array (K,)
        The pseudo-counts used.
    feature_importances_ : float64 array (n_features_in_,)
        For each column, the sum over the inner nodes that test it of what the log posterior would
        lose if that node were made a leaf (the node's subtree against the leaf it replaces).
        Never negative; scaled to sum to 1; all zero if the tree is a single leaf.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from maptree import MAPTreeClassifier
    >>> X = [[25.0], [31.0], [40.0], [47.0], [52.0], [60.0]] * 4
    >>> y = ["no", "no", "no", "yes", "yes", "yes"] * 4
    >>> model = MAPTreeClassifier().fit(X, y)
    >>> print(*model.rules(), sep="\n")
    x0 <= 43.5  ->  no 0.85 [0.66, 0.97], n = 12
    x0 > 43.5  ->  yes 0.85 [0.66, 0.97], n = 12
    >>> model.predict_proba([[35.0]]).round(2)
    array([[0.85, 0.15]])
    """

    classes_: NDArray[Any]
    tree_: Tree
    certificate_: Certificate
    trace_: NDArray[Any]
    encoder_: BinaryEncoder | None
    rho_: NDArray[np.float64]
    feature_importances_: NDArray[np.float64]
    n_features_in_: int

    def __init__(
        self,
        alpha: float = 0.95,
        beta: float = 0.5,
        rho: float | ArrayLike | None = None,
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
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.rho = rho
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

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the most probable tree.

        Parameters
        ----------
        X : array or data frame of shape (rows, columns)
            Finite numbers or booleans.
        y : array of shape (rows,)
            Labels of any one type that can be sorted.
        sample_weight : array of shape (rows,), optional
            Whole numbers of at least 0: a weight of w means w copies of the row.

        Returns
        -------
        self
            Ctrl-C during the search keeps the best tree so far. Before it, while the table is
            read, it raises KeyboardInterrupt. If ``fit`` raises, the estimator is as it was.
        """
        started = time.perf_counter()
        budget = self._read_budget()
        encoder = _read_encoder(self.encoder)
        scratch = copy.copy(self)  # takes what validation sets, so that a failure leaves no trace
        table = read_table(scratch, X, reset=True, pack=True)
        weights = read_weights(sample_weight, table.n_rows)
        classes, codes = _classes_that_count(y, weights, table.n_rows)
        prior = read_prior(self.alpha, self.beta, self.rho, len(classes))
        if encoder is not None:
            # Half of the time at most: the rest is for packing and for the search.
            encoder.fit_table(table, codes, weights, deadline=started + budget.seconds / 2)
        problem = Problem(_pack(encoder, table), codes, weights, prior)
        n_columns, names = table.n_columns, table.names
        del table  # may be a copy, and the search wants the memory

        outcome = find_tree(
            problem,
            budget,
            self.callback,
            ProgressLine() if self.verbose else None,
            started,
        )
        importances = _importances(outcome, encoder, n_columns)

        certificate = outcome.certificate
        n_unread = 0 if encoder is None else n_columns - encoder.n_columns_read_
        if n_unread > 0:
            # What was searched is not all that was asked for, so nothing is proved about that.
            certificate = replace(
                certificate,
                status="time_limit",
                optimal=False,
                log_posterior_bound=0.0,
                gap=-certificate.log_posterior,
                proved_depth=0,
            )

        self.classes_ = classes
        self.rho_ = prior.rho
        self.encoder_ = encoder
        self.tree_ = outcome.tree
        self.certificate_ = certificate
        self.trace_ = outcome.trace
        self.feature_importances_ = importances
        self.n_features_in_ = n_columns
        if names is not None:
            self.feature_names_in_ = names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if n_unread > 0:
            warnings.warn(
                f"Choosing thresholds took half of time_limit={self.time_limit}: the last "
                f"{n_unread} of {n_columns} columns got no tests. "
                "Raise time_limit, or pass fewer columns.",
                TimeLimitWarning,
                stacklevel=2,
            )
        if certificate.status == "interrupted" and not outcome.stopped_by_callback:
            warnings.warn(
                "The search was interrupted. The best tree so far was kept: "
                f"log posterior {self.certificate_.log_posterior:.4f}, at most "
                f"{self.certificate_.gap:.4f} nats below the best possible.",
                InterruptedWarning,
                stacklevel=2,
            )
        return self

    def _read_budget(self) -> Budget:
        """Validate the parameters that do not depend on the data; return the limits."""
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
        depth = self.max_depth
        return Budget(
            seconds=time_limit(self.time_limit),
            expansions=max_expansions(self.max_expansions),
            memory=memory_limit(self.memory_limit),
            max_depth=-1 if depth is None else whole_number("max_depth", depth, least=0),
            min_samples_leaf=whole_number("min_samples_leaf", self.min_samples_leaf, least=1),
            threads=n_threads(self.n_jobs),
        )

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most probable class of each row; of equals the first in ``classes_``."""
        probabilities = self.predict_proba(X)
        labels: NDArray[Any] = self.classes_[np.argmax(probabilities, axis=1)]
        return labels

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the class probabilities of each row: the posterior mean in its leaf.

        That is (c + rho) / (n + sum of rho), c the leaf's class counts and n their sum.
        """
        leaves = self.apply(X)
        return posterior_mean(self.tree_.counts, self.rho_)[leaves]

    def predict_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the logarithm of ``predict_proba``."""
        logs: NDArray[np.float64] = np.log(self.predict_proba(X))
        return logs

    def predict_interval(self, X: ArrayLike, level: float = 0.95) -> NDArray[np.float64]:
        """Return a central credible interval for each class probability: shape (rows, K, 2).

        The interval is about the probability in the row's leaf, given the tree: the quantiles of
        the Beta marginals of its Dirichlet posterior.
        """
        leaves = self.apply(X)
        return credible_interval(self.tree_.counts, self.rho_, level)[leaves]

    def apply(self, X: ArrayLike) -> NDArray[np.intp]:
        """Return the node number of the leaf that each row ends in."""
        check_is_fitted(self)
        table = read_table(self, X, reset=False)
        encoder, values = self.encoder_, table.values
        if encoder is None:
            _refuse_not_binary(table)
            return self.tree_.apply(values)
        encoder.check_table(table)
        return self.tree_.route(table.n_rows, lambda test, rows: encoder.answer(values, test, rows))

    def decision_path(self, X: ArrayLike) -> csr_matrix:
        """Return a (rows, nodes) CSR matrix with a one at every node on a row's path."""
        leaves = self.apply(X)
        return self.tree_.paths(leaves)

    def rules(self, feature_names: Sequence[str] | None = None) -> list[str]:
        """Return one rule per leaf, in the words of the table's columns.

        Each ends with the most probable class, its probability with a 95% credible interval, and
        the number of training rows. ``feature_names`` names the columns if the table did not.
        """
        return self._text(feature_names).rules()

    def export_text(self, feature_names: Sequence[str] | None = None) -> str:
        """Return the tree as indented text, with each leaf as in ``rules`` and its class counts.

        >>> model = MAPTreeClassifier().fit([[0], [1]] * 6, ["no", "yes"] * 6)
        >>> print(model.export_text(["member"]))
        member = 1: yes 0.77 [0.50, 0.96], n = 6 (0 no, 6 yes)
        member = 0: no 0.77 [0.50, 0.96], n = 6 (6 no, 0 yes)
        """
        return self._text(feature_names).export()

    def _text(self, feature_names: Sequence[str] | None) -> TreeText:
        check_is_fitted(self)
        names = [str(name) for name in _check_feature_names_in(self, feature_names)]
        if self.encoder_ is None:
            every = np.arange(len(names), dtype=np.int32)
            words = TestWords(names, every, np.full(len(names), np.nan))
        else:
            words = TestWords(names, self.encoder_.test_columns_, self.encoder_.test_thresholds_)
        return TreeText(self.tree_, words, [str(label) for label in self.classes_], self.rho_)


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


def _pack(encoder: BinaryEncoder | None, table: Table) -> _core.PackedTable:
    if encoder is not None:
        return encoder.pack_table(table)
    if table.packed is None:
        _refuse_not_binary(table)
    assert table.packed is not None
    return table.packed


def _refuse_not_binary(table: Table) -> None:
    bad = first_not_binary(table.values)
    if bad is not None:
        raise ValueError(
            f"X has {table.values[bad]!s} at row {bad[0]}, {table.label(bad[1])}: with "
            'encoder=None every value must be 0 or 1. Pass encoder="auto" to cut numbers at '
            "thresholds."
        )


def _importances(
    outcome: Outcome, encoder: BinaryEncoder | None, n_columns: int
) -> NDArray[np.float64]:
    inner = outcome.tree.feature >= 0
    tests = outcome.tree.feature[inner]
    columns = tests if encoder is None else encoder.test_columns_[tests]
    # A gain of 0 may come out as a rounding error below it.
    gains = np.bincount(columns, outcome.gain[inner].clip(min=0), minlength=n_columns)
    total = gains.sum()
    return gains / total if total > 0 else np.zeros(n_columns)
