"""The class of least expected cost, thresholds, and the size of a tree by scikit-learn's names."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import (
    accuracy_score,
    confusion_matrix,
    precision_recall_fscore_support,
    roc_auc_score,
)

from maptree import MAPTreeClassifier, MCMCTreeClassifier, SMCTreeClassifier

MODELS = [
    MAPTreeClassifier(max_expansions=50, time_limit=None),
    MCMCTreeClassifier(n_samples=20, burn_in=20, random_state=0),
    SMCTreeClassifier(n_particles=20, random_state=0),
]


def table(n_classes=3):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (90, 4))
    y = np.array(
        [f"class {k}" for k in (X[:, 0] + 2 * X[:, 1] + rng.integers(0, 2, 90)) % n_classes]
    )
    return X, y


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_the_least_expected_cost_decides(model):
    X, y = table()
    model.fit(X, y)
    costs = np.array([[0, 1, 9], [4, 0, 2], [1, 1, 0.5]])
    expected = []
    for probabilities in model.predict_proba(X):
        of_class = [sum(p * costs[i, j] for i, p in enumerate(probabilities)) for j in range(3)]
        expected.append(model.classes_[of_class.index(min(of_class))])
    assert model.predict(X, costs=costs).tolist() == expected
    # One unit for every error is the most probable class.
    assert model.predict(X, costs=1 - np.eye(3)).tolist() == model.predict(X).tolist()
    # A class that costs nothing is always right; of two, the first.
    assert set(model.predict(X, costs=[[1, 0, 0]] * 3)) == {"class 1"}


@pytest.mark.parametrize(
    ("costs", "error", "message"),
    [
        ([[0, 1], [1, 0]], ValueError, "is 2 x 2: pass 3 rows, one per true class"),
        ([0, 1, 2], ValueError, "is 3: pass 3 rows"),
        (5, ValueError, "is a single number: pass 3 rows"),
        ([[0, 1, np.nan]] * 3, ValueError, "has an entry that is not finite"),
        ([["a"] * 3] * 3, TypeError, "is not a matrix of numbers"),
        ([[0, 1], [1]], TypeError, "is not a matrix of numbers"),
        ([[0, 1, 1], [1, 0, -1], [1, 1, 0]], ValueError, "has a negative entry: .* at least 0"),
        ({"class 9": 5}, ValueError, r"about 'class 9', which is not a class: pass 'class .' or"),
        ({"class 1": -5}, ValueError, r"costs\['class 1'\]=-5 is negative"),
        ({"class 1": "5"}, TypeError, "is not a number: pass a number of at least 0"),
        ({("class 1",): 5}, ValueError, r"is not about two classes: pass \(true, predicted\)"),
        ({("class 1", "x"): 5}, ValueError, "about 'x', which is not a class: pass one of"),
        ({2: 5}, ValueError, "about 2, which is not a class"),
        (pd.DataFrame(np.ones((3, 3)), columns=list("abc")), ValueError, "the classes as names"),
    ],
)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_other_costs_are_refused(model, costs, error, message):
    X, y = table()
    with pytest.raises(error, match=message):
        model.fit(X, y).predict(X, costs=costs)
    with pytest.raises(error, match=message):
        model.decisions(X, y, costs=costs)


def test_costs_by_class_are_those_of_a_matrix():
    X, y = table()
    model = MODELS[0].fit(X, y)
    matrix = [[0, 9, 5], [1, 0, 1], [1, 1, 0.5]]
    named = {("class 0", "class 1"): 9, "class 0": 5, ("class 2", "class 2"): 0.5}
    assert model.predict(X, costs=named).tolist() == model.predict(X, costs=matrix).tolist()
    numbers = MAPTreeClassifier(max_expansions=50).fit(X, y == "class 0")
    assert set(numbers.predict(X, costs={True: 1000})) == {True}


# decisions


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_decisions_are_those_of_scikit_learn(model):
    X, y = table(2)
    model.fit(X, y)
    p = model.predict_proba(X)[:, 1]
    weights = np.linspace(0, 2.5, len(y))
    for given in (None, weights):
        found = model.decisions(X, y, costs={"class 1": 4}, sample_weight=given)
        ours = y == "class 1"
        assert found.positive == "class 1"
        assert found.roc_auc == pytest.approx(roc_auc_score(ours, p, sample_weight=given))
        predicted = model.predict(X)
        assert found.accuracy == pytest.approx(accuracy_score(y, predicted, sample_weight=given))
        precision, recall, _, _ = precision_recall_fscore_support(y, predicted, sample_weight=given)
        assert [k.precision for k in found.classes] == pytest.approx(precision)
        assert [k.recall for k in found.classes] == pytest.approx(recall)
        for at in found.thresholds.rows:
            (tn, fp), (fn, tp) = confusion_matrix(ours, p >= at.threshold, sample_weight=given)
            assert at.cost == pytest.approx(fp + 4 * fn)
            assert (at.true_positives, at.true_negatives) == pytest.approx((tp, tn))
    dummy = DummyClassifier(strategy="prior").fit(X, y)
    assert model.decisions(X, y).most_frequent_accuracy == pytest.approx(dummy.score(X, y))


def test_several_classes():
    X, y = table()
    model = MODELS[0].fit(X, y)
    found = model.decisions(X, y, costs={"class 0": 3})
    assert found.thresholds is None
    expected = roc_auc_score(y, model.predict_proba(X), multi_class="ovr")
    assert found.roc_auc == pytest.approx(expected)
    assert "mean over classes, each against all others" in str(found)
    one = model.decisions(X, y, positive="class 2", thresholds=[0.3])
    (at,) = one.thresholds.rows
    assert at.true_positives == ((model.predict_proba(X)[:, 2] >= 0.3) & (y == "class 2")).sum()
    assert at.cost is None
    with pytest.raises(ValueError, match="are for 3 classes: pass the class that they are about"):
        model.decisions(X, y, thresholds=[0.3])
    rest = model.decisions(X[y != "class 2"], y[y != "class 2"])
    assert "1 without rows left out" in rest.summary()


def test_rows_of_one_class_and_of_unknown_classes():
    X, y = table(2)
    model = MODELS[0].fit(X, y)
    ours = y == "class 1"
    found = model.decisions(X[ours], y[ours], costs={"class 1": 4})
    assert found.roc_auc is None
    assert "No ROC AUC: the rows are all of one class." in str(found)
    assert found.classes[0].recall is None
    labels = np.where(np.arange(len(y)) < 30, "other", y)
    found = model.decisions(X, labels)
    assert (found.rows, found.unknown) == (90, 30)
    assert found.accuracy == pytest.approx((model.predict(X) == labels).mean())
    assert sum(k.rows for k in found.classes) == 60
    assert "30 of 90 rows have a class that the model does not know" in found.summary()
    one = MAPTreeClassifier().fit(X, ["only"] * 90).decisions(X, ["only"] * 90)
    assert (one.roc_auc, one.thresholds) == (None, None)


def test_words_and_pages():
    X, y = table(2)
    model = MODELS[0].fit(X, np.where(y == "class 1", "<b>\x1b", "a class with a very long name"))
    found = model.decisions(X, model.predict(X), costs=[[0, 0.001], [1234567, 0]])
    assert "\x1b" not in str(found)
    assert "<b>" not in found._repr_html_()
    assert max(map(len, str(found).split("\n"))) <= 100
    assert found._repr_html_().count("<table ") == 2


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"thresholds": [0.5, 1.2]}, ValueError, r"has 1\.2: pass probabilities from 0 to 1"),
        ({"thresholds": -0.1}, ValueError, r"has -0\.1"),
        ({"thresholds": []}, ValueError, "is not a list of numbers"),
        ({"thresholds": [[0.1]]}, ValueError, "is not a list of numbers"),
        ({"thresholds": ["x"]}, TypeError, "are not numbers"),
        ({"positive": "class 7"}, ValueError, "positive='class 7' is about 'class 7', which is"),
        ({"sample_weight": [1.0]}, ValueError, "pass one weight per row"),
        ({"sample_weight": [-1.0] * 90}, ValueError, r"sample_weight\[0\] is -1"),
        ({"sample_weight": [np.nan] * 90}, ValueError, r"sample_weight\[0\] is nan"),
        ({"sample_weight": [0.0] * 90}, ValueError, "Every sample weight is zero"),
    ],
)
def test_other_wishes_are_refused(options, error, message):
    X, y = table(2)
    model = MODELS[0].fit(X, y)
    with pytest.raises(error, match=message):
        model.decisions(X, y, **options)


def test_rows_that_do_not_count_are_refused():
    X, y = table(2)
    model = MODELS[0].fit(X, y)
    weights = np.zeros(90)
    weights[0] = 1
    with pytest.raises(ValueError, match="No row that counts has a class that the model knows"):
        model.decisions(X, ["other", *y[1:]], sample_weight=weights)
    with pytest.raises(NotFittedError):
        MAPTreeClassifier().decisions(X, y)
    with pytest.raises(ValueError, match="labels of the same type"):
        model.decisions(X, np.arange(90))


def test_a_report_with_costs():
    X, y = table(2)
    model = MODELS[0].fit(X, y)
    page = model.to_html(X=X, y=y, costs={"class 0": 3}, positive="class 0")
    assert "If class 0 is predicted where" in page
    assert "class 0 as class 1 3" in page
    with pytest.raises(ValueError, match="is about rows to score: pass X and y, too"):
        model.to_html(costs={"class 0": 3})
    with pytest.raises(ValueError, match="which is not a class"):
        model.to_html(X=X, y=y, positive="class 5")


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_the_size_of_the_tree(model):
    with pytest.raises(NotFittedError):
        type(model)().get_depth()
    with pytest.raises(NotFittedError):
        type(model)().get_n_leaves()
    X, y = table()
    model.fit(X, y)
    tree = model.tree_
    assert model.get_n_leaves() == np.count_nonzero(tree.feature < 0)
    assert model.get_depth() == max(tree.depths)
