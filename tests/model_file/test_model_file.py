"""Model files: the round trip is exact, nonsense is refused, and nothing is half written."""

from __future__ import annotations

import copy
import errno
import json
import math
import os
import stat
import time
import tracemalloc
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from sklearn.base import clone

import maptree
from maptree import BinaryEncoder, HeldOutScores, MAPTreeClassifier, load_model, save_model
from maptree.estimators.saved import restored
from maptree.files import strict_json
from maptree.model_file import PARAMETERS
from maptree.model_file.reading import parse_model
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
    scores = HeldOutScores("5-fold cross-validation", 120, 0.9, 0.3, 0.02)
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
    with pytest.raises(TypeError, match="MCMCTreeClassifier cannot be saved"):
        save_model(maptree.MCMCTreeClassifier(), path)
    with pytest.raises(TypeError, match=r"SMCTreeClassifier cannot be saved .* use pickle"):
        maptree.SMCTreeClassifier().save(path)
    dates = np.array(["2021-01-01", "2022-01-01"], dtype="M8[D]")[y]
    with pytest.raises(TypeError, match=r"datetime64.*convert y to str"):
        classifier().fit(X, dates).save(path)
    with pytest.raises(TypeError, match=r"is a date.*convert y to str"):
        classifier().fit(X, [d.item() for d in dates]).save(path)
    model = classifier().fit(X, y).set_params(alpha=7)
    with pytest.raises(ValueError, match="alpha=7 is out of range"):
        model.save(path)
    assert not path.exists()


def good_model():
    rng = np.random.default_rng(3)
    n = 200
    age = rng.integers(18, 80, n).astype(float)
    age[::7] = np.nan
    frame = pd.DataFrame(
        {
            "age": age,
            "colour": rng.choice(["red", "blue", "grün"], n),
            "size": pd.Categorical(rng.choice(["s", "m", "l"], n), ["s", "m", "l"], ordered=True),
            "joined": pd.to_datetime(rng.integers(18000, 19000, n), unit="D"),
            "seen": pd.to_datetime(rng.integers(0, 10**9, n), unit="s", utc=True),
            "price": [Decimal(int(v)) / 4 for v in rng.integers(0, 40, n)],
            "member": rng.random(n) < 0.5,
            "wait": pd.to_timedelta(rng.integers(0, 10**5, n), unit="s"),
        }
    )
    y = np.where((frame["colour"] == "red") & (frame["age"] > 45), "yes", "no")
    y[::20] = "no"
    encoder = BinaryEncoder(max_thresholds=3)
    model = MAPTreeClassifier(time_limit=None, encoder=encoder).fit(
        frame, pd.Series(y, name="buys")
    )
    assert model.certificate_.optimal
    assert model.tree_.depth >= 2
    return model


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """The values of a valid file, and its text."""
    model = good_model()
    path = tmp_path_factory.mktemp("good") / "model.json"
    model.save(path)
    return json.loads(path.read_bytes()), path.read_text(encoding="utf-8")


def test_what_the_file_looks_like(good):
    values, text = good
    assert list(values)[:3] == ["format", "version", "training"]
    assert values["format"] == "maptree model"
    assert values["version"] == 3
    assert values["training"]["target"] == "buys"
    assert values["classes"] == {"dtype": "|O", "values": ["no", "yes"]}
    assert values["certificate"]["proved_depth"] == "inf"
    assert "grün" in text
    assert max(map(len, text.splitlines())) < 2000
    assert '\n        "thresholds": [' in text


