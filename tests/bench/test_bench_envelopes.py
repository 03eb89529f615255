"""The benchmark of envelopes: a case in a process of its own, and a report of those that exceed."""

from __future__ import annotations

from envelope_cases import make
from envelopes import ALLOWED_SECONDS, allowed_growth, exceeds, markdown, measured


def test_a_case_is_measured():
    row = measured(make(3, most_cells=200, most_seconds=0.05))
    assert row["seed"] == 3
    assert row["seconds"] > 0
    assert row["counted"] >= 0


def test_what_exceeds_is_listed():
    case = next(
        case
        for case in map(make, range(100))
        if case.params.get("memory_limit") == "20MB" and case.estimator == "MAPTreeClassifier"
    )
    row = {"seconds": 1.0, "processor_over": 0.0, "over": 0.0, "counted": 10.0, "grown": 5.0}
    assert exceeds(case, row) == []
    assert exceeds(case, {}) == ["end"]
    assert exceeds(case, row | {"processor_over": 2 * ALLOWED_SECONDS}) == ["time"]
    assert exceeds(case, row | {"counted": 21.0}) == ["counted"]
    assert exceeds(case, row | {"grown": 21.0 + allowed_growth(case)}) == ["memory"]
    rows = [
        row | {"what": "a case", "outcome": "optimal", "exceeds": ["time"]},
        {"what": "another", "outcome": "no end after 300 s", "exceeds": ["end"]},
    ]
    text = markdown({"environment": {}, "settings": {"cases": 2}, "rows": rows})
    assert "2 of 2 cases exceed" in text
    assert "| a case | time | optimal |" in text
    assert "| another | end | no end after 300 s | - |" in text
