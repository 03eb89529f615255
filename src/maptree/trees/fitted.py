"""``FittedTree``: a tree with everything that is known about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from maptree.parameters.budget import Constraints
from maptree.parameters.prior import Prior
from maptree.schema.columns import Schema
from maptree.schema.weights_of_tests import weights_of_tests
from maptree.trees.average import Average
from maptree.trees.certificate import Certificate
from maptree.trees.leaf_probabilities import posterior_mean
from maptree.trees.outcomes import Classes, Measured, Outcome
from maptree.trees.training import TrainingSummary
from maptree.trees.tree import Tree

# Fields of the trace of a search.
TRACE = np.dtype(
    [
        ("seconds", np.float64),
        ("expansions", np.int64),
        ("log_posterior", np.float64),
        ("log_posterior_bound", np.float64),
    ]
)
# Fields of the trace of a sampler.
SAMPLER_TRACE = np.dtype(
    [("seconds", np.float64), ("steps", np.int64), ("log_posterior", np.float64)]
)


@dataclass(frozen=True, eq=False)
class FittedTree:
    """A tree, the schema of its table, its prior, and what is proved about it.

    ``fit`` and ``load_model`` make it. Rules, exports, plots, reports, model files and the command
    line are made from it and from nothing else.

    Attributes
    ----------
    tree : Tree
        Over the tests of ``schema``.
    schema : Schema
        The columns of the table, and their tests.
    classes : array (K,)
        The distinct labels, sorted; none if the tree predicts numbers or counts.
    prior : Prior
        With one pseudo-count ``rho`` per class.
    training : TrainingSummary
        Rows, date, version, name of the target.
    trace : structured array
        The course of the run: seconds, log_posterior, and log_posterior_bound for a search.
    certificate : Certificate or None
        What is proved; None for the best tree of a sampler that did not start from a search.
    constraints : Constraints
        The trees that the certificate is about.
    importances : float64 array (columns,) or None
        The share of each column in the gain of the splits; None for the best tree of a sampler.
    average : Average or None
        The trees of a sampler, whose predictions are averaged; None: the tree predicts alone.
    measured : Numbers, Counts or None
        What the tree predicts, with the prior of its leaves; None: classes.
    """

    tree: Tree
    schema: Schema
    classes: NDArray[Any]
    prior: Prior
    training: TrainingSummary
    trace: NDArray[Any]
    certificate: Certificate | None = None
    constraints: Constraints = field(default_factory=Constraints)
    importances: NDArray[np.float64] | None = None
    average: Average | None = None
    measured: Measured | None = None

    @property
    def outcome(self) -> Outcome:
        """What the tree predicts, and what its leaves know about it."""
        return Classes(self.classes, self.prior.rho) if self.measured is None else self.measured

    def refuse_measured(self, what: str) -> None:
        """Refuse a tree of numbers or counts where ``what`` is for classes only.

        It is the subject of a sentence, such as ``The report``.
        """
        if self.measured is not None:
            raise TypeError(
                f"{what} is not made for trees that predict {self.measured.name} yet, only for "
                "those that predict classes: use predict, rules and export_text of the model."
            )

    @property
    def labels(self) -> list[str]:
        """The classes as text."""
        self.refuse_measured("What was asked for")
        return [str(label) for label in self.classes]

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """The class probabilities of every node, (nodes, classes): posterior means."""
        self.refuse_measured("What was asked for")
        return posterior_mean(self.tree.counts, self.prior.rho)

    @property
    def test_weights(self) -> NDArray[np.uint32] | None:
        """The weights of the tests; None: all the same. 0 for thresholds that were not kept."""
        columns, prior = self.schema.columns, self.prior
        column_weights = prior.column_weights or (1.0,) * len(columns)
        return weights_of_tests(columns, prior.split_prior, column_weights)

    @cached_property
    def used_tests(self) -> list[int]:
        """The tests that the tree has, in the order of the schema."""
        used: list[int] = np.unique(self.tree.feature[self.tree.feature >= 0]).tolist()
        return used

    @cached_property
    def used_columns(self) -> list[int]:
        """The columns that the tree tests, in the order of the table."""
        return sorted({self.schema.column_of_test[test] for test in self.used_tests})

    @cached_property
    def needed_tests(self) -> list[int]:
        """The tests that predictions need: those of the tree, or of all trees of an average."""
        if self.average is None:
            return self.used_tests
        return sorted({*self.used_tests, *self.average.used_tests})

    @property
    def needed_columns(self) -> list[int]:
        """The columns that predictions need, in the order of the table."""
        return sorted({self.schema.column_of_test[test] for test in self.needed_tests})

    def is_of_the_table_of(self, other: FittedTree) -> bool:
        """Return whether both were fitted to the same rows, as far as it is known."""
        seen, known = other.training.seen, self.training.seen
        same = other.schema.names == self.schema.names and self._predicts_as(other)
        return same and (seen is None or known is None or seen.digest == known.digest)

    def _predicts_as(self, other: FittedTree) -> bool:
        """Return whether both predict the same classes, or numbers of the same table."""
        if self.measured is not None or other.measured is not None:
            return self.measured == other.measured
        return self.labels == other.labels

    def named(self, feature_names: Sequence[str] | None) -> FittedTree:
        """Return the tree with names for a table that had none; None changes nothing.

        A table that had names keeps them; other names are refused.
        """
        if feature_names is None:
            return self
        names = [str(name) for name in feature_names]
        if self.schema.named and names != self.schema.names:
            raise ValueError(
                "feature_names is not equal to feature_names_in_: the table had names. Omit it."
            )
        return self.renamed(names)

    def renamed(self, feature_names: Sequence[str] | None) -> FittedTree:
        """Return the tree with other names of columns; None changes nothing."""
        if feature_names is None:
            return self
        names = [str(name) for name in feature_names]
        n_columns = len(self.schema.columns)
        if len(names) != n_columns:
            raise ValueError(
                f"feature_names has {len(names):,} names, but the table had {n_columns:,} "
                f"column{'' if n_columns == 1 else 's'}: pass one name per column."
            )
        return replace(self, schema=self.schema.renamed(names))

    def with_training(self, **facts: Any) -> FittedTree:
        """Return the tree with other facts in ``training``, such as the name of the target."""
        return replace(self, training=replace(self.training, **facts))


@runtime_checkable
class HasFittedTree(Protocol):
    """A fitted classifier."""

    @property
    def fitted_(self) -> FittedTree: ...


def fitted_tree(model: FittedTree | HasFittedTree) -> FittedTree:
    """Return the fitted tree of a classifier; a ``FittedTree`` is returned as it is.

    >>> fitted_tree("tree")
    Traceback (most recent call last):
    TypeError: 'tree' is a str, which has no fitted tree: pass a fitted classifier of maptree.
    """
    if isinstance(model, FittedTree):
        return model
    found = getattr(model, "fitted_", None)
    if isinstance(found, FittedTree):
        return found
    if hasattr(model, "get_params") and isinstance(getattr(type(model), "tree_", None), property):
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(
            f"This {type(model).__name__} is not fitted yet: call fit with X and y first."
        )
    raise TypeError(
        f"{model!r} is a {type(model).__name__}, which has no fitted tree: pass a fitted "
        "classifier of maptree."
    )
