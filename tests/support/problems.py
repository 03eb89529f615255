"""Small random problems, each kind chosen for something that breaks searches.

`generate(kind, seed)` repeats for ever from its seed; `problems()` is the Hypothesis strategy that
mixes the same ingredients and shrinks. Both stay small enough for brute force.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

Matrix = npt.NDArray[np.uint8]
Vector = npt.NDArray[np.int64]
Test = TypeVar("Test", bound=Callable[..., None])

SCALE = int(os.environ.get("MAPTREE_CASES", "1"))
"""How many times the usual number of random cases to run."""

BLOCK_SIZES = (1, 63, 64, 65, 127, 128, 129)
"""Numbers of rows around the ends of 64-bit words."""


def examples(count: int, *allowed: HealthCheck) -> Callable[[Test], Test]:
    """How many examples Hypothesis tries. A usual run repeats; a long one looks for new ones."""
    chosen = settings(
        max_examples=count * SCALE,
        derandomize=SCALE == 1,
        deadline=None,
        # A busy machine is no fault of the problem.
        suppress_health_check=[HealthCheck.too_slow, *allowed],
    )
    return lambda test: pytest.mark.cases(chosen(test))


def seeds(count: int) -> Callable[[Test], Test]:
    """Run a test with so many seeds."""
    seed = pytest.mark.parametrize("seed", range(count * SCALE))
    return lambda test: pytest.mark.cases(seed(test))


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """Data and prior. Weights of rows and of tests are whole numbers, or None for all one."""

    X: Matrix
    y: Vector
    n_classes: int
    alpha: float
    beta: float
    rho: tuple[float, ...]
    weights: Vector | None = None
    test_weights: Vector | None = None

    def __repr__(self) -> str:
        """Python that builds the problem again, to paste from a failed test."""
        weights = None if self.weights is None else f"np.array({self.weights.tolist()})"
        tests = "" if self.test_weights is None else f", np.array({self.test_weights.tolist()})"
        return (
            f"Problem(np.array({self.X.tolist()}, np.uint8), np.array({self.y.tolist()}), "
            f"{self.n_classes}, {self.alpha}, {self.beta}, {self.rho}, {weights}{tests})"
        )

    @property
    def prior(self) -> dict[str, Any]:
        """The keywords that the oracles want beside X, y and weights."""
        tests = None if self.test_weights is None else self.test_weights.tolist()
        return {
            "n_classes": self.n_classes,
            "alpha": self.alpha,
            "beta": self.beta,
            "rho": self.rho,
            "test_weights": tests,
        }

    def repeated(self) -> Problem:
        """The same problem with each row written out as often as its weight says."""
        if self.weights is None:
            return self
        X, y = np.repeat(self.X, self.weights, axis=0), np.repeat(self.y, self.weights)
        return replace(self, X=X, y=y, weights=None)

    def with_rows(self, order: npt.NDArray[np.int64]) -> Problem:
        weights = None if self.weights is None else self.weights[order]
        return replace(self, X=self.X[order], y=self.y[order], weights=weights)

    def with_columns(self, order: npt.NDArray[np.int64]) -> Problem:
        tests = None if self.test_weights is None else self.test_weights[order]
        return replace(self, X=self.X[:, order], test_weights=tests)

    def with_labels(self, names: npt.NDArray[np.int64]) -> Problem:
        """Class k is called names[k], and takes its rho along."""
        rho = tuple(self.rho[k] for k in np.argsort(names))
        return replace(self, y=names[self.y], rho=rho)

    def with_complement(self, column: int) -> Problem:
        X = self.X.copy()
        X[:, column] ^= 1
        return replace(self, X=X)


def noise(rng: np.random.Generator, n: int, f: int, k: int) -> tuple[Matrix, Vector]:
    return bits(rng, n, f), rng.integers(k, size=n)


def duplicates(rng: np.random.Generator, n: int, f: int, k: int) -> tuple[Matrix, Vector]:
    """Few distinct rows, each with one label: stop is free at many nodes."""
    pool = bits(rng, max(2, n // 4), f)
    which = first_occurrence(pool)[rng.integers(len(pool), size=n)]
    return pool[which], rng.integers(k, size=len(pool))[which]


def impure(rng: np.random.Generator, n: int, f: int, k: int) -> tuple[Matrix, Vector]:
    """Few distinct rows with any labels: twins of different classes never part."""
    pool = bits(rng, max(2, n // 4), f)
    return pool[rng.integers(len(pool), size=n)], rng.integers(k, size=n)


def complements(rng: np.random.Generator, n: int, f: int, k: int) -> tuple[Matrix, Vector]:
    """Copies and complements of a few columns: they all count in |V|."""
    base = bits(rng, n, (f + 1) // 2)
    X = base[:, rng.integers(base.shape[1], size=f)] ^ bits(rng, 1, f)
    return X, noisy(rng, base[:, 0].astype(np.int64) % k, k)


def xor(rng: np.random.Generator, n: int, f: int, k: int) -> tuple[Matrix, Vector]:
    """No single column tells anything: the first columns' sum modulo the number of classes."""
    X = bits(rng, n, f)
    return X, X[:, : max(2, k)].sum(axis=1, dtype=np.int64) % k


