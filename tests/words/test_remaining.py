"""Rules name what remains where little does, and say where unknown values go."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest

from command import call
from maptree import MAPTreeClassifier, load_model
from maptree.schema.columns import Column, Schema
from maptree.schema.schema_json import read_schema, write_schema
from maptree.words.tests import TestWords

# Passengers of the Titanic by class and sex: those who survived, and those who did not.
PASSENGERS = {
    ("1st class", "man"): (62, 118), ("1st class", "woman"): (141, 4),
    ("2nd class", "man"): (25, 154), ("2nd class", "woman"): (93, 13),
    ("3rd class", "man"): (88, 422), ("3rd class", "woman"): (90, 106),
}  # fmt: skip


@pytest.fixture(scope="module")
def passengers():
    rows = [
        (*who, outcome)
        for who, counts in PASSENGERS.items()
        for outcome, n in zip(("yes", "no"), counts, strict=True)
        for _ in range(n)
    ]
    return pd.DataFrame(rows, columns=["class", "sex", "survived"])


def test_rules_name_the_value_that_is_left(passengers):
    model = MAPTreeClassifier(time_limit=None).fit(
        passengers[["class", "sex"]], passengers["survived"]
    )
    text = "\n".join([model.export_text(), *model.rules(), model.to_html(), model._repr_html_()])
    assert "class = 2nd class" in text
    assert "sex = man" in text
    for phrase in ("sex != ", "not in {"):
        assert phrase not in text
    assert [column.others for column in model.encoder_.schema_] == [(), ("man",)]


def test_unknown_values_are_said_to_go_there(passengers, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    passengers.to_csv("t.csv", index=False)
    assert call(capsys, "fit", "t.csv", "-t", "survived").code == 0
    (tmp_path / "new.csv").write_text(
        "class,sex\n2nd class,man\n4th class,man\n2nd class,\n1st class,other\n", encoding="utf-8"
    )
    told = call(capsys, "predict", "t.model.json", "new.csv", "--explain")
    rules = pd.read_csv(io.StringIO(told.out))["rule"].str.partition("  ->  ")[0].tolist()
    assert "unknown" not in rules[0]
    assert all("sex = man or unknown or missing" in rule for rule in rules[1:])
    assert rules[1].startswith("(class != 1st class or missing)")
    answers = load_model("t.model.json")._answers(pd.read_csv("new.csv"))
    tree = load_model("t.model.json").tree_
    assert answers.unforeseen(tree).tolist() == [False, True, True, True]


def test_categories_that_are_numbers():
    X = pd.DataFrame({"size": pd.Categorical([36, 38, 40] * 20)})
    model = MAPTreeClassifier().fit(X, ["s", "m", "l"] * 20)
    assert any(rule.startswith("size = ") for rule in model.rules())
    assert not any("!=" in rule or "not in" in rule for rule in model.rules())
    answers = model._answers(pd.DataFrame({"size": [36.0, 37.0, np.nan]}))
    assert answers.unforeseen(model.tree_).tolist() == [False, True, True]


def colours(*categories, others=(), **more):
    column = Column("c", "category", "str", categories=categories, others=others, **more)
    return TestWords(Schema((column,)))


@pytest.mark.parametrize(
    ("words", "without", "said", "unseen"),
    [
        (colours("a", "b"), (0,), "c = b", "c = b or unknown or missing"),
        (colours("b", others=("a",)), (0,), "c = a", "c = a or unknown or missing"),
        (colours("a", "b", "d"), (0,), "c != a", "c != a or missing"),
        (colours(*"abde"), (0, 2), "c in {b, e}", "c in {b, e} or unknown or missing"),
        (colours("a", "b"), (0, 1), "c not in {a, b}", "c not in {a, b} or missing"),
        (colours("a", others=None), (0,), "c != a", "c != a or missing"),
        (colours("a", "b", has_missing=True), (0,), "c = b or missing", None),
        (colours(*"abcdefghijkl"), range(6), "c not in {a, b, c, d, e, f}", None),
    ],
)
def test_what_is_said_of_a_column(words, without, said, unseen):
    answers = [(test, False) for test in without]
    assert words.condition(answers) == said
    if unseen is not None:
        assert words.condition(answers, unseen=True) == unseen


def test_what_remains_below_a_path():
    words = colours("a", "b", "d")
    assert words.condition([(1, False)], given=[(0, False)]) == "c = d"
    assert words.condition([(1, True)], given=[(0, False)]) == "c = b"


def test_models_of_earlier_versions_do_not_know_what_remains(passengers, tmp_path):
    model = MAPTreeClassifier().fit(passengers[["class", "sex"]], passengers["survived"])
    path = tmp_path / "old.json"
    model.save(path)
    values = json.loads(path.read_text(encoding="utf-8"))
    for column in values["schema"]["columns"]:
        del column["others"]
    path.write_text(json.dumps(values), encoding="utf-8")
    text = load_model(path).export_text()
    assert "sex != woman" in text
    assert load_model(path).encoder_.schema_[0].others is None


@pytest.mark.parametrize(
    ("others", "message"), [(["a"], "twice, or one with a test"), ("a", "others is 'a'")]
)
def test_others_that_cannot_be(others, message):
    values = write_schema(colours("a", "b").schema)
    values["columns"][0]["others"] = others
    with pytest.raises(ValueError, match=message):
        read_schema(values)
