"""Model files that nobody saved: trees that no search finds are refused, and whatever is loaded
takes work in proportion to its size."""

from __future__ import annotations

import cProfile
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maptree import MAPTreeClassifier, Tree, load_model
from maptree.estimators.saved import restored, stored
from maptree.export import plain_tree
from maptree.model_file import path_checks
from maptree.model_file.path_checks import refuse_impossible_paths
from maptree.model_file.reading import parse_model
from maptree.model_file.writing import _values
from maptree.schema.columns import Column, Schema
from maptree.schema.schema_json import write_schema
from problems import examples


def values_of(columns, nested, classes=("a", "b")):
    """The JSON values of a model with a tree, nested: (test, false branch, true branch) or None."""
    feature, left, right = [], [], []
    stack = [(nested, -1, False)]
    while stack:
        part, parent, side = stack.pop()
        node = len(feature)
        if parent >= 0:
            (right if side else left)[parent] = node
        feature.append(-1 if part is None else part[0])
        left.append(-1)
        right.append(-1)
        if part is not None:
            stack += [(part[2], node, True), (part[1], node, False)]
    counts = [[1] * len(classes) for _ in feature]
    for node in reversed(range(len(feature))):
        if feature[node] >= 0:
            below = zip(counts[left[node]], counts[right[node]], strict=True)
            counts[node] = [a + b for a, b in below]
    # Its columns have no levels, which the other prior needs.
    model = MAPTreeClassifier(max_expansions=1, split_prior="tests").fit(np.eye(4), [0, 1, 0, 1])
    values = json.loads(json.dumps(_values(stored(model))))
    n_classes = len(classes)
    values["classes"] = {"dtype": "<U9", "values": list(classes)}
    values["schema"] = write_schema(Schema(tuple(columns)))
    values["tree"] = {"feature": feature, "left": left, "right": right, "counts": counts}
    values["training"] |= {"rows": sum(counts[0]), "class_counts": counts[0], "seen": None}
    values["rho"] = [2.5] * n_classes
    values["feature_importances"] = [0.0] * len(columns)
    return json.loads(json.dumps(values))


def chained(tests, leaf=None):
    """Tests one after the other, by their false branches."""
    nested = leaf
    for test in reversed(tests):
        nested = (test, nested, None)
    return nested


NUMBER = Column("x", "number", "float64", thresholds=(1.0, 2.0, 3.0), has_missing=True)
COLOUR = Column("c", "category", "str", categories=("blue", "red"), has_missing=True)
SIZE = Column("s", "ordered", "str", thresholds=(0, 1), categories=("s", "m", "l"))
MEMBER = Column("m", "boolean", "bool", categories=(False, True), has_missing=True)
COLUMNS = [NUMBER, COLOUR, SIZE, MEMBER]  # tests 0-3, 4-6, 7-8, 9-10
LEAF = None


@pytest.mark.parametrize(
    "nested",
    [
        (0, (0, LEAF, LEAF), LEAF),  # the same, after false
        (0, LEAF, (0, LEAF, LEAF)),  # and after true
        (0, (9, (0, LEAF, LEAF), LEAF), LEAF),  # with another between them
        (1, LEAF, (2, LEAF, LEAF)),  # x <= 2, so x <= 3
        (1, (0, LEAF, LEAF), LEAF),  # x > 2 or missing, so not x <= 1
        (1, LEAF, (3, LEAF, LEAF)),  # x <= 2, so not missing
        (3, LEAF, (1, LEAF, LEAF)),  # missing
        (3, (3, LEAF, LEAF), LEAF),
        (4, LEAF, (5, LEAF, LEAF)),  # blue, so not red
        (4, LEAF, (6, LEAF, LEAF)),
        (6, LEAF, (4, LEAF, LEAF)),
        (7, LEAF, (8, LEAF, LEAF)),
        (8, (7, LEAF, LEAF), LEAF),
        (9, LEAF, (10, LEAF, LEAF)),
        (10, LEAF, (9, LEAF, LEAF)),
        (0, (9, LEAF, LEAF), (9, (0, LEAF, LEAF), LEAF)),  # in the second of two branches
    ],
)
def test_a_test_whose_answer_is_known_is_refused(nested):
    values = values_of(COLUMNS, nested)
    with pytest.raises(ValueError, match=r"tree\.feature\[\d\] is \d+, a test of '\w'.*follows"):
        parse_model(values)


