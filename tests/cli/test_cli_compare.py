"""``maptree compare``, and the wishes of ``maptree fit`` that it compares."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest

from command import QUICK, call
from maptree import load_model


def fit(capsys, name, *options):
    told = call(capsys, "fit", "people.csv", "-t", "buys", *QUICK, "-m", name, *options)
    assert told.code == 0
    return told


@pytest.fixture
def models(fitted, capsys):
    """A model, and one without the column that it tests first."""
    fit(capsys, "without.json", "--without", "age")
    return fitted


def test_fit_says_which_trees_it_considers(here, capsys):
    told = fit(capsys, "wish.json", "--first", "city,member", "--without", "age")
    assert "whose first test is of city or member and without a test of age" in " ".join(
        told.out.split()
    )
    model = load_model("wish.json")
    assert model.first_columns == ["city", "member"]
    assert model.without_columns == ["age"]
    assert not set(model.fitted_.used_columns) & {model.feature_names_in_.tolist().index("age")}
    told = call(capsys, "show", "wish.json", "--json")
    assert json.loads(told.out)["model"]["constraints"] == {
        "max_depth": None,
        "min_samples_leaf": 1,
        "max_leaf_nodes": None,
        "first_columns": ["city", "member"],
        "without_columns": ["age"],
    }


def test_what_a_wish_costs(models, capsys):
    told = call(capsys, "compare", "people.model.json", "without.json")
    assert told.code == 0
    assert told.out.startswith("First: people.model.json\nSecond: without.json\n\nWithout a test")
    text = " ".join(told.out.split())
    assert "Log posteriors on one scale: the same rows, tests and prior." in text
    assert "Only the first tree tests age." in text
    assert "Proved: the best tree of the second kind is" in text


def test_scores_on_rows_of_a_file(models, capsys):
    table = pd.read_csv("people.csv", dtype=str)
    table.loc[3, "buys"] = None
    table.iloc[:60].to_csv("part.csv", index=False)
    told = call(capsys, "compare", "people.model.json", "without.json", "--data", "part.csv")
    assert told.code == 0
    text = " ".join(told.out.split())
    assert "Scored on 59 rows." in text
    assert "1 rows without a target were left out." in text
    assert "Difference of log loss: " in text
    told = call(
        capsys, "compare", "people.model.json", "without.json", "--data", "part.csv", "--json"
    )
    found = json.loads(told.out)
    assert found["log_loss"]["mean"] == pytest.approx(
        found["other"]["log_loss"] - found["model"]["log_loss"]
    )
    assert found["rows_without_target"] == 1
    assert found["cost"] > 0


def test_scores_of_cross_validation(here, capsys):
    fit(capsys, "a.json", "--cv", "2")
    fit(capsys, "b.json", "--cv", "2", "--max-depth", "1")
    told = call(capsys, "compare", "a.json", "b.json")
    assert "Scored by 2-fold cross-validation, seed 0: 200 rows." in told.out
    assert "the same tree.\n" in told.out  # and equal scores are in the table alone
    assert re.search(r"log loss +0\.\d+ +0\.\d+", told.out)


def test_a_dropped_column_needs_the_training_rows(fitted, capsys):
    fit(capsys, "dropped.json", "--drop", "age")
    told = call(capsys, "compare", "people.model.json", "dropped.json")
    assert told.code == 0
    text = " ".join(told.out.split())
    assert text.split("Without the column age: ")[1]
    assert (
        "not on one scale: they have different tests. Both trees can be scored on the training rows"
        in text
    )
    told = call(capsys, "compare", "people.model.json", "dropped.json", "--data", "people.csv")
    text = " ".join(told.out.split())
    assert "both trees under the prior and over the tests of the first" in text
    assert "less probable" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["people.model.json"], "Missing argument 'OTHER'"),
        (["people.model.json", "people.csv"], "people.csv is not a model file"),
        (["people.model.json", "nothing.json"], "There is no such model file"),
        (["people.model.json", "other.json"], "predict different classes, no, yes and False, True"),
        (["people.model.json", "people.model.json", "--data", "x.csv"], "There is no file x.csv"),
        (
            ["people.model.json", "people.model.json", "--data", "people.csv", "-t", "zip"],
            "no row of 'zip' has a class",
        ),
    ],
)
def test_mistakes(fitted, capsys, arguments, message):
    call(capsys, "fit", "people.csv", "-t", "member", *QUICK, "-m", "other.json")
    told = call(capsys, "compare", *arguments)
    assert told.code in (1, 2)
    assert message in " ".join(told.err.split())
