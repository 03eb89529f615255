"""Where nodes stand, how names are cut, and which colours classes have."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maptree.pictures.colours import OTHERS, PALETTE, bar, class_colours
from maptree.pictures.layout import tidy
from maptree.pictures.short_text import distinct, fit, isolate, shorten, text_width, visible
from problems import examples


@st.composite
def shapes(draw):
    """Draw the children of nodes; parents come first."""
    children, open_nodes = [None], [0]
    for _ in range(draw(st.integers(0, 40))):
        node = open_nodes.pop(draw(st.integers(0, len(open_nodes) - 1)))
        first = len(children)
        children[node] = (first, first + 1)
        children += [None, None]
        open_nodes += [first, first + 1]
    return children


def levels(children):
    depth = [0] * len(children)
    for node, pair in enumerate(children):
        for child in pair or ():
            depth[child] = depth[node] + 1
    return depth


@examples(60)
@given(shapes())
def test_boxes_of_a_level_stand_apart_and_in_order(children):
    rows, depth = tidy(children), levels(children)
    order, stack = [], [0]
    while stack:
        node = stack.pop()
        order.append(node)
        stack += reversed(children[node] or ())
    for level in set(depth):
        across = [rows[node] for node in order if depth[node] == level]
        assert all(b - a >= 1 - 1e-9 for a, b in pairwise(across))
    for node, pair in enumerate(children):
        if pair:
            assert rows[node] == pytest.approx((rows[pair[0]] + rows[pair[1]]) / 2)
    assert min(rows) == pytest.approx(0)


@examples(20)
@given(shapes())
def test_subtrees_are_as_close_as_they_can_be(children):
    """Some level of every two siblings' subtrees touches."""
    rows, depth = tidy(children), levels(children)

    def below(node):
        found, stack = [], [node]
        while stack:
            found.append(stack.pop())
            stack += children[found[-1]] or ()
        return found

    for pair in filter(None, children):
        upper, lower = map(below, pair)
        gaps = [
            min(rows[n] for n in lower if depth[n] == level)
            - max(rows[n] for n in upper if depth[n] == level)
            for level in {depth[n] for n in upper} & {depth[n] for n in lower}
        ]
        assert min(gaps) == pytest.approx(1)


def test_the_same_shape_looks_the_same():
    mirrored = [(1, 2), None, (3, 4), None, None]
    assert tidy(mirrored) == [0.5, 0.0, 1.0, 0.5, 1.5]


def test_a_chain_of_a_thousand():
    children = []
    for level in range(1000):
        children += [(2 * level + 1, 2 * level + 2), None]
    rows = tidy([*children, None])
    assert rows[-1] == pytest.approx(1000 / 2 + rows[0])


@given(st.text(max_size=80), st.text(max_size=40), st.integers(8, 60))
def test_cut_text_fits(head, tail, room):
    cut = fit(head, tail, room, width=len)
    assert len(cut) <= room
    if len(head + tail) <= room:
        assert cut == head + tail


def test_the_end_of_a_test_is_kept():
    name = "a name of a column that goes on " * 300
    cut = fit(name, " <= 45.5", 20.0)
    assert cut.endswith("… <= 45.5")
    assert text_width(cut) <= 20
    both = fit(name, " = " + "x" * 10_000, 20.0)
    assert text_width(both) <= 20
    assert both.count("…") == 2


@given(st.lists(st.text(max_size=30), unique=True, max_size=8), st.integers(5, 12))
def test_short_names_differ_and_hide_nothing(names, most):
    short = distinct(names, most)
    assert len(set(short)) == len(short)
    assert all(text.replace("\u200c", "").replace("\u200d", "").isprintable() for text in short)


def test_what_is_hidden_is_shown():
    assert visible("a\u202eb\x00c\ud800") == "a\\u202eb\\u0000c\\ud800"
    assert visible("  two\r\n lines ") == "two lines"
    assert shorten("abc", 3) == "abc"
    assert isolate("plain") == "plain"
    assert isolate("שם") == "\u2068שם\u2069"


@pytest.mark.parametrize("n_classes", [1, 2, 7, 8, 20])
def test_every_class_has_a_colour(n_classes):
    counts = np.arange(n_classes)[::-1]
    colours = class_colours(counts)
    own = [colour for colour in colours if colour != OTHERS]
    assert own == list(range(min(n_classes, OTHERS)))
    assert colours.count(OTHERS) == max(0, n_classes - OTHERS)


def test_colours_differ_for_every_kind_of_eyes():
    """Okabe and Ito's colours, seen without one of the three kinds of cones (Viénot 1999)."""
    linear = np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in PALETTE]) ** 2.2
    without_red = np.array([[0.112, 0.888, 0], [0.112, 0.888, 0], [0.004, -0.004, 1]])
    without_green = np.array([[0.293, 0.707, 0], [0.293, 0.707, 0], [-0.022, 0.022, 1]])
    for eyes in (np.eye(3), without_red, without_green):
        seen = (linear @ eyes.T).clip(0, 1) ** (1 / 2.2)
        apart = np.linalg.norm(seen[:, np.newaxis] - seen[np.newaxis], axis=2)
        assert apart[np.triu_indices(len(PALETTE), 1)].min() > 0.14


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=25))
def test_bars_are_whole_and_begin_with_the_answer(weights):
    mean = np.array(weights) / sum(weights)
    best = int(np.argmax(mean))
    colours = class_colours(np.arange(len(mean)))
    parts = bar(mean, best, colours)
    assert parts[0] == (colours[best], 0.0, pytest.approx(mean[best]))
    assert parts[-1][2] == pytest.approx(1)
    assert all(a[2] == b[1] for a, b in pairwise(parts))
    assert len(parts) <= len(PALETTE) + 1