@pytest.mark.parametrize(
    "nested",
    [
        (1, (2, LEAF, LEAF), (0, LEAF, LEAF)),  # on both sides of a threshold
        (1, (3, (2, LEAF, LEAF), LEAF), LEAF),  # above, if not missing
        (3, (0, (1, LEAF, LEAF), LEAF), LEAF),
        (4, (5, (6, LEAF, LEAF), LEAF), LEAF),  # neither blue nor red: missing or unknown
        (6, (5, (4, LEAF, LEAF), LEAF), LEAF),
        (7, (8, LEAF, LEAF), LEAF),
        (9, (10, LEAF, LEAF), LEAF),
        (9, (0, LEAF, LEAF), (0, LEAF, LEAF)),  # the same on two paths
        (0, (9, LEAF, LEAF), (9, LEAF, (4, LEAF, LEAF))),
    ],
)
def test_a_test_whose_answer_is_open_is_read(nested):
    parse_model(values_of(COLUMNS, nested))


@examples(40)
@given(st.data())
def test_known_answers_against_all_rows(data):
    """A tree is refused if and only if some test has one answer for all values that reach it."""

    def draw(depth):
        if depth == 0 or data.draw(st.booleans()):
            return None
        return data.draw(st.integers(0, 10)), draw(depth - 1), draw(depth - 1)

    nested = draw(4)
    xs = [None, 0.5, 1.5, 2.5, 3.5]
    colours, sizes, members = [None, "blue", "red", "green"], ["s", "m", "l"], [None, False, True]
    rows = [(x, c, s, m) for x in xs for c in colours for s in sizes for m in members]
    ask = [
        *[lambda r, t=t: r[0] is not None and r[0] <= t for t in (1, 2, 3)],
        lambda r: r[0] is None,
        *[lambda r, c=c: r[1] == c for c in ("blue", "red")],
        lambda r: r[1] is None,
        *[lambda r, k=k: "sml".index(r[2]) <= k for k in (0, 1)],
        lambda r: r[3] is True,
        lambda r: r[3] is None,
    ]

    def splits(part, here):
        if part is None:
            return True
        yes = [row for row in here if ask[part[0]](row)]
        no = [row for row in here if not ask[part[0]](row)]
        return bool(yes) and bool(no) and splits(part[1], no) and splits(part[2], yes)

    values = values_of(COLUMNS, nested)["tree"]
    tree = Tree(values["feature"], values["left"], values["right"], values["counts"])
    if splits(nested, rows):
        refuse_impossible_paths(tree, Schema(tuple(COLUMNS)))
    else:
        with pytest.raises(ValueError, match="follows from the tests above it"):
            refuse_impossible_paths(tree, Schema(tuple(COLUMNS)))


def test_a_long_chain_of_one_test_is_refused(tmp_path):
    file = tmp_path / "model.json"
    file.write_text(json.dumps(values_of([NUMBER], chained([0] * 4000))))
    with pytest.raises(ValueError, match=r"tree.feature\[\d+\] is 0, a test of 'x' whose answer"):
        load_model(file)


def test_a_long_chain_of_different_tests_is_refused():
    """What describes its paths would grow with the square of its size."""
    column = Column("x", "number", "float64", thresholds=tuple(map(float, range(1100))))
    # Columns of one-hot tables give such trees.
    parse_model(values_of([column], chained(range(1000))))
    match = "1,101 leaves have 606,650 tests in total; at most 563,712. With a smaller max_depth"
    with pytest.raises(ValueError, match=match):
        parse_model(values_of([column], chained(range(1100))))