EDITS = [
    (("version",), True, "version is True"),
    (("version",), 0, "version is 0"),
    (("format",), "onnx", "not a model"),
    (("classes", "dtype"), "O; import os", "dtype is"),
    (("classes", "dtype"), "<U9999999", "'no'|too long|<U"),
    (("classes", "dtype"), "<i8", r"classes.values\[0\] is 'no'"),
    (("classes", "values"), ["yes", "no"], "sorted and distinct"),
    (("classes", "values"), ["no", "no"], "sorted and distinct"),
    (("classes", "values"), ["no", 3], "several types"),
    (("classes", "values"), ["no"], "rho has 2 entries|has 2 entries"),
    (("classes", "values"), [], "empty"),
    (("schema",), None, "exactly one of them must be null"),
    (("matrix",), {"columns": 8, "names": None}, "exactly one of them must be null"),
    (("schema", "columns", 0, "name"), "colour", "two columns are named 'colour'"),
    (("schema", "columns", 0, "kind"), "colour", r"schema: columns\[0\].kind"),
    (("schema", "columns", 5, "thresholds"), [{"decimal": "1e999999999"}], "too many digits"),
    (("tree", "feature", 0), 10**6, r"tree.feature\[0\] is 1000000"),
    (("tree", "feature", 0), 10**60, r"tree.feature\[0\] is a number of more than 30 digits"),
    (("tree", "feature", 0), 0.5, r"tree.feature\[0\] is 0.5"),
    (("tree", "feature"), [], "has 0 entries|at least one node|must have 0"),
    (("tree", "left", 0), 0, "tree: left must name a later node"),
    (("tree", "left", 0), 2**40, r"tree.left\[0\]"),
    (("tree", "right", 0), 1, "exactly one node"),
    (("tree", "counts", 0), [1, 1], r"tree.counts\[0\] is not the sum"),
    (("tree", "counts", 0, 1), -1, r"tree.counts\[0\]\[1\] is -1"),
    (("tree", "counts", 1), [1], r"tree.counts\[1\] has 1 entries"),
    (("rho", 0), 0, r"rho\[0\] is 0"),
    (("certificate", "status"), "sure", "certificate.status is 'sure'"),
    (("certificate", "optimal"), False, "contradicts"),
    (("certificate", "gap"), 1.0, "gap 0"),
    (("certificate", "log_posterior"), -1.0, "gap is not"),
    (("certificate", "log_posterior"), 10**400, "log_posterior is a number"),
    (("certificate", "seconds"), -1, "certificate.seconds is -1"),
    (("certificate", "proved_depth"), "nan", "proved_depth"),
    (("feature_importances", 0), 2.0, r"feature_importances\[0\]"),
    (("feature_importances",), [1.0] * 8, "sum to 1"),
    (("parameters", "alpha"), 1.5, "alpha=1.5 is out of range"),
    (("parameters", "alpha"), "0.95", "alpha='0.95' is not a number"),
    (("parameters", "beta"), 10**400, "is not finite"),
    (("parameters", "memory_limit"), "9" * 400, "is too large"),
    (("parameters", "rho"), [1.0], "rho has 1 values"),
    (("parameters", "encoder"), "os.system", "parameters.encoder"),
    (("parameters", "encoder"), {"max_thresholds": 0, "max_categories": 1}, "max_thresholds is 0"),
    (("parameters", "random_state"), -1, "random_state is -1"),
    (("parameters", "callback"), "print", "unknown callback"),
    (("trace", "seconds"), [], r"trace.expansions has \d+ entries"),
    (("trace", "log_posterior", 0), None, r"trace.log_posterior\[0\] is None"),
    (("training", "rows"), 61, "training.rows"),
    (("training", "date"), "yesterday", "training.date is 'yesterday'"),
    (("training", "target"), 3, "training.target is 3"),
    (("training", "held_out"), {"accuracy": 2}, "is missing method"),
    (("training", "seen"), {"digest": "0"}, "is missing hashes"),
    (("training", "seen", "digest"), "0" * 31, "32 hexadecimal digits"),
    (("training", "seen", "hashes"), [], "1 to 1,024 hashes"),
    (("training", "seen", "hashes"), ["AAAAAAA"], "not base64"),
    (("training", "seen", "hashes"), ["AAAAAAAB", "AAAAAAAB"], "must increase"),
    (("training", "seen", "hashes"), [7], r"hashes\[0\] is 7"),
    (("training", "seen", "rows"), 59, "seen.rows is 59"),
    (("training", "seen", "repeated"), -1, "seen.repeated is -1"),
    (("version",), 2, "parameters has unknown column_weights, split_prior"),
    (("parameters", "split_prior"), "rows", "split_prior='rows' is unknown"),
    (("parameters", "split_prior"), None, "split_prior=None is unknown"),
    (("parameters", "column_weights"), {"age": 2}, r"column_weights is {'age': 2}: it must be a"),
    (("parameters", "column_weights"), [["age"]], r"column_weights\[0\] has 1 entries"),
    (("parameters", "column_weights"), [[True, 2]], r"column_weights\[0\]\[0\] is True"),
    (("parameters", "column_weights"), [[["age"], 2]], r"column_weights\[0\]\[0\] is \['age'\]"),
    (("parameters", "column_weights"), [["age", 1], ["age", 2]], "has a column twice"),
    (("parameters", "column_weights"), [["age", -1]], r"column_weights\['age'\]=-1 is negative"),
    (("parameters", "column_weights"), [["age", "2"]], "is not a number"),
    (("parameters", "column_weights"), [["agee", 2]], "pass 'age' if that is meant"),
    (("parameters", "column_weights"), [[0, 1], ["age", 1]], "the same column"),
    (("parameters", "column_weights"), [["age", 10**7]], "is more than 1,048,576 times"),
    (
        ("parameters", "column_weights"),
        [["age", 0]],
        r"columns\[0\] is of kind 'number'",
    ),
    (("schema", "columns", 0, "levels"), [0], "one per threshold"),
    (("extra",), 1, "unknown extra"),
]


