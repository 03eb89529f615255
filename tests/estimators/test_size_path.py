"""``max_leaf_nodes`` and ``size_path``: what users see of trees of limited size."""

from __future__ import annotations

import math
import pickle
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_wine
from sklearn.metrics import log_loss

from checks import TOLERANCE
from maptree import (
    BinaryEncoder,
    InterruptedWarning,
    MAPTreeClassifier,
    MCMCTreeClassifier,
    choose_size,
    load_model,
    plot_sizes,
    scan_parquet,
    size_path,
)
from maptree.words.certificate import certificate_sentences, headline
from oracle import best_of_size
from problems import case, every_kind, seeds

WINE = load_wine(as_frame=True)


@pytest.fixture(scope="module")
def path():
    estimator = MAPTreeClassifier(time_limit=None, max_expansions=4000)
    return size_path(WINE.data, WINE.target, estimator, max_leaf_nodes=6, cv=3)


def test_a_limit_on_leaves_is_part_of_the_certificate():
    model = MAPTreeClassifier(max_leaf_nodes=3, time_limit=None).fit(WINE.data, WINE.target)
    assert model.get_n_leaves() == 3
    assert model.certificate_.optimal
    assert headline(model.fitted_) == "Proved: no tree of at most 3 leaves is more probable"
    assert "of at most 3 leaves," in certificate_sentences(model.fitted_)[0]
    larger = MAPTreeClassifier(max_leaf_nodes=4, time_limit=None).fit(WINE.data, WINE.target)
    assert larger.certificate_.log_posterior > model.certificate_.log_posterior
    lone = MAPTreeClassifier(max_leaf_nodes=1).fit(WINE.data, WINE.target)
    assert lone.get_n_leaves() == 1
    assert lone.certificate_.optimal


