"""``alternatives`` of a fitted classifier: the most probable trees in order."""

from __future__ import annotations

import contextlib
import math
import time
import warnings
import weakref
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maptree.engine.interrupts import Noted, raising
from maptree.engine.progress import ProgressLine
from maptree.engine.rivals import Rival, Rivals, find_rivals
from maptree.estimators.base import InterruptedWarning, Reading, importances
from maptree.parameters.budget import Budget
from maptree.parameters.monotone import read_monotone
from maptree.parameters.numbers import bad_type, bad_value, real_number, whole_number
from maptree.schema.columns import Schema
from maptree.schema.kept_thresholds import FEW_THRESHOLDS, keep_thresholds
from maptree.trees.certificate import Certificate
from maptree.trees.fitted import TRACE, FittedTree
from maptree.trees.leaf_probabilities import posterior_mean
from maptree.trees.monotone import ORDERED, is_monotone
from maptree.trees.outcomes import Measured
from maptree.trees.tree import Tree
from maptree.words.alternatives import Alternative, Alternatives
from maptree.words.certificate import constraints_text
from maptree.words.values import name_text

if TYPE_CHECKING:
    from maptree.estimators.searched import SearchedTree

# Trees listed where no number is given: as such, and within some nats.
_FEW, _MANY = 10, 1000
# Values of a training table, up to which a classifier keeps a reference to it: some megabytes.
LARGEST_KEPT = 1_000_000


class TrainingTable:
    """References to the table of ``fit``: X, y and the weights, none of them copied.

    A table of more than ``LARGEST_KEPT`` values is there only as long as the caller keeps it.
    Copies and pickles have none.

    >>> import copy
    >>> X = np.zeros((2, 1))
    >>> table = TrainingTable(2, X, [0, 1], None)
    >>> table.held()[0] is X, copy.deepcopy(table).held()
    (True, None)
    >>> large = TrainingTable(10**9, X, X[:, 0], None)  # the second does not exist any more
    >>> print(large.held())
    None
    """

    def __init__(self, n_values: int = 0, *arrays: Any) -> None:
        self._held: list[Callable[[], Any]] | None = None
        if arrays and n_values <= LARGEST_KEPT:
            self._held = [partial(_same, array) for array in arrays]
        elif arrays:
            with contextlib.suppress(TypeError):  # lists have no weak references
                self._held = [
                    partial(_same, None) if array is None else weakref.ref(array)
                    for array in arrays
                ]

    @classmethod
    def of(
        cls,
        reading: Reading,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
        exposure: Any = None,
    ) -> Self:
        """Return references to a table that was read."""
        n_values = len(reading.problem.codes) * len(reading.schema.columns)
        return cls(n_values, X, y, sample_weight, exposure)

    def held(self) -> list[Any] | None:
        """Return X, y, the weights and the exposure; None if one of them is gone."""
        if self._held is None:
            return None
        found = [one() for one in self._held]
        gone = any(isinstance(one, weakref.ref) and one() is None for one in self._held)
        return None if gone else found

    def __reduce__(self) -> tuple[Any, ...]:
        return TrainingTable, ()


def _same(value: Any) -> Any:
    return value


