"""The pipeline of scikit-learn, and what others do with its last step."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.tree import export_text, plot_tree

from maptree import MAPTreeClassifier


def test_pipeline(case, compare):
    pipeline = pickle.loads(pickle.dumps(case.model.to_sklearn()))
    answers = pipeline[:-1].transform(case.table)
    compare(
        "scikit-learn",
        sklearn.__version__,
        case,
        pipeline[-1].apply(answers),
        pipeline.predict_proba(case.table),
        pipeline.predict(case.table),
    )
    tree = pipeline[-1]
    assert (tree.get_depth(), tree.get_n_leaves()) == (
        case.model.tree_.depth,
        case.model.tree_.n_leaves,
    )


def test_a_clone_can_be_fitted(mixed):
    pipeline = clone(mixed.model.to_sklearn())
    assert not hasattr(pipeline[-1], "tree_")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    pipeline.fit(X, X[:, 0] > 0)
    assert pipeline.score(X, X[:, 0] > 0) == 1


@pytest.fixture(scope="module")
def small():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)).round(1)
    y = np.where(X[:, 0] > 0, "yes", np.where(X[:, 1] > 0.5, "no", "maybe"))
    return MAPTreeClassifier().fit(X, y), X, y


def test_plot_and_text(small):
    model, _, _ = small
    pipeline = model.to_sklearn()
    names = list(pipeline[:-1].get_feature_names_out())
    text = export_text(pipeline[-1], feature_names=names)
    assert text.count("class:") == model.tree_.n_leaves
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    drawn = plot_tree(pipeline[-1], feature_names=names, class_names=list(model.classes_))
    assert len(drawn) >= model.tree_.node_count


def test_model_without_encoder():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 4))
    model = MAPTreeClassifier(encoder=None).fit(X, X[:, 0] ^ X[:, 1])
    pipeline = model.to_sklearn()
    np.testing.assert_array_equal(pipeline.predict_proba(X), model.predict_proba(X))


@pytest.mark.filterwarnings("ignore")
def test_shap(small, note):
    shap = pytest.importorskip("shap")
    model, X, _ = small
    pipeline = model.to_sklearn()
    answers = pipeline[:-1].transform(X[:50])
    explanation = shap.TreeExplainer(pipeline[-1])(answers)
    sums = explanation.values.sum(axis=1) + explanation.base_values
    worst = np.abs(sums - model.predict_proba(X[:50])).max()
    assert worst < 1e-9
    note("SHAP TreeExplainer on the last step", shap.__version__, 50, f"{worst:.1e}")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.system
def test_dtreeviz(small, note, tool):
    tool("dot")
    dtreeviz = pytest.importorskip("dtreeviz")
    words, X, y = small
    classes, numbers = np.unique(y, return_inverse=True)
    model = MAPTreeClassifier().fit(X, numbers)  # dtreeviz takes no labels but numbers
    assert model.tree_ == words.tree_
    pipeline = model.to_sklearn()
    viz = dtreeviz.model(
        pipeline[-1],
        X_train=pipeline[:-1].transform(X).astype(float),
        y_train=numbers,
        # It writes names into HTML as they are, so that "<" would be a fault.
        feature_names=[n.replace("<=", "≤") for n in pipeline[:-1].get_feature_names_out()],
        target_name="y",
        class_names=list(classes),
    )
    assert "<svg" in viz.view().svg()
    assert "<svg" in viz.view(fancy=False).svg()
    note("dtreeviz on the last step", dtreeviz.__version__, len(X), "drawn")