@pytest.mark.parametrize(("path", "value", "message"), EDITS)
def test_nonsense_is_refused_with_its_place(good, tmp_path, path, value, message):
    values = copy.deepcopy(good[0])
    inner = values
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    file = tmp_path / "edited.json"
    file.write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(ValueError, match=message) as caught:
        load_model(file)
    said = str(caught.value)
    assert str(file) in said
    assert "fit and save the model again" in said
    assert len(said) < 700


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "it is empty"),
        (b"  \n", "it is empty"),
        (b"age,colour\n1,red\n", "not JSON, or truncated.*line 1, column 1"),
        (b"\x80\x04\x95pickle", "not valid UTF-8 text"),
        (b"\xff\xfe{\x00}\x00", "not valid UTF-8 text"),
        (b"[1, 2]", "not a model"),
        (b"null", "not a model"),
        (b'{"format": "maptree model"}', "version is None"),
        (b'{"a": 1, "a": 2}', "the field 'a' twice"),
        (b'{"a": NaN}', "NaN, which is not JSON"),
        (b'{"a": -Infinity}', "-Infinity, which is not JSON"),
        (b'{"a": 1e999}', "1e999, which is too large for a float"),
        (b'{"a": 1' + b"0" * 5000 + b"}", "5,001 digits"),
        (b"[" * 17 + b"]" * 17, "nested more than 16 deep at byte 16"),
        (b'{"a":' * 5000, "nested more than 16 deep"),
        (b"]" * 100, "not JSON, or truncated"),
        (b'"' + b'\\"' * 100_000, "not JSON, or truncated"),
        (b'{"format": "maptree model", "version": 4, "shape": "unknown"}', "version 4"),
    ],
)
def test_texts_that_are_no_model(tmp_path, text, message):
    file = tmp_path / "model.json"
    file.write_bytes(text)
    with pytest.raises(ValueError, match=message):
        load_model(file)


def as_version(values, version):
    """What an earlier version wrote."""
    values = copy.deepcopy(values) | {"version": version}
    for column in values["schema"]["columns"]:
        column.pop("levels", None)
    del values["parameters"]["split_prior"], values["parameters"]["column_weights"]
    if version == 1:
        del values["training"]["seen"]
    return values


