"""``alternatives`` of a classifier: the list, its words, and what it is refused for."""

from __future__ import annotations

import copy
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from control import HANGS, ctrl_c_inside
from maptree import (
    Alternatives,
    AlternativesProgress,
    BinaryEncoder,
    InterruptedWarning,
    MAPTreeClassifier,
    load_model,
    log_posterior,
    write_report,
)
from maptree.parameters.numbers import ParameterError
from samples import hard


def people(n: int = 80, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed)
    age = rng.normal(50, 10, n).round(1)
    sex = rng.choice(["f", "m", None], n, p=[0.45, 0.45, 0.1])
    y = np.where(((age > 55) & (sex == "m")) | (rng.random(n) < 0.15), "yes", "no")
    X = pd.DataFrame({"age": age, "sex": sex, "income": rng.lognormal(size=n).round(2)})
    X.loc[::13, "age"] = np.nan
    return X, y


@pytest.fixture(scope="module")
def table() -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    return people()


@pytest.fixture(scope="module")
def model(table: tuple[pd.DataFrame, Any]) -> MAPTreeClassifier:
    encoder = BinaryEncoder(max_thresholds=6)
    return MAPTreeClassifier(time_limit=None, encoder=encoder, max_depth=3).fit(*table)


def test_each_tree_has_the_log_posterior_that_is_claimed(
    table: tuple[pd.DataFrame, Any], model: MAPTreeClassifier
) -> None:
    X, y = table
    found = model.alternatives(30)
    assert len(found) == 30
    assert found.status == "complete"
    assert found[0].log_posterior == model.certificate_.log_posterior
    scores = [one.log_posterior for one in found]
    assert scores == sorted(scores, reverse=True)
    assert found.log_posterior_bound <= scores[-1]
    leaves = set()
    for rank, one in enumerate(found, start=1):
        assert one.rank == rank
        assert one.odds == pytest.approx(math.exp(one.log_posterior - scores[0]))
        chosen = model.choose(one)
        answers = chosen.encoder_.transform(X)
        score = log_posterior(one.tree, answers, y, test_weights=chosen.test_weights_)
        assert score == pytest.approx(one.log_posterior, abs=1e-6)
        # Where rows are, not what the nodes are called.
        _, first = np.unique(chosen.apply(X), return_inverse=True)
        order = np.unique(first, return_index=True)[1].argsort().argsort()
        leaves.add(tuple(order[first].tolist()))
    assert len(leaves) == 30


def test_all_thresholds() -> None:
    X, y = people(40)
    ordered = BinaryEncoder(max_thresholds=None)
    model = MAPTreeClassifier(time_limit=None, encoder=ordered, max_depth=2).fit(X, y)
    found = model.alternatives(12)
    assert found[0].log_posterior == model.certificate_.log_posterior
    for one in found:
        chosen = model.choose(one)
        answers = chosen.encoder_.transform(X)
        score = log_posterior(one.tree, answers, y, test_weights=chosen.test_weights_)
        assert score == pytest.approx(one.log_posterior, abs=1e-6)


def test_within(model: MAPTreeClassifier) -> None:
    found = model.alternatives(within=2.0)
    assert found.complete_within > 2
    assert all(one.nats <= 2 for one in found)
    assert found.log_posterior_bound < model.certificate_.log_posterior - 2
    many = model.alternatives(100)
    assert [one.log_posterior for one in many if one.nats <= 2] == [
        one.log_posterior for one in found
    ]
    assert len(model.alternatives(2, within=2.0)) == 2


def test_weights(table: tuple[pd.DataFrame, Any]) -> None:
    X, y = table
    weights = np.arange(len(y)) % 3
    model = MAPTreeClassifier(time_limit=None, encoder=BinaryEncoder(4), max_depth=2)
    repeated = np.repeat(np.arange(len(y)), weights)
    found = model.fit(X, y, weights).alternatives(5)
    again = copy.copy(model).alternatives(5, X=X, y=y, sample_weight=weights)
    assert [one.log_posterior for one in found] == [one.log_posterior for one in again]
    model.fit(X.iloc[repeated], y[repeated])
    assert model.certificate_.log_posterior == pytest.approx(found[0].log_posterior)


def test_words(model: MAPTreeClassifier) -> None:
    found = model.alternatives(5)
    text = str(found)
    assert text.startswith("Proved complete to ")
    assert "first test" in text
    assert "tested by" in text
    assert sum(first.trees for first in found.first_splits) == 5
    assert found.first_splits[0].best >= 1
    assert {use.name for use in found.columns} <= {"age", "sex", "income"}
    assert str(found[0]) == model.export_text()
    assert found[0].rules() == model.rules()
    assert list(found[:2]) == [found[0], found[1]]


def test_all_trees_of_a_small_table() -> None:
    X = np.array([[0], [1]] * 5)
    found = MAPTreeClassifier().fit(X, X[:, 0]).alternatives()
    assert len(found) == 2
    assert math.isinf(found.complete_within)
    assert str(found).startswith("The list is complete: no other tree parts the rows differently.")
    assert found[1].first_test is None


