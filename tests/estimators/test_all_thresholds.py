"""The search over all thresholds: ranks in the core, and the same optimum as from all answers."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest

import oracle
from maptree import BinaryEncoder, MAPTreeClassifier, log_posterior
from maptree.encoding import choosing
from maptree.engine.ordered_columns import OrderedColumns
from maptree.engine.problem import Problem
from maptree.engine.search import OWN_BYTES
from maptree.schema.columns import Column, Schema
from problems import seeds
from samples import classifier

PRIORS = [
    {},
    {"split_prior": "columns"},
    {"column_weights": {"wait": 3, "day": 0.25}},
    {"split_prior": "columns", "column_weights": {"age": 1 / 3, "size": 0}},
]
RHO = 0.3


@pytest.fixture(autouse=True, scope="module")
def ranks_of_small_tables():
    """Keep the ranks of tables of few tests, too: those are what these tests are about."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choosing, "FEW_TESTS", 0)
        yield


class FromAnswers(MAPTreeClassifier):
    """The same search, over packed answers to all thresholds."""

    _takes_ranks = False


def table(n, seed, n_values=6):
    """Mixed columns with ties and missing values; labels follow some of them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, n_values, n).astype(float),
            "colour": rng.choice(list("abc"), n),
            "wait": rng.exponential(2, n).round(1),
            "size": pd.Categorical(rng.choice(list("smlx"), n), list("smlx"), ordered=True),
            "day": pd.Timestamp("2020-02-27") + pd.to_timedelta(rng.integers(0, 5, n), unit="D"),
        }
    )
    frame.loc[rng.random(n) < 0.25, "age"] = np.nan
    frame.loc[rng.random(n) < 0.25, "day"] = pd.NaT
    kinds = [
        frame["age"].isna(),
        frame["age"] > n_values / 2,
        frame["wait"] > 1,
        frame["day"].notna() & (frame["size"] <= "m"),
    ]
    first, second = rng.choice(len(kinds), 2, replace=False)
    y = kinds[first].to_numpy() ^ kinds[second].to_numpy() ^ (rng.random(n) < 0.1)
    return frame, y.astype(int)


def drawn_weights(n, seed):
    """Weights of rows, some of them 0; every third table has none."""
    weights = np.random.default_rng(seed).integers(0, 4, n)
    return None if seed % 3 == 0 else weights


def every(**params):
    """Parameters of a search over all thresholds; few pseudo-counts, so that small trees split."""
    return {"encoder": BinaryEncoder(max_thresholds=None), "time_limit": None, "rho": RHO} | params


def check_score(model, X, y, weights):
    """The scorer, which knows only the answers, says the same of the tree."""
    answers = model.encoder_.transform(X)
    score = log_posterior(
        model.tree_,
        answers,
        y,
        rho=model.rho,
        sample_weight=weights,
        test_weights=model.test_weights_,
    )
    assert score == pytest.approx(model.certificate_.log_posterior, abs=1e-6)
    leaves = model.tree_.apply(answers)
    np.testing.assert_array_equal(model.apply(X), leaves)
    repeated = np.repeat(np.arange(len(y)), 1 if weights is None else weights)
    for code, label in enumerate(model.classes_):
        rows = repeated[np.asarray(y)[repeated] == label]
        counts = np.bincount(leaves[rows], minlength=model.tree_.node_count)
        ends = model.tree_.feature < 0
        np.testing.assert_array_equal(model.tree_.counts[ends, code], counts[ends])


@seeds(6)
@pytest.mark.parametrize("prior", PRIORS, ids=str)
def test_the_optimum_is_that_of_brute_force(prior, seed, tally: Counter[str]) -> None:
    X, y = table(9, seed, n_values=4)
    weights = drawn_weights(9, seed)
    counted = np.ones(9, bool) if weights is None else weights > 0
    y[np.flatnonzero(counted)[:2]] = [0, 1]
    model = MAPTreeClassifier(**every(**prior)).fit(X, y, weights)
    assert model.certificate_.optimal
    check_score(model, X, y, weights)
    best, _ = oracle.optimum(
        model.encoder_.transform(X).tolist(),
        y.tolist(),
        weights,
        n_classes=2,
        rho=RHO,
        test_weights=model.test_weights_.tolist(),
    )
    assert -model.certificate_.log_posterior == pytest.approx(best, abs=1e-6)
    tally[f"all thresholds against brute force, {model.tree_.n_leaves} leaves"] += 1


@seeds(6)
@pytest.mark.parametrize("prior", PRIORS, ids=str)
@pytest.mark.parametrize("constraints", [{}, {"max_depth": 2}, {"min_samples_leaf": 3}], ids=str)
def test_the_optimum_is_that_of_the_answers(prior, constraints, seed, tally: Counter[str]) -> None:
    tally["all thresholds against packed answers"] += 1
    X, y = table(40, seed)
    weights = drawn_weights(40, seed)
    params = every(**prior, **constraints)
    model = MAPTreeClassifier(**params).fit(X, y, weights)
    other = FromAnswers(**params).fit(X, y, weights)
    assert model.certificate_.optimal
    assert other.certificate_.optimal
    found, expected = model.certificate_.log_posterior, other.certificate_.log_posterior
    assert found == pytest.approx(expected, abs=1e-6)
    check_score(model, X, y, weights)
    assert model.encoder_.schema_ == other.encoder_.schema_
    np.testing.assert_array_equal(model.test_weights_, other.test_weights_)
    assert model.feature_importances_.sum() == pytest.approx(float(model.tree_.n_leaves > 1))


@pytest.mark.parametrize("prior", PRIORS[:2], ids=str)
def test_the_same_tree_where_one_is_best(prior):
    """Every value of both columns is there in every other row, so no two thresholds are alike."""
    rng = np.random.default_rng(0)
    X = np.array([(a, b) for a in range(7) for b in range(5)] * 4, dtype=float)
    y = ((X[:, 0] > 3) & (X[:, 1] > 1)) ^ (rng.random(len(X)) < 0.05)
    model = MAPTreeClassifier(**every(**prior)).fit(X, y)
    other = FromAnswers(**every(**prior)).fit(X, y)
    assert model.tree_ == other.tree_
    assert model.rules() == other.rules()
    assert model.tree_.n_leaves == 3


def test_missing_values_are_the_true_branch_of_their_test():
    X = [[1.0], [2.0], [3.0], [np.nan], [np.nan]] * 8
    y = [0, 0, 0, 1, 1] * 8
    model = MAPTreeClassifier(**every()).fit(X, y)
    assert model.rules()[0].startswith("x0 is missing  ->  class 1")
    assert model.rules()[1].startswith("x0 is not missing  ->  class 0")
    assert model.tree_.counts[model.tree_.right[0]].tolist() == [0, 16]
    assert model.predict([[2.0], [np.nan]]).tolist() == [0, 1]
    assert model.feature_importances_.tolist() == [1.0]
    other = FromAnswers(**every()).fit(X, y)
    assert model.tree_ == other.tree_


def test_nodes_below_a_test_for_missing_values():
    """The core has the missing values first, the schema last: nodes and their gains are moved."""
    nan = np.nan
    few = [[nan, b, c] for b in (1.0, 2.0, 3.0) for c in (1.0, 2.0, 3.0)]
    many = [[a, b, c] for a in (1.0, 2.0) for b in (1.0, 2.0, 3.0) for c in (1.0, 2.0, 3.0)]
    X = np.array([*few, *many] * 12)
    missing = np.isnan(X[:, 0])
    y = np.where(missing, X[:, 2] == 1, X[:, 1] > 1).astype(int)
    model = MAPTreeClassifier(**every()).fit(X, y)
    other = FromAnswers(**every()).fit(X, y)
    assert model.rules()[0].startswith("x0 is missing")
    assert model.tree_.n_leaves == 4
    assert model.tree_ == other.tree_
    np.testing.assert_array_equal(model.feature_importances_, other.feature_importances_)
    assert model.feature_importances_[1] > 1.5 * model.feature_importances_[2] > 0
    check_score(model, X, y, None)
    inner = model.tree_.feature >= 0
    np.testing.assert_array_equal(model.tree_.left[inner], np.flatnonzero(inner) + 1)


def test_columns_are_numbered_as_in_the_schema():
    numbers = Column("n", "number", "f8", thresholds=(1.5, 2.5), has_missing=True)
    flag = Column("f", "boolean", "bool", categories=(False, True))
    nothing = Column("c", "constant", "f8")
    schema = Schema((nothing, numbers, flag, nothing, numbers, flag, nothing))
    ranks = {4: np.zeros(3, np.uint32), 1: np.zeros(3, np.uint32)}
    columns = OrderedColumns(schema, ranks, np.arange(8, dtype=np.uint32))
    assert columns.n_bytes == 2 * 3 * 4 + 8 * 4
    taken, weights = columns.take()
    assert [n for _, n in taken] == [4, 4]
    assert weights.tolist() == [3, 7, 0, 1, 2, 4, 5, 6]
    assert columns.n_bytes == 0


@pytest.mark.parametrize(("prior", "of_weights"), [("tests", 0), ("columns", 4)])
def test_ranks_count_against_the_memory_limit(monkeypatch, prior, of_weights):
    """Four bytes a value until the core has taken them over, and nothing of them afterwards.

    And four for the weight of a threshold, where they differ.
    """
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    held, make = [], Problem.dataset

    def dataset(problem, deadline, memory_limit):
        held.append((problem.n_bytes, problem.n_bytes_of_ordered, memory_limit))
        made = make(problem, deadline, memory_limit=memory_limit)
        held.append((problem.n_bytes, problem.n_bytes_of_ordered, made.peak_bytes))
        return made

    monkeypatch.setattr(Problem, "dataset", dataset)
    limit = 1 << 24
    encoder = BinaryEncoder(max_thresholds=None)
    model = classifier(encoder=encoder, memory_limit=limit, split_prior=prior).fit(X, y)
    (before, ranks, given), (after, none, peak) = held
    assert ranks == 4 * X.size + of_weights * (X.size - 3)
    assert none == 0
    # Classes, pseudo-counts, and of every value itself and its level.
    assert before == after == 200 + 16 + 9 * (X.size - 3) + 3 * 8
    assert given == limit - OWN_BYTES - before - ranks
    assert model.certificate_.peak_bytes >= peak + before + ranks


def test_a_small_memory_limit_is_kept():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(300, 5)), rng.integers(0, 2, 300)
    limit = OWN_BYTES + 200_000
    model = classifier(encoder=BinaryEncoder(max_thresholds=None), memory_limit=limit)
    model.fit(X, y)
    assert model.certificate_.peak_bytes <= limit


def test_a_number_of_thresholds_takes_packed_answers(monkeypatch):
    def refused(*_):
        raise AssertionError("ranks are for all thresholds")

    monkeypatch.setattr("maptree.estimators.base.OrderedColumns", refused)
    X, y = table(40, 0)
    classifier().fit(X, y)
    classifier(encoder=None).fit([[0, 1], [1, 0]] * 4, [0, 1] * 4)
    classifier(encoder=BinaryEncoder(max_thresholds=None)).fit([[0, 1], [1, 0]] * 4, [0, 1] * 4)