def test_a_limit_on_leaves_is_saved(tmp_path):
    model = MAPTreeClassifier(max_leaf_nodes=3, max_expansions=50).fit(WINE.data, WINE.target)
    model.save(tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert again.max_leaf_nodes == 3
    assert again.fitted_.constraints.max_leaf_nodes == 3


@pytest.mark.parametrize(
    ("leaves", "error", "words"),
    [
        (0, ValueError, "max_leaf_nodes=0 is too small"),
        (129, ValueError, "pass 1 to 128, or None for trees of any size"),
        (2.5, TypeError, "is not a whole number"),
        (True, TypeError, "is not a whole number"),
        ("8", TypeError, "max_leaf_nodes='8' is not a whole number: pass 1 to 128, or None"),
    ],
)
def test_sizes_that_are_refused(leaves, error, words):
    with pytest.raises(error, match=words):
        MAPTreeClassifier(max_leaf_nodes=leaves).fit([[0], [1]], [0, 1])
    with pytest.raises(error, match=r"max_leaf_nodes=.*: pass 1 to 128\."):
        size_path([[0], [1]], [0, 1], max_leaf_nodes=leaves)


def test_alternatives_are_limited_in_leaves_as_the_tree_is():
    X, y = (WINE.data > WINE.data.median()).astype(int), WINE.target
    model = MAPTreeClassifier(max_leaf_nodes=3, time_limit=None).fit(X, y)
    found = model.alternatives(5)
    assert len(found) == 5
    assert found[0].log_posterior == model.certificate_.log_posterior
    assert all(one.tree.n_leaves <= 3 for one in found)
    every = MAPTreeClassifier(time_limit=None).fit(X, y).alternatives(200, max_depth=2)
    small = [one.log_posterior for one in every if one.tree.n_leaves <= 3]
    assert small[:5] == [one.log_posterior for one in found]


def test_the_path_gets_better_with_every_size(path):
    sizes = [entry.leaves for entry in path]
    assert sizes[0] == 1
    assert sizes == sorted(set(sizes))
    values = [entry.certificate.log_posterior for entry in path]
    assert values == sorted(set(values))
    bounds = [entry.certificate.log_posterior_bound for entry in path]
    assert bounds == sorted(bounds)
    for entry in path:
        certificate = entry.certificate
        assert certificate.log_posterior <= certificate.log_posterior_bound
        assert certificate.optimal == (certificate.gap == 0)
        assert entry.fitted.constraints.max_leaf_nodes == entry.leaves


def test_the_path_has_the_trees_of_fits_of_each_size(path):
    for leaves in (1, 2, 3):
        alone = MAPTreeClassifier(max_leaf_nodes=leaves, time_limit=None)
        certificate = alone.fit(WINE.data, WINE.target).certificate_
        assert certificate.optimal
        entry = path[leaves]
        assert entry.certificate.log_posterior == certificate.log_posterior
        assert entry.certificate.optimal


def test_the_elbow_is_within_a_standard_error_of_the_least_loss(path):
    least = min(path, key=lambda entry: entry.log_loss.mean)
    limit = least.log_loss.mean + least.log_loss.error
    first = next(entry for entry in path if entry.log_loss.mean <= limit)
    assert path.elbow == first.leaves
    assert str(path).count("elbow") == 1
    assert "Elbow" in path.notes[-1]


def test_a_tree_of_the_path_is_a_model(path, tmp_path):
    model = choose_size(path, 3)
    assert model.get_n_leaves() == 3
    assert model.certificate_ == path[3].certificate
    labels = model.predict(WINE.data)
    assert (labels == WINE.target).mean() > 0.8
    assert log_loss(WINE.target, model.predict_proba(WINE.data)) < 0.7
    model.save(tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").get_n_leaves() == 3
    assert "Smaller and larger trees" in model.to_html(sizes=path)
    assert choose_size(path).get_n_leaves() == path.elbow
    last = max(entry.leaves for entry in path)
    assert choose_size(path, path.max_leaf_nodes).get_n_leaves() == last < path.max_leaf_nodes


def test_the_report_marks_its_tree_in_the_path(path):
    other = next(entry.leaves for entry in path if entry.leaves != path.elbow)
    page = choose_size(path, other).to_html(sizes=path)
    section = page.partition("Smaller and larger trees")[2].partition("</section>")[0]
    names = re.findall(r'<th scope="col"[^>]*>(.*?)</th>', section)
    assert names == ["leaves", "log loss", "gap", "accuracy", "log posterior", "depth"]
    rows = dict(re.findall(r'(<tr[^>]*>)<th scope="row"[^>]*><bdi>(.*?)</bdi>', section))
    assert rows["<tr class=best>"] == f'{other}<span class="note">this tree</span>'
    assert f'{path.elbow}<span class="note">elbow</span>' in section
    picture = section[section.index("<svg") : section.index("</svg>")]
    assert f"the elbow is at {path.elbow}, this tree at {other}." in picture
    assert picture.count('r="7"') == 2  # the ring around its dot, and that of the legend
    best = choose_size(path).to_html(sizes=path)
    assert '<span class="note">elbow, this tree</span>' in best


def test_without_scores_the_report_has_no_columns_for_them(path):
    unscored = replace(
        path, entries=tuple(replace(one, log_loss=None, accuracy=None) for one in path), folds=None
    )
    page = choose_size(unscored).to_html(sizes=unscored)
    section = page.partition("Smaller and larger trees")[2].partition("</section>")[0]
    names = re.findall(r'<th scope="col"[^>]*>(.*?)</th>', section)
    assert names == ["leaves", "log posterior", "gap", "depth"]


def test_the_path_is_drawn(path):
    axes = plot_sizes(path)
    assert axes.get_xlabel() == "leaves"
    losses = axes.figure.axes[1]
    assert losses.get_ylabel() == "held-out log loss (nats)"


def test_without_cross_validation_the_largest_is_the_elbow():
    table = pd.DataFrame({"a": [0, 1, 2] * 9, "b": ["x", None, "y"] * 9})
    path = size_path(table, ["no", "yes", "no"] * 9, max_leaf_nodes=4, cv=None)
    assert path.folds is None
    assert path.elbow == path.entries[-1].leaves
    assert all(entry.log_loss is None for entry in path)
    assert "Every tree is proved" in str(path)
    assert "<table " in path._repr_html_()


def test_weights_count_in_the_path():
    X, y = [[0], [1], [2]] * 6, [0, 1, 0] * 6
    weights = np.tile([1, 5, 1], 6)
    path = size_path(X, y, sample_weight=weights, max_leaf_nodes=3, cv=2)
    assert path[1].fitted.training.rows == weights.sum()
    assert math.isfinite(path[3].log_loss.error)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cv": 1}, "cv=1 is too small"),
        ({"cv": 1000}, "cv=1000 is more than the 18 rows"),
        ({"time_limit": -1}, "time_limit"),
        ({"estimator": MCMCTreeClassifier()}, "pass a MAPTreeClassifier"),
        ({"max_leaf_nodes": None}, "max_leaf_nodes"),
    ],
)
def test_paths_that_are_refused(change, words):
    with pytest.raises((ValueError, TypeError), match=words):
        size_path([[0], [1], [2]] * 6, [0, 1, 0] * 6, **{"max_leaf_nodes": 2} | change)


