"""Files that are no model, or a damaged one, are refused with the place; nothing else happens."""

from __future__ import annotations

import copy
import json
import os
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz.inputs.model_bytes import places, try_input
from junk_values import junk
from maptree import load_model
from maptree.files import strict_json
from maptree.model_file.reading import parse_model
from problems import examples

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
    (("version",), 6, "unknown average"),
    (("parameters", "first_columns"), {"age": 1}, "first_columns={'age': 1} does not name columns"),
    (("parameters", "first_columns"), [], "names no column"),
    (("parameters", "first_columns"), [True], "has True, which is not a column"),
    (("parameters", "first_columns"), ["agee"], "pass 'age' if that is meant"),
    (("parameters", "without_columns"), 99, "is not about a column of X"),
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
        (b"age,colour\n1,red\n", "is not a model file: it looks like a table"),
        (b"age is not JSON", "not JSON, or truncated.*line 1, column 1"),
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
        (b'{"format": "maptree model", "version": 9, "shape": "unknown"}', "version 9"),
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
    del values["average"]
    for column in values["schema"]["columns"]:
        column.pop("levels", None)
    later = ("first_columns", "max_leaf_nodes", "patience", "without_columns")
    for name in ("split_prior", "column_weights", *later):
        del values["parameters"][name]
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
    assert (values["version"], values["training"]["seen"]) == (7, None)
    assert load_model(path).training_.seen is None


_SCORES = {
    "method": "5-fold cross-validation",
    "rows": 60,
    "accuracy": 0.9,
    "log_loss": 0.3,
    "calibration_error": 0.02,
}
_BASELINE = {"name": "most frequent class", "accuracy": 0.6, "log_loss": 0.7, "roc_auc": 0.5}


def test_before_version_6_there_are_no_baselines(good, tmp_path):
    path = tmp_path / "old.json"
    values = copy.deepcopy(good[0]) | {"version": 6}
    del values["average"], values["parameters"]["max_leaf_nodes"], values["parameters"]["patience"]
    values["training"]["held_out"] = _SCORES
    old = copy.deepcopy(values) | {"version": 5}
    del old["parameters"]["first_columns"], old["parameters"]["without_columns"]
    path.write_text(json.dumps(old), encoding="utf-8")
    found = load_model(path).training_.held_out
    assert (found.accuracy, found.roc_auc, found.baselines) == (0.9, None, ())
    path.write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(ValueError, match=r"training\.held_out is missing (baselines|roc_auc)"):
        load_model(path)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"roc_auc": 1.5}, r"held_out.roc_auc is 1\.5"),
        ({"roc_auc": "high"}, r"held_out\.roc_auc is .high."),
        ({"baselines": None}, r"held_out\.baselines is None"),
        ({"baselines": [{"name": "x"}]}, r"baselines\[0\] is missing accuracy"),
        ({"baselines": [_BASELINE | {"log_loss": -1}]}, r"baselines\[0\].log_loss is -1"),
        ({"baselines": [_BASELINE | {"roc_auc": -1}]}, r"baselines\[0\].roc_auc is -1"),
        ({"baselines": [_BASELINE | {"name": 7}]}, r"baselines\[0\].name is 7"),
    ],
)
def test_scores_that_cannot_be(good, tmp_path, changed, message):
    path = tmp_path / "model.json"
    values = copy.deepcopy(good[0])
    whole = _SCORES | {"roc_auc": 0.9, "baselines": [_BASELINE]}
    values["training"]["held_out"] = whole
    path.write_text(json.dumps(values), encoding="utf-8")
    assert load_model(path).training_.held_out.baselines[0].accuracy == 0.6
    values["training"]["held_out"] = whole | changed
    path.write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        load_model(path)


def test_a_newer_version_is_no_damaged_file(good, tmp_path):
    file = tmp_path / "model.json"
    file.write_text(json.dumps(good[0] | {"version": 9}), encoding="utf-8")
    with pytest.raises(ValueError, match=r"version 9, .* up to 8\. Install a newer one\.$"):
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


# Fuzz


@examples(80)
@given(st.data())
def test_any_edit_of_a_value_is_read_or_refused(either, data):
    """Whatever a part is replaced by: a model that predicts or a ValueError, nothing else."""
    values = copy.deepcopy(either[0])
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
        content = strict_json.dump(values)
    except ValueError:
        return
    try_input(content)


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
    try_input(bytes(content))
