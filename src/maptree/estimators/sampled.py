"""What the two samplers share: ``fit``, and predictions averaged over the weighted trees."""

from __future__ import annotations

import time
import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, Generic, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from maptree import _core
from maptree.engine.interrupts import Noted, raising
from maptree.engine.progress import ProgressLine
from maptree.engine.sampling import Drawn, Samples, Steering, run_sampler, weigh
from maptree.estimators.base import (
    FOR_READING,
    InterruptedWarning,
    Reading,
    importances,
)
from maptree.estimators.presentation import InNotebooks
from maptree.estimators.tree_classifier import TreeClassifier
from maptree.parameters.costs import Costs, cheapest, read_costs
from maptree.parameters.limits import n_threads, time_limit
from maptree.parameters.numbers import whole_number
from maptree.trees.average import Average, Chains, Particles
from maptree.trees.certificate import Certificate
from maptree.trees.fitted import FittedTree
from maptree.trees.forest import Trees
from maptree.trees.training import TrainingSummary
from maptree.words.certificate import StatedCertificate, stated
from maptree.words.posterior_summary import PosteriorSummary, summarise

# What a MAPTreeClassifier has for its one tree.
_EXPORTS = (
    *("to_sql", "to_sklearn", "to_onnx", "to_python", "to_c", "to_javascript", "to_dict"),
    *("to_json", "to_dot", "to_mermaid", "to_latex", "apply", "decision_path"),
)


class MixingWarning(UserWarning):
    """The Markov chains have not mixed; what they drew was kept."""


# What a sampler is, once its parameters are known: it is called with what was read and a seed.
Factory = Callable[
    [Reading, int],
    Callable[[_core.Dataset, _core.Prior, Steering], Drawn[Samples]],
]