def test_an_unknown_number_of_leaves_is_refused(path):
    with pytest.raises(ValueError, match="leaves=0 is too small"):
        choose_size(path, 0)


def test_weights_count_in_held_out_scores_as_copies_do():
    y = WINE.target.to_numpy()
    weights = np.where(y == 2, 0, 1)
    # Rows of weight 0 have a class that no fold is fitted to: they must not count as wrong.
    path = size_path(WINE.data, y, max_leaf_nodes=2, cv=3, sample_weight=weights)
    assert path[2].accuracy.mean > 0.8
    twice = size_path(WINE.data, y, max_leaf_nodes=1, cv=3, sample_weight=np.where(y == 2, 50, 1))
    assert twice[1].accuracy.mean > 0.9


def test_an_interrupt_of_the_folds_keeps_the_path(monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("maptree.estimators.size_path.sweep_sizes", interrupted)
    with pytest.warns(InterruptedWarning, match="What was found so far was kept"):
        path = size_path(WINE.data, WINE.target, max_leaf_nodes=2, cv=3)
    assert [entry.leaves for entry in path] == [1, 2]
    assert path.folds is None


def test_folds_that_cannot_be_are_refused_before_the_search(monkeypatch, tmp_path):
    monkeypatch.delattr("maptree.estimators.size_path.find_sizes")
    with pytest.raises(ValueError, match="cv=179 is more than the 178 rows"):
        size_path(WINE.data, WINE.target, cv=179)
    WINE.data.to_parquet(tmp_path / "wine.parquet")
    with pytest.raises(ValueError, match="into a data frame, or pass cv=None"):
        size_path(scan_parquet(tmp_path / "wine.parquet"), WINE.target)


def test_a_chosen_tree_has_the_constraint_of_its_certificate(path):
    chosen = choose_size(path)
    assert chosen.max_leaf_nodes == chosen.get_n_leaves()
    assert chosen.fitted_.constraints.max_leaf_nodes == chosen.max_leaf_nodes
    with pytest.raises(TypeError, match="pass what size_path returned"):
        choose_size(chosen)


def test_a_chosen_tree_has_the_parameters_of_the_estimator():
    table = pd.DataFrame({"a": [0, 1, 2, 3] * 9, "b": ["x", "z", "y", "y"] * 9})
    y = ["no", "yes", "no", "yes"] * 9
    seen = []
    estimator = MAPTreeClassifier(
        alpha=0.7, without_columns="b", encoder=BinaryEncoder(2), callback=seen.append, rho=[1, 2]
    )
    path = size_path(table, y, estimator, max_leaf_nodes=3, cv=2)
    chosen = choose_size(path, 2)
    given = chosen.get_params(deep=False)
    assert given["encoder"] is not estimator.encoder
    assert given["encoder"].max_thresholds == 2
    expected = estimator.get_params(deep=False) | {"callback": None, "max_leaf_nodes": 2}
    assert {name: given[name] for name in given if name != "encoder"} == {
        name: expected[name] for name in expected if name != "encoder"
    }
    del seen[:]
    found = chosen.alternatives(2)  # of the table of the path, which need not be passed
    assert not seen
    assert found[0].log_posterior == chosen.certificate_.log_posterior
    assert all("b" not in one.columns for one in found)


def test_a_path_can_be_pickled(path):
    again = pickle.loads(pickle.dumps(path))
    assert str(again) == str(path)
    chosen = choose_size(again, 3)
    assert chosen.get_params() == choose_size(path, 3).get_params()
    with pytest.raises(ValueError, match="Pass it, as in"):
        chosen.alternatives(2)
    assert len(chosen.alternatives(2, X=WINE.data, y=WINE.target)) == 2


def test_sizes_that_were_not_searched_are_refused(path):
    remedy = "pass 1 to 6, or a path with max_leaf_nodes=7"
    with pytest.raises(ValueError, match=f"leaves=7 is more than the 6 of the path: {remedy}"):
        choose_size(path, 7)
    with pytest.raises(KeyError, match="7 leaves: the path is about 1 to 6"):
        path[7]


def test_the_seconds_of_a_size_are_its_own(path):
    seconds = [entry.certificate.seconds for entry in path]
    assert len(set(seconds)) > 1
    assert max(seconds) < path.seconds  # reading and finding trees are in none of them


@seeds(4)
@every_kind
def test_bounds_of_the_path_hold_wherever_it_is_stopped(kind: str, seed: int) -> None:
    """A tree may come from the search of one size and its bound from that of another."""
    problem = case(kind, seed, 30, 5)
    classes, y = np.unique(problem.y, return_inverse=True)  # the estimator knows of no others
    prior = problem.prior | {"rho": tuple(problem.rho[k] for k in classes)}
    data = problem.X.tolist(), y.tolist(), None
    best = {size: best_of_size(*data, leaves=size, **prior)[0] for size in range(1, 6)}
    proved = 0
    for expansions in (1, 3, 8, 20, 60, 2000):
        model = MAPTreeClassifier(
            problem.alpha, problem.beta, prior["rho"], encoder=None, split_prior="tests",
            time_limit=None, max_expansions=expansions,
        )  # fmt: skip
        path = size_path(problem.X, y, model, max_leaf_nodes=5, cv=None)
        for entry in path:
            certificate = entry.certificate
            assert certificate.log_posterior <= -best[entry.leaves] + TOLERANCE
            assert certificate.log_posterior_bound >= -best[entry.leaves] - TOLERANCE
            assert certificate.optimal == (certificate.gap == 0)
            proved += certificate.optimal
    # With so many expansions every size is proved, and no size that is worth having is left out.
    costs = [best[entry.leaves] for entry in path]
    assert [-entry.certificate.log_posterior for entry in path] == pytest.approx(costs)
    assert min(costs) == pytest.approx(best[5])
    assert proved > 0


@pytest.mark.parametrize("kind", ["coo", "csr", "csc", "lil", "dok"])
def test_sparse_matrices_of_all_formats(kind):
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 6)
    dense = size_path(X, X[:, 0], max_leaf_nodes=2, cv=2)
    sparse = size_path(csr_matrix(X).asformat(kind), X[:, 0], max_leaf_nodes=2, cv=2)
    assert str(sparse) == str(dense)


