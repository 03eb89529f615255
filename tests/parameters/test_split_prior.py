"""Which tests the prior prefers, as users write it: what is read, and what is refused."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from maptree.parameters.numbers import ParameterError
from maptree.parameters.split_prior import (
    MOST_ODDS,
    by_column,
    read_column_weights,
    read_split_prior,
)

NAMES = ["age", "sex", "postcode"]


def test_the_names_of_the_priors():
    assert read_split_prior("tests") == "tests"
    assert read_split_prior("columns") == "columns"


@pytest.mark.parametrize("value", ["column", "", None, 1, ["tests"]])
def test_another_prior_is_refused(value):
    with pytest.raises(ParameterError, match=r'split_prior=.* is unknown: pass "tests" or'):
        read_split_prior(value)


@pytest.mark.parametrize(
    ("given", "weights"),
    [
        (None, (1, 1, 1)),
        ({}, (1, 1, 1)),
        ({"age": 2}, (2, 1, 1)),
        ({2: 0}, (1, 1, 0)),
        ({np.int64(1): np.float32(0.5), "age": True + 1}, (2, 0.5, 1)),
        ({"age": Fraction(1, 3)}, (1 / 3, 1, 1)),
        ({"age": MOST_ODDS}, (MOST_ODDS, 1, 1)),
        ({"age": 1e-300, 1: 1e-300, 2: 2e-300}, (1e-300, 1e-300, 2e-300)),
        ({"age": 1e300, 1: 0, 2: 0}, (1e300, 0, 0)),
    ],
)
def test_weights_by_name_or_number(given, weights):
    assert by_column(read_column_weights(given), NAMES) == weights


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        ([2, 1, 1], TypeError, "column_weights=.* is not a dict: pass a dict"),
        ("age=2", TypeError, "is not a dict"),
        ({("age",): 2}, TypeError, "has the key .'age',.: pass names or numbers of columns"),
        ({True: 2}, TypeError, "has the key True"),
        ({1.0: 2}, TypeError, r"has the key 1\.0"),
        ({"age": "2"}, TypeError, r"column_weights\['age'\]='2' is not a number"),
        ({"age": None}, TypeError, r"column_weights\['age'\]=None is not a number"),
        ({"age": True}, TypeError, r"column_weights\['age'\]=True is not a number"),
        ({"age": -1}, ValueError, r"column_weights\['age'\]=-1 is negative: pass a number above 0"),
        ({0: -0.5}, ValueError, r"column_weights\[0\]=-0.5 is negative"),
        ({"age": math.nan}, ValueError, r"column_weights\['age'\]=nan is not finite"),
        ({"age": math.inf}, ValueError, r"column_weights\['age'\]=inf is not finite"),
        ({"age": 10**400}, ValueError, "is not finite"),
        ({"agee": 2}, ValueError, r"\['agee'\]=2.0 is not about a column of X: pass 'age' if that"),
        ({"Postcode ": 2}, ValueError, "pass 'postcode' if that is meant"),
        ({"colour": 2}, ValueError, "pass a column's name or number"),
        ({3: 2}, ValueError, r"column_weights\[3\]=2.0 is not .*: pass a number from 0 to 2"),
        ({-1: 2}, ValueError, r"column_weights\[-1\]"),
        (
            {"age": 2, 0: 1},
            ValueError,
            r"column_weights\[0\]=1.0 is about the same column as column_weights\['age'\]",
        ),
        ({"age": 0, 1: 0, 2: 0}, ValueError, "leaves out every column: pass a weight above 0"),
        (
            {"age": 2 * MOST_ODDS},
            ValueError,
            r"column_weights\['age'\]=2097152.0 is more than 1,048,576 times the weight of 'sex'",
        ),
        (
            {"sex": 1e-9},
            ValueError,
            r"column_weights\['sex'\]=1e-09 is less than 1 / 1,048,576 of the weight of 'age', 1:",
        ),
        ({1: 1e300, 2: 0}, ValueError, r"column_weights\[1\]=1e\+300 is more than"),
    ],
)
def test_what_is_refused(given, kind, message):
    with pytest.raises(kind, match=message) as refused:
        by_column(read_column_weights(given), NAMES)
    assert isinstance(refused.value, ParameterError)
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)


def test_a_name_of_two_columns():
    with pytest.raises(ParameterError, match="about 2 columns of that name: pass their numbers"):
        by_column({"a": 2.0}, ["a", "b", "a"])
    assert by_column({2: 2.0}, ["a", "b", "a"]) == (1, 1, 2)
