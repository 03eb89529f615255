"""The report as a file: complete, self-contained, and nothing but text where it shows a table's."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn import set_config
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, confusion_matrix, log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr

from maptree import MAPTreeClassifier, write_report
from maptree.pictures.report.held_out import hold_out
from maptree.pictures.report.write import _occurring
from maptree.pictures.tree_view import view_tree
from maptree.tables.labels import numbers_among
from maptree.trees.seen_rows import Overlap
from maptree.trees.training import HeldOutScores
from models import HOSTILE_TEXTS, change, pictured
from outline import Outline
from samples import classifier


def page_data(page):
    return json.loads(Outline(page).scripts["application/json"])


@pytest.fixture(scope="module")
def plain():
    return Outline(pictured(12, labels=["a", "b", "c"]).to_html())


def test_hostile_names_and_labels_stay_text(plain):
    model = pictured(12, HOSTILE_TEXTS, HOSTILE_TEXTS[:3])
    page = model.to_html(title=HOSTILE_TEXTS[1])
    outline = Outline(page)
    # Names in full are listed below the rest; apart from that no element or attribute is new.
    plainly = {(tag, frozenset()) for tag in ("section", "h2", "dl", "dt", "dd")}
    assert outline.shape - plain.shape <= plainly
    assert "<script>alert(1)</script>" in outline.text
    assert "</script><img src=x onerror=alert(1)>" in outline.text
    assert page.count("<script") == 2
    assert "\u202e" not in page
    assert "x" * 1000 not in page
    assert page_data(page)["classes"] == sorted(HOSTILE_TEXTS[:3])
    page.encode("utf-8")  # no surrogates


def test_nothing_is_fetched(plain):
    for tag, attributes in plain.elements:
        for name in ("src", "href", "action", "data", "srcset", "xlink:href"):
            assert (attributes.get(name) or "data:").startswith("data:"), (tag, attributes)
        assert not any(name.startswith("on") or name == "style" for name in attributes)
    assert "@import" not in plain.styles[0]
    assert "url(" not in plain.styles[0]
    policy = next(a["content"] for t, a in plain.elements if a.get("http-equiv"))
    assert "default-src 'none'" in policy
    for content in (plain.styles[0], plain.scripts["module"]):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert "innerHTML" not in plain.scripts["module"]
    assert "eval(" not in plain.scripts["module"]


@pytest.mark.parametrize(("n_classes", "a_leaf"), [(2, 1600), (20, 2150)])
@pytest.mark.parametrize("n_leaves", [50, 400])
def test_the_size_grows_with_the_leaves(n_leaves, n_classes, a_leaf):
    page = pictured(n_leaves, labels=[f"class {k}" for k in range(n_classes)]).to_html()
    # What the page says of seconds and memory has more or fewer digits: leave room for that.
    assert len(page.encode("utf-8")) < 70_000 + a_leaf * n_leaves


def test_readable_without_a_script(plain):
    model = pictured(12, labels=["a", "b", "c"])
    for rule in model.rules():
        assert rule.split("  ->  ")[0] in plain.text
    groups = [a for t, a in plain.elements if t == "g" and "data-n" in a]
    assert len(groups) == 23
    places = {a["transform"] for a in groups}
    assert len(places) == 23
    hidden = [a.get("id") or a.get("class") for _, a in plain.elements if "hidden" in a]
    assert sorted(hidden) == ["sideways", "theme", "tip", "tools", "what-if", "with-script"]


def test_to_html_and_write_report(tmp_path):
    model = pictured(3)
    assert model.to_html(tmp_path / "a.html") is None
    write_report(model, str(tmp_path / "b.html"))
    text = model.to_html()
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == text
    assert (tmp_path / "b.html").read_bytes() == text.encode("utf-8")


@pytest.mark.parametrize("labels", [["only"], ["a", "b"]])
@pytest.mark.parametrize("encoder", ["auto", None])
def test_a_lone_leaf(labels, encoder):
    X, y = [[1], [1]] * 2, labels * (4 // len(labels))
    model = MAPTreeClassifier(encoder=encoder).fit(X, y)
    data = page_data(model.to_html(X=X, y=y))
    assert data["fields"] == []
    assert len(data["nodes"]) == 1


def test_no_trace_and_no_certificate():
    model = pictured(3)
    change(model, trace=model.trace_[:0])
    assert 'class="chart"' in model.to_html()
    page = change(model, certificate=None).to_html()
    assert 'class="chart"' not in page
    assert "Nothing is proved about this tree" in Outline(page).text


def test_the_certificate_in_words():
    proved = MAPTreeClassifier(max_depth=3, min_samples_leaf=2).fit([[0], [1]] * 9, [0, 1] * 9)
    text = Outline(proved.to_html()).text
    assert "Proved: no tree over this test, of depth 3 or less and with at least 2 rows" in text
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (300, 30)), rng.integers(0, 2, 300)
    text = Outline(MAPTreeClassifier(max_expansions=5).fit(X, y).to_html()).text
    assert "Not proved to be the best tree over these 30 tests: the search was stopped by" in text
    assert "nats" in text


def test_one_of_a_kind_is_singular():
    model = MAPTreeClassifier().fit([[0], [1]] * 9, [0, 1] * 9)
    change(model, certificate=replace(model.certificate_, expansions=1, subproblems=1))
    text = Outline(model.to_html()).text
    assert "1 expansion, 1 subproblem, " in text
    assert "no tree over this test is more" in text


def test_unfitted():
    with pytest.raises(NotFittedError):
        MAPTreeClassifier().to_html()


# Rows that were not used for fitting


@pytest.fixture(scope="module")
def halves():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 3))
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=600), [-0.6, 0.6])
    return classifier().fit(X[:300], y[:300]), X[300:], y[300:]


def compare(model, X, y):
    """What the page shows of these rows."""
    labels = numbers_among(model.classes_, y, len(y))
    return hold_out(model.fitted_, model.apply(X), labels, Overlap(len(y)))


def test_scores_are_those_of_scikit_learn(halves):
    model, X, y = halves
    held = compare(model, X, y)
    scores, proba = held.scores, model.predict_proba(X)
    assert scores.accuracy == pytest.approx(accuracy_score(y, model.predict(X)))
    assert scores.log_loss == pytest.approx(log_loss(y, proba, labels=model.classes_))
    np.testing.assert_array_equal(held.confusion, confusion_matrix(y, model.predict(X)))
    assert sum(group.n for group in held.groups) == len(y)
    right = sum(group.right * group.n for group in held.groups)
    assert right == pytest.approx((model.predict(X) == y).sum())
    predicted = sum(group.predicted * group.n for group in held.groups)
    assert predicted == pytest.approx(proba.max(axis=1).sum())
    assert all(g.low <= g.right <= g.high or g.right in (0, 1) for g in held.groups)
    text = Outline(model.to_html(X=X, y=y)).text
    assert f"{scores.accuracy:.3f}" in text
    assert f"{scores.log_loss:.3f}" in text
    assert "does not know" not in text
    assert "On held-out rows" not in Outline(model.to_html()).text


@pytest.mark.parametrize("many", [False, True])
def test_unknown_labels_count_as_wrong(halves, many):
    model, X, y = halves
    if many:  # classes that the table of confusions joins
        labels = [f"c{k:02d}" for k in range(20)]
        model = pictured(40, labels=labels)
        rng = np.random.default_rng(0)
        X = pd.DataFrame(rng.integers(0, 2, (300, 39)), columns=model.feature_names_in_)
        y = rng.choice(labels, 300)
    other = 7 if y.dtype.kind == "i" else "new"
    odd = np.where(np.arange(300) < 40, other, y)
    held = compare(model, X, odd)
    assert held.scores.accuracy == accuracy_score(odd, model.predict(X))
    known = compare(model, X[40:], y[40:])
    assert held.scores.log_loss == known.scores.log_loss
    assert held.confusion[-1].sum() == 40
    assert len(held.confusion) == len(held.classes) + 1
    np.testing.assert_array_equal(held.confusion[:-1].sum(), 260)
    text = Outline(model.to_html(X=X, y=odd)).text
    assert "40 rows have a class that the tree does not know; counted as wrong" in text
    assert "unknown to the tree" in text


def test_many_groups_and_classes_are_gathered():
    labels = [f"c{k:02d}" for k in range(20)]
    model = pictured(40, labels=labels)
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (500, 39)), columns=model.feature_names_in_)
    held = compare(model, X, rng.choice(labels, 500))
    assert 2 <= len(held.groups) <= 10
    assert held.confusion.shape == (13, 13)
    assert held.confusion.sum() == 500
    assert held.classes[-1] == -1


def test_scores_that_the_model_keeps():
    model = MAPTreeClassifier().fit([[0], [1]] * 9, [0, 1] * 9)
    assert "cross-validation" not in model.to_html()
    kept = HeldOutScores("5-fold cross-validation, seed 0", 18, 0.9444444, 0.31, 0.02)
    model.fitted_ = model.fitted_.with_training(held_out=kept)
    text = Outline(model.to_html()).text
    assert "On rows held out by fit" in text
    assert "5-fold cross-validation, seed 0." in text
    for number in ("18", "0.944", "0.310", "0.020"):
        assert number in text


def test_a_model_without_a_record_of_its_rows(halves):
    model, X, y = halves
    model = clone(model).fit(X, y)
    model.fitted_ = model.fitted_.with_training(seen=None)
    text = Outline(model.to_html(X=X, y=y)).text
    assert "On the rows given" in text
    assert "It is not known whether the tree was fitted to these rows: the model has no" in text
    assert "On held-out rows" not in text


def test_rows_that_do_not_fit(halves):
    model, X, y = halves
    with pytest.raises(ValueError, match="pass both, or neither"):
        model.to_html(X=X)
    with pytest.raises(
        ValueError, match=r"y has '0', '1', '2', but the tree was fitted with the labels 0, 1, 2"
    ):
        model.to_html(X=X, y=y.astype(str))
    with pytest.raises(ValueError, match="300 rows but y has 299"):
        model.to_html(X=X, y=y[1:])
    one = model.to_html(X=X[:1], y=y[:1])
    assert "On held-out rows" in Outline(one).text


# Notebooks


def test_a_notebook_shows_the_tree():
    model = pictured(5, HOSTILE_TEXTS, HOSTILE_TEXTS[:2])
    html = model._repr_html_()
    outline = Outline(html)
    assert {"svg", "style"} <= {tag for tag, _ in outline.elements}
    assert "script" not in {tag for tag, _ in outline.elements}
    assert not any(a.get("id") for _, a in outline.elements)  # two trees may stand on one page
    # Every rule is about what is inside, so nothing else of the notebook changes.
    css = re.sub(r"/\*.*?\*/", "", outline.styles[0], flags=re.S)
    depth, outer = 0, ""
    for char in css:
        depth += {"{": 1, "}": -1}.get(char, 0)
        outer += char if depth == 0 else ""
    selectors = [s for rule in outer.split("}") for s in rule.split(",") if s.strip()]
    assert all(
        ".maptree-notebook" in s or s.strip().startswith(("@media", "@keyframes maptree-"))
        for s in selectors
    )


@pytest.mark.parametrize(("n_leaves", "depth"), [(4, None), (60, 3), (287, 3)])
def test_a_notebook_shows_the_first_levels_of_a_large_tree(n_leaves, depth):
    model = pictured(n_leaves)
    html = model._repr_html_()
    shown = html.count("<g data-n=")
    nodes = view_tree(model.fitted_).nodes
    assert shown == sum(depth is None or node.depth <= depth for node in nodes)
    folded = re.findall(r">\+(\d+) leaves<", html)
    leaves = sum(node.children is None and (depth is None or node.depth <= depth) for node in nodes)
    assert sum(map(int, folded)) + leaves == n_leaves
    assert ("to_html() shows all" in html) == (shown < len(nodes))
    height = int(re.search(r'class="tree".*?height="(\d+)"', html).group(1))
    assert height <= 640


def test_the_bundle_has_text_too():
    model = MAPTreeClassifier().fit([[0], [1]] * 9, [0, 1] * 9)
    bundle = model._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert "x0 = 1: class 1 0.82" in bundle["text/plain"]
    assert model.export_text() in bundle["text/plain"]
    assert bundle["text/html"] == model._repr_html_()
    long = pictured(3, HOSTILE_TEXTS, HOSTILE_TEXTS[:7])._repr_mimebundle_()["text/plain"]
    assert max(map(len, long.splitlines())) < 2000
    try:
        set_config(display="text")
        assert set(model._repr_mimebundle_()) == {"text/plain"}
        assert not hasattr(model, "_repr_html_")
    finally:
        set_config(display="diagram")


def test_what_scikit_learn_shows_stays():
    model = MAPTreeClassifier(alpha=0.9)
    assert "sk-" in model._repr_html_()
    assert "text/html" in model._repr_mimebundle_()
    model.fit([[0], [1]] * 9, [0, 1] * 9)
    assert "sk-" in estimator_html_repr(model)
    assert "MAPTreeClassifier" in make_pipeline(StandardScaler(), model)._repr_html_()


def test_names_are_looked_for_together():
    class Counted(str):
        slices = 0

        def __getitem__(self, key):
            Counted.slices += 1
            return super().__getitem__(key)

    shown = Counted("x0007 <= 1 and long…name 2 and x0009 = a")
    assert _occurring(["x0007", "x0008", "long…name", "name 3"], shown) == {"x0007", "long…name"}
    Counted.slices = 0
    _occurring([f"x{i:04}" for i in range(1_000)], shown)
    assert Counted.slices < len(shown)  # not once for each name


@pytest.mark.filterwarnings("ignore::maptree.IdentifierWarning")
def test_notes_on_the_columns_that_the_tree_tests():
    ids = np.arange(60)
    X = pd.DataFrame({"<id>": ids, "row": ids[::-1] + 7, "price": ["$5", "$7", "$9"] * 20})
    model = MAPTreeClassifier().fit(X, (ids > 20).astype(int))
    assert [X.columns[j] for j in model.fitted_.used_columns] == ["<id>"]
    page = model.to_html()
    notes = re.search(r"<h2>Notes on columns</h2><ul>(.*?)</ul>", page)[1]
    assert notes.startswith("<li><b><bdi>&lt;id&gt;</bdi></b>: whole numbers that all differ and")
    assert notes.count("<li>") == 1
    assert "Notes on columns" not in pictured(3).to_html()
