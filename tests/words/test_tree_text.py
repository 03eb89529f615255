"""Trees in words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from maptree import MAPTreeClassifier, Tree
from maptree.schema.columns import Column, Schema
from maptree.words.tests import TestWords, yes_and_no
from maptree.words.tree_text import indented, rules
from maptree.words.values import number_text
from models import fitted_of


@pytest.mark.parametrize(
    ("name", "yes", "no"),
    [
        ("x3", "x3 = 1", "x3 = 0"),
        ("has fever", "has fever = 1", "has fever = 0"),
        ("top left = x", "top left = x", "top left != x"),
        ("age <= 45.5", "age <= 45.5", "age > 45.5"),
        ("age < 3", "age < 3", "age >= 3"),
        ("a = b = c", '"a = b = c" = 1', '"a = b = c" = 0'),
        ("a=b", '"a=b" = 1', '"a=b" = 0'),
    ],
)
def test_a_0_1_column_holds_or_not(name, yes, no):
    assert yes_and_no(name) == (yes, no)


@pytest.mark.parametrize("value", [45.5, 60.0, -0.1, 1e-7, 1e22, 123456789.25, 2.0**60])
def test_numbers_read_back_the_same(value):
    text = number_text(value)
    assert float(text) == value
    assert not text.endswith(".0")


SCHEMA = Schema(
    (
        Column("age", "number", "float64", thresholds=(30.0, 45.5, 60.0)),
        Column("x3", "boolean", "int64", categories=(0, 1)),
        Column("score", "number", "float64", thresholds=(0.25,)),
    )
)


@pytest.mark.parametrize(
    ("answers", "text"),
    [
        ([], "always"),
        ([(1, True)], "age <= 45.5"),
        ([(1, False)], "age > 45.5"),
        ([(1, False), (2, True)], "45.5 < age <= 60"),
        ([(2, True), (3, False), (0, False)], "30 < age <= 60 and x3 = 0"),
        ([(0, False), (1, False)], "age > 45.5"),
        ([(2, True), (1, True)], "age <= 45.5"),
        ([(1, True), (2, True)], "age <= 45.5"),
        ([(1, False), (0, False)], "age > 45.5"),
        ([(3, True), (4, False), (2, False)], "x3 = 1 and score > 0.25 and age > 60"),
    ],
)
def test_conditions_merge_along_the_path(answers, text):
    assert TestWords(SCHEMA).condition(answers) == text


def test_rules_and_tree_of_three_classes():
    tree = Tree(
        [2, -1, 3, -1, -1],
        [1, -1, 3, -1, -1],
        [2, -1, 4, -1, -1],
        [[9, 5, 7], [9, 0, 0], [0, 5, 7], [0, 5, 0], [0, 0, 7]],
    )
    fitted = fitted_of(SCHEMA, tree, ["a", "b", "c"], rho=5 / 3)
    assert rules(fitted) == [
        "age <= 60 and x3 = 1  ->  c 0.72 [0.45, 0.92], n = 7",
        "age <= 60 and x3 = 0  ->  b 0.67 [0.36, 0.91], n = 5",
        "age > 60  ->  a 0.76 [0.52, 0.94], n = 9",
    ]
    assert indented(fitted).splitlines() == [
        "age <= 60",
        "| x3 = 1: c 0.72 [0.45, 0.92], n = 7 (0 a, 0 b, 7 c)",
        "| x3 = 0: b 0.67 [0.36, 0.91], n = 5 (0 a, 5 b, 0 c)",
        "age > 60: a 0.76 [0.52, 0.94], n = 9 (9 a, 0 b, 0 c)",
    ]


def test_of_many_classes_those_without_a_row_are_not_listed():
    """With eight of them, as injuries in accidents have, a line would not fit any screen."""
    rows = [[0]] * 9 + [[1]] * 9 + [[2]] * 5
    labels = ["none"] * 9 + ["fatal"] * 8 + ["minor"] + ["severe"] * 5
    text = MAPTreeClassifier().fit(rows, labels).export_text(["speed"])
    assert "n = 9 (9 none)" in text
    assert "n = 9 (8 fatal, 1 minor)" in text


@pytest.mark.parametrize("labels", [[0, 1], [-1.0, 1.0], ["0", "1"]])
def test_labels_that_are_numbers_are_told_from_the_numbers_beside_them(labels):
    model = MAPTreeClassifier().fit([[20], [60]] * 6, labels * 6)
    low, high = (f"class {label}" for label in labels)
    assert model.rules(["age"])[0] == f"age <= 40  ->  {low} 0.77 [0.50, 0.96], n = 6"
    assert f"n = 6 (6 {low}, 0 {high})" in model.export_text(["age"])


def test_words_come_from_the_data_frame():
    ages = np.repeat([20, 44, 47, 58, 63, 70], 12)
    frame = pd.DataFrame({"age": ages, "member": np.tile([0, 1], 36)})
    y = np.where((ages > 46) & (ages <= 60), "yes", "no")
    model = MAPTreeClassifier(time_limit=None).fit(frame, y)
    assert model.certificate_.optimal
    assert any(rule.startswith("45.5 < age <= 60.5  ->  yes 0.91 [") for rule in model.rules())
    assert all(rule.endswith(", n = 24") for rule in model.rules())
    with pytest.raises(ValueError, match="feature_names_in_"):
        model.rules(["a", "b"])


def test_names_for_a_table_without_them():
    model = MAPTreeClassifier().fit([[0], [1]] * 10, ["n", "y"] * 10)
    assert model.rules()[0].startswith("x0 = 1  ->  y 0.83")
    assert model.rules(["fever"])[0].startswith("fever = 1  ->  y 0.83")
    assert model.export_text(["fever"]).splitlines()[1].startswith("fever = 0: n 0.83")
    with pytest.raises(ValueError, match="feature_names has 2 names, but the table had 1 column:"):
        model.rules(["a", "b"])


def test_a_lone_leaf():
    model = MAPTreeClassifier().fit([[3], [3]], [1, 1])
    assert model.rules() == ["always  ->  class 1 1.00 [1.00, 1.00], n = 2"]
    assert model.export_text() == "class 1 1.00 [1.00, 1.00], n = 2 (2 class 1)"
