"""What the tables of the samplers' benchmark say."""

from __future__ import annotations

import numpy as np
import pytest

import samplers


def found(best, mean, search, published=None, seconds=0.01):
    return {
        "seconds": seconds,
        "best": best,
        "mean": mean,
        "interval": [mean - 1, mean + 1],
        "published": published,
        "search_cost": search,
    }


def test_the_interval_of_a_mean():
    values = np.random.default_rng(1).normal(size=400)
    low, high = samplers.bootstrap(values)
    assert low < values.mean() < high
    assert high - low == pytest.approx(2 * 1.96 * values.std() / 20, rel=0.1)


def test_who_is_ahead():
    assert samplers.ahead(found(99.0, 120.0, search=100.0))
    assert not samplers.ahead(found(100.0, 120.0, search=100.0001))


def test_counts():
    known = {"cost": 110.0, "seconds": 5}
    rows = [
        ({"set": "a"}, found(99.0, 120.0, search=100.0, published=known)),
        ({"set": "b"}, found(101.0, 105.0, search=100.0, published=known, seconds=0.02)),
        ({"set": "c"}, found(101.0, 105.0, search=100.0)),
    ]
    assert samplers.counts(rows) == [
        "At least 250 times as fast as published.",
        "The best cost is at most the published one on 2 of 2 sets.",
        "The mean cost is at most the published one on 1 of 2 sets, not on a.",
        "Better than the search on 1 sets: a.",
    ]


def test_the_report_of_a_run():
    row = {"set": "a", "rows": 4, "columns": 2, "best_known": 98.0}
    row |= {key: found(99.0, 120.0, search=100.0) for key in samplers.variants(10, 20)}
    text = samplers.markdown(
        {
            "environment": {"cores": 2},
            "settings": {"seeds": 3, "iterations": 10, "particles": 20},
            "sets": 2,
            "rows": [row],
        }
    )
    assert "1 of 2 sets are missing" in text
    assert "MCMC: one chain of 100 iterations" in text
    assert (
        "| a | 0.0100 | **99.00** | 120.00 | 119.00 to 121.00 | - | - | - | 100.00 | 98.00 |"
        in text
    )
