"""What the classifiers share: reading labels, and what follows from class probabilities."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from maptree.estimators.base import ReadOutcome, TargetWarning, TreeEstimator
from maptree.parameters.costs import Costs, read_costs, read_positive, read_thresholds
from maptree.parameters.numbers import bad_value
from maptree.parameters.prior import read_prior
from maptree.tables.labels import Codes, doubtful_classes, numbers_among, read_labels
from maptree.tables.weights import read_score_weights
from maptree.words.decisions import Decisions, decide


class TreeClassifier(ClassifierMixin, TreeEstimator):  # type: ignore[misc]
    """The base of the classifiers. They differ in how they find trees, and how they predict."""

    rho: float | ArrayLike | None

    def __new__(cls, *args: Any, **params: Any) -> Self:
        _refuse_class_weight(params, TypeError, cls.__name__)
        made: Self = super().__new__(cls)
        return made

    def set_params(self, **params: Any) -> Self:
        """Set parameters, as scikit-learn does."""
        _refuse_class_weight(params, ValueError, type(self).__name__)
        return super().set_params(**params)

    @property
    def classes_(self) -> NDArray[Any]:
        """The distinct labels, sorted."""
        return self.fitted_.classes

    @property
    def rho_(self) -> NDArray[np.float64]:
        """The pseudo-counts used."""
        return self.fitted_.prior.rho

    def _read_outcome(
        self, y: Any, exposure: Any, weights: NDArray[np.int64] | None, n_rows: int
    ) -> ReadOutcome:
        classes, codes = _classes_that_count(y, weights, n_rows)
        return ReadOutcome(
            classes,
            codes,
            read_prior(self.alpha, self.beta, self.rho, len(classes)),
            deciding=codes,
            known_by=codes,
            doubt=doubtful_classes(classes, n_rows if weights is None else int(weights.sum())),
        )

    def _warn_of_class_counts(self, status: str, stacklevel: int = 3) -> None:
        """Warn where the number of classes ended a fit; by default to be called by ``fit``."""
        if status == "class_limit":
            warnings.warn(
                f"The {len(self.classes_):,} classes ended the fit early: every node of a tree "
                "holds a count of each, and they would take too much memory. What was found until "
                "then was kept. Merge classes, or choose another target.",
                TargetWarning,
                stacklevel=stacklevel,
            )

    @abstractmethod
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the class probabilities of each row."""

    @abstractmethod
    def predict(self, X: Any, costs: Costs | None = None) -> NDArray[Any]:
        """Return the class predicted for each row."""

    def decisions(
        self,
        X: Any,
        y: Any,
        costs: Costs | None = None,
        positive: Any = None,
        thresholds: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Decisions:
        """Return what probability thresholds and costs do on rows with known classes.

        Parameters
        ----------
        X, y : table and labels
            Best rows that were not used for fitting.
        costs : array of shape (K, K) or dict, optional
            As in ``predict``. With two classes, every threshold gets its cost.
        positive : label, optional
            The class that is predicted where its probability is at least the threshold. By default
            the second of two classes; with more there are thresholds only if it is given.
        thresholds : array of numbers from 0 to 1, optional
            By default one for every decision that a threshold can make on these rows.
        sample_weight : array of shape (rows,), optional
            Numbers of at least 0, not only whole ones.

        Examples
        --------
        >>> from maptree import MAPTreeClassifier
        >>> X, y = [[25], [31], [40], [47], [52], [60]] * 4, ["well"] * 3 + ["ill"] * 3
        >>> model = MAPTreeClassifier().fit(X, y * 4)
        >>> found = model.decisions([[30], [45], [50]], ["ill", "ill", "ill"], {"ill": 9}, "ill")
        >>> [(at.threshold, at.false_negatives, at.cost) for at in found.thresholds.rows]
        [(0.0, 0.0, 0.0), (0.5, 1.0, 9.0), (1.0, 3.0, 27.0)]
        """
        check_is_fitted(self)
        classes = self.classes_.tolist()
        matrix = None if costs is None else read_costs(costs, classes)
        wanted = None if thresholds is None else read_thresholds(thresholds)
        if positive is None and thresholds is not None and len(classes) > 2:
            remedy = "pass the class that they are about, positive=..."
            raise bad_value("thresholds", thresholds, f"are for {len(classes)} classes", remedy)
        about = None
        if positive is not None or len(classes) == 2:
            about = read_positive(positive, classes)
        probabilities = self.predict_proba(X)
        weights = read_score_weights(sample_weight, len(probabilities))
        return decide(
            probabilities,
            numbers_among(self.classes_, y, len(probabilities)),
            self.fitted_.labels,
            self.tree_.counts[0],
            weights=weights,
            costs=matrix,
            positive=about,
            thresholds=wanted,
        )

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of ``predict_proba``."""
        logs: NDArray[np.float64] = np.log(self.predict_proba(X))
        return logs


def _classes_that_count(
    y: Any, weights: NDArray[np.int64] | None, n_rows: int
) -> tuple[NDArray[Any], Codes]:
    """Return the classes and class numbers; a class whose rows all have weight 0 is left out."""
    classes, codes = read_labels(y, n_rows)
    if weights is None or weights.all():
        return classes, codes
    kept = np.unique(codes[weights > 0])
    # Rows of weight 0 need any valid class number; clipping gives them one.
    position = np.searchsorted(kept, codes).clip(max=len(kept) - 1)
    few = codes.dtype == np.uint8
    return classes[kept], position.astype(np.uint8) if few else position.astype(np.int32)


def _refuse_class_weight(params: Mapping[str, object], error: type[Exception], name: str) -> None:
    """Refuse ``class_weight``, which scikit-learn's classifiers take and these cannot."""
    if "class_weight" in params:
        raise error(
            f"class_weight is not a parameter of {name}: the posterior counts rows, and weighting "
            "classes would change what the probabilities and the certificate mean. Rare classes "
            "need no correction, because the probabilities stay honest: say what mistakes cost "
            "instead, predict(X, costs={'rare': 5}). If you know in advance that a class is common "
            "or rare, pass one pseudo-count per class, rho=[...] in the order of classes_."
        )
