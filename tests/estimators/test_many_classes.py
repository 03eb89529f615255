"""Targets that are not classes are pointed out on every path; many classes stay within bounds."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from maptree import (
    MAPTreeClassifier,
    MCMCTreeClassifier,
    SMCTreeClassifier,
    TargetWarning,
    Tree,
    _core,
    load_model,
)
from maptree.tables.labels import read_labels, target_fault
from maptree.words.certificate import certificate_sentences

QUICK: dict[str, dict[str, Any]] = {
    "MAPTreeClassifier": {"max_expansions": 2},
    "MCMCTreeClassifier": {"n_samples": 2, "burn_in": 0, "n_chains": 2},
    "SMCTreeClassifier": {"n_particles": 2},
}
KINDS = (MAPTreeClassifier, MCMCTreeClassifier, SMCTreeClassifier)


def table(n_rows: int) -> Any:
    return np.random.default_rng(0).integers(0, 2, (n_rows, 4))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.arange(100) % 50, "50 different numbers in 100 rows, from 0 to 49: it looks like a m"),
        ([10**30 * (i % 50) for i in range(100)], "50 different numbers"),
        ([Decimal(i % 30) / 4 for i in range(3000)], "30 different numbers"),
        ([f"c{i % 50}" for i in range(100)], "50 classes in 100 rows, such as 'c0', 'c1'"),
    ],
)
def test_a_target_that_is_not_of_classes_is_pointed_out(kind, y, message):
    with pytest.warns(TargetWarning, match=message) as said:
        kind(**QUICK[kind.__name__]).fit(table(len(y)), y)
    assert {warning.filename for warning in said if warning.category is TargetWarning} == {__file__}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "y",
    [
        np.arange(1050) % 21,  # 50 rows each
        [f"c{i % 33}" for i in range(100)],  # three
        np.arange(20),  # few
        [Decimal(i % 21) for i in range(1050)],  # whole
        [True, False] * 10,
    ],
)
def test_classes_are_not(kind, y):
    kind(**QUICK[kind.__name__]).fit(table(len(y)), y)  # a warning is an error


@pytest.mark.parametrize("kind", KINDS)
def test_many_numbers_are_classes_with_a_word(kind):
    """Delays in minutes: 50 rows each, so they may be classes, but seldom are."""
    y = np.arange(5050) % 101 - 20
    with pytest.warns(TargetWarning, match="101 different numbers, from -20 to 80.*without order"):
        kind(**QUICK[kind.__name__]).fit(table(len(y)), y)
    y = np.arange(5000) % 100
    kind(**QUICK[kind.__name__]).fit(table(len(y)), y)  # a warning is an error


@pytest.mark.parametrize("writing", ["${},000", "{},500", "{}.5 %"])
def test_numbers_as_text_are_numbers(writing):
    """Prices are measurements, however they are written."""
    y = [writing.format(n) for n in range(121, 100, -1)] * 20
    said = f"from {writing.format(101)} to {writing.format(121)}: it looks like a measurement"
    with pytest.warns(TargetWarning, match=re.escape(said)):
        MAPTreeClassifier(max_expansions=2).fit(table(len(y)), y)
    few = [writing.format(n) for n in range(101, 121)] * 20
    MAPTreeClassifier(max_expansions=2).fit(table(len(few)), few)  # a warning is an error


def test_rows_of_weight_zero_do_not_count():
    y = np.arange(2100) % 21
    weights = np.r_[np.ones(1000, int), np.zeros(1100, int)]
    with pytest.warns(TargetWarning, match="21 different numbers in 1,000 rows"):
        MAPTreeClassifier(max_expansions=2).fit(table(2100), y, sample_weight=weights)


def test_the_rule_is_about_the_average():
    assert target_fault(21, 1050, numbers=True) == ""
    assert target_fault(21, 1049, numbers=True) == "measurement"
    assert target_fault(21, 10_000, numbers=True, whole=False) == "measurement"
    assert target_fault(21, 42, numbers=False) == "identifier"
    assert target_fault(21, 43, numbers=False) == ""


def test_a_signaling_nan_is_a_missing_label():
    with pytest.raises(ValueError, match="missing label at row 1"):
        read_labels([Decimal(1), Decimal("sNaN")], 2)
    X = np.array([[Decimal("sNaN")], [Decimal(1)], [Decimal(2)], [None]] * 5, dtype=object)
    model = MAPTreeClassifier().fit(X, [0, 1, 1, 0] * 5)
    assert model.encoder_.get_feature_names_out().tolist() == ["x0 is missing"]
    frame = pd.DataFrame({"x0": X[:, 0]})
    assert MAPTreeClassifier().fit(frame, [0, 1, 1, 0] * 5).rules() == model.rules(["x0"])
    assert model.predict(frame[["x0"]].to_numpy()).tolist() == [0, 1, 1, 0] * 5


def test_huge_labels_are_classes():
    y = [10**5000, Decimal("1e100000000"), 10**5000 + 1] * 10
    classes, codes = read_labels(y, 30)
    assert classes.tolist() == sorted(set(y))
    assert codes[:3].tolist() == [0, 2, 1]


HUGE = {
    "large": Decimal("1e100000000"),
    "small": Decimal("1e-100000000"),
    "whole": 10**5000,
    "exact": Decimal("1." + "3" * 2000),
    "fraction": Fraction(10**5000 + 1, 10**5000),
    "large fraction": Fraction(10**5000 + 1, 3),
}


@pytest.mark.parametrize("name", HUGE)
def test_numbers_of_too_many_digits_are_refused(name):
    value = HUGE[name]
    X = np.array([[None], [value], [3], [Decimal("2.5")]] * 5, dtype=object)
    with pytest.raises(ValueError, match=r"more than 1,000 digits at row 1, column 0.*convert"):
        MAPTreeClassifier(max_expansions=2).fit(X, [0, 1, 1, 1] * 5)


def test_zeros_of_any_exponent_are_zero():
    X = np.array([[Decimal("0E-100000000")], [Decimal("0E+100000000")], [Decimal(1)]] * 6, object)
    model = MAPTreeClassifier().fit(X, [0, 0, 1] * 6)
    assert model.tree_.n_leaves == 2


@pytest.mark.parametrize("column", ["decimals", "huge"])
def test_objects_are_given_up_at_the_deadline(column, clock):
    """A column of objects is read in pieces, and the clock between them."""
    n = 100_000
    X = np.empty((n, 2), dtype=object)
    X[:, 0] = [
        Decimal(i % 1000) / 7 if column == "decimals" else i % 1000 * 10**25 for i in range(n)
    ]
    X[:, 1] = 1.5
    clock.step = 1e-3  # every reading takes a millisecond
    with pytest.warns(UserWarning, match="the last 2 of 2 columns got no tests"):
        model = MAPTreeClassifier(time_limit=0.01).fit(X, np.arange(n) % 2)
    assert model.tree_.n_leaves == 1
    assert model.certificate_.status == "time_limit"


def test_chains_and_particles_have_a_limit():
    for model, name in (
        (MCMCTreeClassifier(n_chains=5_000_000), "n_chains"),
        (SMCTreeClassifier(n_particles=2_000_000), "n_particles"),
        (SMCTreeClassifier(n_islands=100_000), "n_islands"),
    ):
        with pytest.raises(
            ValueError, match=rf"{name}=\d+ is too large: pass a whole number from 1 to"
        ):
            model.fit([[0], [1]], [0, 1])


def test_more_iterations_than_can_be_counted_are_refused():
    many = {"burn_in": 2**62, "n_samples": 1, "n_chains": 4}
    with pytest.raises(ValueError, match="more iterations than can be counted"):
        MCMCTreeClassifier(**many).fit([[0], [1]] * 3, [0, 1] * 3)


def full_tree(depth: int) -> Tree:
    """Test one column per level; in preorder."""
    feature, depths = [], [0]
    while depths:
        at = depths.pop()
        feature.append(at if at < depth else -1)
        if at < depth:
            depths += [at + 1, at + 1]
    inner = np.array(feature) >= 0
    number = np.arange(len(feature))
    below = 2 ** (depth - np.array(feature)) - 1  # nodes of a subtree under the test
    left = np.where(inner, number + 1, -1)
    right = np.where(inner, number + 1 + below, -1)
    return Tree(feature, left, right, np.ones((len(feature), 2), int))


def test_an_initial_tree_that_is_too_improbable_is_refused():
    """Its cost would overflow: 8,191 splits, at up to 260,000 nats each."""
    depth = 13
    X = (np.arange(2**depth)[:, np.newaxis] >> np.arange(depth)) & 1
    y, tree = np.arange(2**depth) // 3 % 2, full_tree(depth)
    chains = {
        "n_samples": 1,
        "burn_in": 0,
        "thin": 1,
        "n_chains": 1,
        "initial_tree": tree,
        "encoder": None,
    }
    with pytest.raises(ValueError, match="so improbable under this prior"):
        MCMCTreeClassifier(beta=1e5, **chains).fit(X, y)
    # One step later at most one leaf is gone.
    assert MCMCTreeClassifier(beta=1.0, **chains).fit(X, y).tree_.n_leaves >= 8191


def test_many_classes_are_predicted_in_parts(monkeypatch):
    import maptree.trees.average as average

    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 2, (300, 5)), rng.integers(0, 12, 300)
    model = MCMCTreeClassifier(n_samples=20, n_chains=2, random_state=0).fit(X, y)
    whole, labels = model.predict_proba(X), model.predict(X)
    assert (labels == model.classes_[whole.argmax(axis=1)]).all()
    monkeypatch.setattr(average, "_ENTRIES", 5 * len(model.trees_.counts))
    assert abs(model.predict_proba(X) - whole).max() < 1e-15
    assert (model.predict(X) == labels).all()


class Ended:
    """A result of the core that ended as told."""

    def __init__(self, result: Any, **changes: Any) -> None:
        self._result, self._changes = result, changes

    def __getattr__(self, name: str) -> Any:
        return self._changes[name] if name in self._changes else getattr(self._result, name)


@pytest.fixture
def ends(monkeypatch):
    """Let the core say that memory ended its work; the trees have the class counts of many."""

    def end(name: str, n_nodes: int | None = None) -> None:
        real = getattr(_core, name)

        def call(*given: Any, **named: Any) -> Any:
            result = real(*given, **named)
            changes: dict[str, Any] = {"status": "memory_limit"}
            if n_nodes is not None:
                changes["feature"] = np.resize(result.feature, n_nodes)
            return Ended(result, **changes)

        monkeypatch.setattr(_core, name, call)

    return end


def test_a_search_that_many_classes_end_says_so(ends):
    ends("search")
    y = np.arange(60) % 3
    with pytest.warns(TargetWarning, match="The 3 classes ended the fit early.*Merge classes"):
        model = MAPTreeClassifier(max_expansions=2).fit(table(60), y)
    assert model.certificate_.status == "class_limit"
    said = " ".join(certificate_sentences(model.fitted_))
    assert "stopped by the number of classes" in said
    for text in (said, " ".join(str(model.certificate_).split())):
        assert "larger trees would take more than 128 MiB: merge classes." in text
    limited = MAPTreeClassifier(max_expansions=2, memory_limit="1GB").fit(table(60), y)
    assert limited.certificate_.status == "memory_limit"
    assert "merge classes" not in str(limited.certificate_)


def test_a_model_that_many_classes_ended_is_saved(ends, tmp_path):
    ends("search")
    with pytest.warns(TargetWarning):
        model = MAPTreeClassifier(max_expansions=2).fit(table(60), np.arange(60) % 3)
    model.save(tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").certificate_ == model.certificate_


@pytest.mark.parametrize("kind", [MCMCTreeClassifier, SMCTreeClassifier])
def test_samples_that_many_classes_ended_say_so(kind, ends):
    name = "sample_mcmc" if kind is MCMCTreeClassifier else "sample_smc"
    model = kind(**QUICK[kind.__name__])
    ends(name)
    assert model.fit(table(60), np.arange(60) % 3).status_ == "memory_limit"  # of the chains
    ends(name, n_nodes=2**24)
    with pytest.warns(TargetWarning, match="The 3 classes ended the fit early"):
        model.fit(table(60), np.arange(60) % 3)
    assert model.status_ == "class_limit"
