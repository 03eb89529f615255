"""The ONNX graph, run in onnxruntime."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from maptree import MAPTreeClassifier
from maptree.export.encoded_inputs import encoded_inputs
from maptree.export.plain_tree import PlainTree
from mixed_table import whole
from models import asking, number

MISSING = "\N{EMPTY SET}"


def as_arrays(case):
    """The columns as the documentation of to_onnx asks for them."""
    tree = PlainTree.of(case.model.fitted_)
    arrays = {}
    for given in encoded_inputs(tree, "ONNX"):
        values = case.table.column(tree.columns[given.column].name).to_pylist()
        if given.type == "text":
            array = np.array([MISSING if v is None else v for v in values], dtype=object)
        elif given.type == "whole":
            array = np.array([whole(v) for v in values], dtype=np.int64)
        else:
            array = np.array([np.nan if v is None else float(v) for v in values])
        arrays[given.name] = array[:, np.newaxis]
    return arrays


@pytest.fixture
def run():
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")

    def run(model, arrays):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(model.SerializeToString(), options)
        outputs = ["leaf", "probabilities", "label"]
        return session.run(outputs, arrays), onnxruntime.__version__

    return run


def test_onnx(case, compare, run):
    model = case.model.to_onnx(missing_text=MISSING)
    (leaves, probabilities, labels), version = run(model, as_arrays(case))
    compare("ONNX, in onnxruntime", version, case, leaves, probabilities, labels)
    names = json.loads({p.key: p.value for p in model.metadata_props}["columns"])
    assert set(names.values()) <= set(case.table.column_names)


@pytest.mark.parametrize("labels", [[0, 1], [False, True], [2.0, 3.0]])
def test_labels_that_are_no_text(labels, run):
    X = np.array([[1.0], [2.0]] * 20)
    model = MAPTreeClassifier().fit(X, labels * 20)
    (_, _, found), _ = run(model.to_onnx(), {"x0": X})
    assert found.tolist() == model.predict(X).tolist()
    assert found.dtype == np.array(labels).dtype


def test_columns_called_as_outputs_are(run):
    names = ["leaf", "label", "probabilities", "Leaf", "leaf_2"]
    model = asking(*(number(1.5, name=name) for name in names))
    exported = model.to_onnx()
    columns = json.loads({p.key: p.value for p in exported.metadata_props}["columns"])
    assert list(columns.values()) == names
    X = np.where(np.eye(5), 1.0, 2.0)
    given = {name: X[:, [names.index(column)]] for name, column in columns.items()}
    (leaves, _, labels), _ = run(exported, given)
    frame = pd.DataFrame(X, columns=names)
    assert leaves.tolist() == model.apply(frame).tolist()
    assert labels.tolist() == model.predict(frame).tolist()
    assert {"leaf_2", "label_2", "probabilities_2"} <= set(columns)


def test_a_single_leaf(run):
    model = MAPTreeClassifier().fit([[3.5], [3.5], [3.5]], ["a", "b", "b"])
    (leaves, probabilities, labels), _ = run(model.to_onnx(), {"rows": np.zeros(4)})
    assert (leaves.tolist(), labels.tolist()) == ([0] * 4, ["b"] * 4)
    np.testing.assert_array_equal(probabilities, model.predict_proba([[0.0]] * 4))


def test_a_mark_that_is_a_category_is_refused(mixed):
    pytest.importorskip("onnx")
    with pytest.raises(ValueError, match="missing_text='red' is a category of column"):
        mixed.model.to_onnx(missing_text="red")
