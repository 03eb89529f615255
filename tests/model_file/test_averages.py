"""Model files of averages: the round trip is exact, what no sampler drew is refused, and what is
loaded takes work in proportion to its size."""

from __future__ import annotations

import copy
import cProfile
import json

import numpy as np
import pandas as pd
import pytest

from maptree import (
    BinaryEncoder,
    MAPTreeClassifier,
    MCMCTreeClassifier,
    SMCTreeClassifier,
    load_model,
    save_model,
)
from maptree.estimators.saved import restored, stored
from maptree.model_file import average, path_checks
from maptree.model_file.reading import parse_model
from maptree.model_file.writing import _values
from maptree.schema.columns import Column, Schema
from maptree.schema.schema_json import write_schema
from models import good_model
from samples import noisy, sampler

BOTH = [MCMCTreeClassifier, SMCTreeClassifier]
VIEWS = ("predict", "predict_proba", "predict_interval", "predict_log_proba")
ATTRIBUTES = [
    "classes_",
    "weights_",
    "tree_log_posteriors_",
    "rho_",
    "test_weights_",
    "feature_importances_",
    "trace_",
]
OWN = {
    MCMCTreeClassifier: ["samples_", "burn_in_", "thin_"],
    SMCTreeClassifier: ["log_evidences_", "resamplings_", "log_evidence_", "log_evidence_error_"],
}


def mixed_table():
    """The table of a model with columns of many kinds, and its labels."""
    rng = np.random.default_rng(4)
    age = rng.integers(18, 80, 150).astype(float)
    age[::7] = np.nan
    frame = pd.DataFrame(
        {
            "age": age,
            "colour": rng.choice(["red", "blue", "grün"], 150),
            "joined": pd.to_datetime(rng.integers(18000, 19000, 150), unit="D"),
            "member": rng.random(150) < 0.5,
        }
    )
    y = np.where((frame["colour"] == "red") | (frame["age"] > 45), "yes", "no")
    y[::11] = "no"
    return frame, pd.Series(y, name="buys")


