"""Rules hold for exactly the rows of their leaf, read by an evaluator that shares no code."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from maptree import BinaryEncoder, MAPTreeClassifier
from maptree.words.tree_text import rules_by_leaf
from models import fitted_of
from problems import examples
from random_tables import KINDS, as_objects, in_sets, random_tree, tables
from rule_reader import NUMBER, TEXT, holds
from samples import classifier

pytestmark = pytest.mark.filterwarnings("ignore::maptree.IdentifierWarning")


def rules_of(tree, schema):
    """The rule of each leaf of a tree."""
    return rules_by_leaf(fitted_of(schema, tree))


@examples(50)
@given(tables(n_tables=2), st.integers(0, 2**32 - 1), st.booleans())
def test_a_rule_holds_for_the_rows_of_its_leaf(drawn, seed, labelled):
    train, other = drawn
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, len(train)) if labelled else None
    encoder = BinaryEncoder(max_thresholds=5, max_categories=4).fit(as_objects(train), y)
    if seed % 2:
        encoder = in_sets(encoder, rng)
    answers = encoder.transform(as_objects(train))
    tree = random_tree(answers, rng)
    words = encoder.words()
    for leaf, rule in rules_of(tree, encoder.schema()).items():
        expected = (tree.apply(answers) == leaf).tolist()
        assert [holds(rule, row, KINDS) for row in train] == expected, rule
    # Values that were not seen, and missing where none was: the words for that say so.
    # (A column of 0 and 1 has "= 0" for its false branch, which other numbers take.)
    binary = {column.name for column in encoder.schema_ if column.kind == "boolean"}
    fitting = [
        row
        for row in other
        if set(map(type, row.values())) <= seen_types(train)
        and all(row[name] in (0, 1, None) for name in binary)
    ]
    if fitting:
        others = encoder.transform(as_objects(fitting))
        leaves = tree.apply(others)
        kinds = {name: knowing(kind, name, train) for name, kind in KINDS.items()}
        for leaf, path in paths(tree).items():
            condition = words.condition(path, unseen=True)
            expected = (leaves == leaf).tolist()
            assert [holds(condition, row, kinds) for row in fitting] == expected, condition


def knowing(kind, name, rows):
    """Text of which a rule knows what was seen."""
    seen = {row.get(name) for row in rows}
    return replace(kind, knows=seen.__contains__) if kind.read is TEXT.read else kind


def seen_types(rows):
    return {type(value) for row in rows for value in row.values()} | {type(None)}


def paths(tree):
    found, stack = {}, [(0, [])]
    while stack:
        node, path = stack.pop()
        test = int(tree.feature[node])
        if test < 0:
            found[node] = path
        else:
            stack.append((int(tree.left[node]), [*path, (test, False)]))
            stack.append((int(tree.right[node]), [*path, (test, True)]))
    return found


@examples(20)
@given(tables(max_rows=40), st.integers(0, 2**32 - 1))
def test_rules_of_a_fitted_classifier(drawn, seed):
    (rows,) = drawn
    frame = as_objects(rows)
    y = np.random.default_rng(seed).integers(0, 2, len(rows))
    model = MAPTreeClassifier(max_expansions=30, alpha=0.99, beta=0.01, time_limit=None)
    model.fit(frame, y)
    rules = rules_by_leaf(model.fitted_)
    assert [rule.split("  ->  ")[0] for rule in rules.values()] == [
        rule.split("  ->  ")[0] for rule in model.rules()
    ]
    leaves = model.apply(frame)
    for leaf, rule in rules.items():
        assert [holds(rule, row, KINDS) for row in rows] == (leaves == leaf).tolist()


WORDS = [
    "a",
    "and",
    "or",
    "not",
    "in",
    "is",
    "missing",
    "<=",
    "=",
    "->",
    "3",
    '"',
    "(",
    ")",
    "",
    "b",
]


@examples(30)
@given(tables(), st.lists(st.lists(st.sampled_from(WORDS), max_size=5), min_size=4, max_size=4))
def test_a_rule_can_be_read_whatever_the_names(drawn, words):
    (rows,) = drawn
    old = sorted(rows[0])
    new = [" ".join([*parts, str(j)][:: 1 - 2 * (j % 2)]) for j, parts in enumerate(words)]
    called = dict(zip(old, new, strict=False))
    encoder = BinaryEncoder(max_thresholds=3, max_categories=3).fit(as_objects(rows))
    answers = encoder.transform(as_objects(rows))
    tree = random_tree(answers, np.random.default_rng(0))
    renamed = [{called[name]: value for name, value in row.items()} for row in rows]
    kinds = {called[name]: KINDS[name] for name in old}
    schema = encoder.schema().renamed([called[name] for name in encoder.schema().names])
    # A column of two values whose name is a comparison is called by that alone.
    assume(not any(column.kind == "boolean" and " = " in column.name for column in schema.columns))
    assume(not any(column.kind == "boolean" and " <= " in column.name for column in schema.columns))
    for leaf, rule in rules_of(tree, schema).items():
        expected = (tree.apply(answers) == leaf).tolist()
        assert [holds(rule, row, kinds) for row in renamed] == expected, rule


@pytest.mark.parametrize(
    ("name", "yes", "no"),
    [
        ("is it", "is it = 1", "is it = 0"),
        ("colour = dark red", "colour = dark red", "colour != dark red"),
        ('colour = "a and b"', 'colour = "a and b"', 'colour != "a and b"'),
        ("a and b = 3", '"a and b = 3" = 1', '"a and b = 3" = 0'),
        ("a = b and c", '"a = b and c" = 1', '"a = b and c" = 0'),
        ("1 < a <= 3", '"1 < a <= 3" = 1', '"1 < a <= 3" = 0'),
        ("age is missing", '"age is missing" = 1', '"age is missing" = 0'),
    ],
)
def test_names_of_two_values(name, yes, no):
    model = classifier().fit(pd.DataFrame({name: [0, 1] * 9}), [0, 1] * 9)
    assert [rule.split("  ->  ")[0] for rule in model.rules()] == [yes, no]


def test_the_example_of_the_documentation():
    rng = np.random.default_rng(0)
    age = rng.integers(20, 80, 400).astype(float)
    colour = rng.choice(["red", "blue", "green"], 400)
    y = np.where((age > 45) & (age <= 60) & (colour == "red"), "yes", "no")
    age[rng.random(400) < 0.1] = np.nan
    X = np.column_stack([age.astype(object), colour])
    model = classifier().fit(X, y)
    rules = model.rules(["age", "colour"])
    yes = [rule for rule in rules if "->  yes" in rule]
    assert any(" < age <= " in rule and "colour = red" in rule for rule in yes)
    kinds = {"age": NUMBER, "colour": TEXT}
    rows = [
        {"age": None if np.isnan(a) else a, "colour": c} for a, c in zip(age, colour, strict=True)
    ]
    held = np.array([[holds(rule, row, kinds) for row in rows] for rule in rules])
    assert (held.sum(axis=0) == 1).all()
    assert [int(rule.rsplit("n = ", 1)[1]) for rule in rules] == held.sum(axis=1).tolist()


def test_no_warning_in_plain_use():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BinaryEncoder().fit([[1, "a"], [2, "b"], [3, "a"]])