def constant_columns(rng: np.random.Generator, n: int, f: int, k: int) -> tuple[Matrix, Vector]:
    X, y = noise(rng, n, f, k)
    held = rng.random(f) < 0.5
    X[:, held] = bits(rng, 1, f)[:, held]
    return X, y


def separable(rng: np.random.Generator, n: int, f: int, k: int) -> tuple[Matrix, Vector]:
    """A tree of depth two wrote the labels."""
    X = bits(rng, n, f)
    first, *then = rng.integers(f, size=3)
    leaf = 2 * X[:, first] + np.where(X[:, first], X[:, then[0]], X[:, then[1]])
    return X, rng.permutation(np.arange(4) % k)[leaf]


def one_class(rng: np.random.Generator, n: int, f: int, k: int) -> tuple[Matrix, Vector]:
    return bits(rng, n, f), np.full(n, rng.integers(k))


KINDS: dict[str, Callable[[np.random.Generator, int, int, int], tuple[Matrix, Vector]]] = {
    "noise": noise,
    "duplicates": duplicates,
    "complements": complements,
    "impure": impure,
    "xor": xor,
    "constant columns": constant_columns,
    "separable": separable,
    "one class": one_class,
}

every_kind = pytest.mark.parametrize("kind", KINDS)


def generate(
    kind: str,
    seed: int,
    *,
    n_rows: int | None = None,
    n_features: int | None = None,
    n_classes: int | None = None,
    max_rows: int = 40,
    max_features: int = 6,
    max_weight: int = 0,
) -> Problem:
    """A problem of one kind with a random prior. What is not given is drawn too.

    With `max_weight` rows have weights from 0 to it, not all 0.
    """
    rng = np.random.default_rng([list(KINDS).index(kind), seed])
    n = int(rng.integers(1, max_rows + 1)) if n_rows is None else n_rows
    f = int(rng.integers(1, max_features + 1)) if n_features is None else n_features
    k = int(rng.integers(2, 5)) if n_classes is None else n_classes
    X, y = KINDS[kind](rng, n, f, k)
    weights = None
    if max_weight:
        weights = rng.integers(max_weight + 1, size=n)
        weights[rng.integers(n)] = max_weight
    return with_random_prior(rng, X, y, k, weights)


@cache
def case(kind: str, seed: int, n_rows: int | None = None, n_features: int | None = None) -> Problem:
    """A generated problem, the same object for all tests: its optimum is worked out once."""
    return generate(kind, seed, n_rows=n_rows, n_features=n_features)


TEST_WEIGHTS: dict[str, Callable[[np.random.Generator, int], Vector]] = {
    "a few small ones": lambda rng, f: rng.integers(1, 4, size=f),
    "powers of two": lambda rng, f: 2 ** rng.integers(0, 25, size=f),
    "anything": lambda rng, f: rng.integers(1, 2**28, size=f),
    "one heavy": lambda rng, f: np.where(np.arange(f) == rng.integers(f), 10**6, 1),
    "one light": lambda rng, f: np.where(np.arange(f) == rng.integers(f), 1, 10**6),
}


def with_test_weights(problem: Problem, seed: int) -> Problem:
    """The same with weights of tests, of one kind after the other."""
    rng = np.random.default_rng([seed, problem.X.shape[1]])
    draw = list(TEST_WEIGHTS.values())[seed % len(TEST_WEIGHTS)]
    return replace(problem, test_weights=draw(rng, problem.X.shape[1]).astype(np.int64))


@cache
def weighted_case(
    kind: str, seed: int, n_rows: int | None = None, n_features: int | None = None
) -> Problem:
    """A generated problem with weights of tests, the same object for all tests."""
    return with_test_weights(case(kind, seed, n_rows, n_features), seed)


def big_few_distinct(n_rows: int, seed: int = 0, n_features: int = 3) -> Problem:
    """Many rows for the packing, few columns for brute force; column 0 tells most of the label."""
    rng = np.random.default_rng([n_rows, n_features, seed])
    n_classes = int(rng.integers(2, 5))
    X = bits(rng, n_rows, n_features)
    y = noisy(rng, (X[:, 0] + 2 * X[:, -1]).astype(np.int64) % n_classes, n_classes)
    # The last row alone shows whether the last word is read whole.
    X[-1], y[-1] = 1 - X[0], n_classes - 1
    return with_random_prior(rng, X, y, n_classes)


