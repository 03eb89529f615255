"""No number reads as certain that is not."""

from __future__ import annotations

import io
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from maptree import MAPTreeClassifier
from maptree.cli.descriptions import scores_text
from maptree.cli.screen import draw
from maptree.engine.progress import Progress
from maptree.export.dot import write_dot
from maptree.pictures.report.held_out import hold_out
from maptree.pictures.tree_view import view_tree
from maptree.schema.columns import Schema
from maptree.trees.forest import Trees, WeightedTrees
from maptree.trees.scores import score
from maptree.trees.seen_rows import Overlap
from maptree.words.nats import gap_text
from maptree.words.numbers import estimate_texts, probability_text, probability_texts
from maptree.words.posterior_summary import summarise
from maptree.words.tree_text import indented
from models import number
from problems import examples

CERTAIN = re.compile(r"(?<![<>\d.])(?:0\.0+|1\.0+|0|1)(?![\d.]*\d)")
near = st.one_of(
    st.floats(0, 1),
    st.floats(-40, 0).map(lambda e: 10.0**e),
    st.floats(-16, 0).map(lambda e: 1 - 10.0**e),
    st.sampled_from([0.0, 1.0, 0.005, 0.995, 0.0049999, 0.99951]),
)


def meant(text):
    """The numbers that a text stands for."""
    number = float(text.lstrip("<>"))
    step = 10.0 ** -len(text.partition(".")[2])
    if text.startswith("<"):
        return 0, number
    return (number, 1) if text.startswith(">") else (number - step / 2, number + step / 2)


@examples(60)
@given(st.lists(near, min_size=1, max_size=4), st.integers(1, 4))
def test_no_probability_reads_as_certain(values, digits):
    texts = probability_texts(values, digits)
    assert len({len(text.lstrip("<>")) for text in texts}) == 1  # they line up
    for value, text in zip(values, texts, strict=True):
        low, high = meant(text)
        assert low <= value + 1e-12
        assert value <= high + 1e-12
        assert (CERTAIN.fullmatch(text) is None) or value in (0, 1), text
    for value in values:
        assert len(probability_text(value, digits)) <= 9
        if 0.01 <= value <= 0.99:
            assert probability_text(value, 2) == f"{value:.2f}"


@examples(60)
@given(near, near, near, st.integers(2, 3))
def test_no_interval_reads_as_certain(a, b, c, digits):
    low, mean, high = sorted((a, b, c))
    texts = estimate_texts(mean, low, high, digits)
    assert len({len(text.lstrip("<>")) for text in texts}) == 1
    for value, text in zip((mean, low, high), texts, strict=True):
        start, end = meant(text)
        assert start <= value + 1e-12
        assert value <= end + 1e-12
        assert (CERTAIN.fullmatch(text) is None) or value in (0, 1), text


@examples(100)
@given(st.floats(0, 1e6), st.integers(1, 4))
def test_no_gap_reads_as_none(gap, digits):
    assert (float(gap_text(gap, digits).replace(",", "")) == 0) == (gap == 0)


def test_no_gap_of_a_running_search_reads_as_none():
    progress = Progress(1.0, 5, 5, -300.0, -299.9996, 0.0004, 2, 0, 3)
    assert "| gap 0.0004 |" in str(progress)
    lines = io.StringIO()
    Console(file=lines, width=80).print(draw(progress, "Searching", 10.0))
    assert re.search(r"gap +0\.0004 nats", lines.getvalue())


@pytest.fixture(scope="module")
def sure():
    """Leaves as good as certain: 3,447 of 3,450, and all but one of 20,000."""
    X = pd.DataFrame({"age": [20.0] * 3450 + [50.0] * 20_000})
    y = np.array(["no"] * 3447 + ["yes"] * 3 + ["no"] + ["yes"] * 19_999)
    return MAPTreeClassifier(max_expansions=20).fit(X, y), X, y


def test_a_leaf_that_is_nearly_certain(sure):
    model, _, _ = sure
    few, many = model.rules()
    assert few == "age <= 35  ->  no 0.998 [0.997, 0.999], n = 3,450"
    assert re.fullmatch(r"age > 35  ->  yes 0\.999\d+ \[0\.999\d+, 0\.9999\d+\], n = 20,000", many)
    assert "(3,447 no, 3 yes)" in model.export_text()


def test_nowhere_is_it_rounded_to_certainty(sure):
    model, X, y = sure
    scores = score(model.predict_proba(X), np.searchsorted(model.classes_, y))
    assert 0.9995 < scores.accuracy < 1
    said = [*model.rules(), scores_text(scores), write_dot(model.fitted_), indented(model.fitted_)]
    view = view_tree(model.fitted_)
    said += [text for node in view.nodes for text in (node.estimate, node.probability)]
    codes = np.searchsorted(model.classes_, y)
    held = hold_out(model.fitted_, model.apply(X), codes, Overlap(len(y)))
    page = model.to_html(X=X, y=y)
    table = re.findall(r"<tr data-leaf.*?</tr>", page)
    assert len(table) == 2
    said += [cell for row in table for cell in re.findall(r"<td>(.*?)</td>", row)]
    said += re.findall(r"<dd>([\d.,]+)</dd>", page)
    said += re.findall(r'aria-label="Share of correct predictions[^"]*"', page)
    assert held.scores.accuracy == scores.accuracy
    for text in said:
        found = re.findall(r"(?<![\d.<>,])(?:0\.0+|1\.0+)(?!\d)", text)
        assert not found or ("0.9 to 1.0" in text and len(found) == 1), text
    assert "Accuracy 0.9998, log loss 0.00" in scores_text(scores)


def test_weights_of_trees_that_are_nearly_one():
    trees = Trees(
        starts=np.array([0, 3]),
        sizes=np.array([3, 1]),
        feature=np.array([0, -1, -1, -1]),
        left=np.array([1, -1, -1, -1]),
        right=np.array([2, -1, -1, -1]),
        counts=np.array([[5, 5], [5, 0], [0, 5], [5, 5]]),
    )
    for weight, shown in ((0.99983, "0.9998"), (1 - 1e-9, ">0.999999"), (1 - 1e-15, "1.000")):
        weights = np.array([weight, 1 - weight])
        weighted = WeightedTrees(trees, weights, np.array([-6.4, -7.5]), np.array([[0, 1]]))
        text = str(summarise(weighted, Schema((number(45.5, name="age"),)), 2))
        assert re.search(rf"^age +{re.escape(shown)} ", text, re.M), text
        assert f"2: {shown}" in text