def list_alternatives(
    model: SearchedTree,
    n: object,
    within: object,
    max_depth: object,
    monotone: object,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None,
    exposure: Any = None,
) -> Alternatives:
    """Do what ``alternatives`` of ``MAPTreeClassifier`` and ``MAPTreeRegressor`` document."""
    started = time.perf_counter()
    budget = model._read_budget()
    most = whole_number("n", (_FEW if within is None else _MANY) if n is None else n, least=1)
    remedy = "pass a number of nats of at least 0, or None"
    nats = math.inf if within is None else real_number("within", within, remedy)
    if nats < 0:
        raise bad_value("within", within, "is negative", remedy)
    fitted = model.fitted_
    if max_depth is not None:
        depth = whole_number("max_depth", max_depth, least=0)
        limit = budget.constraints.max_depth
        depth = depth if limit is None else min(depth, limit)
    wishes = read_monotone(monotone, fitted.schema.names)
    _refuse_wishes(wishes, monotone, fitted)
    X, y, sample_weight, exposure = _table(model, X, y, sample_weight, exposure)
    deadline = started + budget.seconds  # without all columns nothing can be said
    reading: Reading = raising(model._read, X, y, sample_weight, deadline, exposure)
    if reading.problem.amounts is not None and fitted.measured is not None:
        amounts = reading.problem.amounts.of_the_prior_of(fitted.measured)
        reading = replace(reading, problem=replace(reading.problem, amounts=amounts))
    budget = replace(budget, constraints=reading.constrained(budget.constraints))
    _refuse_others(reading, fitted, budget)
    if max_depth is not None:
        budget = replace(budget, constraints=replace(budget.constraints, max_depth=depth))

    def satisfies(tree: Tree) -> bool:
        return is_monotone(tree, reading.schema, _predicted(tree, fitted), wishes)

    with Noted() as interrupt:
        found = find_rivals(
            reading.problem,
            budget,
            most,
            nats,
            satisfies if wishes else None,
            model.callback,
            ProgressLine() if model.verbose else None,
            started,
            interrupt,
        )
        listed = Alternatives(
            trees=tuple(_alternative(one, found, reading, fitted, budget) for one in found.rivals),
            status=found.status,
            log_posterior=found.best,
            log_posterior_bound=found.log_posterior_bound,
            constraints=constraints_text(replace(fitted, constraints=budget.constraints)),
            wish=_words(wishes, fitted),
            examined=found.examined,
            expansions=found.expansions,
            seconds=found.seconds,
            peak_bytes=found.peak_bytes,
        )
        interrupted = interrupt.arrived()
    if interrupted or (found.status == "interrupted" and not found.stopped_by_callback):
        warnings.warn(
            f"alternatives was interrupted. {listed.sentences[0]}", InterruptedWarning, stacklevel=3
        )
    return listed


def _predicted(tree: Tree, fitted: FittedTree) -> NDArray[np.float64]:
    """Return what is to rise or fall, by node: the mean, or the second class's probability."""
    if fitted.measured is not None:
        return fitted.measured.predictive(tree).mean
    return posterior_mean(tree.counts, fitted.prior.rho)[:, -1]


def _table(
    model: SearchedTree, X: Any, y: Any, sample_weight: ArrayLike | None, exposure: Any
) -> tuple[Any, Any, Any, Any]:
    """Return the training table: as given, or that of ``fit`` where it is still there."""
    if (X is None) != (y is None):
        absent = "X" if X is None else "y"
        raise ValueError(f"{absent} is missing: X and y must be passed together, or neither.")
    if X is not None:
        return X, y, sample_weight, exposure
    for name, given in (("sample_weight", sample_weight), ("exposure", exposure)):
        if given is not None:
            raise ValueError(f"{name} was passed without X and y: pass all three, or none.")
    table = vars(model).get("_training_table")
    held = None if table is None else table.held()
    if held is None:
        raise ValueError(
            "The training table is needed, and this estimator does not have it: files and copies "
            f"do not contain it, and one of more than {LARGEST_KEPT:,} values is used only while "
            "X and y of fit still exist. Pass it, as in model.alternatives(10, X=X, y=y)."
        )
    return held[0], held[1], held[2], held[3]


