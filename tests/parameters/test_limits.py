"""Parsing limits."""

from __future__ import annotations

import math

import numpy as np
import pytest

from maptree.parameters.limits import (
    max_expansions,
    memory_limit,
    patience,
    time_limit,
    total_weight,
)
from maptree.parameters.numbers import whole_number


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4GiB", 4 * 2**30),
        ("500MB", 500_000_000),
        ("500 mb", 500_000_000),
        (" 1.5 KiB ", 1536),
        (".5kB", 500),
        ("2TiB", 2 * 2**40),
        ("1tb", 10**12),
        ("7B", 7),
        ("12345", 12345),
        (10**9, 10**9),
        (np.int64(77), 77),
        (None, -1),
    ],
)
def test_memory(text, size):
    assert memory_limit(text) == size


@pytest.mark.parametrize(
    "text", ["", "GiB", "4 gigs", "-4GiB", "4GiB!", "1e9", "0", "0.1B", "four", "1 2MB", 0, -1]
)
def test_memory_that_is_no_size(text):
    with pytest.raises(ValueError, match=r"memory_limit=.*\"4GiB\""):
        memory_limit(text)


@pytest.mark.parametrize("value", [1.5, True, [1], b"4GiB", math.inf])
def test_memory_of_another_type(value):
    with pytest.raises(TypeError, match="memory_limit="):
        memory_limit(value)


def test_memory_beyond_any_machine():
    with pytest.raises(ValueError, match="is too large"):
        memory_limit("9000000TiB" + "")
    with pytest.raises(ValueError, match="is too large"):
        memory_limit(2**63)
    with pytest.raises(ValueError, match="is too large"):
        memory_limit("9" * 400)  # which is infinite as a float
    assert memory_limit(2**63 - 1) == 2**63 - 1


def test_patience():
    assert patience(None) == math.inf
    assert patience(1) == 1.0
    assert patience(np.float32(2.5)) == 2.5


def test_time():
    assert time_limit(None) == math.inf
    assert time_limit(np.float32(0.5)) == 0.5
    assert isinstance(time_limit(3), float)


@pytest.mark.parametrize("value", [0, -1, 0.0, math.inf, math.nan, -math.inf])
def test_time_out_of_range(value):
    with pytest.raises(ValueError, match=r"time_limit=.*None"):
        time_limit(value)


@pytest.mark.parametrize("value", ["10", True, [1.0], 1j])
def test_time_of_another_type(value):
    with pytest.raises(TypeError, match=r"time_limit=.*None"):
        time_limit(value)


def test_expansions():
    assert max_expansions(None) == -1
    assert max_expansions(np.int32(5)) == 5
    with pytest.raises(ValueError, match="max_expansions=0"):
        max_expansions(0)
    with pytest.raises(TypeError, match=r"max_expansions=10\.0"):
        max_expansions(10.0)


def test_whole_numbers_are_not_booleans():
    with pytest.raises(TypeError, match="min_samples_leaf=True"):
        whole_number("min_samples_leaf", True, least=1)


def test_counts_that_would_overflow():
    assert total_weight(2**25) == 2**25
    with pytest.raises(ValueError, match=r"33,554,433, but counts overflow"):
        total_weight(2**25 + 1)


def test_a_whole_number_beyond_all_floats_is_not_finite():
    with pytest.raises(ValueError, match="is not finite"):
        time_limit(10**400)
