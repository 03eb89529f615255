"""The scorer against the definition of the posterior, written out another way."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
import pytest
import scipy.sparse
from hypothesis import assume, given
from hypothesis import strategies as st

from checks import arrays_of
from maptree import MAPTreeClassifier, Tree, log_posterior
from oracle import all_trees
from problems import examples, problems


def cost_by_definition(tree, node, rows, depth, X, y, alpha, beta, rho, of_tests=None):
    """Node by node and row by row, with the likelihood as a product of predictions."""
    p_split = alpha / (1 + depth) ** beta
    varying = [j for j in range(len(X[0])) if len({X[i][j] for i in rows}) == 2]
    if tree.feature[node] < 0:
        cost = -math.log(1 - p_split) if varying else 0.0
        seen = list(rho)
        for i in rows:
            cost -= math.log(seen[y[i]] / sum(seen))
            seen[y[i]] += 1
        return cost
    test = tree.feature[node]
    if test not in varying:
        return math.inf
    of_tests = [1] * len(X[0]) if of_tests is None else of_tests
    chosen = of_tests[test] / sum(of_tests[j] for j in varying)
    cost = -math.log(p_split) - math.log(chosen)
    for child, answer in ((tree.left[node], 0), (tree.right[node], 1)):
        side = [i for i in rows if X[i][test] == answer]
        below = tree, child, side, depth + 1, X, y, alpha, beta, rho, of_tests
        cost += cost_by_definition(*below)
    return cost


def grow(draw, n_features, n_classes, most):
    """A random tree, as arrays; tests may repeat on a path and so have no probability."""
    feature, left, right = [], [], []
    waiting = [(-1, 0)]
    while waiting:
        parent, depth = waiting.pop(0)
        node = len(feature)
        inner = depth < most and draw(st.integers(0, 2)) > 0
        feature.append(draw(st.integers(0, n_features - 1)) if inner else -1)
        left.append(-1)
        right.append(-1)
        if parent >= 0:
            (left if left[parent] == -1 else right)[parent] = node
        if inner:
            waiting += [(node, depth + 1), (node, depth + 1)]
    return Tree(feature, left, right, np.zeros((len(feature), n_classes), dtype=int))


@st.composite
def cases(draw):
    n_features, n_classes = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    row = st.tuples(
        st.lists(st.integers(0, 1), min_size=n_features, max_size=n_features),
        st.integers(0, n_classes - 1),
    )
    rows = draw(st.lists(row, min_size=1, max_size=20))
    rho = draw(st.lists(st.floats(0.1, 20), min_size=n_classes, max_size=n_classes))
    tree = grow(draw, n_features, n_classes, most=3)
    prior = draw(st.floats(0.01, 0.99)), draw(st.floats(0, 4)), rho
    return tree, [x for x, _ in rows], [y for _, y in rows], prior


@examples(60)
@given(cases())
def test_it_follows_the_definition(case):
    tree, X, y, (alpha, beta, rho) = case
    cost = cost_by_definition(tree, 0, range(len(y)), 0, X, y, alpha, beta, rho)
    assert -log_posterior(tree, X, y, alpha, beta, rho) == pytest.approx(cost, abs=1e-9)


@examples(60)
@given(cases(), st.data())
def test_it_follows_the_definition_with_weights_of_tests(case, data):
    tree, X, y, (alpha, beta, rho) = case
    weight = st.integers(1, 2**28) | st.integers(1, 3) | st.floats(1e-3, 1e3)
    of_tests = data.draw(st.lists(weight, min_size=len(X[0]), max_size=len(X[0])))
    cost = cost_by_definition(tree, 0, range(len(y)), 0, X, y, alpha, beta, rho, of_tests)
    found = -log_posterior(tree, X, y, alpha, beta, rho, test_weights=of_tests)
    assert found == pytest.approx(cost, abs=1e-9)


@examples(40)
@given(problems(max_weight=3, max_test_weight=2**20), st.data())
def test_it_agrees_with_brute_force(problem, data):
    """On any tree that brute force lists, with weights of rows and of tests."""
    data_of = problem.X.tolist(), problem.y.tolist(), problem.weights.tolist()
    trees = all_trees(*data_of, **problem.prior, max_depth=2)
    some = [next(trees), *islice(trees, data.draw(st.integers(0, 5)), 200, 23)]
    for tree, cost in some:
        feature, left, right = arrays_of(tree)
        arrays = Tree(feature, left, right, np.zeros((len(feature), problem.n_classes), int))
        prior = problem.alpha, problem.beta, problem.rho
        found = log_posterior(
            arrays, problem.X, problem.y, *prior, problem.weights, problem.test_weights
        )
        assert -found == pytest.approx(cost, abs=1e-9)


def test_only_odds_matter():
    y = XOR[:, 0] ^ XOR[:, 1]
    equal = log_posterior(XOR_TREE, XOR, y)
    assert log_posterior(XOR_TREE, XOR, y, test_weights=[7, 7]) == pytest.approx(equal)
    odds = log_posterior(XOR_TREE, XOR, y, test_weights=[3, 1])
    assert odds == log_posterior(XOR_TREE, XOR, y, test_weights=np.array([3, 1], np.uint32))
    # The root tests column 0 with 3/4 instead of 1/2; below it there is nothing to choose.
    assert odds - equal == pytest.approx(math.log(1.5))


@pytest.mark.parametrize(
    ("of_tests", "kind", "message"),
    [
        ([1], ValueError, r"test_weights has shape \(1,\) but X has 2 tests"),
        ([[1, 1]], ValueError, "shape"),
        (1, ValueError, "shape"),
        ([1, 0], ValueError, r"test_weights\[1\] is 0: pass numbers above 0"),
        ([-1, 1], ValueError, r"test_weights\[0\] is -1"),
        ([1, math.nan], ValueError, r"test_weights\[1\] is nan"),
        ([1, math.inf], ValueError, r"test_weights\[1\] is inf"),
        (["a", "b"], TypeError, "test_weights has type"),
        ([None, 1], TypeError, "test_weights has type"),
        ([True, True], TypeError, "test_weights has type bool"),
    ],
)
def test_weights_of_tests_that_cannot_be_used(of_tests, kind, message):
    leaf = Tree([-1], [-1], [-1], [[1, 1]])
    with pytest.raises(kind, match=message):
        log_posterior(leaf, [[0, 1], [1, 1]], [0, 1], test_weights=of_tests)


@examples(20)
@given(cases(), st.data())
def test_weights_are_repetitions(case, data):
    tree, X, y, (alpha, beta, rho) = case
    weights = data.draw(st.lists(st.integers(0, 4), min_size=len(y), max_size=len(y)))
    assume(sum(weights) > 0)
    weighted = log_posterior(tree, X, y, alpha, beta, rho, sample_weight=np.array(weights, float))
    X_repeated, y_repeated = np.repeat(X, weights, axis=0), np.repeat(y, weights)
    repeated = log_posterior(tree, X_repeated, y_repeated, alpha, beta, rho)
    assert weighted == pytest.approx(repeated, abs=1e-9)


XOR = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], 10, axis=0)
XOR_TREE = Tree(
    [0, 1, -1, -1, 1, -1, -1],
    [1, 2, -1, -1, 5, -1, -1],
    [4, 3, -1, -1, 6, -1, -1],
    np.zeros((7, 2), int),
)


def test_leaves_of_identical_rows_stop_for_free():
    assert -log_posterior(XOR_TREE, XOR, XOR[:, 0] ^ XOR[:, 1]) == pytest.approx(15.79, abs=0.005)


def test_duplicate_and_complement_columns_count_as_tests():
    y = XOR[:, 0] ^ XOR[:, 1]
    wider = np.column_stack([XOR, XOR[:, 0], 1 - XOR[:, 1], np.ones(40, int)])
    # Three inner nodes: the root has 4 tests instead of 2, its children 2 instead of 1.
    extra = math.log(2) + 2 * math.log(2)
    difference = log_posterior(XOR_TREE, XOR, y) - log_posterior(XOR_TREE, wider, y)
    assert difference == pytest.approx(extra)


def test_rho_of_none_is_five_over_the_number_of_classes():
    X, y = [[0], [1], [1]], ["a", "b", "c"]
    leaf = Tree([-1], [-1], [-1], [[0, 0, 0]])
    assert log_posterior(leaf, X, y) == log_posterior(leaf, X, y, rho=[5 / 3] * 3)
    assert log_posterior(leaf, X, y) == log_posterior(leaf, X, y, rho=5 / 3)


def test_labels_are_classes_in_sorted_order_or_class_numbers():
    leaf = Tree([-1], [-1], [-1], [[0, 0, 0]])
    X, rho = [[0], [1], [1]], [1.0, 2.0, 3.0]
    assert log_posterior(leaf, X, ["c", "a", "b"], rho=rho) == log_posterior(
        leaf, X, [2, 0, 1], rho=rho
    )
    # Two of three classes: numbers say which.
    assert log_posterior(leaf, X, [2, 0, 0], rho=rho) != log_posterior(leaf, X, [1, 0, 0], rho=rho)
    with pytest.raises(ValueError, match=r"2 distinct labels .* 3 classes"):
        log_posterior(leaf, X, ["a", "b", "b"])
    with pytest.raises(ValueError, match="3 classes"):
        log_posterior(leaf, X, [3, 0, 0])


def test_large_counts_are_exact_enough():
    leaf = Tree([-1], [-1], [-1], [[0, 0]])
    n = 2**24
    value = log_posterior(leaf, [[0], [0]], [0, 1], rho=1.0, sample_weight=[n, n])
    # With rho = 1 the likelihood is 1 / ((2n + 1) * binomial(2n, n)), here by Stirling's series.
    log_binomial = 2 * n * math.log(2) - math.log(math.pi * n) / 2 - 1 / (8 * n)
    assert value == pytest.approx(-math.log(2 * n + 1) - log_binomial, abs=1e-6)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[0, 2]], r"X\[0, 1\] is .*2"),
        ([[0, float("nan")]], "nan"),
        ([0, 1], "shape"),
        (np.zeros((0, 2)), "at least one row"),
        ([[0]], "uses test 1"),
    ],
)
def test_a_matrix_that_is_not_the_answers(X, message):
    tree = Tree([1, -1, -1], [1, -1, -1], [2, -1, -1], [[1, 1], [1, 0], [0, 1]])
    with pytest.raises(ValueError, match=message):
        log_posterior(tree, X, [0])


@pytest.mark.parametrize("prior", [{"alpha": 1.0}, {"beta": -1}, {"rho": 0}, {"rho": [1, 2, 3]}])
def test_a_prior_out_of_range(prior):
    leaf = Tree([-1], [-1], [-1], [[1, 1]])
    with pytest.raises(ValueError, match=next(iter(prior))):
        log_posterior(leaf, [[0], [1]], [0, 1], **prior)


def test_the_scorer_says_what_it_takes():
    X, y = np.array([[0], [1]]), [0, 1]
    tree = MAPTreeClassifier().fit(X, y).tree_
    with pytest.raises(TypeError, match="pass a maptree"):
        log_posterior("x", X, y)
    with pytest.raises(TypeError, match="toarray"):
        log_posterior(tree, scipy.sparse.csr_array(X), y)