def test_a_broad_tree_of_any_size_is_read(monkeypatch):
    monkeypatch.setattr(path_checks, "MOST_TESTS", 100)
    parse_model(comb_values(5))


def test_names_that_are_repeated_at_every_node_are_limited(monkeypatch):
    monkeypatch.setattr(path_checks, "MOST_TEXT", 10_000)
    long = Column("x" * 900, "number", "float64", thresholds=tuple(map(float, range(20))))
    parse_model(values_of([long], chained(range(2))))
    with pytest.raises(ValueError, match=r"paths to all leaves take .* characters; at most 10,000"):
        parse_model(values_of([long], chained(range(20))))
    sizes = tuple(f"{i:0100d}" for i in range(40))
    ordered = Column("s", "ordered", "str", thresholds=tuple(range(39)), categories=sizes)
    with pytest.raises(ValueError, match=r"all leaves take .* characters; at most 10,000"):
        parse_model(values_of([ordered], chained(range(39))))


# Work


def comb_values(levels):
    """A complete tree of some levels with a chain below each of its leaves; in doubling the nodes,
    paths become longer by one test."""
    n = 6
    top = [Column(f"top {i}", "boolean", "bool", categories=(False, True)) for i in range(levels)]
    words = tuple(f"word {i}" for i in range(n))
    columns = [
        *top,
        Column("x", "number", "float64", thresholds=tuple(map(float, range(n))), has_missing=True),
        Column("c", "category", "str", categories=words),
        Column("s", "ordered", "str", thresholds=tuple(range(n - 1)), categories=words),
    ]
    chain = chained(range(levels, levels + 3 * n))
    nested = chain
    for level in reversed(range(levels)):
        nested = (level, nested, nested)
    return values_of(columns, nested)


