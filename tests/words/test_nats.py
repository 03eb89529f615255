"""What a number of nats says: odds that can be imagined, and words beyond them."""

from __future__ import annotations

import math
import re

import pytest

from maptree.words.comparison import ComparedTree, Comparison
from maptree.words.nats import MILLION, NAT, at_most_text, is_useful, odds_text, times_text


@pytest.mark.parametrize("times", [1.0, 1.001, 1.5, 9.994, 55.0, 999.0, 1500.0, 87654.0, 999999.0])
def test_bounds_are_never_rounded_down(times):
    nats = math.log(times)
    said = float(at_most_text(nats).replace(",", ""))
    assert times * (1 - 1e-12) <= said <= (1.1 if times < 1000 else 2) * times
    near = float(times_text(nats).removeprefix("about ").replace(",", ""))
    assert abs(near - times) <= 0.5 * times
    assert is_useful(nats)


@pytest.mark.parametrize("nats", [MILLION, 30.0, 710.0, 3681.0, 1e6, math.inf])
def test_no_number_beyond_a_million(nats):
    assert times_text(nats) == at_most_text(nats) == "more than a million"
    assert odds_text(nats) == "1 : >10^6"
    assert not is_useful(nats)


def test_what_is_said_about_a_nat_is_right():
    said = re.findall(r"(\d+) nats? = ([\d.,]+) times", NAT)
    assert len(said) == 3
    for nats, times in said:
        assert float(times.replace(",", "")) == pytest.approx(math.exp(int(nats)), rel=0.02)


def proof(low, high):
    tree = ComparedTree("first", 2, 1, (), "")
    return Comparison(tree, tree, (), False, "the same", "", 1.0, (low, high)).proof


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (2.0, 2.0, "Proved: the best trees of both kinds differ by exactly this."),
        (9.1, 12.3, "at least 9.1 nats and at most 12.3 nats less probable"),
        (-12.3, -9.1, "at least 9.1 nats and at most 12.3 nats more probable"),
        (9.1, 3000.0, "is at least 9.1 nats less probable"),
        (0.0, 3.0, "is at most 3.0 nats less probable"),
        (0.0, 3000.0, "is not more probable"),
        (-3000.0, 0.0, "is not less probable"),
        (-1.0, 3.0, "at most 1.0 nats more and at most 3.0 nats less probable"),
        (-1.0, 3000.0, "is at most 1.0 nats more probable"),
        (-3000.0, 3.0, "is at most 3.0 nats less probable"),
        (-3000.0, 3000.0, "No useful bound yet on the difference between the best trees"),
    ],
)
def test_the_bounds_on_a_cost(low, high, said):
    assert said in proof(low, high)
    assert "3,000" not in proof(low, high)
