"""``compare``: what a wish costs, from two fitted trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from maptree.encoding.answering import Answers, read_answers, training_overlap
from maptree.estimators.alternatives import TrainingTable
from maptree.schema.kept_thresholds import NotKeptError
from maptree.schema.same_tests import find_test
from maptree.tables.labels import numbers_among
from maptree.trees.certificate import Certificate
from maptree.trees.fitted import FittedTree, HasFittedTree, fitted_tree
from maptree.trees.log_posterior import log_posterior
from maptree.trees.one_scale import is_stricter, obstacle
from maptree.trees.scores import score
from maptree.trees.seen_rows import Overlap
from maptree.trees.training import HeldOutScores
from maptree.trees.tree import Tree
from maptree.words.certificate import headline
from maptree.words.comparison import EQUAL, ComparedTree, Comparison, Difference
from maptree.words.nats import gap_text, is_useful
from maptree.words.scored_rows import rows_sentences
from maptree.words.values import count, name_text
from maptree.words.wishes import wishes

# Answers to all tests that are held at once, in bytes, to score trees under another prior.
_MOST_ANSWERS = 1 << 31


class LabelledRows(Protocol):
    """Rows with known classes, as one of two models sees them."""

    @property
    def answers(self) -> Answers:
        """The answers of these rows, and perhaps of others."""

    @property
    def rows(self) -> NDArray[np.intp]:
        """Which of those they are."""

    @property
    def leaves(self) -> NDArray[np.intp]:
        """The leaf of each."""

    @property
    def codes(self) -> NDArray[np.intp]:
        """The number of its class; -1: one that the model does not know."""

    @property
    def overlap(self) -> Overlap:
        """How many of them are training rows."""


@dataclass(frozen=True)
class _Rows:
    answers: Answers
    rows: NDArray[np.intp]
    leaves: NDArray[np.intp]
    codes: NDArray[np.intp]
    overlap: Overlap


def compare(
    model: FittedTree | HasFittedTree,
    other: FittedTree | HasFittedTree,
    X: Any = None,
    y: Any = None,
) -> Comparison:
    r"""Compare two fitted trees: what does it cost to have the second instead of the first?

    Two log posteriors can be compared if they are on one scale: the same rows, tests and prior.
    That is so where the two fits differ only in constraints (``without_columns``,
    ``first_columns``, ``max_depth``, ``max_leaf_nodes``, ``min_samples_leaf``) and limits. Then
    the two certificates also tell what is proved about the best trees of both kinds.

    Where the priors differ, as by ``column_weights``, both trees are scored under the prior of the
    first on its training rows, if it still has them; models from files do not, so pass them as X
    and y. If that cannot be done, the comparison says why, and only has sizes, columns and scores.

    Parameters
    ----------
    model, other : fitted classifiers
        The trees to compare; of the classifiers that sample, the best tree.
    X, y : table and labels, optional
        Rows with known classes, best those that were not used for fitting: log loss and accuracy of
        both. Without them, the scores that the model files hold are compared.

    Returns
    -------
    Comparison
        Its text has all of it; the fields are for programs.

    Examples
    --------
    >>> from maptree import MAPTreeClassifier, compare
    >>> X = [[a, b, a ^ (i % 7 == 0)] for i in range(8) for a in (0, 1) for b in (0, 1)]
    >>> y = [a for a, _, _ in X]
    >>> model = MAPTreeClassifier().fit(X, y)
    >>> found = compare(model, MAPTreeClassifier(without_columns=0).fit(X, y))
    >>> print(found.summary)
    Without a test of x0: 11.4 nats, about 90,000 times less probable.
    >>> print(found.proof)
    Proved: the best trees of both kinds differ by exactly this.
    """
    mine, theirs = fitted_tree(model), fitted_tree(other)
    for fitted in (mine, theirs):
        fitted.refuse_measured("compare")
    if (X is None) != (y is None):
        raise ValueError("X and y must be passed together: pass both, or neither.")
    refuse_other_classes(mine, theirs)
    seen = None
    if X is not None:
        seen = _labelled(mine, X, y), _labelled(theirs, X, y)
    training = None if obstacle(mine, theirs) == "" else _training_rows(model, mine)
    return compare_trees(mine, theirs, seen, training)


def refuse_other_classes(model: FittedTree, other: FittedTree) -> None:
    """Refuse trees that predict different things."""
    if model.classes.tolist() == other.classes.tolist():
        return
    few = [", ".join(fitted.labels[:4]) for fitted in (model, other)]
    raise ValueError(
        f"The models predict different classes, {few[0]} and {few[1]}: compare models that were "
        "fitted to one target."
    )


def _labelled(fitted: FittedTree, X: Any, y: Any) -> _Rows:
    answers = read_answers(fitted.schema, X)
    codes = numbers_among(fitted.classes, y, answers.n_rows)
    overlap = training_overlap(fitted, answers.row_hashes(), codes)
    rows = np.arange(answers.n_rows)
    return _Rows(answers, rows, answers.leaves(fitted.tree), codes, overlap)


def _training_rows(model: object, fitted: FittedTree) -> _Rows | None:
    """Return the training rows of a classifier that has just been fitted to them."""
    table = vars(model).get("_training_table")
    held = table.held() if isinstance(table, TrainingTable) else None
    if held is None or held[2] is not None:  # rows with weights are not recognised
        return None
    return _labelled(fitted, held[0], held[1])


def compare_trees(
    model: FittedTree,
    other: FittedTree,
    seen: tuple[LabelledRows, LabelledRows] | None,
    training: LabelledRows | None = None,
) -> Comparison:
    """Compare two trees of the same classes.

    ``seen``: rows to score on, the same for each of them; ``training``: the training rows of the
    first, where ``seen`` are others.
    """
    columns = [
        {name_text(fitted.schema.columns[j].name) for j in fitted.used_columns}
        for fitted in (model, other)
    ]
    known = training if training is not None or seen is None else seen[0]
    scale, why_not, scores = _on_one_scale(model, other, known)
    compared = _scored(model, other, seen)
    log_losses, accuracies = compared.log_loss, compared.accuracy
    trees = [
        ComparedTree(
            name=name,
            leaves=fitted.tree.n_leaves,
            depth=fitted.tree.depth,
            only=tuple(sorted(columns[i] - columns[1 - i])),
            proved=_proved(fitted, i, scale),
            log_posterior=None if scores is None else scores[i],
            log_loss=None if log_losses is None else log_losses[i],
            accuracy=None if accuracies is None else accuracies[i],
        )
        for i, (name, fitted) in enumerate((("first", model), ("second", other)))
    ]
    bounds = _bounds(model, other, scale)
    return Comparison(
        model=trees[0],
        other=trees[1],
        wishes=wishes(model, other),
        same_tree=_same_tree(model, other),
        scale=scale,
        obstacle=why_not,
        cost=None if scores is None else scores[0] - scores[1],
        cost_bounds=bounds,
        log_loss=compared.log_loss_difference,
        accuracy=compared.accuracy_difference,
        scored_on=compared.where,
        notes=(*_of_averages(model, other), *_notes(model, other, scores, bounds), *compared.notes),
    )


def _proved(fitted: FittedTree, number: int, scale: str) -> str:
    """Return what a certificate states; that of the second may be about another prior or tests."""
    said = headline(fitted)
    if said and number == 1 and scale != _CERTIFIED:
        return f"{said} (by its own prior, over its own tests)"
    return said


# On one scale

_CERTIFIED = "the same rows, tests and prior"
_RESCORED = "both trees under the prior and over the tests of the first, on its training rows"


def _on_one_scale(
    model: FittedTree, other: FittedTree, rows: LabelledRows | None
) -> tuple[str, str, tuple[float, float] | None]:
    """Return how the log posteriors are on one scale, or why not, and the log posteriors."""
    why_not = obstacle(model, other)
    if not why_not:
        assert model.certificate is not None
        assert other.certificate is not None
        pair = model.certificate.log_posterior, other.certificate.log_posterior
        return _CERTIFIED, "", pair
    if rows is None or not rows.overlap.same:
        remedy = ". Both trees can be scored on the training rows of the first: pass these rows"
        return "", why_not + remedy, None
    try:
        tree = _renumbered(other, model)
        pair = _rescored(model, model.tree, rows), _rescored(model, tree, rows)
    except (NotKeptError, _CannotScore) as error:
        return "", f"{why_not}, and {_reason(error)}", None
    return _RESCORED, "", pair


class _CannotScore(Exception):  # noqa: N818
    """Why a tree cannot be scored under another prior."""


def _reason(error: Exception) -> str:
    if isinstance(error, NotKeptError):
        return "the first model does not have all of its thresholds"
    return str(error)


def _renumbered(fitted: FittedTree, model: FittedTree) -> Tree:
    """Return a tree over the tests of another model."""
    feature = fitted.tree.feature.copy()
    for node in np.flatnonzero(feature >= 0):
        number = find_test(int(feature[node]), fitted.schema, model.schema)
        if number is None:
            raise _CannotScore("the second tree has a test that is not among those of the first")
        feature[node] = number
    return Tree(feature, fitted.tree.left, fitted.tree.right, fitted.tree.counts)


def _rescored(model: FittedTree, tree: Tree, labelled: LabelledRows) -> float:
    n_tests, rows = len(model.schema.tests), labelled.rows
    if n_tests * len(rows) > _MOST_ANSWERS:
        raise _CannotScore(f"{len(rows):,} rows have too many answers to {n_tests:,} tests")
    answers = np.empty((len(rows), n_tests), dtype=np.uint8)
    for test in range(n_tests):
        answers[:, test] = labelled.answers(test, rows)
    prior = model.prior
    return log_posterior(
        tree,
        answers,
        labelled.codes,
        prior.alpha,
        prior.beta,
        prior.rho,
        test_weights=model.test_weights,
    )


def _bounds(model: FittedTree, other: FittedTree, scale: str) -> tuple[float, float] | None:
    """Return by how much the best tree of the second kind is less probable: at least, at most.

    The best tree of a kind has a log posterior between that of the tree found and the bound of its
    certificate. Under another prior the second certificate says nothing about the first's scale.
    """
    if scale != _CERTIFIED or model.constraints == other.constraints:
        return None
    first, second = _certificate(model), _certificate(other)
    low = first.log_posterior - second.log_posterior_bound
    high = first.log_posterior_bound - second.log_posterior
    if is_stricter(model.constraints, other.constraints):
        low = max(low, 0.0)
    if is_stricter(other.constraints, model.constraints):
        high = min(high, 0.0)
    return min(low, high), high


def _of_averages(model: FittedTree, other: FittedTree) -> list[str]:
    return [
        f"The {name} model predicts by an average over trees: compared is its best tree."
        for name, fitted in (("first", model), ("second", other))
        if fitted.average is not None
    ]


def _notes(
    model: FittedTree,
    other: FittedTree,
    scores: tuple[float, float] | None,
    bounds: tuple[float, float] | None,
) -> list[str]:
    """Return what is to be known about two log posteriors on one scale."""
    if scores is None:
        return []
    notes = []
    if scores[1] - scores[0] > EQUAL and is_stricter(model.constraints, other.constraints):
        notes.append(
            "The first search considers the second tree, too, but was stopped before it found it."
        )
    certificate = model.certificate
    if bounds is None and certificate is not None and not certificate.optimal:
        most = max(certificate.log_posterior_bound - scores[1], 0.0)
        if is_useful(most):
            notes.append(
                "Proved: no tree that the first search considers is more than "
                f"{gap_text(most, 1)} nats more probable than the second."
            )
    return notes


def _certificate(fitted: FittedTree) -> Certificate:
    assert fitted.certificate is not None
    return fitted.certificate


def _same_tree(model: FittedTree, other: FittedTree) -> bool:
    mine, theirs = model.tree, other.tree
    if mine.node_count != theirs.node_count or not np.array_equal(mine.left, theirs.left):
        return False
    try:
        feature = _renumbered(other, model).feature
    except (NotKeptError, _CannotScore):
        return False
    return np.array_equal(feature, mine.feature) and np.array_equal(mine.counts, theirs.counts)


# Scores


@dataclass(frozen=True)
class _Scored:
    """Scores of both trees on the same rows."""

    log_loss: tuple[float, float] | None = None
    accuracy: tuple[float, float] | None = None
    log_loss_difference: Difference | None = None
    accuracy_difference: Difference | None = None
    where: str = ""
    notes: tuple[str, ...] = ()


def _scored(
    model: FittedTree, other: FittedTree, seen: tuple[LabelledRows, LabelledRows] | None
) -> _Scored:
    if seen is None:
        if model.average is not None or other.average is not None:
            return _Scored()  # what is kept are scores of the average
        return _kept(_classes_held_out(model), _classes_held_out(other))
    found = [
        score(fitted.probabilities, rows.codes, rows.leaves)
        for fitted, rows in zip((model, other), seen, strict=True)
    ]
    codes = seen[0].codes
    known = codes >= 0
    losses, right = [], []
    for fitted, rows in zip((model, other), seen, strict=True):
        of_rows = fitted.probabilities[rows.leaves]
        losses.append(-np.log(of_rows[known, codes[known]]))
        right.append((of_rows.argmax(axis=1) == codes).astype(np.float64))
    overlaps = [rows.overlap for rows in seen]
    new = all(overlap.checked and not overlap.equal for overlap in overlaps)
    notes = [f"Scored on {count(len(codes), 'row')}."]
    told = [" ".join(rows_sentences(overlap)) for overlap in overlaps]
    notes += (
        [told[0]]
        if told[0] == told[1]
        else [
            f"The {name} tree: {sentence[0].lower()}{sentence[1:]}"
            for name, sentence in zip(("first", "second"), told, strict=True)
        ]
    )
    return _Scored(
        log_loss=(found[0].log_loss, found[1].log_loss),
        accuracy=(found[0].accuracy, found[1].accuracy),
        log_loss_difference=_difference(losses[1] - losses[0]),
        accuracy_difference=_difference(right[1] - right[0]),
        where="held-out" if new else "training" if overlaps[0].same else "",
        notes=tuple(notes),
    )


def _difference(of_rows: NDArray[np.float64]) -> Difference:
    n = len(of_rows)
    error = float(of_rows.std(ddof=1) / np.sqrt(n)) if n > 1 else None
    return Difference(float(of_rows.mean()) if n else 0.0, error)


def _classes_held_out(fitted: FittedTree) -> HeldOutScores | None:
    scores = fitted.training.held_out
    return scores if isinstance(scores, HeldOutScores) else None


def _kept(mine: HeldOutScores | None, theirs: HeldOutScores | None) -> _Scored:
    """Return the scores that model files hold, if both are of the same rows."""
    if mine is None or theirs is None:
        return _Scored()
    if (mine.method, mine.rows) != (theirs.method, theirs.rows):
        note = f"The models were scored in different ways: {mine.method}; {theirs.method}."
        return _Scored(notes=(note,))
    return _Scored(
        log_loss=(mine.log_loss, theirs.log_loss),
        accuracy=(mine.accuracy, theirs.accuracy),
        log_loss_difference=Difference(theirs.log_loss - mine.log_loss),
        accuracy_difference=Difference(theirs.accuracy - mine.accuracy),
        where="held-out",
        notes=(f"Scored by {mine.method}: {count(mine.rows, 'row')}.",),
    )
