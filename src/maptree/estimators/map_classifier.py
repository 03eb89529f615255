"""``MAPTreeClassifier``: the most probable decision tree, as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from maptree.encoding.encoder import BinaryEncoder
from maptree.engine.progress import Progress
from maptree.estimators.alternatives import list_alternatives
from maptree.estimators.presentation import Presentation
from maptree.estimators.searched import SearchedTree
from maptree.estimators.tree_classifier import TreeClassifier
from maptree.parameters.costs import Costs, cheapest, read_costs
from maptree.trees.leaf_probabilities import credible_interval

if TYPE_CHECKING:
    from maptree.words.alternatives import Alternatives


class MAPTreeClassifier(Presentation, SearchedTree, TreeClassifier):
    r"""The decision tree with the highest posterior probability, with a proof.

    The prior is that of Bayesian CART: a node at depth d splits with probability
    ``alpha * (1 + d)**-beta``, on a test drawn from those that are not constant on its rows
    (``split_prior``), and every leaf has Dirichlet(rho) class probabilities. ``fit`` searches all
    trees for the one with the highest posterior probability given the labels. It stops when that
    tree is proved optimal or when a limit is reached. ``certificate_`` says which, and how much
    more probable any other tree could be.

    Parameters
    ----------
    alpha, beta : float, default=0.95, 0.5
        Prior on splits; 0 < alpha < 1, beta >= 0. Larger beta gives smaller trees.
    rho : float or array of one per class, default=None
        Pseudo-counts of each class in a leaf, above 0; None is 5 / number of classes.
    time_limit : float or None, default=10.0
        Seconds for all of ``fit``; None searches until the tree is proved.
    max_expansions : int or None, default=None
        Stop after this many node expansions. On one thread, and if no other limit is reached
        first, results are then reproducible.
    memory_limit : int, str or None, default=None
        Bytes, or text such as "4GiB" or "500MB": the most that ``fit`` may add to the memory of
        the process. At the limit the search continues by dropping results that it can compute
        again, and it uses fewer threads if there is no room for all of them.
        Encoding raw columns is not counted: it takes as much memory as a few copies of one
        column, and twice the packed answers, or 4 bytes per value where columns have all their
        thresholds.
    max_depth : int or None, default=None
        Consider only trees with at most this many tests on a path.
    max_leaf_nodes : int or None, default=None
        Only trees of at most this many leaves, 1 to 128, are considered, and the certificate is
        about these trees. ``maptree.size_path`` finds the best tree of each size.
    min_samples_leaf : int, default=1
        Consider only trees with at least this many rows in every leaf, counted with their
        weights. The tree that is a single leaf is always considered.
    encoder : "auto", BinaryEncoder or None, default="auto"
        How columns become binary tests. "auto" is ``BinaryEncoder()``, which uses a 0/1 matrix as
        it is, compares numbers and dates with thresholds, and tests for categories and for missing
        values; None requires a 0/1 matrix. An encoder is cloned. The certificate is about trees
        over these tests: with ``BinaryEncoder(max_thresholds=None)`` over every threshold of the
        columns, without a limit on their number.
    n_jobs : int or None, default=None
        Threads of the search: None is one (or what a joblib context sets), -1 all cores. One
        thread always takes the same steps. Several threads prove the same, but in an order that
        may vary, so they may return another of several equally probable trees. The interpreter's
        lock is released, so fits can also run in parallel threads.
    random_state : int, RandomState or None, default=None
        Accepted for compatibility with scikit-learn; the result does not depend on it.
    verbose : int, default=0
        1 shows a progress line on stderr.
    callback : callable or None, default=None
        Called with a ``Progress`` about 20 times a second; a true return value stops the search
        and keeps the best tree so far. An exception in it ends ``fit``.

    split_prior : "tests" or "columns", default="columns"
        Where a node splits, how probable each test is that is not constant on its rows. "tests":
        all are equally probable, so a column with more thresholds is tested more often. "columns":
        first the column, each equally probable; then its test. Thresholds go from coarse to fine:
        the one nearest the median, those nearest the quartiles, and so on, each level with the
        same probability; categories are equally probable; the test for missing values is a level
        of its own. On a 0/1 table both are the same.
    column_weights : dict or None, default=None
        Prior odds of columns, by name or number, such as ``{"age": 2, "postcode": 0}``; others
        weigh 1. Under "tests" it multiplies the weight of each of a column's tests. 0 leaves a
        column out, as if the table did not have it.
    first_columns : str, int, list of these or None, default=None
        Consider only trees whose first test is of one of these columns, by name or number. The
        tree that is a single leaf is always considered.
    without_columns : str, int, list of these or None, default=None
        Consider only trees that do not test these columns. Unlike a weight of 0 this leaves the
        prior as it is, so that ``maptree.compare`` can say what it costs.
    patience : float of at least 1, or None, default=None
        Stop early where a proof is not in sight and the best tree has stood for long: when the
        search for better trees has done ``patience`` times the work that it took to find that one
        (which counts as about a quarter of a second at least). 4 is a good value; less is faster,
        but may miss better trees of many leaves. Until a proof is in sight, most of the work is
        then for the tree, so the bound is lower than without. Work is counted, not timed: on one
        thread the search stops at the same place every time. None searches until a limit is
        reached. What ``certificate_`` says is exact either way.

    Attributes
    ----------
    classes_ : array (K,)
        The distinct labels, sorted.
    tree_ : Tree
        Over the binary tests of ``encoder_``, or the columns if that is None, without those of
        weight 0.
    certificate_ : Certificate
        What is proved about ``tree_``.
    trace_ : structured array
        seconds, expansions, log_posterior, log_posterior_bound: the course of the search.
    encoder_ : BinaryEncoder or None
        The fitted encoder. Of a column with more than 4,096 thresholds it has only those that the
        tree tests: fit an encoder yourself for all of them.
    rho_ : float64 array (K,)
        The pseudo-counts used.
    test_weights_ : uint32 array (tests,)
        The weights that the prior gives to the tests. 0 for thresholds that ``encoder_`` does not
        have, which are more in a loaded model (docs/model-file.md).
    feature_importances_ : float64 array (columns,)
        For each column, the sum over the inner nodes that test it of what the log posterior would
        lose if that node were made a leaf (the node's subtree against the leaf it replaces).
        Never negative; scaled to sum to 1; all zero if the tree is a single leaf.
    training_ : TrainingSummary
        How the tree was fitted: rows, date, version, name of the target.
    fitted_ : FittedTree
        All of this as one value.
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

    Tables may mix types and have missing values:

    >>> X = [["red", 25], ["blue", 60], [None, 40], ["green", None]] * 6
    >>> model = MAPTreeClassifier().fit(X, ["yes", "no", "no", "yes"] * 6)
    >>> print(*model.rules(["colour", "age"]), sep="\n")
    age <= 32.5  ->  yes 0.77 [0.50, 0.96], n = 6
    age is missing  ->  yes 0.77 [0.50, 0.96], n = 6
    age > 32.5  ->  no 0.85 [0.66, 0.97], n = 12
    """

    _takes_ranks = True

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
        split_prior: str = "columns",
        column_weights: Mapping[str | int, float] | None = None,
        max_leaf_nodes: int | None = None,
        first_columns: str | int | Sequence[str | int] | None = None,
        without_columns: str | int | Sequence[str | int] | None = None,
        patience: float | None = None,
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
        self.split_prior = split_prior
        self.column_weights = column_weights
        self.max_leaf_nodes = max_leaf_nodes
        self.first_columns = first_columns
        self.without_columns = without_columns
        self.patience = patience

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Find the most probable tree.

        Parameters
        ----------
        X : array, data frame, sparse matrix or ParquetTable of shape (rows, columns)
            Numbers, booleans, text, categories, dates, times, durations, and missing values. With
            ``encoder=None`` only 0 and 1. It must not be changed before ``fit`` returns.
        y : array of shape (rows,)
            Labels, all of one type that can be sorted.
        sample_weight : array of shape (rows,), optional
            Whole numbers of at least 0: a weight of w means w copies of the row.

        Returns
        -------
        self
            Ctrl-C during the search keeps the best tree so far. Before that, while the table is
            read, it raises KeyboardInterrupt. If ``fit`` raises, the estimator is unchanged.
        """
        return self._fit(X, y, sample_weight)

    def _warn_of_status(self, status: str) -> None:
        self._warn_of_class_counts(status, stacklevel=5)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the class probabilities of each row: the posterior mean in its leaf.

        That is (c + rho) / (n + sum of rho), c the leaf's class counts and n their sum.
        """
        leaves = self.apply(X)
        # take is several times as fast as indexing.
        return self.fitted_.probabilities.take(leaves, axis=0)

    def predict(self, X: Any, costs: Costs | None = None) -> NDArray[Any]:
        """Return the most probable class of each row, or the one of least expected cost.

        Parameters
        ----------
        X : as in ``fit``
        costs : array of shape (K, K) or dict, optional
            What it costs to predict the class of a column where that of a row is true, in the order
            of ``classes_``. Or a dict: ``{"ill": 5}`` is for every error in rows of that class,
            ``{("ill", "well"): 5}`` for ill predicted as well; other errors then cost 1, and right
            predictions nothing. Ties go to the first class.

        Examples
        --------
        >>> model = MAPTreeClassifier().fit([[0], [0], [1]] * 9, ["well", "ill", "well"] * 9)
        >>> model.predict_proba([[0], [1]]).round(2)
        array([[0.5 , 0.5 ],
               [0.18, 0.82]])
        >>> model.predict([[1]]), model.predict([[1]], costs={"ill": 9})
        (array(['well'], dtype='<U4'), array(['ill'], dtype='<U4'))
        """
        leaves = self.apply(X)
        of_nodes = self.fitted_.probabilities
        if costs is None:
            best = np.argmax(of_nodes, axis=1)
        else:
            best = cheapest(of_nodes, read_costs(costs, self.classes_.tolist()))
        labels: NDArray[Any] = self.classes_[best].take(leaves)
        return labels

    def predict_interval(self, X: Any, level: float = 0.95) -> NDArray[np.float64]:
        """Return a central credible interval for each class probability: shape (rows, K, 2).

        The interval is about the probability in the row's leaf, given the tree: the quantiles of
        the Beta marginals of its Dirichlet posterior.
        """
        leaves = self.apply(X)
        return credible_interval(self.tree_.counts, self.rho_, level).take(leaves, axis=0)

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
    ) -> Alternatives:
        """Return the most probable trees in order, and up to where the list is proved complete.

        Trees that part the rows alike are one entry: the most probable of them. ``time_limit``,
        ``memory_limit``, ``max_expansions``, ``callback`` and ``verbose`` apply as in ``fit``; the
        callback receives an ``AlternativesProgress``. Whatever stops it, and Ctrl-C does, the list
        so far is returned: no tree that is left out is more probable than
        ``log_posterior_bound`` says. It uses one thread.

        Parameters
        ----------
        n : int, optional
            How many trees at most; None is 10, or 1,000 if ``within`` is given.
        within : float, optional
            Only trees whose log posterior is at most this many nats below that of the best: 2.0 is
            about 7 times less probable.
        max_depth : int, optional
            List trees of this depth or less, and compare them with the best of these: where there
            is no proof for all trees, there often is one for small ones. None is as in ``fit``.
        monotone : dict, optional
            Only trees whose probability of the second class must not fall (1) or rise (-1) with a
            column, all others being equal, such as ``{"age": 1}``. For two classes; of trees that
            part the rows alike, the most probable one counts.
        X, y, sample_weight
            The table of ``fit``. A classifier keeps a reference to one of up to a million values,
            and finds a larger one only while the objects that were passed to ``fit`` still exist.
            Files, pickles and copies do not contain it: pass it there.

        Examples
        --------
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> X = rng.integers(2, size=(60, 4))
        >>> y = X[:, 0] & X[:, 1] | (rng.random(60) < 0.1)
        >>> model = MAPTreeClassifier().fit(X, y)
        >>> found = model.alternatives(3)
        >>> print(found)
        Proved complete to 1.49 nats below the best tree: that is at least 4.46 times
        as probable as any other that parts the rows in another way than these. A nat
        is a factor: 1 nat = 2.7 times as probable, 3 nats = 20 times, 7 nats = 1,100
        times.
        <BLANKLINE>
        Tree  log posterior    nats       odds  leaves  depth  first test
           1       -23.3571    0.00          1       3      2  x0 = 1
           2       -24.6688    1.31   1 : 3.71       4      3  x0 = 1
           3       -24.8515    1.49   1 : 4.46       3      2  x1 = 1
        <BLANKLINE>
        Column                                       tested by
        x0                                           all trees
        x1                                           all trees
        x3                                              1 of 3
        <BLANKLINE>
        First test                                       trees    best
        x0 = 1                                          2 of 3       1
        x1 = 1                                          1 of 3       3
        """
        check_is_fitted(self)
        return list_alternatives(self, n, within, max_depth, monotone, X, y, sample_weight)
