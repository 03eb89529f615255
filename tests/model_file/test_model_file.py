"""Model files: the round trip is exact, and nothing is half written."""

from __future__ import annotations

import errno
import math
import os
import pathlib
import stat
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from sklearn.base import clone

import maptree
from maptree import (
    BaselineScores,
    BinaryEncoder,
    HeldOutScores,
    MAPTreeClassifier,
    load_model,
    save_model,
)
from maptree.model_file import PARAMETERS
from models import good_model
from problems import examples
from random_tables import as_objects, tables
from samples import classifier, noisy

quiet = pytest.mark.filterwarnings("ignore::maptree.IdentifierWarning")


def same(again, model, X):
    """Every public answer is the same, to the last bit."""
    assert again.classes_.dtype == model.classes_.dtype
    assert again.classes_.tolist() == model.classes_.tolist()
    assert [type(c) for c in again.classes_] == [type(c) for c in model.classes_]
    for answer in ("predict", "predict_proba", "predict_interval", "apply"):
        one, other = getattr(again, answer)(X), getattr(model, answer)(X)
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    assert (again.decision_path(X) != model.decision_path(X)).nnz == 0
    assert again.rules() == model.rules()
    assert again.export_text() == model.export_text()
    assert again.tree_ == model.tree_
    assert again.certificate_ == model.certificate_
    assert type(again.certificate_.proved_depth) is type(model.certificate_.proved_depth)
    assert again.training_ == model.training_
    assert again.trace_.dtype == model.trace_.dtype
    np.testing.assert_array_equal(again.trace_, model.trace_)
    np.testing.assert_array_equal(again.feature_importances_, model.feature_importances_)
    np.testing.assert_array_equal(again.rho_, model.rho_)
    np.testing.assert_array_equal(again.test_weights_, model.test_weights_)
    assert again.fitted_.prior.split_prior == model.fitted_.prior.split_prior
    assert again.fitted_.prior.column_weights == model.fitted_.prior.column_weights
    assert again.n_features_in_ == model.n_features_in_
    assert hasattr(again, "feature_names_in_") == hasattr(model, "feature_names_in_")
    if hasattr(model, "feature_names_in_"):
        assert again.feature_names_in_.dtype == model.feature_names_in_.dtype
        assert again.feature_names_in_.tolist() == model.feature_names_in_.tolist()
    assert (again.encoder_ is None) == (model.encoder_ is None)
    if model.encoder_ is not None:
        assert again.encoder_.schema_ == model.encoder_.schema_


def round_trip(model, folder):
    path = folder / "model.json"
    model.save(path)
    return load_model(path)


labels = st.one_of(
    st.lists(st.text(max_size=4), min_size=1, max_size=4, unique=True),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=4, unique=True),
    st.lists(st.integers(2**70, 2**70 + 9), min_size=1, max_size=4, unique=True),
    st.lists(st.integers(-9, 9).map(float), min_size=1, max_size=4, unique=True),
    st.lists(st.booleans(), min_size=1, max_size=2, unique=True),
)


@quiet
@examples(24, HealthCheck.function_scoped_fixture)
@given(tables(), labels, st.sampled_from(["auto", "few"]), st.randoms())
def test_the_round_trip_is_exact(tmp_path, drawn, names, how, random):
    (rows,) = drawn
    frame = as_objects(rows)
    y = [random.choice(names) for _ in rows]
    encoder = "auto" if how == "auto" else BinaryEncoder(max_thresholds=3, max_categories=2)
    model = classifier(max_expansions=20, encoder=encoder).fit(frame, y)
    again = round_trip(model, tmp_path)
    same(again, model, frame)
    params, ours = again.get_params(), model.get_params()
    for name in ("encoder", "callback"):
        del params[name], ours[name]
    assert params == ours
    # And again: the file of a loaded model is the same file.
    path = tmp_path / "again.json"
    save_model(again, path)
    assert path.read_bytes() == (tmp_path / "model.json").read_bytes()


@pytest.mark.parametrize(
    "dtype", ["i1", "i2", "i4", "i8", "u1", "u8", ">i4", "f2", "f4", "f8", ">f8", "b1", "U1", ">U9"]
)
def test_the_type_of_labels_is_kept(tmp_path, dtype):
    X, y = noisy()
    model = classifier().fit(X, y.astype(dtype))
    again = round_trip(model, tmp_path)
    same(again, model, X)
    assert again.classes_.dtype.str == model.classes_.dtype.str


@pytest.mark.parametrize("named", [False, True])
def test_a_matrix_without_an_encoder(tmp_path, named):
    X, y = noisy(n_classes=3)
    X = pd.DataFrame(X, columns=[f"column {j}" for j in range(X.shape[1])]) if named else X
    model = classifier(encoder=None, rho=[1, 2.5, np.float32(0.5)]).fit(X, y)
    again = round_trip(model, tmp_path)
    same(again, model, X)
    assert again.encoder_ is None
    assert again.encoder is None


def test_a_single_leaf_and_a_single_class(tmp_path):
    for y in (["only"] * 20, ["a", "b"] * 10):
        X = np.zeros((20, 2))
        model = classifier().fit(X, y)
        assert model.tree_.node_count == 1
        same(round_trip(model, tmp_path), model, X)


def test_weights_limits_and_a_stopped_search(tmp_path):
    X, y = noisy(n_rows=300, n_columns=20)
    weights = np.arange(300) % 3
    model = MAPTreeClassifier(
        alpha=np.float64(0.9),
        time_limit=None,
        max_expansions=np.int64(5),
        memory_limit="1GiB",
        max_depth=3,
        min_samples_leaf=2,
        n_jobs=1,
        random_state=np.random.RandomState(3),
    ).fit(X, y, weights)
    assert model.certificate_.status == "expansion_limit"
    again = round_trip(model, tmp_path)
    same(again, model, X)
    assert again.training_.rows == weights.sum()
    assert again.max_expansions == 5
    assert again.memory_limit == "1GiB"
    assert again.random_state is None
    assert clone(again).fit(X, y, weights).tree_ == model.tree_