def wide_values(n):
    """A small tree over some of many columns, with as many categories in one."""
    words = tuple(f"word {i:06d}" for i in range(n))
    columns = [Column(f"x{i}", "number", "float64", thresholds=(0.5,)) for i in range(n)]
    columns.append(Column("c", "category", "str", categories=words))
    return values_of(columns, chained([0, n // 2, n - 1, n, 2 * n - 1]))


def many_classes(n):
    """A small tree over many classes."""
    return values_of([NUMBER], chained([0, 1, 2]), [f"class {i:03d}" for i in range(n)])


def test_numbers_that_all_have_one_hash_are_refused():
    """Looking up one of them would compare it with all the others."""
    numbers = [2**200 + i * (2**61 - 1) for i in range(100)]
    values = values_of([NUMBER], chained([0, 1]), ["no", "yes"])
    values["classes"] = {"dtype": "|O", "values": numbers}
    with pytest.raises(ValueError, match=r"classes.values has more than 64 numbers with the same"):
        parse_model(values)
    column = Column("c", "category", "object", categories=tuple(numbers))
    with pytest.raises(ValueError, match=r"categories has more than 64 numbers with the same hash"):
        parse_model(values_of([column], chained([0, 1]), ["no", "yes"]))


def rows_for(model):
    frame = {}
    for column in model.fitted_.schema.columns:
        values = {"number": [0.4, 2.5], "boolean": [True, False]}.get(column.kind)
        frame[column.name] = column.categories[:2] if values is None else values
    return pd.DataFrame(frame)


USES = {
    "predict": lambda model, X: model.predict(X),
    "predict_interval": lambda model, X: model.predict_interval(X),
    "decision_path": lambda model, X: model.decision_path(X),
    "rules": lambda model, X: "\n".join(model.rules()),
    "export_text": lambda model, X: model.export_text(),
    "to_sql": lambda model, X: model.to_sql("sqlite"),
    "to_python": lambda model, X: model.to_python(),
    "to_c": lambda model, X: model.to_c(),
    "to_javascript": lambda model, X: model.to_javascript(),
    "to_json": lambda model, X: model.to_json(),
    "to_dot": lambda model, X: model.to_dot(),
    "to_mermaid": lambda model, X: model.to_mermaid(),
    "to_latex": lambda model, X: model.to_latex(),
    "to_onnx": lambda model, X: model.to_onnx().SerializeToString(),
    "to_html": lambda model, X: model.to_html(),
    "in a notebook": lambda model, X: model._repr_html_inner(),
}


def work(use, values):
    """The calls that a use of a model makes, of Python's functions and of C's, and its output."""
    model = restored(parse_model(values))
    X = rows_for(model)
    profile = cProfile.Profile()
    result = profile.runcall(use, model, X)
    calls = sum(entry.callcount for entry in profile.getstats())
    return calls, len(result) if isinstance(result, (str, bytes)) else 1


def in_order_values(kind, n):
    """A balanced tree of all thresholds of an ordered column, or of sets."""
    words = tuple(f"word {i:06d}" for i in range(n))
    unknown = n // 3 if kind == "sets" else None
    column = Column("s", kind, "str", thresholds=tuple(range(n - 1)), categories=words,
                    unknown=unknown)  # fmt: skip

    def balanced(first, last):
        if first == last:
            return None
        middle = (first + last) // 2
        return middle, balanced(middle + 1, last), balanced(first, middle)

    return values_of([column], balanced(0, n - 1))


def ordered_values(n):
    return in_order_values("ordered", n)


def sets_values(n):
    return in_order_values("sets", n)


# Uses that list the categories of a set or of an ordered column at every test.
LISTING = ("to_sql", "to_python", "to_c", "to_javascript", "to_json")


FAMILIES = {comb_values: 4, wide_values: 500, many_classes: 60}


@pytest.mark.parametrize(
    ("use", "values", "n"),
    [
        *[(use, values, n) for use in USES for values, n in FAMILIES.items()],
        *[(use, ordered_values, 512) for use in USES if use not in LISTING],
        *[(use, sets_values, 512) for use in USES if use not in LISTING],
    ],
)
def test_twice_the_size_is_twice_the_work(use, values, n):
    if use == "to_onnx":
        pytest.importorskip("onnx")
    small, large = values(n), values(n + 1 if values is comb_values else 2 * n)
    work(USES[use], small)  # what is done once
    calls, length = work(USES[use], small)
    more_calls, longer = work(USES[use], large)
    # A little more than twice: numbers get longer, and paths by a test.
    assert more_calls <= 2.4 * calls + 100
    assert longer <= 2.4 * length + 100


@pytest.mark.parametrize("use", LISTING)
@pytest.mark.parametrize("values", [ordered_values, sets_values])
def test_lists_of_categories_are_limited(use, values, monkeypatch):
    model = restored(parse_model(values(64)))
    assert len(USES[use](model, None)) < plain_tree.MOST_LISTED
    monkeypatch.setattr(plain_tree, "MOST_LISTED", 4096)
    match = r"The categories of column 's', listed in every test.*to_onnx and to_sklearn list"
    with pytest.raises(ValueError, match=match):
        USES[use](model, None)


@pytest.mark.parametrize("use", LISTING)
def test_no_list_is_longer_than_the_limit_says(use):
    """Names are counted with what is written around them, so short ones do not get past it."""
    words = tuple(map(str, range(300)))
    column = Column("s", "ordered", "str", thresholds=tuple(range(299)), categories=words)
    model = restored(parse_model(values_of([column], chained(range(299)))))
    counted = sum(len(word) + plain_tree._AROUND for word in words) * 150
    assert counted < plain_tree.MOST_LISTED
    assert len(USES[use](model, None)) < counted + 100_000


def test_work_is_refused_before_it_is_done():
    small, large = (restored(parse_model(ordered_values(n))) for n in (1024, 2048))
    calls = []
    for model in (small, large):
        profile = cProfile.Profile()
        with pytest.raises(ValueError, match="MiB of C"):
            profile.runcall(model.to_c)
        calls.append(sum(entry.callcount for entry in profile.getstats()))
    assert calls[1] <= 2.4 * calls[0]