def test_a_limit_of_depth(model: MAPTreeClassifier) -> None:
    found = model.alternatives(5, max_depth=1)
    assert found.constraints == "of depth 1 or less"
    assert all(one.tree.depth <= 1 for one in found)
    assert "of depth 1 or less" in found.sentences[0]
    assert found[0].fitted.constraints.max_depth == 1
    # No deeper than those that were fitted.
    assert "of depth 3 or less" in model.alternatives(5, max_depth=9).constraints


def test_wishes_about_columns(table: tuple[pd.DataFrame, Any]) -> None:
    X, y = table
    model = MAPTreeClassifier(
        encoder=BinaryEncoder(6), max_depth=3, first_columns="age", without_columns="income"
    ).fit(X, y)
    found = model.alternatives(15)
    assert found[0].log_posterior == model.certificate_.log_posterior
    assert all("income" not in one.columns for one in found)
    assert all(one.first_test is None or one.first_test.startswith("age") for one in found)
    assert "age" in found.constraints
    assert found[1].fitted.constraints == model.fitted_.constraints


def test_a_chosen_tree_is_a_model(
    table: tuple[pd.DataFrame, Any], model: MAPTreeClassifier, tmp_path: Path
) -> None:
    second = model.alternatives(2)[1]
    chosen = model.choose(second)
    certificate = chosen.certificate_
    assert certificate.status == "alternative"
    assert not certificate.optimal
    assert certificate.log_posterior_bound == model.certificate_.log_posterior
    assert "Chosen among the alternatives" in str(certificate)
    chosen.save(tmp_path / "chosen.json")
    again = load_model(tmp_path / "chosen.json")
    assert again.certificate_ == certificate
    assert (again.predict_proba(table[0]) == chosen.predict_proba(table[0])).all()
    assert str(chosen.get_params()) == str(model.get_params())


def test_the_report_shows_them_side_by_side(model: MAPTreeClassifier, tmp_path: Path) -> None:
    found = model.alternatives(8)
    write_report(model, tmp_path / "page.html", alternatives=found)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("<figcaption><b>Tree ") == 6
    assert "2 more trees not shown in full" in page
    assert 'class="new"' in page
    assert found.sentences[0] in page
    assert "What else is nearly as probable?" in page
    assert "What else" not in model.to_html()


def test_a_wish(model: MAPTreeClassifier, table: tuple[pd.DataFrame, Any]) -> None:
    every = model.alternatives(200)
    rises = model.alternatives(3, monotone={"age": 1})
    falls = model.alternatives(1, monotone={0: -1})
    ranks = {one.log_posterior: one.rank for one in every}
    assert [one.rank for one in rises] == sorted(one.rank for one in rises)
    for one in [*rises, *falls]:
        assert ranks.get(one.log_posterior, one.rank) == one.rank
    assert falls.examined >= falls[0].rank
    assert "must not rise with age" in str(falls)
    X = table[0].iloc[:1]
    for one in rises:
        chosen = model.choose(one)
        for _, row in table[0].iterrows():
            X = pd.DataFrame([row] * 5).assign(age=[20.0, 40, 50, 60, 80])
            assert (np.diff(chosen.predict_proba(X)[:, 1]) >= -1e-12).all()


def test_files_and_copies_do_not_have_the_table(tmp_path: Path) -> None:
    X, y = people(30)
    model = MAPTreeClassifier(max_depth=1).fit(X, y)
    found = model.alternatives(2)
    model.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), loaded):
        with pytest.raises(ValueError, match=r"Pass it, as in model.alternatives\(10, X=X, y=y\)"):
            other.alternatives(2)
        again = other.alternatives(2, X=X, y=y)
        assert [one.log_posterior for one in again] == [one.log_posterior for one in found]
    assert len(MAPTreeClassifier().fit([[0], [1]] * 4, [0, 1] * 4).alternatives(2)) == 2


