"""Many classes, rare classes, and what stands in for ``class_weight``."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from maptree import MAPTreeClassifier, MCMCTreeClassifier, SMCTreeClassifier
from samples import classifier, noisy

KINDS = (MAPTreeClassifier, MCMCTreeClassifier, SMCTreeClassifier)


@pytest.mark.parametrize("kind", KINDS)
def test_class_weight_is_refused_with_an_explanation(kind):
    message = rf"class_weight is not a parameter of {kind.__name__}.*predict\(X, costs=.*rho=\["
    for value in ("balanced", {0: 1, 1: 10}, None):
        with pytest.raises(TypeError, match=message):
            kind(class_weight=value)
        with pytest.raises(ValueError, match=message):
            kind().set_params(class_weight=value)
    steps = make_pipeline(kind())
    with pytest.raises(ValueError, match=message):
        steps.set_params(**{f"{kind.__name__.lower()}__class_weight": "balanced"})
    with pytest.raises(ValueError, match=message):
        GridSearchCV(kind(), {"class_weight": ["balanced"]}, error_score="raise").fit(*noisy())
    with pytest.raises(TypeError, match="unexpected keyword argument 'weight'"):
        kind(weight=3)


@pytest.mark.parametrize("kind", KINDS)
def test_parameters_are_as_before(kind):
    model = kind(alpha=0.7)
    assert "class_weight" not in model.get_params()
    assert (
        list(inspect.signature(kind).parameters)
        == list(inspect.signature(kind.__init__).parameters)[1:]
    )
    assert clone(model).alpha == 0.7
    assert pickle.loads(pickle.dumps(model)).alpha == 0.7
    assert kind(0.5).alpha == 0.5


def test_rare_classes_keep_honest_probabilities():
    rng = np.random.default_rng(0)
    n = 20_000
    kind = rng.choice(["a", "b", "c", "d"], n)
    size = rng.normal(size=n)
    rate = np.where((kind == "c") & (size > 1.5), 0.4, 0.002)
    y = np.where(rng.random(n) < rate, "fraud", "fine")
    X = np.column_stack([kind.astype(object), size])
    model = MAPTreeClassifier(time_limit=None, max_expansions=200).fit(X, y)
    fraud = model.predict_proba(X)[:, model.classes_.tolist().index("fraud")]
    risky = rate > 0.1
    assert fraud[risky].mean() == pytest.approx(0.4, abs=0.1)
    assert fraud[~risky].mean() == pytest.approx(0.002, abs=0.003)
    # The remedy: decide at the threshold that the costs ask for, not at one half.
    caught = fraud > 0.1
    assert caught[(y == "fraud") & risky].mean() > 0.9
    lifted = MAPTreeClassifier(max_expansions=50, rho=[1, 20]).fit(X, y)
    assert lifted.rho_.tolist() == [1, 20]


@pytest.mark.parametrize("n_classes", [3, 7])
def test_many_classes_in_words(n_classes):
    rng = np.random.default_rng(1)
    month = rng.integers(1, 13, 600)
    labels = np.array([f"class {k}" for k in range(n_classes)])
    y = labels[month % n_classes]
    X = np.array([[f"month {m:02d}"] for m in month])
    model = classifier(max_expansions=2000).fit(X, y)
    assert model.score(X, y) == 1
    assert model.predict_proba(X).shape == (600, n_classes)
    assert all("x0 " in rule and "class " in rule for rule in model.rules())
    intervals = model.predict_interval(X)
    assert (
        (intervals[..., 0] <= model.predict_proba(X))
        & (model.predict_proba(X) <= intervals[..., 1])
    ).all()