def test_a_file_of_version_2_has_the_prior_of_tests(good, tmp_path):
    path = tmp_path / "old.json"
    path.write_text(json.dumps(as_version(good[0], 2)), encoding="utf-8")
    model = load_model(path)
    assert (model.split_prior, model.column_weights) == ("tests", None)
    assert model.test_weights_.tolist() == [1] * len(model.encoder_.test_columns_)
    with pytest.raises(ValueError, match="has no levels of its thresholds"):
        model.encoder_.test_weights("columns")
    model.save(path)
    assert load_model(path).certificate_ == model.certificate_


def test_fields_of_a_later_version_are_unknown_to_an_earlier_one(good, tmp_path):
    path = tmp_path / "old.json"
    path.write_text(json.dumps(as_version(good[0], 2) | {"version": 1}), encoding="utf-8")
    with pytest.raises(ValueError, match="unknown seen"):
        load_model(path)


def test_a_file_of_version_1_has_no_record_of_its_rows(good, tmp_path):
    values = as_version(good[0], 1)
    path = tmp_path / "old.json"
    path.write_text(json.dumps(values), encoding="utf-8")
    model = load_model(path)
    assert model.training_.seen is None
    model.save(path)  # in the present version
    values = json.loads(path.read_text(encoding="utf-8"))
    assert (values["version"], values["training"]["seen"]) == (3, None)
    assert load_model(path).training_.seen is None


def test_a_newer_version_is_no_damaged_file(good, tmp_path):
    file = tmp_path / "model.json"
    file.write_text(json.dumps(good[0] | {"version": 4}), encoding="utf-8")
    with pytest.raises(ValueError, match=r"version 4, .* up to 3\. Install a newer one\.$"):
        load_model(file)


def test_a_mark_at_the_beginning_and_other_line_ends_do_no_harm(good, tmp_path):
    file = tmp_path / "model.json"
    file.write_bytes(b"\xef\xbb\xbf" + good[1].replace("\n", "\r\n").encode())
    assert load_model(file).training_.target == "buys"


def test_every_truncation_is_refused(good):
    content = good[1].encode()
    for end in range(0, len(content) - 2, 7):
        with pytest.raises(ValueError, match="it is "):
            parse_model(strict_json.parse(content[:end]))


