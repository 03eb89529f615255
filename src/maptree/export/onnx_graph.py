"""A tree as an ONNX graph of exact comparisons.

ONNX has an operator for trees, but its probabilities are 32-bit floats, and so are its thresholds
in most versions. So the graph compares doubles and 64-bit integers, takes the first rule that is
true, and looks up what its leaf predicts.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from maptree.export.decision_list import Answer, decision_list
from maptree.export.encoded_inputs import MISSING_WHOLE, Input, encoded_inputs
from maptree.export.plain_tree import PlainTree
from maptree.schema.columns import Column, Test
from maptree.trees.fitted import FittedTree

# Opset 16 has the comparisons that are needed; version 2 of the ML operators the label encoder.
_OPSET, _ML_OPSET, _IR_VERSION = 16, 2, 8
# No input for a column may have one of these names.
_OUTPUTS = ("label", "probabilities", "leaf")
_OF_MEASURED = ("prediction", "interval", "size", "leaf", "exposure")  # of numbers and counts
_UNKNOWN = 2**31  # the code of a string that is not a category
_MISSING = -1  # the code of a missing value


def write_onnx(fitted: FittedTree, missing_text: str = "", exposure: bool = False) -> Any:
    """Return an ``onnx.ModelProto``; with ``exposure``, it has an input for that of counts."""
    try:
        import onnx
    except ImportError:
        raise ImportError("to_onnx needs the package onnx: pip install onnx.") from None
    tree = PlainTree.of(fitted)
    if exposure:
        tree.refuse_exposure()
    graph = _Graph(onnx, tree, missing_text, exposure)
    graph.build()
    model = onnx.helper.make_model(
        graph.proto(),
        producer_name="maptree",
        ir_version=_IR_VERSION,
        opset_imports=[
            onnx.helper.make_opsetid("", _OPSET),
            onnx.helper.make_opsetid("ai.onnx.ml", _ML_OPSET),
        ],
    )
    columns = {i.name: tree.columns[i.column].name for i in graph.inputs}
    facts = {"columns": json.dumps(columns)}
    if tree.outcome == "classes":
        facts["classes"] = json.dumps(list(tree.labels))
    else:
        facts["outcome"] = tree.outcome
    onnx.helper.set_model_props(model, facts)
    onnx.checker.check_model(model)
    return model


class _Graph:
    """A graph under construction: nodes in the order in which they are computed."""

    def __init__(self, onnx: Any, tree: PlainTree, missing_text: str, exposure: bool) -> None:
        self.helper, self.types = onnx.helper, onnx.TensorProto
        self.tree = tree
        self.missing_text = missing_text
        self.exposure = exposure
        taken = _OUTPUTS if tree.outcome == "classes" else _OF_MEASURED
        self.inputs = encoded_inputs(tree, "ONNX", taken=taken)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.conditions: dict[tuple[int, Test], str] = {}
        self.codes: dict[int, str] = {}  # text columns as numbers
        self.positions: dict[int, dict[Any, int]] = {}  # of their categories
        self.by_column = {given.column: given for given in self.inputs}

    def build(self) -> None:
        """Add all nodes, from the inputs to the outputs."""
        rules = decision_list(self.tree)
        position = {leaf.number: i for i, leaf in enumerate(self.tree.leaves)}
        found = self.constant(np.array(position[rules[-1].leaf], dtype=np.int64))
        for rule in reversed(rules[:-1]):
            holds = self.all_of(rule.answers)
            leaf = self.constant(np.array(position[rule.leaf], dtype=np.int64))
            found = self.add("Where", holds, leaf, found)
        found = self.one_for_each_row(found)
        leaves = self.tree.leaves
        numbers = np.array([leaf.number for leaf in leaves], dtype=np.int64)
        if self.tree.outcome == "classes":
            probabilities = np.array([leaf.probabilities for leaf in leaves], dtype=np.float64)
            labels = self.labels()[[leaf.prediction for leaf in leaves]]
            self.look_up(labels, found, "label")
            self.look_up(probabilities, found, "probabilities")
        else:
            self.predict(found)
        self.look_up(numbers, found, "leaf")

    def look_up(self, of_leaves: np.ndarray[Any, Any], found: str, output: str = "") -> str:
        """Return what each row's leaf has."""
        return self.add("Gather", self.constant(of_leaves), found, output=output, axis=0)

    def predict(self, found: str) -> None:
        """Add the outputs of numbers and counts."""
        estimates = [leaf.measured for leaf in self.tree.leaves]
        means = np.array([estimate.mean for estimate in estimates])
        if not self.exposure:
            self.look_up(means, found, "prediction")
            ends = np.array([(estimate.low, estimate.high) for estimate in estimates])
            self.look_up(ends, found, "interval")
            return
        self.add("Mul", self.look_up(means, found), self.flat("exposure"), output="prediction")
        self.look_up(np.array([estimate.shape[0] for estimate in estimates]), found, "size")

    def one_for_each_row(self, found: str) -> str:
        """Give every row its leaf, even in a tree without tests, as a one-dimensional array."""
        if self.inputs:
            return self.flat(found)
        rows = self.flat("exposure") if self.exposure else "rows"
        return self.add("Expand", found, self.add("Shape", rows))

    def flat(self, values: str) -> str:
        """Return values as a one-dimensional array."""
        return self.add("Reshape", values, self.constant(np.array([-1], dtype=np.int64)))

    def all_of(self, answers: tuple[Answer, ...]) -> str:
        conditions = []
        for answer in answers:
            condition = self.condition(answer.column, answer.test)
            conditions.append(condition if answer.yes else self.add("Not", condition))
        both = conditions[0]
        for other in conditions[1:]:
            both = self.add("And", both, other)
        return both

    def condition(self, number: int, test: Test) -> str:
        """Return the answers to a test, computed once."""
        key = number, test
        if key not in self.conditions:
            column, given = self.tree.columns[number], self.by_column[number]
            ask = {"text": self.ask_text, "whole": self.ask_whole, "float": self.ask_float}
            self.conditions[key] = ask[given.type](column, given, test)
        return self.conditions[key]

    def ask_float(self, column: Column, given: Input, test: Test) -> str:
        if test.asks == "missing":
            return self.add("IsNaN", given.name)
        value = given.bound(column, test, "ONNX")
        bound = self.constant(np.array(value, dtype=np.float64))
        if test.asks == "equals":
            return self.add("Equal", given.name, bound)
        return self.add("Less" if value == math.inf else "LessOrEqual", given.name, bound)

    def ask_whole(self, column: Column, given: Input, test: Test) -> str:
        missing = self.constant(np.array(MISSING_WHOLE, dtype=np.int64))
        is_missing = self.add("Equal", given.name, missing)
        if test.asks == "missing":
            return is_missing
        bound = self.constant(np.array(given.bound(column, test, "ONNX"), dtype=np.int64))
        operator = "Equal" if test.asks == "equals" else "LessOrEqual"
        return self.add("And", self.add(operator, given.name, bound), self.add("Not", is_missing))

    def ask_text(self, column: Column, given: Input, test: Test) -> str:
        codes = self.codes_of(column, given)
        if test.asks == "missing":
            return self.add("Equal", codes, self.constant(np.array(_MISSING, dtype=np.int64)))
        if test.asks == "equals":
            position = self.positions[given.column][test.value]
            return self.add("Equal", codes, self.constant(np.array(position, dtype=np.int64)))
        known = self.add("Greater", codes, self.constant(np.array(_MISSING, dtype=np.int64)))
        bound = self.constant(np.array(test.value, dtype=np.int64))
        return self.add("And", known, self.add("LessOrEqual", codes, bound))

    def codes_of(self, column: Column, given: Input) -> str:
        """Return strings as their positions among the categories."""
        if given.column not in self.codes:
            categories = [str(category) for category in column.categories]
            if self.missing_text in categories:
                raise ValueError(
                    f"missing_text={self.missing_text!r} is a category of column {column.name!r}: "
                    "pass text that is not a category."
                )
            for text in categories:
                _check_text(text)
            self.positions[given.column] = {c: i for i, c in enumerate(column.categories)}
            self.codes[given.column] = self.add(
                "LabelEncoder",
                given.name,
                domain="ai.onnx.ml",
                keys_strings=[*categories, self.missing_text],
                values_int64s=[*range(len(categories)), _MISSING],
                default_int64=_UNKNOWN if column.unknown is None else column.unknown,
            )
        return self.codes[given.column]

    def labels(self) -> np.ndarray[Any, Any]:
        """Return the labels as an array that ONNX has a type for."""
        labels = self.tree.labels
        if all(isinstance(label, bool) for label in labels):
            return np.array(labels, dtype=bool)
        if all(isinstance(label, int) and abs(label) < 2**63 for label in labels):
            return np.array(labels, dtype=np.int64)
        if all(isinstance(label, float) for label in labels):
            return np.array(labels, dtype=np.float64)
        for label in labels:
            _check_text(str(label))
        return np.array([str(label) for label in labels], dtype=object)

    def add(self, operator: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """Add a node and return the name of its output."""
        made = output or f"{operator}.{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(operator, list(inputs), [made], **attributes))
        return made

    def constant(self, values: np.ndarray[Any, Any]) -> str:
        """Add a constant and return its name."""
        name = f"constant.{len(self.constants)}"
        element = self.element(values)
        flat = [v.encode() if isinstance(v, str) else v for v in values.ravel().tolist()]
        self.constants.append(self.helper.make_tensor(name, element, values.shape, flat))
        return name

    def element(self, values: np.ndarray[Any, Any]) -> int:
        """Return ONNX's number for the type of an array."""
        if values.dtype.kind == "O":
            return int(self.types.STRING)
        return int(self.helper.np_dtype_to_tensor_dtype(values.dtype))

    def proto(self) -> Any:
        """Return the graph with its inputs and outputs."""
        value, types = self.helper.make_tensor_value_info, self.types
        element = {"float": types.DOUBLE, "whole": types.INT64, "text": types.STRING}
        inputs = [value(i.name, element[i.type], ["rows", 1]) for i in self.inputs]
        if self.exposure:
            inputs.append(value("exposure", types.DOUBLE, ["rows", 1]))
        if not inputs:
            inputs = [value("rows", types.DOUBLE, ["rows"])]
        if self.tree.outcome == "classes":
            outputs = [
                value("label", self.element(self.labels()), ["rows"]),
                value("probabilities", types.DOUBLE, ["rows", len(self.tree.labels)]),
            ]
        else:
            spread = value("interval", types.DOUBLE, ["rows", 2])
            if self.exposure:
                spread = value("size", types.DOUBLE, ["rows"])
            outputs = [value("prediction", types.DOUBLE, ["rows"]), spread]
        outputs.append(value("leaf", types.INT64, ["rows"]))
        return self.helper.make_graph(self.nodes, "maptree", inputs, outputs, self.constants)


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"The text {text!r} is not valid Unicode (half of a surrogate pair), so ONNX cannot "
            "hold it: replace it before fit."
        ) from None