def test_a_class_that_only_held_out_rows_have():
    """With pseudo-counts for each class: the fold has those of the classes in it."""
    X = np.array([[0], [1]] * 10 + [[1]])
    y = [0, 1] * 10 + [2]
    path = size_path(X, y, MAPTreeClassifier(rho=[1, 2, 3]), max_leaf_nodes=2, cv=3)
    assert path[2].accuracy.mean < 1
    assert path[2].log_loss.mean < 1


def test_what_cannot_be_scored_has_no_score():
    path = size_path(np.arange(4)[:, np.newaxis], list("abcd"), cv=4)
    assert all(entry.log_loss is None for entry in path)
    assert all(entry.accuracy.mean == 0 for entry in path)
    assert "elbow" not in str(path).lower().replace("elbow: the smallest", "")
    assert path.mark == "most probable"


def test_columns_are_read_for_as_long_as_in_a_fit(monkeypatch):
    given = []
    read = MAPTreeClassifier._read

    def noted(self, X, y, weight, deadline, *others, **options):
        given.append(deadline)
        return read(self, X, y, weight, deadline, *others, **options)

    monkeypatch.setattr(MAPTreeClassifier, "_read", noted)
    monkeypatch.setattr("time.perf_counter", lambda: 0.0)
    X, y = [[0], [1]] * 9, [0, 1] * 9
    model = MAPTreeClassifier(time_limit=8).fit(X, y)
    size_path(X, y, model, max_leaf_nodes=2, cv=2)
    assert given == [7.0] * 4
    model.alternatives(1)
    assert given[-1] == 8.0


def test_a_report_takes_only_what_is_about_its_table(path):
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 6)
    mine, other = (MAPTreeClassifier().fit(X, X[:, j]) for j in (0, 1))
    with pytest.raises(ValueError, match="alternatives is about trees of another table"):
        other.to_html(alternatives=mine.alternatives(2))
    with pytest.raises(ValueError, match="sizes is about trees of another table"):
        other.to_html(sizes=size_path(X, X[:, 0], cv=None))
    assert mine.to_html(alternatives=mine.alternatives(2), sizes=size_path(X, X[:, 0], cv=None))