def test_where_a_model_comes_from(tmp_path):
    X, y = noisy()
    before = math.floor(time.time())
    model = classifier().fit(X, pd.Series(y, name="outcome"))
    summary = model.training_
    assert (summary.rows, summary.target, summary.library) == (120, "outcome", maptree.__version__)
    assert summary.class_counts == (int((y == 0).sum()), int((y == 1).sum()))
    assert summary.held_out is None
    assert before <= pd.Timestamp(summary.date).timestamp() <= time.time()
    baselines = (
        BaselineScores("logistic regression", 0.8, 0.5, 0.9),
        BaselineScores("most frequent class", 0.6, 0.7),
    )
    scores = HeldOutScores("5-fold cross-validation", 120, 0.9, 0.3, 0.02, 0.95, baselines)
    object.__setattr__(summary, "held_out", scores)
    again = round_trip(model, tmp_path)
    assert again.training_.held_out == scores
    again.fit(X, y)  # of other labels, so the scores are not about it
    assert again.training_.held_out is None
    assert again.training_.target is None


def test_what_cannot_be_saved(tmp_path):
    X, y = noisy()
    path = tmp_path / "model.json"
    with pytest.raises(Exception, match="not fitted"):
        save_model(MAPTreeClassifier(), path)
    with pytest.raises(Exception, match="not fitted"):
        maptree.SMCTreeClassifier().save(path)
    with pytest.raises(TypeError, match="str is not a classifier or regressor"):
        save_model("model", path)
    dates = np.array(["2021-01-01", "2022-01-01"], dtype="M8[D]")[y]
    with pytest.raises(TypeError, match=r"datetime64.*convert y to str"):
        classifier().fit(X, dates).save(path)
    with pytest.raises(TypeError, match=r"is a date.*convert y to str"):
        classifier().fit(X, [d.item() for d in dates]).save(path)
    model = classifier().fit(X, y).set_params(alpha=7)
    with pytest.raises(ValueError, match="alpha=7 is out of range"):
        model.save(path)
    model.set_params(alpha=0.9, column_weights=[1, 2])
    with pytest.raises(ValueError, match=r"column_weights\[0\] is 1"):
        model.save(path)
    assert not path.exists()


def test_what_the_file_looks_like(good):
    values, text = good
    assert list(values)[:3] == ["format", "version", "training"]
    assert values["format"] == "maptree model"
    assert values["version"] == 7
    assert values["training"]["target"] == "buys"
    assert values["classes"] == {"dtype": "|O", "values": ["no", "yes"]}
    assert values["certificate"]["proved_depth"] == "inf"
    assert "grün" in text
    assert max(map(len, text.splitlines())) < 2000
    assert '\n        "thresholds": [' in text


def test_a_file_of_version_7_is_read(tmp_path):
    """It was written before there was version 8, from the model that is fitted here."""
    old = pathlib.Path(__file__).parent / "version_7.json"
    model, again = good_model(), load_model(old)
    assert again.tree_ == model.tree_
    assert again.rules() == model.rules()
    np.testing.assert_array_equal(again.fitted_.probabilities, model.fitted_.probabilities)
    again.save(tmp_path / "model.json")
    assert (tmp_path / "model.json").read_bytes() == old.read_bytes()


# Writing


@pytest.mark.skipif(os.name == "nt", reason="permissions are others")
def test_a_file_is_replaced_whole_with_its_permissions(good, tmp_path):
    model = good_model()
    file = tmp_path / "model.json"
    file.write_text("old")
    file.chmod(0o604)
    link = tmp_path / "link.json"
    link.symlink_to(file)
    model.save(str(link))
    assert link.is_symlink()
    assert stat.S_IMODE(file.stat().st_mode) == 0o604
    assert load_model(file).training_.target == "buys"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.json", "model.json"]
    new = tmp_path / "new.json"
    before = os.umask(0o027)
    try:
        model.save(new)
    finally:
        os.umask(before)
    assert stat.S_IMODE(new.stat().st_mode) == 0o640


@pytest.mark.parametrize("step", ["os.fsync", "pathlib.Path.replace"])
def test_a_failure_leaves_the_old_file(monkeypatch, tmp_path, step):
    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    model = good_model()
    file = tmp_path / "model.json"
    file.write_text("old")
    monkeypatch.setattr(step, fail)
    with pytest.raises(OSError, match="No space left"):
        model.save(file)
    monkeypatch.undo()
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.skipif(os.name == "nt", reason="no such devices")
def test_places_that_cannot_be_written(tmp_path):
    model = good_model()
    with pytest.raises(IsADirectoryError, match="This is a folder: name a file in it"):
        model.save(tmp_path)
    with pytest.raises(FileNotFoundError, match="The folder does not exist"):
        model.save(tmp_path / "nowhere" / "model.json")
    with pytest.raises(OSError, match="not a regular file"):
        model.save("/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.mark.parametrize(
    ("found_by", "kind"),
    [
        ("search", MAPTreeClassifier),
        ("chains", maptree.MCMCTreeClassifier),
        ("particles", maptree.SMCTreeClassifier),
    ],
)
def test_all_parameters_but_the_callback_are_stored(found_by, kind):
    assert sorted({*PARAMETERS[found_by], "callback"}) == sorted(kind().get_params(deep=False))
