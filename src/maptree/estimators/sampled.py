"""What the two samplers share: ``fit``, and predictions averaged over the weighted trees."""

from __future__ import annotations

import time
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import Any, Generic, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from maptree.engine.interrupts import Noted, raising
from maptree.engine.progress import ProgressLine
from maptree.engine.sampling import Samples, run_sampler, weigh
from maptree.estimators.base import InterruptedWarning, Reading, TreeClassifier, importances
from maptree.parameters.costs import cheapest, read_costs
from maptree.parameters.limits import n_threads, time_limit
from maptree.parameters.numbers import whole_number
from maptree.trees.fitted import FittedTree
from maptree.trees.forest import Trees, WeightedTrees
from maptree.trees.leaf_probabilities import posterior_mean
from maptree.trees.training import TrainingSummary
from maptree.words.posterior_summary import PosteriorSummary, summarise

# Probabilities computed at a time.
_ENTRIES = 1 << 24


class SampledTreeClassifier(TreeClassifier, Generic[Samples]):
    """The base of the samplers. They differ in how trees are drawn, and in their weights."""

    n_jobs: int | None

    trees_: Trees
    weights_: NDArray[np.float64]
    tree_log_posteriors_: NDArray[np.float64]
    log_posterior_: float
    status_: str

    @abstractmethod
    def _sampler(self) -> Callable[[Reading, int], Callable[..., Samples]]:
        """Validate the sampler's own parameters; return a factory for the core's function.

        The factory is called with what was read and a seed.
        """

    @abstractmethod
    def _sample_weights(self, samples: Samples) -> NDArray[np.float64] | None:
        """Return the weight of each sample, up to a factor; None if all are equal."""

    @abstractmethod
    def _own_attributes(self, samples: Samples, weighted: WeightedTrees) -> dict[str, Any]:
        """Return the fitted attributes that only this sampler has."""

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Draw trees from the posterior.

        Parameters
        ----------
        X : array, data frame or ParquetTable of shape (rows, columns)
            Numbers, booleans, text, categories, dates, times, durations, and missing values. With
            ``encoder=None`` only 0 and 1.
        y : array of shape (rows,)
            Labels, all of one type that can be sorted.
        sample_weight : array of shape (rows,), optional
            Whole numbers of at least 0: a weight of w means w copies of the row.

        Returns
        -------
        self
            Ctrl-C while trees are drawn keeps the trees so far. Before that, while the table is
            read, it raises KeyboardInterrupt. If ``fit`` raises, the estimator is unchanged.
        """
        started = time.perf_counter()
        self._check_parameters()
        seconds = time_limit(self.time_limit, without="for none")
        threads = n_threads(self.n_jobs)
        sampler = self._sampler()
        # At most half of the time: the rest is for packing and for sampling.
        deadline = started + seconds / 2
        reading = raising(self._read, X, y, sample_weight, deadline)
        with Noted() as interrupt:
            run = run_sampler(
                reading.problem,
                sampler(reading, _seed(self.random_state)),
                seconds,
                threads,
                self.callback,
                ProgressLine() if self.verbose else None,
                started,
                interrupt,
            )
            samples = run.samples
            weighted = weigh(samples, self._sample_weights(samples))
            fitted = FittedTree(
                tree=run.best,
                schema=reading.schema,
                classes=reading.classes,
                prior=reading.problem.prior,
                training=TrainingSummary.of(run.best, y, reading.seen),
                trace=run.trace,
            )
            self._keep(
                fitted,
                reading.encoder,
                trees_=weighted.trees,
                weights_=weighted.weights,
                tree_log_posteriors_=weighted.log_posteriors,
                log_posterior_=run.log_posterior,
                status_="time_limit" if reading.schema.n_unread > 0 else run.status,
                **self._own_attributes(samples, weighted),
            )
            interrupted = interrupt.arrived()  # perhaps only after the sampling
        self._warn_of_columns(reading.schema)
        self._warn_of_class_counts(self.status_)
        ended = samples.status == "interrupted" and not run.stopped_by_callback
        if interrupted or ended:
            warnings.warn(
                "Sampling was interrupted. The trees drawn so far were kept: "
                f"{len(self.trees_):,} distinct trees, the best with log posterior "
                f"{self.log_posterior_:.4f}.",
                InterruptedWarning,
                stacklevel=2,
            )
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the class probabilities of each row, averaged over the weighted trees.

        Each tree contributes the posterior mean in the row's leaf, (c + rho) / (n + sum of rho), c
        the leaf's class counts and n their sum.
        """
        blocks = list(self._blocks(X))
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks, axis=1)

    def predict(self, X: Any, costs: ArrayLike | None = None) -> NDArray[Any]:
        """Return the most probable class of each row, or the one of least expected cost.

        ``costs`` has a row per true class and a column per predicted class, in the order of
        ``classes_``. Ties go to the first class.
        """
        if costs is not None:
            check_is_fitted(self)
            of_classes = read_costs(costs, len(self.classes_))
            chosen: NDArray[Any] = self.classes_[cheapest(self.predict_proba(X), of_classes)]
            return chosen
        first = 0
        for block in self._blocks(X):
            there = np.argmax(block, axis=1)
            probability = block[np.arange(len(block)), there]
            if first == 0:
                best, most = there, probability
            else:
                best = np.where(probability > most, first + there, best)
                most = np.maximum(probability, most)
            first += block.shape[1]
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def _blocks(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the averaged probabilities, some classes at a time.

        With many classes and many trees, those of all nodes would take more memory than the trees.
        """
        answers = self._answers(X)
        nodes, tree = self.trees_.nodes()
        shares = np.zeros((len(self.trees_.feature), 1))
        shares[nodes, 0] = self.weights_[tree]
        counts, rho = self.trees_.counts, self.rho_
        step = max(1, _ENTRIES // max(len(counts), answers.n_rows, 1))
        if step < len(rho):
            shares /= (counts.sum(axis=1) + rho.sum())[:, np.newaxis]
        for first in range(0, len(rho), step):
            some = slice(first, first + step)
            means = posterior_mean(counts, rho) if step >= len(rho) else counts[:, some] + rho[some]
            yield self.trees_.sum_at_leaves(shares * means, answers.n_rows, answers)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The expected number of splits on each column, scaled to sum to 1."""
        # Not an attribute: it takes longer than drawing the trees.
        check_is_fitted(self)
        tests, tree = self.trees_.splits()
        return importances(tests, self.weights_[tree], self.fitted_.schema)

    def posterior_summary(
        self, feature_names: Sequence[str] | None = None, n_trees: int = 10
    ) -> PosteriorSummary:
        """Return how often trees split on each column, their sizes, and those of largest weight.

        ``feature_names`` names the columns if the table did not; ``n_trees`` trees are listed.
        """
        check_is_fitted(self)
        schema = self.fitted_.named(feature_names).schema
        weighted = WeightedTrees(
            self.trees_, self.weights_, self.tree_log_posteriors_, np.empty((0, 0), np.int32)
        )
        return summarise(weighted, schema, whole_number("n_trees", n_trees, least=0))

    def save(self, path: str | PathLike[str]) -> NoReturn:
        """Raise TypeError: a model file holds one tree. Use pickle."""
        raise TypeError(
            f"{type(self).__name__} cannot be saved as a model file, which holds the single tree "
            "of a MAPTreeClassifier: use pickle."
        )


def _seed(random_state: Any) -> int:
    """Return a seed for the core. An int gives the same every time, a RandomState is drawn from."""
    return int(check_random_state(random_state).randint(2**63 - 1, dtype=np.int64))
