"""The benchmarks' arithmetic: what a trace says at a time, tables, and what they count."""

from __future__ import annotations

import json

import numpy as np
import pytest

import marks
import report
import scale
import sets
import table
import threads

TRACE = np.array(
    [(0.005, 1, -50.0, -10.0), (0.1, 4, -50.0, -20.0), (0.5, 9, -40.0, -30.0)],
    dtype=[
        ("seconds", float),
        ("expansions", int),
        ("log_posterior", float),
        ("log_posterior_bound", float),
    ],
)
ANCHOR = {
    "published_lower_bound": 25.0,
    "published_cost": 45.0,
    "best_known": 40.0,
    "best_known_is_proved": True,
}


def measured(name="a", **changes):
    row = {
        "set": name,
        "outcome": "measured",
        "rows": 1000,
        "columns": 7,
        "status": "time_limit",
        "cost": 40.0,
        "lower_bound": 30.0,
        "proved_depth": 4,
        "seconds_to_proof": None,
        "fit_seconds": 1.001,
        "expansions": 9000,
        "expansions_per_second": 9000.0,
        "peak_bytes": 2_000_000,
        "resident_growth_bytes": 3_000_000,
        "resident_peak_bytes": 150_000_000,
        "scorer_difference": 1e-9,
        "marks": [marks.at_mark(TRACE, mark) for mark in (0.01, 0.1, 1.0)],
        "cart": [
            {"criterion": "gini", "cost": 44.0, "seconds": 0.5},
            {"criterion": "entropy", "cost": 43.0, "seconds": 0.25},
        ],
        "anchor": ANCHOR,
    }
    return row | changes


FAILED = {"set": "b", "outcome": "killed by SIGKILL", "anchor": None}


def document(rows, n_sets=None, limit=1.0):
    return {
        "environment": {"cores": 2, "load at the start": None},
        "settings": {"limit": limit, "memory limit": "3MB", "jobs": None},
        "sets": len(rows) if n_sets is None else n_sets,
        "rows": rows,
    }


def cells(markdown, name):
    """The cells of a set's row, by their header."""
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in markdown.splitlines()
        if line.startswith("|")
    ]
    row = next(line for line in lines if line[0] == name)
    return dict(zip(lines[0], row, strict=True))


# Marks


def test_marks_within():
    assert marks.marks_within(60) == [0.01, 0.1, 1, 10, 60]
    assert marks.marks_within(59.9) == [0.01, 0.1, 1, 10]
    assert marks.marks_within(0.005) == []


@pytest.mark.parametrize(
    ("mark", "cost", "lower"),
    [(0.001, None, None), (0.01, 50, 10), (0.1, 50, 20), (0.49, 50, 20), (60, 40, 30)],
)
def test_the_last_entry_at_or_before_a_mark_counts(mark, cost, lower):
    assert marks.at_mark(TRACE, mark) == {"seconds": mark, "cost": cost, "lower_bound": lower}


def test_seconds_to_bound():
    assert marks.seconds_to_bound([1.0, 2.0, 3.0], [5.0, 7.0, 9.0], 7.0) == 2.0
    assert marks.seconds_to_bound([1.0, 2.0, 3.0], [5.0, 7.0, 9.0], 9.5) is None


# Tables


def test_cost_table():
    row = cells(table.cost_table([measured()], 1), "a")
    assert row == {
        "set": "a",
        "rows": "1,000",
        "columns": "7",
        "0.01 s": "50.0000",
        "0.1 s": "50.0000",
        "1 s": "40.0000",
        "end": "40.0000",
        "published": "45.0000",
        "best known": "40.0000*",
        "CART gini": "44.0000",
        "CART entropy": "43.0000",
        "CART s": "0.750",
    }


def test_bound_and_work_tables():
    bounds = cells(table.bound_table([measured()], 1), "a")
    assert (bounds["0.1 s"], bounds["end"], bounds["gap"]) == ("20.00", "30.00", "10.00")
    work = cells(table.work_table([measured()]), "a")
    assert (work["status"], work["depth"], work["s to proof"]) == ("time limit", "4", "-")
    assert (work["counted MB"], work["resident growth MB"]) == ("2.0", "3.0")
    proved = measured(status="optimal", proved_depth="inf", seconds_to_proof=0.25)
    work = cells(table.work_table([proved]), "a")
    assert (work["status"], work["depth"], work["s to proof"]) == ("optimal", "any", "0.25")


def test_a_failed_set_is_a_row_that_says_so():
    text = table.markdown(document([measured(), FAILED], n_sets=3))
    assert "Not finished: 1 of 3 sets are missing." in text
    assert "Settings: limit 1 s, memory limit 3MB." in text
    assert text.count("| killed by SIGKILL |") == 3
    assert table.failures([measured(), FAILED]) == ["b: killed by SIGKILL"]


def test_a_set_without_anchor_or_cart_is_shown():
    row = cells(table.cost_table([measured(anchor=None, cart=None)], 1), "a")
    assert (row["published"], row["best known"], row["CART s"]) == ("-", "-", "-")


# Counts


def test_counts():
    better = measured("c", cost=39.0, anchor=ANCHOR | {"best_known_is_proved": False})
    lines = table.counts([measured(), FAILED, better], 1, memory=3_000_000)
    assert lines == [
        "cost at 1 s no worse than the published after 60 s: 2 of 2",
        "proved outright: 0 of 3 (not: a, b, c)",
        "lower bound at the end above the published, or proved: 2 of 2",
        "proved depth of 4 or more: 2 of 3 (not: b)",
        "proved depth of 5 or more: 0 of 3 (not: a, b, c)",
        "cost at the end no worse than pruned CART's: 2 of 3 (not: b)",
        "resident growth within the memory limit: 2 of 3 (not: b)",
        "cost at the end below the best known: c",
    ]