def same(again, model, X):
    """Every public answer is the same, to the last bit."""
    assert type(again) is type(model)
    for name in VIEWS:
        np.testing.assert_array_equal(getattr(again, name)(X), getattr(model, name)(X))
    for name in [*ATTRIBUTES, *OWN[type(model)]]:
        if name == "test_weights_" and getattr(model.encoder, "max_thresholds", 0) is None:
            continue  # those of thresholds that no tree tests are not in the file
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name), err_msg=name)
    assert list(again.trees_) == list(model.trees_)
    assert again.tree_ == model.tree_
    assert (again.log_posterior_, again.status_) == (model.log_posterior_, model.status_)
    assert again.certificate_ == model.certificate_
    assert again.training_ == model.training_
    assert again.rules() == model.rules()
    assert again.posterior_summary() == model.posterior_summary()
    if isinstance(model, MCMCTreeClassifier):
        assert again.acceptance_ == model.acceptance_
        assert repr(again.diagnostics()) == repr(model.diagnostics())


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("encoder", ["auto", BinaryEncoder(3), BinaryEncoder(None)])
def test_the_round_trip_is_exact(kind, encoder, tmp_path):
    X, y = mixed_table()
    model = sampler(kind, encoder=encoder, rho=[1.0, 2.0]).fit(X, y)
    model.save(tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    same(again, model, X)
    ours, theirs = model.get_params(), again.get_params()
    for name in ("encoder", "callback"):
        del ours[name], theirs[name]
    assert {n: v for n, v in ours.items() if "encoder" not in n} == {
        n: v for n, v in theirs.items() if "encoder" not in n
    }
    save_model(again, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()


@pytest.mark.parametrize("kind", BOTH)
def test_a_matrix_many_classes_and_a_single_leaf(kind, tmp_path):
    X, y = noisy(n_classes=5)
    for labels, params in ((y, {"encoder": None}), (np.zeros(len(X), int), {})):
        model = sampler(kind, **params).fit(X, labels)
        model.save(tmp_path / "model.json")
        same(load_model(tmp_path / "model.json"), model, X)


def test_islands_and_chains_that_were_cut_off(tmp_path):
    X, y = noisy()
    for model in (
        SMCTreeClassifier(n_islands=3, n_particles=30, random_state=0).fit(X, y),
        MCMCTreeClassifier(
            n_samples=10**6, burn_in=50, thin=5, random_state=0, callback=lambda p: p.steps > 2000
        ).fit(X, y),
    ):
        model.save(tmp_path / "model.json")
        same(load_model(tmp_path / "model.json"), model, X)


def test_a_tree_with_its_certificate_and_the_average(tmp_path):
    X, y = mixed_table()
    search = MAPTreeClassifier(max_expansions=100, time_limit=None).fit(X, y)
    model = sampler(MCMCTreeClassifier, initial_tree=search).fit(X, y)
    assert model.certificate_ is not None
    model.save(tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    same(again, model, X)
    assert again.initial_tree == "search"  # a tree is not kept
    with pytest.raises(AttributeError, match="log_posteriors_"):
        again.log_posteriors_  # noqa: B018


def test_the_file_says_what_the_trees_are(tmp_path):
    """Predictions can be made from it without this library."""
    X, y = noisy()
    model = sampler(MCMCTreeClassifier, encoder=None).fit(X, y)
    model.save(tmp_path / "model.json")
    given = json.loads((tmp_path / "model.json").read_text())
    trees, counts = given["average"]["trees"], given["average"]["counts"]

    def leaf(nodes, row, at=0):
        while nodes[at] >= 0:
            yes, at = row[nodes[at]], at + 1
            if yes:  # past what is below the false branch
                open_ = 1
                while open_:
                    open_ += 1 if nodes[at] >= 0 else -1
                    at += 1
        return counts[-1 - nodes[at]]

    drawn = [t for chain in given["average"]["samples"] for t in chain]
    for row, expected in zip(X[:5].tolist(), model.predict_proba(X[:5]), strict=True):
        total = np.zeros(2)
        for t in drawn:
            posterior = np.array(leaf(trees[t], row)) + given["rho"]
            total += posterior / posterior.sum()
        np.testing.assert_allclose(total / len(drawn), expected)


# Files that nobody saved


@pytest.fixture(scope="module", params=BOTH)
def values(request):
    X, y = mixed_table()
    model = sampler(request.param, encoder=BinaryEncoder(3)).fit(X, y)
    return json.loads(json.dumps(_values(stored(model))))


CHAINS_ONLY = [
    (("average", "samples"), [], "samples is empty"),
    (("average", "samples", 0, 0), -1, "every chain must have a sample"),
    (("average", "samples", 0, 0), 10**6, r"samples\[0\]\[0\] is 1000000"),
    (("average", "samples", 0), [0], r"samples\[1\] has 200 entries"),
    (("average", "samples"), [[0] * 9], "above 0, in decreasing order"),
    (("average", "burn_in"), -1, "average.burn_in is -1"),
    (("average", "thin"), 0, "average.thin is 0"),
    (("average", "acceptance", "swap"), [1, 2], r"acceptance.swap\[1\] is 2"),
    (("average", "acceptance"), {}, "acceptance is missing grow"),
    (("parameters", "n_samples"), 0, "n_samples=0"),
    (("parameters", "thin"), "often", "thin='often' is unknown"),
    (("parameters", "initial_tree"), [1], r"initial_tree is \[1\]"),
]
PARTICLES_ONLY = [
    (("average", "weights", 0), 2.0, r"weights\[0\] is 2.0"),
    (("average", "weights", 0), 0.0, "do not sum to 1"),
    (("average", "log_evidences"), [None], "must have a number"),
    (("average", "log_evidences"), [], "must have a number"),
    (("average", "resamplings"), [-1], r"resamplings\[0\] is -1"),
    (("parameters", "n_particles"), 0, "n_particles=0"),
    (("parameters", "growth"), "wild", "growth='wild' is unknown"),
    (("parameters", "ess_threshold"), 2, "ess_threshold=2 is out of range"),
]
EDITS = [
    (("average", "status"), "done", "average.status is 'done'"),
    (("average", "status"), 3, "average.status is 3"),
    (("average", "log_posterior"), -1e9, "less than that of a tree"),
    (("average", "log_posterior"), None, "average.log_posterior is None"),
    (("average", "log_posteriors"), [], "log_posteriors has 0 entries"),
    (("average", "log_posteriors", 0), "inf", r"log_posteriors\[0\] is 'inf'"),
    (("average", "counts"), [], "counts is empty"),
    (("average", "counts", 0), [0, 0], "a leaf without rows"),
    (("average", "counts", 0), [1], r"counts\[0\] has 1 entries"),
    (("average", "counts", 0, 0), 0.5, r"counts\[0\]\[0\] is 0.5"),
    (("average", "counts", 0, 0), -1, r"counts\[0\]\[0\] is -1"),
    (("average", "counts", 0, 0), 10**60, r"counts\[0\]\[0\] is a number of more than 30"),
    (("average", "trees"), [], "trees is empty"),
    (("average", "trees", 0), [], r"trees\[0\] ends before its last leaf"),
    (("average", "trees", 0), [0], r"trees\[0\] ends before its last leaf"),
    (("average", "trees", 0), [0, -1], r"trees\[0\] ends before its last leaf"),
    (("average", "trees", 0), [-1, -1], r"trees\[0\] has nodes after its last leaf"),
    (("average", "trees", 0), [-1], r"trees\[0\]: its leaves do not have the rows"),
    (("average", "trees", 0), [10**6, -1, -1], r"trees\[0\]\[0\] is 1000000"),
    (("average", "trees", 0), [True, -1, -1], r"trees\[0\]\[0\] is True"),
    (("average", "trees", 0), [-(10**6)], r"trees\[0\]\[0\] is -1000000"),
    (("average", "trees", 0), "tree", r"trees\[0\] is 'tree'"),
    (("average", "extra"), 1, "unknown extra"),
    (("average",), [], r"average is \[\]"),
    (("trace", "steps", 0), -1, r"trace.steps\[0\] is -1"),
    (("parameters", "max_depth"), 3, "unknown max_depth"),
    (("parameters", "time_limit"), -1, "time_limit=-1"),
    (("parameters", "n_jobs"), 0, "n_jobs=0"),
    (("version",), 6, "unknown average"),
    (("certificate",), {}, "certificate is missing status"),
]


@pytest.mark.parametrize(("path", "value", "message"), EDITS)
def test_nonsense_is_refused_with_its_place(values, path, value, message):
    refused(values, path, value, message)


@pytest.mark.parametrize("values", [MCMCTreeClassifier], indirect=True)
@pytest.mark.parametrize(("path", "value", "message"), CHAINS_ONLY)
def test_nonsense_about_chains(values, path, value, message):
    refused(values, path, value, message)


@pytest.mark.parametrize("values", [SMCTreeClassifier], indirect=True)
@pytest.mark.parametrize(("path", "value", "message"), PARTICLES_ONLY)
def test_nonsense_about_particles(values, path, value, message):
    refused(values, path, value, message)


def refused(values, path, value, message):
    edited = copy.deepcopy(values)
    inner = edited
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    with pytest.raises(ValueError, match=message):
        parse_model(edited)


def test_the_same_tree_twice_is_refused(values):
    edited = copy.deepcopy(values)
    edited["average"]["trees"][1] = edited["average"]["trees"][0]
    with pytest.raises(ValueError, match="two trees are the same"):
        parse_model(edited)


def test_a_certificate_about_another_tree_is_refused():
    X, y = mixed_table()
    search = MAPTreeClassifier(max_expansions=100, time_limit=None).fit(X, y)
    model = sampler(MCMCTreeClassifier, initial_tree=search).fit(X, y)
    given = json.loads(json.dumps(_values(stored(model))))
    given["average"]["log_posterior"] += 1
    with pytest.raises(ValueError, match=r"differs from average\.log_posterior"):
        parse_model(given)


def test_a_tree_without_an_average_has_a_certificate():
    values = json.loads(json.dumps(_values(stored(good_model()))))
    for name in ("certificate", "feature_importances"):
        with pytest.raises(ValueError, match=name):
            parse_model(values | {name: None})


def family(n_trees, n_classes=2):
    """The values of chains with trees of a few tests each, of a column of numbers."""
    column = Column("x", "number", "float64", thresholds=tuple(map(float, range(n_trees + 3))))
    X, y = noisy(n_classes=n_classes)
    model = sampler(MCMCTreeClassifier, split_prior="tests", thin=1, n_samples=4).fit(X, y)
    given = json.loads(json.dumps(_values(stored(model))))
    given["schema"] = write_schema(Schema((column,)))
    row = [1] * n_classes
    of_tree = [[4 * n for n in row], row, [3 * n for n in row]]
    given["tree"] = {"feature": [0, -1, -1], "left": [1, -1, -1], "right": [2, -1, -1]}
    given["tree"]["counts"] = of_tree
    given["training"] |= {"rows": sum(of_tree[0]), "class_counts": of_tree[0], "seen": None}
    # x > t + 2, then x > t + 1 below the true branch of it, and so on: a path of three tests.
    trees = [[t + 2, -1, t + 1, -1, t, -1, -1] for t in range(n_trees)]
    given["average"] |= {
        "counts": [row],
        "trees": trees,
        "log_posteriors": [-9.0] * n_trees,
        "log_posterior": -8.0,
        "samples": [list(range(n_trees))],
    }
    return given


@pytest.mark.parametrize(
    "use",
    [
        lambda model: model.predict(pd.DataFrame({"x": [0.5, 7.5]})),
        lambda model: model.predict_interval(pd.DataFrame({"x": [0.5, 7.5]})),
        lambda model: str(model.posterior_summary()),
        lambda model: model.feature_importances_,
        lambda model: model.to_html(),
    ],
)
def test_twice_the_trees_are_twice_the_work(use):
    def work(given):
        profile = cProfile.Profile()
        profile.runcall(lambda: use(restored(parse_model(given))))
        return sum(entry.callcount for entry in profile.getstats())

    small, large = family(200), family(400)
    work(small)  # what is done once
    assert work(large) <= 2.4 * work(small) + 100


def test_counts_of_all_nodes_are_limited(monkeypatch):
    given = family(100)
    parse_model(given)
    monkeypatch.setattr(average, "MOST_COUNTS", 700 * 2 - 1)
    with pytest.raises(ValueError, match=r"700 nodes of 2 classes: together at most 1,399 counts"):
        parse_model(given)


def test_impossible_trees_are_refused():
    given = family(3)
    given["average"]["trees"][1] = [1, -1, 2, -1, -1]  # x <= 1, so x <= 2
    given["average"]["counts"] = [[1, 1], [2, 2]]
    given["average"]["trees"][1] = [1, -2, 2, -1, -1]
    with pytest.raises(ValueError, match=r"average.trees\[1\]: tree.feature\[2\] is 2.*follows"):
        parse_model(given)


def test_text_of_all_tests_is_limited(monkeypatch):
    given = family(50)
    given["schema"]["columns"][0]["name"] = "x" * 1000
    parse_model(given)
    monkeypatch.setattr(path_checks, "MOST_TEXT", 20_000)
    with pytest.raises(ValueError, match=r"average.trees: the tests of all trees take"):
        parse_model(given)
