"""The benchmark of limits: its cases have names of their own, and its tables say what was kept."""

from __future__ import annotations

import subprocess
import sys

import limits
from limits import Limit, markdown, measured, row_of
from limits import limits as all_limits


def test_every_limit_has_a_name_of_its_own():
    names = [(limit.group, limit.name) for limit in all_limits()]
    assert len(names) == len(set(names)) > 40


def test_a_case_is_measured_in_a_process_of_its_own():
    (case,) = (limit for limit in all_limits() if "100 MB of brackets" in limit.name)
    case = Limit(case.group, case.name, case.unit, case.allowed, measure=None)
    assert measured(case) >= 0


def test_the_tables_say_how_often_a_limit_was_kept():
    late = Limit("Seconds beyond", "noise, time_limit=1", "s", 0.1, measure=None)
    large = Limit("Growth", "noise, memory_limit=48MiB", "MiB", 48, measure=None)
    rows = [row_of(late, [0.2, 0.05, 0.1]), row_of(large, [50.0])]
    text = markdown({"environment": {"cores": 2}, "settings": {"rounds": 3}, "rows": rows})
    assert "## Seconds beyond\n" in text
    assert "| noise, time_limit=1 | 0.100 | 0.050 | 0.100 | 0.200 | 2 of 3 |" in text
    assert "| noise, memory_limit=48MiB | 48.000 | 50.000 | 50.000 | 50.000 | 0 of 1 |" in text


def test_a_name_that_no_limit_has():
    done = subprocess.run(
        [sys.executable, limits.__file__, "--only", "patience"], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "--only 'patience' leaves nothing to measure" in done.stderr