def test_the_count_at_ten_seconds_needs_a_run_of_ten():
    late = measured(marks=[marks.at_mark(TRACE, mark) for mark in (0.01, 0.1, 1.0, 10.0)])
    assert "cost at 10 s no worse than the best known: 1 of 1" in table.counts([late], 10)
    assert not any("10 s" in line for line in table.counts([late], 9.9))


def test_what_is_proved_counts_as_proved():
    lines = table.counts([measured(status="optimal", proved_depth="inf", lower_bound=25.0)], 1)
    assert sum(line.endswith("1 of 1") for line in lines) == len(lines)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({}, None),
        ({"lower_bound": 41.0, "cost": 40.5}, "the lower bound is above the cost"),
        ({"lower_bound": 40.5, "cost": 41.0}, "a known tree costs less than the lower bound"),
        ({"lower_bound": 43.5, "anchor": None, "cost": 45.0}, "CART's tree costs less"),
        ({"cost": 39.9}, "the cost is below the proved optimum"),
        ({"scorer_difference": 1e-3}, "the scorer gives the tree another cost"),
    ],
)
def test_contradictions(changes, says):
    found = table.contradictions([measured(**changes), FAILED])
    if says is None:
        assert found == []
    else:
        assert any(says in line for line in found)


# Reports


def test_files_are_replaced_whole(tmp_path):
    out = tmp_path / "deep" / "0.5s"
    report.write(out, {"rows": [1]}, "one\n")
    report.write(out, {"rows": [1, 2]}, "two\n")
    assert sorted(path.name for path in out.parent.iterdir()) == ["0.5s.json", "0.5s.md"]
    assert json.loads((out.parent / "0.5s.json").read_text()) == {"rows": [1, 2]}
    with pytest.raises(ValueError, match="JSON"):
        report.write(out, {"rows": [float("inf")]}, "three\n")
    assert (out.parent / "0.5s.md").read_text() == "two\n"


def test_a_name_tells_the_settings():
    assert report.name_of(60.0, None) == "60s"
    assert report.name_of(0.5, ["vote"], "500 MB", 2) == "0.5s-500MB-jobs2-vote"
    assert report.name_of(1, list("abcd")) == "1s-4sets"
    assert report.output("x/y.json", "z") == report.output("x/y", "z")


def test_the_environment_names_no_place():
    described = report.environment()
    assert {"date", "processor", "cores", "python", "maptree", "commit", "kernel"} <= set(described)
    assert "/" not in str(described["commit"])


def test_anchors_are_about_one_table():
    assert sets.anchor("tic-tac-toe", 958, 27)["best_known"] == 300.9038
    assert sets.anchor("tic-tac-toe", 958, 28) is None
    assert sets.anchor("unheard-of", 958, 27) is None


def test_sets_are_files_and_one_that_is_generated(tmp_path, monkeypatch):
    np.savetxt(tmp_path / "mine.txt.gz", [[1, 0, 1], [0, 1, 1]], fmt="%d")
    monkeypatch.setenv("MAPTREE_DATA", str(tmp_path))
    assert sets.choose(None) == ["mine", "tic-tac-toe"]
    X, y = sets.load("mine")
    assert X.tolist() == [[0, 1], [1, 1]]
    assert y.tolist() == [1, 0]
    with pytest.raises(ValueError, match=r"no other\.txt\.gz"):
        sets.choose(["mine", "other"])


# Threads


def run(seconds, bounds, status="time_limit"):
    return {
        "outcome": "measured",
        "status": status,
        "seconds": seconds[-1],
        "fit_seconds": seconds[-1],
        "cpu_seconds": 2 * seconds[-1],
        "cost": 9.0,
        "lower_bound": bounds[-1],
        "expansions_per_second": 10.0,
        "resident_growth_bytes": None,
        "trace": {"seconds": seconds, "lower_bound": bounds},
    }


def test_proofs_are_compared_by_their_seconds():
    few = [run([4.0], [9.0], "optimal"), run([6.0], [9.0], "optimal")]
    many = [run([2.0], [9.0], "optimal"), run([3.0], [9.0], "optimal")]
    row = threads.compare("a", few, many, limit=10)
    assert (row["until"], row["ratio"], row["many"]["busy"]) == ("proof", 2.0, 2.0)


def test_bounds_are_compared_by_the_seconds_to_the_smaller():
    slow, fast = run([1.0, 8.0], [3.0, 5.0]), run([1.0, 4.0, 8.0], [3.0, 5.0, 7.0])
    assert threads.compare("a", [slow], [fast], limit=10)["ratio"] == 2.0
    assert threads.compare("a", [fast], [slow], limit=10)["ratio"] == 0.5
    row = threads.compare("a", [slow], [fast], limit=10)
    rows = {"settings": {"limit": 10, "rounds": 1, "jobs": [1, 2]}, "sets": 1, "rows": [row]}
    text = threads.markdown(rows | {"environment": {}})
    assert cells(text, "a")["until"] == "bound 5.00"
    assert cells(text, "a")["s"] == "8.000 / 4.000"


def test_a_failed_run_is_no_comparison():
    row = threads.compare("a", [run([1.0], [3.0])], [FAILED], limit=10)
    assert (row["failed"], row["ratio"]) == (["killed by SIGKILL"], None)


# Scale


def test_the_table_that_is_printed_is_the_table_that_is_written(capsys):
    text = scale.table("Title", "| a | b |", iter(["| 1 | 2 |", "| 3 | 4 |"]))
    assert text == "Title\n\n| a | b |\n|---|---:|\n| 1 | 2 |\n| 3 | 4 |"
    assert capsys.readouterr().out == f"\n{text}\n"
