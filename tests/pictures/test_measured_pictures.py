"""Plots, notebooks and reports of trees that predict numbers or counts."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from sklearn.metrics import r2_score, root_mean_squared_error

from maptree import MAPTreeRegressor, plot_tree
from maptree.parameters.outcomes import CountPrior, NumberPrior
from maptree.pictures.colours import RAMP
from maptree.pictures.report.measured_held_out import hold_out_measured, observe
from maptree.pictures.spread import Scale, spread_of
from maptree.pictures.tree_plot import _Drawing
from maptree.pictures.tree_view import view_tree
from maptree.trees.measured_scores import Estimate, MeasuredBaseline, MeasuredScores
from maptree.trees.outcomes import Counts, Numbers
from maptree.trees.seen_rows import Overlap
from maptree.trees.tree import Tree
from models import HOSTILE_TEXTS, chain, change
from outline import Outline

LIKELIHOODS = ["normal", "poisson"]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def table(n_rows, likelihood, seed=0):
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n_rows)
    size[rng.random(n_rows) < 0.1] = np.nan
    X = pd.DataFrame({"size": size, "colour": rng.choice(["red", "blue"], n_rows)})
    level = 3.0 + 2 * (np.nan_to_num(size) > 0) + 4 * (X["colour"] == "red")
    y = level + rng.normal(size=n_rows) if likelihood == "normal" else rng.poisson(level)
    return X, pd.Series(y, name="price")


def fitted(likelihood, **more):
    X, y = table(300, likelihood)
    return MAPTreeRegressor(likelihood=likelihood, max_expansions=300).fit(X, y, **more)


def pictured(n_leaves, names=None, target="price", counts=False):
    """A regressor whose tree has so many leaves; it tests columns of 0 and 1."""
    n_columns = max(2, n_leaves - 1)
    names = [f"column {j}" for j in range(n_columns)] if names is None else names
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"column {j}": rng.integers(0, 2, 60) for j in range(len(names))})
    likelihood = "poisson" if counts else "normal"
    model = MAPTreeRegressor(likelihood=likelihood, max_expansions=2)
    model.fit(frame, rng.poisson(4, 60))
    tree = chain(n_leaves, 1)
    rows = tree.counts[:, 0] + 1
    sums = np.stack([rows * rng.integers(-300, 300, len(rows)), rows * 200_000], axis=1)
    if counts:
        sums = np.stack([rng.poisson(rows * rng.uniform(0.1, 9, len(rows))), rows], axis=1)
    tests = np.where(tree.feature < 0, -1, tree.feature % len(names))
    change(
        model,
        schema=model.fitted_.schema.renamed(names),
        tree=Tree(tests, tree.left, tree.right, rows[:, np.newaxis], sums),
    )
    model.fitted_ = model.fitted_.with_training(target=target)
    return model


def page_data(page):
    return json.loads(Outline(page).scripts["application/json"])


# Boxes


@pytest.mark.parametrize("likelihood", LIKELIHOODS)
def test_what_a_node_shows(likelihood):
    model = fitted(likelihood)
    X, _ = table(50, likelihood, seed=1)
    view = view_tree(model.fitted_)
    for leaf, row in zip(model.apply(X).tolist(), range(len(X)), strict=True):
        node = view.nodes[leaf]
        assert node.mean == pytest.approx(model.predict(X.iloc[[row]])[0], rel=1e-14)
        if likelihood == "normal":
            np.testing.assert_array_equal(
                [node.low, node.high], model.predict_interval(X.iloc[[row]])[0]
            )
    for leaf, rule in zip(view.leaves, model.rules(), strict=True):
        mean, low, high = leaf.texts
        name = "price" if likelihood == "normal" else "rate of price"
        assert rule == f"{leaf.rule}  ->  {name} {mean} [{low}, {high}], n = {leaf.n}"
        assert view.title(leaf) == f"{name} {mean}"
        assert "".join(view.small(leaf)) == f"[{low}, {high}], n = {leaf.n}"


@pytest.mark.parametrize("likelihood", LIKELIHOODS)
def test_colours_rise_with_the_mean(likelihood):
    view = view_tree(fitted(likelihood).fitted_)
    leaves = sorted(view.leaves, key=lambda leaf: leaf.mean)
    colours = [view.colour(leaf) for leaf in leaves]
    assert colours == sorted(colours)
    assert (colours[0], colours[-1]) == (0, len(RAMP) - 1)


def test_the_ramp_works_in_grey_and_on_every_page():
    linear = np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in RAMP]) ** 2.2
    light = linear @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(light) > 0.025).all()
    for page in (0.018, 1.0):  # the boxes of dark and of light pages
        contrast = (np.maximum(light, page) + 0.05) / (np.minimum(light, page) + 0.05)
        assert contrast.min() > 1.4  # shapes have an outline, too


@pytest.mark.parametrize("counts", [False, True])
def test_shapes_lie_on_the_scale(counts):
    view = view_tree(pictured(30, counts=counts).fitted_)
    for node in view.nodes:
        marks = view.marks(node)
        across, up = np.array(marks.shape).T
        assert ((across >= 0) & (across <= 1) & (up >= 0) & (up <= 1 + 1e-9)).all()
        assert (np.diff(across) >= 0).all()
        assert up[0] == up[-1] == 0
        if node.test < 0:
            assert 0 <= marks.interval[0] <= marks.mean <= marks.interval[1] <= 1


def test_counts_are_steps_as_high_as_they_are_probable():
    tree = Tree([-1], [-1], [-1], [[40]], [[90, 40]])
    measured = Counts(2.25, 1.0, 1, False, CountPrior(2.0))
    (shape,) = spread_of(measured, tree).shapes
    found = measured.predictive(tree).to_scipy()
    steps = [shape[i][1] for i in range(1, len(shape) - 1, 2)]
    probable = found.pmf(np.arange(len(steps)))
    np.testing.assert_allclose(steps, probable / probable.max(), rtol=1e-9)


def test_curves_are_densities():
    tree = Tree([-1], [-1], [-1], [[40]], [[900, 3_000_000]])
    measured = Numbers(50.0, 10.0, NumberPrior(kappa=1, nu=3, noise=0.1))
    spread = spread_of(measured, tree)
    found = measured.predictive(tree).to_scipy()
    corners = np.array(spread.shapes[0])[1:-1]
    y = spread.scale.low + corners[:, 0] * (spread.scale.high - spread.scale.low)
    np.testing.assert_allclose(corners[:, 1], found.pdf(y) / found.pdf(found.mean()), rtol=1e-6)


@pytest.mark.parametrize("y", [[5.0] * 8, [1e300, 2e300] * 4, [1e-300, 3e-300] * 4, [-2.0] * 8])
@pytest.mark.filterwarnings("ignore:y is")
def test_extreme_numbers(y):
    model = MAPTreeRegressor().fit([[0], [1]] * 4, y)
    page = model.to_html(X=[[0], [1]] * 4, y=y)
    assert "NaN" not in page
    assert "nan" not in json.dumps(page_data(page)["nodes"])
    plot_tree(model)
    assert model._repr_html_()


def test_counts_that_are_all_zero_and_large_ones():
    for y in ([0] * 8, [10_000, 10_400, 9_900, 10_100] * 2):
        model = MAPTreeRegressor(likelihood="poisson").fit([[0], [1]] * 4, y)
        assert "<svg" in model.to_html(X=[[0], [1]] * 4, y=y)
        plot_tree(model)
    assert view_tree(model.fitted_).scale.low > 5_000  # the shapes are not at the end of the scale


def test_the_place_of_a_number():
    scale = Scale(10.0, 20.0)
    assert [scale.place(v) for v in (5.0, 10.0, 15.0, 99.0)] == [0.0, 0.0, 0.5, 1.0]


# Plots


@pytest.mark.parametrize("n_leaves", [1, 2, 30])
@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("names", [None, HOSTILE_TEXTS], ids=["plain", "hostile"])
def test_text_stays_in_its_box(n_leaves, counts, names):
    target = "price" if names is None else HOSTILE_TEXTS[6]
    view = view_tree(pictured(n_leaves, names, target, counts).fitted_)
    drawing = _Drawing(view, view.place())

    def boxes(paths):
        return np.array([[*p.vertices.min(axis=0), *p.vertices.max(axis=0)] for p in paths])

    left, bottom, right, top = boxes(drawing.boxes).T
    for x0, y0, x1, y1 in boxes([s for s in drawing.title.shapes if len(s.vertices)]):
        assert ((left <= x0) & (x1 <= right) & (bottom <= y0) & (y1 <= top)).sum() == 1
    smalls = boxes([s for s in drawing.small.shapes if len(s.vertices)])
    assert (smalls[:, 2] <= drawing.width).all()
    plot_tree(pictured(n_leaves, names, target, counts))


# Notebooks


@pytest.mark.parametrize("likelihood", LIKELIHOODS)
def test_a_notebook_shows_the_tree(likelihood):
    model = fitted(likelihood)
    bundle = model._repr_mimebundle_()
    assert 'class="shape' in bundle["text/html"]
    assert "<script" not in bundle["text/html"]
    assert model.export_text() in bundle["text/plain"]
    assert "sk-" in MAPTreeRegressor()._repr_html_()


# The report


@pytest.mark.parametrize("counts", [False, True])
def test_hostile_names_stay_text(counts):
    plain = Outline(pictured(12, counts=counts).to_html())
    for target in HOSTILE_TEXTS:
        page = pictured(12, HOSTILE_TEXTS, target, counts).to_html(title=HOSTILE_TEXTS[1])
        outline = Outline(page)
        listed = {(tag, frozenset()) for tag in ("section", "h2", "dl", "dt", "dd")}
        assert outline.shape - plain.shape <= listed
        assert page.count("<script") == 2
        assert "\u202e" not in page
        assert "x" * 1000 not in page
        page.encode("utf-8")


@pytest.mark.parametrize("likelihood", LIKELIHOODS)
def test_nothing_is_fetched(likelihood):
    X, y = table(100, likelihood, seed=1)
    outline = Outline(fitted(likelihood).to_html(X=X, y=y))
    for tag, attributes in outline.elements:
        for name in ("src", "href", "action", "data", "srcset", "xlink:href"):
            assert (attributes.get(name) or "data:").startswith("data:"), (tag, attributes)
        assert not any(name.startswith("on") or name == "style" for name in attributes)
    policy = next(a["content"] for t, a in outline.elements if a.get("http-equiv"))
    for content in (outline.styles[0], outline.scripts["module"]):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert "innerHTML" not in outline.scripts["module"]


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("n_leaves", [50, 400])
def test_the_size_grows_with_the_leaves(n_leaves, counts):
    page = pictured(n_leaves, counts=counts).to_html()
    assert len(page.encode("utf-8")) < 70_000 + 3_400 * n_leaves


def test_the_size_does_not_grow_with_the_rows():
    model = fitted("normal")
    sizes = [
        len(model.to_html(X=X, y=y)) for X, y in (table(n, "normal", 2) for n in (500, 100_000))
    ]
    assert sizes[1] < sizes[0] + 25_000


def test_parts_for_classes_are_left_out():
    X, y = table(200, "normal", seed=1)
    text = Outline(fitted("normal").to_html(X=X, y=y)).text
    for words in ("robabilit", "onfusion", "ccuracy", "ROC", "hreshold", "class "):
        # of what is shown; the glossary of certificates is about trees of any kind
        assert words not in text.split("Is this the best possible tree?")[0]


@pytest.mark.parametrize("likelihood", LIKELIHOODS)
@pytest.mark.parametrize("exposed", [False, True])
def test_scores_are_those_of_the_model(likelihood, exposed):
    if exposed and likelihood == "normal":
        pytest.skip("exposure is for counts")
    X, y = table(500, likelihood, seed=1)
    exposure = np.random.default_rng(0).uniform(0.5, 2, 800) if exposed else None
    model = fitted(likelihood, exposure=None if exposure is None else exposure[:300])
    more = {} if exposure is None else {"exposure": exposure[300:]}
    held = hold_out_measured(
        model.fitted_,
        model.apply(X),
        y.to_numpy(dtype=float),
        Overlap(500),
        None if exposure is None else exposure[300:],
    )
    predicted = model.predict(X, **more)
    assert held.scores.rmse.value == pytest.approx(root_mean_squared_error(y, predicted))
    assert held.scores.r2.value == pytest.approx(r2_score(y, predicted))
    assert held.scores.log_score.value == pytest.approx(model.log_score(X, y, **more))
    for cover in held.covers:
        low, high = model.predict_interval(X, cover.level, **more).T
        assert cover.share == pytest.approx(((low <= y) & (y <= high)).mean())
        assert cover.width == pytest.approx((high - low).mean())
    assert sum(leaf.rows for leaf in held.leaves) == 500
    for i, cover in enumerate(held.covers):
        inside = sum(leaf.covers[i].share * leaf.rows for leaf in held.leaves)
        assert inside / 500 == pytest.approx(cover.share)
    assert held.baseline.rmse > held.scores.rmse.value
    text = Outline(model.to_html(X=X, y=y, **more)).text
    assert f"{held.covers[1].share:.3f}" in text
    assert f"{held.baseline.log_score:.3f}" in text


def test_rows_used_for_fitting_are_recognised():
    X, y = table(300, "normal")
    text = Outline(fitted("normal").to_html(X=X, y=y)).text
    assert "On the rows it was fitted to" in text


def test_far_rows_do_not_squeeze_the_picture():
    rng = np.random.default_rng(0)
    y = np.append(rng.normal(size=999), 1e6)
    seen = observe(np.repeat([0.0, 1.0], 500), y)
    assert 1 <= seen.outside <= 20
    assert seen.y[1] < 10
    assert seen.cells[:, 2].sum() + seen.outside == 1000
    assert len(seen.cells) <= 48 * 30


def test_what_does_not_fit():
    X, y = table(50, "normal", seed=1)
    model = fitted("normal")
    with pytest.raises(TypeError, match="costs is for classes, and the tree predicts numbers"):
        model.to_html(X=X, y=y, costs={"a": 1})
    with pytest.raises(TypeError, match="exposure is for counts"):
        model.to_html(X=X, y=y, exposure=2.0)
    with pytest.raises(ValueError, match="y has a missing number at row 0"):
        model.to_html(X=X, y=[None] * 50)
    with pytest.raises(ValueError, match="pass X and y, too"):
        model.to_html(exposure=2.0)


@pytest.mark.parametrize("likelihood", LIKELIHOODS)
def test_the_form_has_what_it_needs(likelihood):
    exposure = np.linspace(0.5, 2, 300) if likelihood == "poisson" else None
    model = fitted(likelihood, exposure=exposure)
    data = page_data(model.to_html())
    X, _ = table(40, likelihood, seed=1)
    leaves, means = model.apply(X), model.predict(X)
    shown = [data["nodes"][leaf]["values"][0] for leaf in leaves]
    np.testing.assert_allclose(shown, means, rtol=1e-14)
    assert data["exposed"] == (exposure is not None)
    for i, level in enumerate((0.5, 0.9, 0.95)):
        if likelihood == "normal":
            found = [data["nodes"][leaf]["intervals"][i] for leaf in leaves]
            np.testing.assert_allclose(found, model.predict_interval(X, level), rtol=1e-8)
    if likelihood == "poisson":
        gamma = np.array([data["nodes"][leaf]["gamma"] for leaf in leaves])
        np.testing.assert_allclose(gamma[:, 0] / gamma[:, 1], means, rtol=1e-12)


def test_alternatives_stand_side_by_side():
    X, y = table(80, "normal")
    model = MAPTreeRegressor(max_depth=2, encoder="auto").fit(X[["colour"]], y)
    page = model.to_html(alternatives=model.alternatives(2))
    cards = re.search(r'<div class="cards">(.*?)</div>', page, re.DOTALL)[1]
    assert "price" in Outline(cards).text
    assert re.search(r'class="outcome"><i class="k\d"></i><bdi>price</bdi> [\d.]+ \[', cards)


def test_scores_that_the_model_keeps():
    model = fitted("normal")
    kept = MeasuredScores(
        300,
        Estimate(1.234, 0.05),
        Estimate(0.81, 0.02),
        Estimate(-1.61, 0.03),
        0.9,
        Estimate(0.905, 0.017),
        3.9,
        "5-fold cross-validation, seed 0",
        (MeasuredBaseline("linear regression", 1.4, 0.7, -1.8),),
    )
    training = replace(model.fitted_.training, held_out=kept)
    text = Outline(change(model, training=training).to_html()).text
    for words in ("On rows held out by fit", "5-fold cross-validation", "linear regression"):
        assert words in text
    assert "1.234 ± 0.050" in text
