"""What is shared by the estimators that search for the most probable tree."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from maptree.encoding.encoder import BinaryEncoder
from maptree.engine.interrupts import Noted, raising
from maptree.engine.progress import ProgressLine
from maptree.engine.search import Outcome, find_tree
from maptree.estimators.alternatives import TrainingTable, refuse_foreign
from maptree.estimators.base import (
    FOR_READING,
    InterruptedWarning,
    Reading,
    TreeEstimator,
    importances,
)
from maptree.parameters.budget import Budget, Constraints
from maptree.parameters.columns import read_columns
from maptree.schema.kept_thresholds import FEW_THRESHOLDS, keep_thresholds
from maptree.trees.fitted import FittedTree
from maptree.trees.outcomes import Numbers
from maptree.trees.training import TrainingSummary
from maptree.words.certificate import StatedCertificate, headline, stated

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from maptree.words.alternatives import Alternative


class SearchedTree(TreeEstimator):
    """The base of the estimators that search. They differ in what they predict."""

    max_expansions: int | None
    memory_limit: int | str | None
    max_depth: int | None
    min_samples_leaf: int
    n_jobs: int | None
    max_leaf_nodes: int | None
    first_columns: str | int | Sequence[str | int] | None
    without_columns: str | int | Sequence[str | int] | None
    patience: float | None

    def _fit(self, X: Any, y: Any, sample_weight: ArrayLike | None, exposure: Any = None) -> Self:
        """Do what ``fit`` documents, which is to call this directly."""
        started = time.perf_counter()
        budget = self._read_budget()
        deadline = started + FOR_READING * budget.seconds
        reading = raising(self._read, X, y, sample_weight, deadline, exposure, stacklevel=5)
        with Noted() as interrupt:
            outcome = find_tree(
                reading.problem,
                budget,
                self.callback,
                ProgressLine() if self.verbose else None,
                started,
                interrupt,
            )
            fitted = fitted_of(reading, outcome, reading.constrained(budget.constraints), y)
            if reading.encoder is not None:
                reading.encoder.keep_columns(fitted.schema.columns)
            table = TrainingTable.of(reading, X, y, sample_weight, exposure)
            self._keep(fitted, reading.encoder, _training_table=table)
            interrupted = interrupt.arrived()  # perhaps only after the search
        self._warn_of_columns(reading.schema, stacklevel=4)
        status = fitted.certificate.status if fitted.certificate is not None else ""
        self._warn_of_status(status)
        ended = status == "interrupted" and not outcome.stopped_by_callback
        if interrupted or ended:
            warnings.warn(
                f"The search was interrupted. The best tree so far was kept. {headline(fitted)}.",
                InterruptedWarning,
                stacklevel=3,
            )
        return self

    def _warn_of_status(self, status: str) -> None:
        """Warn of what ended the search. To be called by ``_fit``."""

    def _read_budget(self) -> Budget:
        """Validate the parameters that do not depend on the data; return the limits."""
        self._check_parameters()
        self._wished_columns()
        return Budget.read(
            time_limit=self.time_limit,
            max_expansions=self.max_expansions,
            memory_limit=self.memory_limit,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            max_leaf_nodes=self.max_leaf_nodes,
            n_jobs=self.n_jobs,
            patience=self.patience,
        )

    def _wished_columns(self) -> tuple[tuple[str | int, ...], tuple[str | int, ...]]:
        return (
            read_columns("first_columns", self.first_columns),
            read_columns("without_columns", self.without_columns),
        )

    @property
    def certificate_(self) -> StatedCertificate:
        """What is proved about ``tree_``."""
        certificate = stated(self.fitted_)
        assert certificate is not None  # a search always has one
        return certificate

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The share of each column in what the splits add to the log posterior; they sum to 1."""
        shares = self.fitted_.importances
        assert shares is not None  # a search always has them
        return shares

    @property
    def training_(self) -> TrainingSummary:
        """How the tree was fitted."""
        return self.fitted_.training

    def apply(self, X: Any) -> NDArray[np.intp]:
        """Return the node number of the leaf that each row ends in."""
        return self._answers(X).leaves(self.tree_)

    def decision_path(self, X: Any) -> csr_matrix:
        """Return a (rows, nodes) CSR matrix with a one at every node on a row's path."""
        leaves = self.apply(X)
        return self.tree_.paths(leaves)

    def choose(self, alternative: Alternative) -> Self:
        """Return an estimator like this one, fitted to one of its ``alternatives``.

        >>> import numpy as np
        >>> from maptree import MAPTreeClassifier
        >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5)
        >>> model = MAPTreeClassifier().fit(X, X[:, 0])
        >>> second = model.choose(model.alternatives(2)[1])
        >>> second.certificate_.optimal
        False
        """
        check_is_fitted(self)
        refuse_foreign(alternative, self.fitted_)
        made: Self = clone(self)
        made.keep_tree(alternative.fitted)
        return made

    def keep_tree(self, fitted: FittedTree, table: TrainingTable | None = None) -> None:
        """Take a tree that was found elsewhere for the fitted one."""
        schema = fitted.schema
        encoder = BinaryEncoder.of_schema(schema) if schema.takes_missing else None
        self._keep(fitted, encoder, _training_table=table)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model as JSON; ``maptree.load_model`` reads it back exactly."""
        from maptree.estimators.saved import save_model

        save_model(self, path)


def fitted_of(reading: Reading, outcome: Outcome, constraints: Constraints, y: Any) -> FittedTree:
    """Combine what was read with what the search found."""
    tree, certificate = outcome.tree, outcome.certificate
    measured = outcome.measured
    used = tree.feature[tree.feature >= 0].tolist()
    schema = keep_thresholds(reading.schema, used, FEW_THRESHOLDS, outcome.beside)
    if reading.schema.n_unread > 0:
        # The search did not cover all columns, so nothing is proved about the whole table. No
        # probability is above 1; a density may be.
        most = math.inf if isinstance(measured, Numbers) else 0.0
        certificate = replace(
            certificate,
            status="time_limit",
            optimal=False,
            log_posterior_bound=most,
            gap=most - certificate.log_posterior,
            proved_depth=0,
        )
    inner = tree.feature >= 0
    # A gain of 0 may come out as a rounding error below it.
    gains = outcome.gain[inner].clip(min=0)
    return FittedTree(
        tree=tree,
        schema=schema,
        classes=reading.classes,
        prior=reading.problem.prior,
        training=TrainingSummary.of(tree, y, reading.seen),
        trace=outcome.trace,
        certificate=certificate,
        constraints=constraints,
        importances=importances(tree.feature[inner], gains, reading.schema),
        measured=measured,
    )
