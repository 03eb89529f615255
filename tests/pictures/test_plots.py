"""Pictures by matplotlib: what they show, and that nothing overlaps or is left out."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.exceptions import NotFittedError

import maptree
from maptree import MAPTreeClassifier, MCMCTreeClassifier, plot_search, plot_tree
from maptree.pictures.tree_plot import _Drawing
from maptree.pictures.tree_view import view_tree
from models import HOSTILE_TEXTS, change, pictured


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def saved(ax, kind="png"):
    buffer = io.BytesIO()
    ax.figure.savefig(buffer, format=kind)
    return buffer.getvalue()


def boxes(paths):
    return np.array([[*path.vertices.min(axis=0), *path.vertices.max(axis=0)] for path in paths])


@pytest.mark.parametrize("n_leaves", [1, 2, 3, 30, 120])
@pytest.mark.parametrize("names", [None, HOSTILE_TEXTS], ids=["plain", "hostile"])
def test_text_stays_in_its_box_and_boxes_apart(n_leaves, names):
    view = view_tree(
        pictured(n_leaves, names, labels=HOSTILE_TEXTS[:3] if names else ("no", "yes")).fitted_
    )
    drawing = _Drawing(view, view.place())
    placed = boxes(drawing.boxes)
    assert len(placed) == 2 * n_leaves - 1
    left, bottom, right, top = placed.T
    meet = (
        (left[:, None] < right[None]) & (left[None] < right[:, None])
        & (bottom[:, None] < top[None]) & (bottom[None] < top[:, None])
    )  # fmt: skip
    assert meet.sum() == len(placed)  # with itself only
    titles = boxes([shape for shape in drawing.title.shapes if len(shape.vertices)])
    for x0, y0, x1, y1 in titles:
        inside = (left <= x0) & (x1 <= right) & (bottom <= y0) & (y1 <= top)
        assert inside.sum() == 1
    smalls = boxes([shape for shape in drawing.small.shapes if len(shape.vertices)])
    assert (smalls[:, 0] >= 0).all()
    assert (smalls[:, 2] <= drawing.width).all()


def test_text_is_of_a_size_that_can_be_read():
    """In a figure of its own, small letters have at least 6.5 points, also with 30 leaves."""
    for n_leaves in (3, 30):
        ax = plot_tree(pictured(n_leaves))
        ax.figure.canvas.draw()
        inches = ax.get_window_extent().width / ax.figure.dpi
        assert 10.5 * 72 * inches / np.ptp(ax.get_xlim()) >= 6.5


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_files(kind):
    ax = plot_tree(pictured(4, HOSTILE_TEXTS, HOSTILE_TEXTS[:5]))
    start = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[kind]
    assert saved(ax, kind).startswith(start)


def test_a_given_axes_is_used_and_kept():
    _, axes = plt.subplots(1, 2, figsize=(6, 3))
    before = axes[1].get_position().bounds
    assert plot_tree(pictured(5), ax=axes[0]) is axes[0]
    assert plot_search(pictured(5), ax=axes[1]) is axes[1]
    saved(axes[0])
    assert axes[1].get_position().bounds == before
    assert len(plt.get_fignums()) == 1


@pytest.mark.parametrize("labels", [["only"], list("ab"), [f"class {k}" for k in range(20)]])
def test_one_class_and_twenty(labels):
    saved(plot_tree(pictured(6, labels=labels)))


def test_a_lone_leaf():
    model = MAPTreeClassifier().fit([[3], [3]], [1, 1])
    saved(plot_tree(model))
    saved(plot_search(model))


def test_names_for_a_table_without_them():
    model = MAPTreeClassifier().fit([[0], [1]] * 10, ["n", "y"] * 10)
    assert view_tree(model.fitted_.named(["fever"])).nodes[0].name == "fever = 1"[:5]
    saved(plot_tree(model, feature_names=["fever"]))
    with pytest.raises(ValueError, match="feature_names has 2 names"):
        plot_tree(model, feature_names=["a", "b"])


def test_what_a_node_shows():
    rng = np.random.default_rng(0)
    age = rng.integers(20, 80, 400).astype(float)
    age[rng.random(400) < 0.2] = np.nan
    model = MAPTreeClassifier().fit(age[:, np.newaxis], np.where(age <= 45, "young", "other"))
    view = view_tree(model.fitted_.named(["age"]))
    root = view.nodes[0]
    assert root.name + root.rest == "age <= 45.5"
    yes, no = (view.nodes[child] for child in root.children)
    assert (yes.side, no.side) == ("yes", "no / missing")
    assert (yes.rule, no.rule) == ("age <= 45.5", "age > 45.5 or missing")
    assert view.title(yes) == "young"
    row = [[30.0]]
    np.testing.assert_array_equal(yes.mean, model.predict_proba(row)[0])
    np.testing.assert_array_equal(yes.interval, model.predict_interval(row)[0])
    assert [leaf.rule for leaf in view.leaves] == [
        rule.split("  ->  ")[0] for rule in model.rules(["age"])
    ]


def test_the_search_and_its_title():
    model = pictured(3)
    ax = plot_search(model)
    assert ax.get_title().startswith(("Best found; at most", "Proved: no tree"))
    best, bound = (
        next(line for line in ax.lines if line.get_label() == name)
        for name in ("best tree", "upper bound")
    )
    assert best.get_ydata()[-1] == model.certificate_.log_posterior
    assert bound.get_ydata()[-1] == model.certificate_.log_posterior_bound
    assert (bound.get_ydata() >= best.get_ydata() - 1e-9).all()
    assert ax.collections  # the gap
    saved(ax)


@pytest.mark.parametrize(("rows", "size"), [(1, (2, 1.5)), (2, (8, 5)), (1, (7, 3.6)), (3, (4, 4))])
@pytest.mark.parametrize("proved", [False, True])
def test_title_and_legend_of_the_search_fit_their_axes(rows, size, proved):
    model = MAPTreeClassifier().fit([[0], [1]] * 9, [0, 1] * 9) if proved else pictured(3)
    figure, axes = plt.subplots(rows, rows, figsize=size, squeeze=False)
    ax = plot_search(model, ax=axes[0, 0])
    figure.canvas.draw()
    room = ax.get_window_extent()
    if ax.get_title():
        title = ax.title.get_window_extent()
        assert room.x0 - 1 <= title.x0
        assert title.x1 <= room.x1 + 1
    legend = ax.get_legend()
    assert (legend is None) == (size[0] < 5)
    if legend is not None:
        box = legend.get_window_extent()
        assert room.x0 <= box.x0
        assert box.x1 <= room.x1
        assert room.y0 <= box.y0
        assert box.y1 <= room.y1
    assert ax.get_title() or rows == 3


def test_without_a_trace_there_is_the_end():
    model = pictured(3)
    change(model, trace=model.trace_[:0])
    ax = plot_search(model)
    assert [len(line.get_xdata()) for line in ax.lines] == [1, 1]
    saved(ax)
    change(model, certificate=None)
    with pytest.raises(ValueError, match="neither a trace nor a certificate"):
        plot_search(model)


def test_a_sampler_has_a_tree_and_no_bound():
    model = MCMCTreeClassifier(n_samples=30, burn_in=5, random_state=0)
    model.fit([[0, 1], [1, 0], [0, 0], [1, 1]] * 9, [0, 1, 0, 1] * 9)
    saved(plot_tree(model))
    ax = plot_search(model)
    assert [line.get_label() for line in ax.lines] == ["best tree"]


def test_unfitted():
    for plot in (plot_tree, plot_search):
        with pytest.raises(NotFittedError):
            plot(MAPTreeClassifier())


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        plot_tree(pictured(2))
    with pytest.raises(ImportError, match="pip install matplotlib"):
        maptree.plot_search(pictured(2))