def _refuse_others(reading: Reading, fitted: FittedTree, budget: Budget) -> None:
    """Refuse a table, parameters or a time limit other than those of ``fit``."""
    unread = reading.schema.n_unread
    if unread:
        raise ValueError(
            f"time_limit left no time to read {unread:,} of {len(reading.schema.columns):,} "
            "columns, so nothing could be said about all trees: raise time_limit, and fit again."
        )
    seen, known = reading.seen, fitted.training.seen
    amounts = reading.problem.amounts
    measured = None if amounts is None else amounts.outcome
    same = len(reading.classes) == len(fitted.classes) and all(
        str(a) == str(b) for a, b in zip(reading.classes, fitted.classes, strict=True)
    )
    if seen is not None and known is not None:
        same = same and seen.digest == known.digest
    if not same or _n_tests(reading.schema) != _n_tests(fitted.schema):
        raise ValueError(
            "This is not the table that the model was fitted to: alternatives are about the same "
            "rows and labels. Pass the training table, or fit again."
        )
    prior, before = reading.problem.prior, fitted.prior
    changed = [
        name
        for name in ("alpha", "beta", "split_prior", "column_weights")
        if getattr(prior, name) != getattr(before, name)
    ]
    changed += ["rho"] * (not np.array_equal(prior.rho, before.rho))
    changed += _changed_outcome(measured, fitted.measured)
    constraints = vars(budget.constraints), vars(fitted.constraints)
    changed += [name for name, value in constraints[0].items() if value != constraints[1][name]]
    if changed:
        names = ", ".join(changed)
        raise ValueError(f"{names} changed since fit: alternatives needs a new fit with it.")


def _changed_outcome(now: Measured | None, before: Measured | None) -> list[str]:
    """Return the parameters of the leaves that are not those of ``fit``."""
    if now is None or before is None:
        return []
    if type(now) is not type(before):
        return ["likelihood"]
    priors = vars(now.prior), vars(before.prior)
    return [name for name, value in priors[0].items() if value != priors[1][name]]


def refuse_foreign(alternative: object, fitted: FittedTree) -> None:
    """Refuse what is not one of the alternatives to a tree."""
    remedy = "pass one of those that alternatives of this classifier returned, such as found[1]"
    if not isinstance(alternative, Alternative):
        raise bad_type("alternative", alternative, "is not an alternative", remedy)
    if not fitted.is_of_the_table_of(alternative.fitted):
        raise ValueError(f"The alternative is to a tree of another table: {remedy}.")


def _n_tests(schema: Schema) -> int:
    return schema.first_tests[-1]


def _alternative(
    one: Rival, found: Rivals, reading: Reading, fitted: FittedTree, budget: Budget
) -> Alternative:
    tree, gap = one.tree, max(0.0, found.best - one.log_posterior)
    inner = tree.feature >= 0
    used = tree.feature[inner].tolist()
    gains = one.gain[inner].clip(min=0)
    certificate = Certificate(
        status="optimal" if gap == 0 else "alternative",
        optimal=gap == 0,
        log_posterior=one.log_posterior,
        log_posterior_bound=found.best,
        gap=gap,
        proved_depth=math.inf if gap == 0 else 0,
        expansions=found.expansions,
        subproblems=0,
        seconds=found.seconds,
        peak_bytes=found.peak_bytes,
    )
    return Alternative(
        rank=one.rank,
        log_posterior=one.log_posterior,
        odds=math.exp(-gap),
        fitted=replace(
            fitted,
            tree=tree,
            schema=keep_thresholds(reading.schema, used, FEW_THRESHOLDS, one.beside),
            training=replace(fitted.training, held_out=None),
            trace=np.empty(0, dtype=TRACE),
            certificate=certificate,
            constraints=budget.constraints,
            importances=importances(tree.feature[inner], gains, reading.schema),
        ),
    )


def _refuse_wishes(wishes: dict[int, int], monotone: object, fitted: FittedTree) -> None:
    if not wishes:
        return
    if fitted.measured is None and len(fitted.classes) != 2:
        fault = f"is about a probability, but there are {len(fitted.classes):,} classes"
        raise bad_value("monotone", monotone, fault, "fit a model of two classes")
    for column in wishes:
        about = fitted.schema.columns[column]
        if about.kind not in ORDERED:
            fault = f"is about {about.name!r}, whose values have no order ({about.kind})"
            raise bad_value("monotone", monotone, fault, "pass columns of numbers or dates")


def _words(wishes: dict[int, int], fitted: FittedTree) -> str:
    """Return wishes in words."""
    names = fitted.schema.names
    parts = [
        f"must not {'fall' if direction > 0 else 'rise'} with {name_text(names[column])}"
        for column, direction in wishes.items()
    ]
    if not parts:
        return ""
    what = "the mean" if fitted.measured else f"the probability of {fitted.labels[-1]}"
    return f"{what} {' and '.join(parts)}"