def collision_problem(seed: int, n_rows: int = 130, n_random: int = 3) -> Problem:
    """Columns 0 and 1 differ by swapping row 63 for row 127; the rest are random.

    A hash that sums 64-bit blocks times odd numbers takes their row sets for the same. The label is
    column 2 or 3, as column 0 tells, and the two rows differ there, so that a mistaken set is a
    mistaken cost. Two seeds of every four are sorted by label, so that a core that sorts rows by
    class leaves these two where they are; of the other two, one gives them the same label, so that
    class counts do not tell the sets apart (sorted problems do so when there are 260 rows).
    """
    rng = np.random.default_rng(seed)
    X = bits(rng, n_rows, 2 + n_random)
    y = noisy(rng, np.where(X[:, 0], X[:, 2], X[:, 3]).astype(np.int64), 2)
    y[127] = y[63] ^ (seed % 2)
    if seed // 2 % 2:
        order = np.argsort(y, kind="stable")
        X, y = X[order], y[order]
    X[127] = 1 - X[63]
    X[:, 1] = X[:, 0]
    X[63, :2], X[127, :2] = (1, 0), (0, 1)
    return Problem(X, y, n_classes=2, alpha=0.95, beta=0.5, rho=(2.5, 2.5))


def bits(rng: np.random.Generator, n: int, f: int) -> Matrix:
    return rng.integers(2, size=(n, f), dtype=np.uint8)


def noisy(rng: np.random.Generator, y: Vector, n_classes: int) -> Vector:
    """One label in eight is drawn anew."""
    return np.where(rng.random(len(y)) < 1 / 8, rng.integers(n_classes, size=len(y)), y)


def first_occurrence(rows: Matrix) -> Vector:
    """For every row the number of the first row that equals it."""
    _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return np.asarray(first[inverse.reshape(-1)], dtype=np.int64)


def with_random_prior(
    rng: np.random.Generator, X: Matrix, y: Vector, n_classes: int, weights: Vector | None = None
) -> Problem:
    """The default prior for a quarter; otherwise alpha, beta and rho over their ranges.

    Large alpha is drawn more often: where splits are cheap, more trees compete. rho runs from 0.1
    to 20 and is the same for all classes in two thirds of the problems.
    """
    if rng.random() < 0.25:
        return Problem(X, y, n_classes, 0.95, 0.5, (5 / n_classes,) * n_classes, weights)
    alpha = rng.uniform(rng.choice([0.05, 0.8]), 0.999)
    beta = rng.choice([0.0, rng.uniform(0, 2), rng.uniform(0, 2), rng.uniform(2, 8)])
    rho = np.exp(rng.uniform(np.log(0.1), np.log(20), size=n_classes))
    if rng.random() < 2 / 3:
        rho[:] = rho[0]
    return Problem(X, y, n_classes, float(alpha), float(beta), tuple(rho.tolist()), weights)


@st.composite
def problems(
    draw: st.DrawFn,
    max_rows: int = 12,
    max_features: int = 4,
    max_classes: int = 4,
    max_weight: int = 0,
    max_test_weight: int = 0,
) -> Problem:
    """Rows repeat, with the same or other labels; columns repeat, are complements or constant."""
    n_classes = draw(st.integers(2, max_classes))
    n_base = draw(st.integers(1, max_features))
    n_copies = draw(st.integers(0, max_features - n_base))
    n_distinct = draw(st.integers(1, max_rows))
    n_twins = draw(st.integers(0, max_rows - n_distinct))
    n_rows = n_distinct + n_twins

    def integers(low: int, high: int, size: int) -> Vector:
        drawn = draw(st.lists(st.integers(low, high), min_size=size, max_size=size))
        return np.array(drawn, dtype=np.int64)

    X = integers(0, 1, n_distinct * n_base).reshape(n_distinct, n_base).astype(np.uint8)
    X = np.vstack([X, X[integers(0, n_distinct - 1, n_twins)]])
    copies = X[:, integers(0, n_base - 1, n_copies)]
    X = np.hstack([X, copies ^ integers(0, 1, n_copies).astype(np.uint8)])
    y = integers(0, n_classes - 1, n_rows)

    weights = None
    if max_weight:
        weights = integers(0, max_weight, n_rows)
        weights[0] = max(weights[0], 1)
    rho_value = st.sampled_from([2.5, 0.1, 0.5, 1.0, 10.0, 20.0]) | st.floats(0.1, 20)
    rho = draw(
        st.builds(lambda r: [r] * n_classes, rho_value)
        | st.lists(rho_value, min_size=n_classes, max_size=n_classes)
    )
    alpha = draw(st.sampled_from([0.95, 0.5, 0.999]) | st.floats(0.05, 0.999))
    beta = draw(st.sampled_from([0.5, 0.0, 2.0]) | st.floats(0, 8))
    tests = integers(1, max_test_weight, X.shape[1]) if max_test_weight else None
    return Problem(X, y, n_classes, alpha, beta, tuple(rho), weights, tests)
