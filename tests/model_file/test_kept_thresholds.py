"""Model files of trees over all thresholds: the file has those that the tree tests."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from maptree import BinaryEncoder, MAPTreeClassifier, MCMCTreeClassifier, load_model
from problems import examples
from random_tables import as_objects, tables
from samples import classifier, sampler

EVERY = BinaryEncoder(max_thresholds=None)
PRIORS = st.sampled_from(
    [{}, {"split_prior": "columns"}, {"split_prior": "columns", "column_weights": {0: 3}}]
)
quiet = pytest.mark.filterwarnings("ignore::maptree.IdentifierWarning")


def same(again, model, X):
    """What a loaded model says is what the fitted one says."""
    for answer in ("predict", "predict_proba", "predict_interval", "apply"):
        np.testing.assert_array_equal(getattr(again, answer)(X), getattr(model, answer)(X))
    assert again.tree_ == model.tree_
    assert again.rules() == model.rules()
    assert again.certificate_ == model.certificate_
    assert again.get_params()["encoder__max_thresholds"] is None
    for export in ("to_dict", "to_python", "to_dot", "to_mermaid", "export_text"):
        assert getattr(again, export)() == getattr(model, export)()
    assert str(again.encoder_.report()) == str(model.encoder_.report())
    used = model.fitted_.used_tests
    assert len(again.test_weights_) == len(model.test_weights_)
    np.testing.assert_array_equal(again.test_weights_[used], model.test_weights_[used])


@quiet
@examples(16, HealthCheck.function_scoped_fixture)
@given(tables(), PRIORS, st.integers(0, 2**32 - 1))
def test_the_round_trip(tmp_path, drawn, prior, seed):
    (rows,) = drawn
    X = as_objects(rows)
    y = np.random.default_rng(seed).integers(0, 2, len(X))
    # Few pseudo-counts make trees that follow the noise, to many leaves.
    model = classifier(encoder=EVERY, max_expansions=5, rho=0.01, **prior).fit(X, y)
    model.save(tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    same(again, model, X)
    assert again.to_html() == model.to_html()
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()
    same(pickle.loads(pickle.dumps(model)), model, X)
    if model.fitted_.used_tests:
        for pipeline in (again.to_sklearn(), model.to_sklearn()):
            np.testing.assert_array_equal(pipeline.predict_proba(X), model.predict_proba(X))


def fitted(n=400, **params):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.permutation(n) / 8, "b": rng.choice(list("xyz"), n)})
    X.loc[:20, "a"] = np.nan
    y = ((X["a"] > n / 16) ^ (rng.random(n) < 0.05)).astype(int)
    params = {"split_prior": "columns", "max_expansions": 30} | params
    return MAPTreeClassifier(encoder=EVERY, **params).fit(X, y), X, y


def test_the_file_does_not_grow_with_the_thresholds(tmp_path):
    sizes = []
    for n in (400, 4000):
        model, _, _ = fitted(n, max_depth=1)
        model.save(tmp_path / "model.json")
        values = json.loads((tmp_path / "model.json").read_bytes())
        column = values["schema"]["columns"][0]
        assert len(column["thresholds"]) == 1
        assert column["kept"]["of"] == n - 22
        assert column["kept"]["positions"] == model.tree_.feature[:1].tolist()
        assert sum(column["kept"]["level_sizes"]) == n - 22
        values["trace"], values["training"] = None, None
        sizes.append(len(json.dumps(values)))
    assert abs(sizes[1] - sizes[0]) < 200


def test_what_a_loaded_model_does_not_have(tmp_path):
    model, X, y = fitted()
    model.save(tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    message = "has only the thresholds that its tree tests"
    for call in (again.encoder_.transform, again.encoder_.transform_packed):
        with pytest.raises(ValueError, match=message):
            call(X)
    with pytest.raises(ValueError, match=message):
        again.encoder_.get_feature_names_out()
    assert again.encoder_.schema_ != model.encoder_.schema_
    assert hash(again.encoder_.schema_[0]) == hash(
        load_model(tmp_path / "model.json").encoder_.schema_[0]
    )
    known = {*model.fitted_.used_tests, *range(len(model.encoder_.schema_[0].thresholds), 382)}
    assert set(np.flatnonzero(again.test_weights_).tolist()) == known
    # What needs only the tree works: the same trees as initial trees, and fitting again.
    start = sampler(MCMCTreeClassifier, encoder=EVERY, initial_tree=again, n_samples=10).fit(X, y)
    assert start.tree_.n_leaves > 1
    refitted = again.fit(X, y)
    assert refitted.tree_ == model.tree_


def test_files_of_version_3_are_read(tmp_path):
    X, y = [[1.0], [2.0], [3.0], [4.0]] * 5, [0, 0, 1, 1] * 5
    model = classifier(split_prior="columns").fit(X, y)
    model.save(tmp_path / "model.json")
    values = json.loads((tmp_path / "model.json").read_bytes())
    assert values["version"] == 7
    values["version"] = 3
    for name in ("first_columns", "max_leaf_nodes", "patience", "without_columns"):
        del values["parameters"][name]
    del values["average"]
    (tmp_path / "old.json").write_text(json.dumps(values))
    again = load_model(tmp_path / "old.json")
    assert again.rules() == model.rules()
    assert again.encoder_.schema_ == model.encoder_.schema_


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("kept",), None, "kept is None"),
        (("kept", "of"), 0, "kept.of is 0"),
        (("kept", "of"), 2**31, "kept.of is 2147483648"),
        (("kept", "of"), 2**31 - 1, "level_sizes do not sum"),
        (("kept", "of"), 1, r"kept.positions\[0\] is"),
        (("kept", "positions"), [], "kept.positions"),
        (("kept", "positions"), [-1], r"kept.positions\[0\] is -1"),
        (("kept", "positions"), [0], "which is not among its kept.positions"),
        (("kept", "level_sizes"), [], "level_sizes do not sum"),
        (("kept", "level_sizes"), [378, 0], r"level_sizes\[1\] is 0"),
        (("kept", "level_sizes"), [1] * 378, "level_sizes do not sum"),
        (("levels",), [], "every threshold must have a level"),
        (("levels",), [63], "fewer thresholds of a level"),
        (("kind",), "category", "thresholds is not empty"),
        (("thresholds",), [1.0, 2.0], "levels has 1 entries"),
    ],
)
def test_nonsense_is_refused(tmp_path, path, value, message):
    fitted(max_depth=1)[0].save(tmp_path / "model.json")
    values = json.loads((tmp_path / "model.json").read_bytes())
    place = values["schema"]["columns"][0]
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    (tmp_path / "bad.json").write_text(json.dumps(values))
    with pytest.raises(ValueError, match=message):
        load_model(tmp_path / "bad.json")


def test_thresholds_that_a_file_does_not_have_take_no_memory(tmp_path):
    """Two thousand million of them: to load and predict, nothing is made of them."""
    fitted(max_depth=1)[0].save(tmp_path / "model.json")
    values = json.loads((tmp_path / "model.json").read_bytes())
    column = values["schema"]["columns"][0]
    more = 2**31 - 5 - column["kept"]["of"]
    column["kept"]["of"] += more
    column["kept"]["level_sizes"][-1] += more
    (tmp_path / "large.json").write_text(json.dumps(values))
    model = load_model(tmp_path / "large.json")
    assert len(model.fitted_.schema.tests) == 2**31 - 1
    assert len(model.rules()) == 2
    column["kept"]["of"] += 1
    column["kept"]["level_sizes"][-1] += 1
    (tmp_path / "large.json").write_text(json.dumps(values))
    with pytest.raises(ValueError, match="columns have 2,147,483,648 tests"):
        load_model(tmp_path / "large.json")