def test_large_tables_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("maptree.estimators.alternatives.LARGEST_KEPT", 10)
    X, y = people(30)
    model = MAPTreeClassifier(max_depth=1).fit(X, y)
    assert len(model.alternatives(2)) == 2
    del X
    with pytest.raises(ValueError, match="The training table is needed"):
        model.alternatives(2)
    lists = MAPTreeClassifier().fit([[0], [1]] * 10, [0, 1] * 10)
    with pytest.raises(ValueError, match="The training table is needed"):
        lists.alternatives(2)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n": 0}, "n=0 is too small"),
        ({"n": 2.5}, "n=2.5 is not a whole number"),
        ({"within": -1}, "within=-1 is negative"),
        ({"within": "x"}, "is not a number"),
        ({"within": math.nan}, "is not finite"),
        ({"max_depth": -1}, "max_depth=-1 is too small"),
        ({"monotone": ["age"]}, "is not a dict"),
        ({"monotone": {"agee": 1}}, "pass 'age' if that is meant"),
        ({"monotone": {7: 1}}, "pass a number from 0 to 2"),
        ({"monotone": {"age": 0}}, "pass 1 .must not fall. or -1"),
        ({"monotone": {"age": True}}, "is not a direction"),
        ({"monotone": {"age": 1, 0: 1}}, "two wishes about 'age'"),
        ({"monotone": {"sex": 1}}, "whose values have no order"),
    ],
)
def test_wrong_wishes_are_refused(
    model: MAPTreeClassifier, wrong: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        model.alternatives(**wrong)


def test_other_tables_and_parameters_are_refused(
    table: tuple[pd.DataFrame, Any], model: MAPTreeClassifier
) -> None:
    X, y = table
    for wrong in ((X[:-1], y[:-1]), (X, y[::-1]), (X, np.where(y == "yes", "y", "n"))):
        with pytest.raises(ValueError, match="not the table that the model was fitted to"):
            model.alternatives(2, X=wrong[0], y=wrong[1])
    with pytest.raises(ValueError, match="y is missing"):
        model.alternatives(2, X=X)
    with pytest.raises(ValueError, match="sample_weight was passed without"):
        model.alternatives(2, sample_weight=np.ones(len(y)))
    other = copy.copy(model).set_params(alpha=0.5, max_depth=2)
    with pytest.raises(ValueError, match="alpha, max_depth changed since fit"):
        other.alternatives(2)
    three = MAPTreeClassifier().fit(X[["age"]], pd.Series(np.arange(len(y)) % 3))
    with pytest.raises(ValueError, match="3 classes"):
        three.alternatives(2, monotone={"age": 1}, X=X[["age"]], y=np.arange(len(y)) % 3)


def test_limits_and_progress(table: tuple[pd.DataFrame, Any]) -> None:
    X, y = table
    seen: list[AlternativesProgress] = []
    model = MAPTreeClassifier(time_limit=None, encoder=BinaryEncoder(6), max_depth=3).fit(X, y)
    whole = model.alternatives(40)
    model.set_params(max_expansions=whole.expansions // 2)
    half = model.alternatives(40)
    assert half.status == "expansion_limit"
    assert "Stopped by the limit on expansions" in half.sentences[0]
    assert [one.log_posterior for one in half] == [one.log_posterior for one in whole[: len(half)]]
    none = model.set_params(max_expansions=1).alternatives(40)
    assert len(none) == 0
    assert math.isnan(none.log_posterior)
    assert none.complete_within == 0
    assert "before the most probable tree" in str(none)
    assert none.sentences[-1].startswith("Raise max_expansions, or pass a smaller max_depth")
    assert none.log_posterior_bound >= whole.log_posterior

    def stop(progress: AlternativesProgress) -> bool:
        seen.append(progress)
        return True

    model.set_params(max_expansions=None, callback=stop)
    stopped: Alternatives = model.alternatives(40)
    assert stopped.status == "interrupted"
    assert seen[0].found == 0
    assert str(seen[0])


def test_ctrl_c_keeps_the_list() -> None:
    X, y = hard()
    model = MAPTreeClassifier(max_expansions=5).fit(X, y)
    model.set_params(max_expansions=None, time_limit=HANGS)
    with ctrl_c_inside("rivals"), pytest.warns(InterruptedWarning, match="was interrupted"):
        found = model.alternatives()
    assert found.status == "interrupted"
    assert len(found) == 0
    assert found.sentences[-1].startswith("Let it run for longer, or pass max_depth")


def test_a_wish_claims_nothing_about_trees_that_were_not_examined() -> None:
    # Tree 1 rises with x0 beside the rows. Another tree parts the rows alike, does not rise, and is
    # more probable than tree 2, which is listed.
    X = np.array([[1.0, 1], [2, 2], [1, 1], [1, 0], [0, 1], [1, 0]])
    model = MAPTreeClassifier(max_depth=2, time_limit=None, rho=1.0).fit(X, [0, 1, 0, 1, 0, 1])
    found = model.alternatives(1, monotone={0: -1})
    assert found[0].rank == 2
    said = " ".join(found.sentences)
    assert "Tree 2 is the first that satisfies it: tree 1 does not." in said
    assert "Of trees that part the rows alike, the most probable one was examined." in said


def test_what_cannot_be_chosen(model: MAPTreeClassifier) -> None:
    with pytest.raises(TypeError, match="alternative=3 is not an alternative"):
        model.choose(3)  # type: ignore[arg-type]
    other = MAPTreeClassifier().fit([[0], [1]] * 6, [0, 1] * 6)
    with pytest.raises(ValueError, match="another table"):
        model.choose(other.alternatives(1)[0])


def test_a_choice_among_small_trees_says_so():
    X = np.array([[a, b, i % 3 == 0] for i in range(10) for a in (0, 1) for b in (0, 1)], int)
    model = MAPTreeClassifier().fit(X, X[:, 0] ^ X[:, 1])
    chosen = model.choose(model.alternatives(2, max_depth=1)[1])
    assert "the best tree of depth 1 or less is" in chosen.certificate_.headline
    assert "the best tree of depth 1 or less is" in " ".join(str(chosen.certificate_).split())
