"""A column of weight 0 is left out, as if the table did not have it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

from maptree import BinaryEncoder, MCMCTreeClassifier, SMCTreeClassifier, load_model
from maptree.encoding.answering import read_answers, training_overlap
from samples import classifier, noisy, sampler

SAMPLERS = (MCMCTreeClassifier, SMCTreeClassifier)


def mixed(n=160):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "colour": rng.choice(["red", "blue", "green"], n),
            "member": rng.random(n) < 0.5,
            "income": rng.normal(size=n).round(2),
        }
    )
    frame.loc[::9, "age"] = np.nan
    y = np.where((frame["age"] > 45) ^ (frame["colour"] == "red"), "yes", "no")
    y[rng.random(n) < 0.1] = "no"
    return frame, y


def binary(named):
    X, y = noisy()
    return (pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]) if named else X), y


def without(X, left_out):
    if isinstance(X, np.ndarray):
        return np.delete(X, left_out, axis=1)
    return X.drop(columns=[X.columns[j] for j in left_out])


def same_answers(model, whole, other, part):
    assert model.certificate_.log_posterior == other.certificate_.log_posterior
    assert model.tree_ == other.tree_
    np.testing.assert_array_equal(model.predict_proba(whole), other.predict_proba(part))
    assert model.encoder is None or np.array_equal(
        model.encoder_.transform(whole), other.encoder_.transform(part)
    )


@pytest.mark.parametrize("left_out", [[0], [1, 3], [7]])
@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("encoder", ["auto", None])
def test_a_0_1_table_without_some_columns(left_out, named, encoder):
    X, y = binary(named)
    model = classifier(encoder=encoder, column_weights=dict.fromkeys(left_out, 0)).fit(X, y)
    part = without(X, left_out)
    same_answers(model, X, classifier(encoder=encoder).fit(part, y), part)
    names = list(X.columns) if named else [f"x{j}" for j in range(X.shape[1])]
    assert [c.name for c in model.fitted_.schema.columns] == names
    assert [c.kind == "unused" for c in model.fitted_.schema.columns] == [
        j in left_out for j in range(len(names))
    ]
    assert model.feature_importances_.shape == (len(names),)
    assert not model.feature_importances_[left_out].any()
    # Whatever is in the columns that are left out.
    changed = X.copy().astype(object) if named else X.astype(float)
    for j in left_out:
        if named:
            changed.isetitem(j, "word")
        else:
            changed[:, j] = 7
    if named:
        changed = changed.infer_objects()
    np.testing.assert_array_equal(model.predict_proba(changed), model.predict_proba(X))


@pytest.mark.parametrize("left_out", [[0], [1], [2, 3]])
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_mixed_table_without_some_columns(left_out, library):
    X, y = mixed()
    part = without(X, left_out)
    names = list(X.columns)
    if library == "polars":
        X, part = pl.from_pandas(X), pl.from_pandas(part)
    weights = {names[j]: 0.0 for j in left_out}
    model = classifier(column_weights=weights).fit(X, y)
    same_answers(model, X, classifier().fit(part, y), part)
    lines = [line.split() for line in str(model.encoder_.report()).splitlines()]
    assert all([names[j], "unused", "0", "weight", "0"] in lines for j in left_out)


def test_a_table_is_0_1_if_the_columns_that_are_left_are():
    X, y = binary(named=True)
    X.insert(3, "income", np.linspace(0, 1, len(X)))
    model = classifier(column_weights={"income": 0}).fit(X, y)
    assert model.encoder_.passthrough_
    same_answers(model, X, classifier().fit(without(X, [3]), y), without(X, [3]))
    assert model.encoder_.get_feature_names_out().tolist() == [f"c{j}" for j in range(8)]
    packed = np.packbits(without(X, [3]).to_numpy(), axis=0, bitorder="little").T
    np.testing.assert_array_equal(model.encoder_.transform_packed(X), packed)
    with pytest.raises(ValueError, match="column 'c0'"):
        model.predict(X.assign(c0=2))
    matrix = X.to_numpy()
    model = classifier(encoder=None, column_weights={3: 0}).fit(matrix, y)
    np.testing.assert_array_equal(model.predict(matrix), classifier().fit(X, y).predict(X))


def test_a_column_that_is_left_out_may_be_of_any_type():
    X, y = mixed()
    X["things"] = [{"a": i} for i in range(len(X))]
    with pytest.raises(TypeError, match="'things'"):
        classifier().fit(X, y)
    model = classifier(column_weights={"things": 0}).fit(X, y)
    same_answers(model, X, classifier().fit(without(X, [4]), y), without(X, [4]))


def test_the_first_column_that_counts_is_read_whatever_the_time():
    X, y = mixed()
    model = classifier(column_weights={"age": 0}, time_limit=1e-9, max_expansions=None)
    with pytest.warns(match="got no tests"):
        model.fit(X, y)
    assert [c.kind for c in model.fitted_.schema.columns] == [
        "unused",
        "category",
        "unread",
        "unread",
    ]


@pytest.mark.parametrize("encoder", ["auto", None])
def test_training_rows_are_recognised(encoder):
    X, y = binary(named=False)
    model = classifier(encoder=encoder, column_weights={2: 0}).fit(X, y)
    other = X.copy()
    other[:, 2] = 0
    for table in (X, other):
        hashes = read_answers(model.fitted_.schema, table).row_hashes()
        assert training_overlap(model.fitted_, hashes, y).same
    frame, labels = mixed()
    model = classifier(column_weights={"colour": 0}).fit(frame, labels)
    hashes = read_answers(model.fitted_.schema, frame.assign(colour="x")).row_hashes()
    assert training_overlap(model.fitted_, hashes, (labels == "yes").astype(int)).same


@pytest.mark.parametrize("encoder", ["auto", None, BinaryEncoder(max_thresholds=3)])
@pytest.mark.parametrize("key", ["name", "number"])
def test_the_model_file_keeps_it(tmp_path, encoder, key):
    X, y = binary(named=True) if encoder is None else mixed()
    names = list(X.columns)
    weights = {names[1] if key == "name" else np.int64(1): np.float64(0), names[0]: 1}
    model = classifier(encoder=encoder, column_weights=weights).fit(X, y)
    path = tmp_path / "model.json"
    model.save(path)
    again = load_model(path)
    assert again.column_weights == model.column_weights
    assert again.fitted_.schema == model.fitted_.schema
    assert again.fitted_.prior.column_weights == model.fitted_.prior.column_weights
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()
    assert clone(again).fit(X, y).tree_ == model.tree_


@pytest.mark.parametrize("encoder", ["auto", None])
def test_exports_of_a_tree_without_some_columns(encoder):
    X, y = binary(named=True)
    X.insert(0, "junk", 1 - X["c0"])
    model = classifier(encoder=encoder, column_weights={"junk": 0, "c4": 0}).fit(X, y)
    assert model.tree_.depth > 0
    np.testing.assert_array_equal(model.to_sklearn().predict_proba(X), model.predict_proba(X))
    module = {}
    exec(model.to_python(), module)
    rows = X.to_dict("records")
    assert [module["predict"](row) for row in rows] == model.predict(X).tolist()
    assert "junk" not in model.export_text()


@pytest.mark.parametrize("kind", SAMPLERS)
@pytest.mark.parametrize("encoder", ["auto", None])
def test_samplers_leave_it_out(kind, encoder):
    X, y = binary(named=False)
    model = sampler(kind, encoder=encoder, column_weights={1: 0}).fit(X, y)
    part = without(X, [1])
    other = sampler(kind, encoder=encoder).fit(part, y)
    np.testing.assert_array_equal(model.predict_proba(X), other.predict_proba(part))
    assert model.feature_importances_[1] == 0


@pytest.mark.parametrize("kind", [type(classifier()), *SAMPLERS])
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"split_prior": "rows"}, "split_prior='rows' is unknown"),
        ({"column_weights": {"agee": 1}}, "pass 'age' if that is meant"),
        ({"column_weights": {"age": -1}}, r"column_weights\['age'\]=-1 is negative"),
        ({"column_weights": {"age": float("nan")}}, "is not finite"),
        ({"column_weights": dict.fromkeys(range(4), 0)}, "leaves out every column"),
        ({"column_weights": {"age": 1e9}}, "is more than 1,048,576 times the weight of 'colour'"),
        ({"column_weights": ["age"]}, "is not a dict"),
    ],
)
def test_mistakes_are_refused_and_change_nothing(kind, params, message):
    X, y = mixed()
    model = kind(**params)
    before = dict(vars(model))
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(X, y)
    assert vars(model) == before