class SampledTreeClassifier(InNotebooks, TreeClassifier, Generic[Samples]):
    """The base of the samplers. They differ in how trees are drawn, and in their weights."""

    n_jobs: int | None

    @abstractmethod
    def _sampler(self) -> Factory[Samples]:
        """Validate the sampler's own parameters; return how to draw."""

    @abstractmethod
    def _sample_weights(self, samples: Samples) -> NDArray[np.float64] | None:
        """Return the weight of each sample, up to a factor; None if all are equal."""

    @abstractmethod
    def _origin(self, drawn: Drawn[Samples]) -> Chains | Particles:
        """Return what only this sampler knows about its trees."""

    def _own_attributes(self, drawn: Drawn[Samples]) -> dict[str, Any]:
        """Return the fitted attributes that are too large for a model file."""
        return {}

    def _certified(self, fitted: FittedTree, log_posterior: float) -> Certificate | None:
        """Return what is proved about the best tree, which has this log posterior."""
        return None

    def _warn_of_mixing(self) -> None:
        """Warn where the trees are not a good sample. To be called directly by ``fit``."""

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Draw trees from the posterior.

        Parameters
        ----------
        X : array, data frame, sparse matrix or ParquetTable of shape (rows, columns)
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
        deadline = started + FOR_READING * seconds
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
            samples = run.drawn.samples
            weighted = weigh(samples, self._sample_weights(samples))
            origin = self._origin(run.drawn)
            if not isinstance(origin, Chains):
                weighted = replace(weighted, sample=np.empty((0, 0), np.int32))
            status = "time_limit" if reading.schema.n_unread > 0 else run.status
            fitted = FittedTree(
                tree=run.best,
                schema=reading.schema,
                classes=reading.classes,
                prior=reading.problem.prior,
                training=TrainingSummary.of(run.best, y, reading.seen),
                trace=run.trace,
                average=Average(weighted, run.log_posterior, status, origin),
            )
            fitted = replace(fitted, certificate=self._certified(fitted, run.log_posterior))
            self._keep(fitted, reading.encoder, **self._own_attributes(run.drawn))
            interrupted = interrupt.arrived()  # perhaps only after the sampling
        self._warn_of_columns(reading.schema)
        self._warn_of_class_counts(self.status_)
        self._warn_of_mixing()
        ended = run.status == "interrupted" and not run.stopped_by_callback
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
        answers = self._answers(X)
        return self._average.probabilities(self.rho_, answers)

    def predict(self, X: Any, costs: Costs | None = None) -> NDArray[Any]:
        """Return the most probable class of each row, or the one of least expected cost.

        ``costs`` is a matrix or a dict, as in ``MAPTreeClassifier``. Ties go to the first class.
        """
        if costs is not None:
            check_is_fitted(self)
            of_classes = read_costs(costs, self.classes_.tolist())
            chosen: NDArray[Any] = self.classes_[cheapest(self.predict_proba(X), of_classes)]
            return chosen
        first, answers = 0, self._answers(X)
        for block in self._average.blocks(self.rho_, answers):
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

    def predict_interval(self, X: Any, level: float = 0.95) -> NDArray[np.float64]:
        """Return a central credible interval for each class probability: shape (rows, K, 2).

        It accounts for the uncertainty about the tree: the posterior of a class probability is a
        mixture over the trees, each with its weight and the Dirichlet posterior in the row's leaf,
        and the ends are quantiles of that mixture. In one tree, as in ``MAPTreeClassifier``, the
        interval is about the probability in a leaf, given the tree.
        """
        answers = self._answers(X)
        return self._average.intervals(self.rho_, answers, level)

    @property
    def _average(self) -> Average:
        average = self.fitted_.average
        assert average is not None  # a sampler always has one
        return average

    @property
    def trees_(self) -> Trees:
        """The distinct trees, in order of decreasing weight."""
        return self._average.weighted.trees

    @property
    def weights_(self) -> NDArray[np.float64]:
        """The weight of each tree; they sum to 1."""
        return self._average.weighted.weights

    @property
    def tree_log_posteriors_(self) -> NDArray[np.float64]:
        """The log posterior of each tree."""
        return self._average.weighted.log_posteriors

    @property
    def log_posterior_(self) -> float:
        """The log posterior of ``tree_``."""
        return self._average.log_posterior

    @property
    def status_(self) -> str:
        """How sampling ended."""
        return self._average.status

    @property
    def certificate_(self) -> StatedCertificate | None:
        """What is proved about ``tree_``; None unless chains started from a search."""
        return stated(self.fitted_)

    @property
    def training_(self) -> TrainingSummary:
        """How the trees were fitted."""
        return self.fitted_.training

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
        n_listed = whole_number("n_trees", n_trees, least=0)
        return summarise(self._average.weighted, schema, n_listed)

    def to_html(
        self,
        path: str | PathLike[str] | None = None,
        X: Any = None,
        y: Any = None,
        feature_names: Sequence[str] | None = None,
        title: str | None = None,
    ) -> str | None:
        """Write a report as one HTML file; without a path, return its text.

        It shows the most probable tree, next to it what all trees share, and with ``X`` and ``y``
        how well their average predicts. Parameters are those of ``maptree.write_report``.
        """
        from maptree.pictures.report.write import report_html, write_report

        if path is None:
            return report_html(self, X, y, feature_names, title)
        write_report(self, path, X, y, feature_names, title)
        return None

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted classifier as JSON; ``maptree.load_model`` reads it back.

        The file has all trees with their weights; but not ``log_posteriors_`` of the chains, nor an
        ``initial_tree`` that is a tree or classifier.
        """
        from maptree.estimators.saved import save_model

        save_model(self, path)

    def __getattr__(self, name: str) -> Any:
        if name in _EXPORTS:
            raise AttributeError(
                f"{type(self).__name__} has no {name}: an export holds one tree, and this model "
                "predicts by the average of many. Fit a MAPTreeClassifier and export its tree, or "
                "pass the most probable tree, fitted_, to plot_tree."
            )
        return super().__getattr__(name)


def _seed(random_state: Any) -> int:
    """Return a seed for the core. An int gives the same every time, a RandomState is drawn from."""
    return int(check_random_state(random_state).randint(2**63 - 1, dtype=np.int64))