FLOODS = {
    "brackets": lambda size: b"[" * size,
    "objects": lambda size: b'{"a":' * (size // 5),
    "pairs": lambda size: b"[" + b"[]," * (size // 3) + b"[]]",
    "numbers": lambda size: b"[" + b"1.5," * (size // 4) + b"1]",
    "quotes": lambda size: b'"' * size,
    "escaped": lambda size: b'"' + b'\\"' * (size // 2),
    "zeros": lambda size: bytes(size),
    "digits": lambda size: b"1" * size,
}


@pytest.mark.parametrize("flood", FLOODS)
def test_a_flood_is_refused_before_it_is_parsed(tmp_path, flood):
    """Without objects made of it."""
    size = 24_000_000  # as few as are too many of each
    file = tmp_path / "flood.json"
    file.write_bytes(FLOODS[flood](size))
    peak, message = refusal(file)
    assert peak < 3.2 * size + 10**6  # the bytes, the text that they are, and what is shown of it
    assert len(message) < 700


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    file = tmp_path / "large.json"
    with file.open("wb") as large:
        large.truncate(strict_json.MOST_BYTES + 1)
    peak, message = refusal(file)
    assert "too large for a model file" in message
    assert peak < 10**6


def refusal(file):
    """The bytes that Python asks for at most while a file is refused, and the message."""
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="cannot be used as a model file") as caught:
            load_model(file)
        return tracemalloc.get_traced_memory()[1], str(caught.value)
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(os.name == "nt", reason="no such devices")
def test_what_is_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"check the name.*nowhere.json"):
        load_model(tmp_path / "nowhere.json")
    with pytest.raises(IsADirectoryError, match="folder, not a model file"):
        load_model(tmp_path)
    with pytest.raises(ValueError, match="too large for a model file"):
        load_model("/dev/zero")
    with pytest.raises(ValueError, match="it is empty"):
        load_model("/dev/null")


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


# Fuzz

junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([2**31, 2**63, 10**400, -1, 0, 1])
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["inf", "-inf", "nan", "auto", "optimal", "|O", "<U1", "category", "UTC"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


def places(values):
    """Every place in nested values, as (container, key)."""
    keys = values if isinstance(values, dict) else range(len(values))
    for key in list(keys):
        yield values, key
        if isinstance(values[key], (dict, list)):
            yield from places(values[key])


def use(model):
    """Ask a model everything, about a table made after its own columns."""
    if model.encoder_ is None:
        X = np.zeros((3, model.n_features_in_))
    else:
        kinds = {
            "number": [1, None, 10**6],
            "boolean": [True, None, False],
            "date": [pd.Timestamp("2021-03-04").date(), None, None],
            "datetime": [pd.Timestamp("2021-03-04 12:30"), None, None],
            "time": [pd.Timestamp("2021-03-04 12:30").time(), None, None],
            "duration": [pd.Timedelta(seconds=3), None, None],
        }
        columns = {}
        for j, column in enumerate(model.encoder_.schema_):
            values = kinds.get(column.kind, ["red", None, "unknown"])
            text = any(isinstance(category, str) for category in column.categories)
            if column.kind == "category" and not text:
                values = [1, None, 2]
            if column.zone is not None:
                values = [pd.Timestamp("2021-03-04 12:30", tz="UTC"), None, None]
            if model.encoder_.passthrough_:
                values = [1, 0, 1]
            columns[j] = pd.Series(values, dtype=object)
        X = pd.DataFrame(columns)
        if hasattr(model, "feature_names_in_"):
            X.columns = model.feature_names_in_
        else:
            X = X.to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert len(model.predict(X)) == 3
        proba = model.predict_proba(X)
        assert np.isfinite(proba).all()
        assert np.isfinite(model.predict_interval(X)).all()
        model.decision_path(X)
        model.rules()
        model.export_text()
        str(model.certificate_)
        assert math.isfinite(model.feature_importances_.sum())


@examples(80)
@given(st.data())
def test_any_edit_of_a_value_is_read_or_refused(good, data):
    """Whatever a part is replaced by: a model that predicts or a ValueError, nothing else."""
    values = copy.deepcopy(good[0])
    container, key = data.draw(st.sampled_from(list(places(values))))
    action = data.draw(st.sampled_from(["replace", "swap", "delete"]))
    if action == "replace":
        container[key] = data.draw(junk)
    elif action == "swap":
        other, place = data.draw(st.sampled_from(list(places(values))))
        container[key] = copy.deepcopy(other[place])
    else:
        del container[key]
    try:
        model = restored(parse_model(strict_json.parse(strict_json.dump(values))))
    except ValueError:
        return
    use(model)


@examples(80)
@given(st.data())
def test_any_edit_of_the_text_is_read_or_refused(good, data):
    content = bytearray(good[1].encode())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(content) - 1))
        until = min(len(content), at + data.draw(st.integers(0, 12)))
        insert = data.draw(
            st.binary(max_size=3)
            | st.sampled_from([b"9", b"-", b"e9", b"null", b"[", b"}", b'"', b",", b"\\u0000"])
        )
        content[at:until] = insert
    try:
        model = restored(parse_model(strict_json.parse(bytes(content))))
    except ValueError:
        return
    use(model)


def test_all_parameters_but_the_callback_are_stored():
    assert sorted({*PARAMETERS, "callback"}) == sorted(MAPTreeClassifier().get_params(deep=False))
