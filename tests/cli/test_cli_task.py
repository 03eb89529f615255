"""What a target is taken for: classes, a number or a count; and what cannot be fitted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import QUICK, call
from maptree.cli.files import read_source
from maptree.cli.header import Dialect
from maptree.cli.numbers_in_columns import find_measured
from maptree.cli.target import read_exposure, read_target


def source_of(here, values, decimal=None):
    """A file with a column y."""
    frame = pd.DataFrame({"y": values})
    frame.to_csv(here / "y.csv", index=False)
    return read_source(str(here / "y.csv"), None, Dialect(decimal=decimal))


def target_of(here, values, **options):
    return read_target(source_of(here, values), "y", **options)


@pytest.mark.parametrize(
    ("values", "task", "said"),
    [
        (["no", "yes"] * 20, "classes", ""),
        ([0, 1] * 20, "classes", ""),
        ([True, False] * 20, "classes", ""),
        ([1, 2, 3] * 20, "classes", "Its 3 different numbers are taken as classes: pass --task "),
        ([1.5, 2, 2.5] * 20, "classes", "pass --task number otherwise."),
        ([-1, 0, 1] * 20, "classes", "pass --task number otherwise."),
        ([0, 1, 2] * 20, "classes", "pass --task number or --task count otherwise."),
        (np.arange(12) + 0.25, "number", "it has 12 different values: this is a regression."),
        (np.arange(12), "classes", "Its 12 different numbers are taken as classes"),
        (np.arange(21) * 50, "number", "--task count if it counts events"),
        (np.arange(21) * 51, "number", "Pass --task classes if they are classes."),
        (np.arange(21) + 2, "number", "Pass --task classes if they are classes."),
        (np.repeat(np.arange(21), 100), "number", "--task count if it counts events"),
        ([f"${n},000" for n in range(100, 130)], "number", "30 different values"),
        ([f"{n}.100,50 EUR" for n in range(100, 130)], "number", "30 different values"),
        (["2 %", "3 %", "5 %"] * 9, "classes", "Its 3 different numbers"),
    ],
)
def test_what_a_target_is_taken_for(here, values, task, said):
    target = target_of(here, values)
    assert target.task == task
    assert said in target.assumed
    assert bool(target.assumed) == bool(said)


def test_the_task_that_was_asked_for(here):
    for task in ("classes", "number", "count"):
        target = target_of(here, [0, 1, 2] * 9, task=task)
        assert (target.task, target.assumed) == (task, "")
    assert target_of(here, np.repeat(np.arange(30), 9), task="classes").counts["7"] == 9
    assert target_of(here, np.repeat(np.arange(30), 9), positive="7").task == "classes"


def test_numbers_as_people_write_them(here):
    money = [f"$1,{n:03d}.50" for n in range(30)]
    target = target_of(here, [*money, None])
    assert target.labels.tolist() == [1000.5 + n for n in range(30)]
    assert target.note == "text such as $1,029.50 is read as 1029.5"
    assert (target.n_unlabelled, target.rows.tolist()) == (1, list(range(30)))
    both = [f"1,{n:03d}" for n in range(30)]
    assert target_of(here, both).note.endswith("pass --decimal , if it is 1.029")
    assert find_measured(source_of(here, both, ","), "y").values[1] == 1.001


def test_numbers_of_a_file_with_types(here):
    texts = [f"{n}.5" for n in range(30)]
    columns = {
        "text": texts,
        "money": pa.array([float(n) for n in range(30)]).cast(pa.decimal128(12, 2)),
        "small": pa.array(range(30), pa.uint8()),
        "coded": pa.array(texts).dictionary_encode(),
    }
    pq.write_table(pa.table(columns), here / "typed.parquet")
    source = read_source(str(here / "typed.parquet"), None, Dialect())
    assert find_measured(source, "text") is None  # plain numbers as text may be codes
    for name in ("text", "coded"):
        read = read_target(source, name, task="number").labels
        assert read.tolist() == [n + 0.5 for n in range(30)]
    for name in ("money", "small"):
        assert read_target(source, name).labels.tolist() == list(range(30))


def test_an_exposure_is_needed_where_the_target_is(here):
    frame = pd.DataFrame({"y": [1, None, 2], "years": ["0,5", "", "1,25"]})
    frame.to_csv(here / "e.csv", index=False)
    source = read_source(str(here / "e.csv"), None, Dialect())
    assert read_exposure(source, "years", np.array([0, 2])).tolist() == [0.5, 1.25]


NUMBERS = [f"{n}.5" for n in range(30)]


@pytest.mark.parametrize(
    ("values", "options", "code", "message"),
    [
        (NUMBERS, "--task numbers", 2, "--task numbers is unknown: pass classes, number, count."),
        ([*NUMBERS, "inf"], "", 1, "'y' has inf in row 31, which is not a finite number"),
        ([*NUMBERS, "-1e308"], "", 1, "'y' has -1e+308 in row 31"),
        ([*NUMBERS, "none yet"], "", 1, "Most of these are numbers: pass --task number"),
        ([*NUMBERS, "none yet"], "--task number", 1, "has 'none yet' in row 31, which is not a"),
        (["a", "b"] * 20, "--task number", 1, "'y' has 'a' in row 1, which is not a number"),
        (["a", "b"] * 20, "--task count", 1, "or pass --task classes"),
        (["$3", "4 EUR"] * 20, "--task number", 1, "money in several currencies ($, EUR)"),
        (["1,5", "2.5"] * 20, "--task number", 1, "not all written alike, such as '1,5' and"),
        (["2020-01-01"] * 40, "--task number", 1, "has dates or times, not numbers"),
        (["true", "false"] * 20, "--task number", 1, "has true and false, not numbers"),
        ([""] * 40, "--task number", 1, "is missing in every row"),
        (["5"] * 40, "--task number", 1, "is 5 in every row: there is nothing to learn"),
        (["0"] * 40, "--task count", 1, "is 0 in every row: there is nothing to learn"),
        (["5", *[""] * 39], "--task number", 1, "is there in one row only"),
        (NUMBERS, "--task count", 1, "If they are rates, name the counts"),
        ([*range(30), -1], "--task count", 1, "has -1 in row 31, but counts are whole numbers"),
        (NUMBERS, "--average", 2, "--average is for classes, but the target is taken as a number"),
        (NUMBERS, "--rho 1", 2, "--rho is for --task classes, but the target is taken as a num"),
        (NUMBERS, "--shape 1", 2, "--shape is for --task count"),
        (range(30), "--task count --nu 1", 2, "--nu is for --task number, but the target is tak"),
        (["a", "b"] * 20, "--kappa 1", 2, "--kappa is for --task number, but the target is tak"),
        (NUMBERS, "--kappa 0", 2, "--kappa 0.0 is out of range: pass a number from"),
        (NUMBERS, "--shape -1", 2, "--shape -1.0 is out of range: pass a number from 0.001"),
        (NUMBERS, "--positive 1.5 --task number", 2, "--positive names a class"),
        (range(30), "--exposure rows", 1, "no column 'rows'"),
        (range(30), "--exposure y", 2, "--exposure y is the target"),
        (range(30), "--exposure x --drop x", 2, "is a column that --drop leaves out"),
        (range(30), "--exposure x --first x", 2, "--exposure x is never tested"),
        (range(30), "--exposure x --task number", 2, "--exposure is for counts, not for --task n"),
        (range(30), "--exposure x --task classes", 2, "--exposure is for counts, not for --task"),
        (range(30), "--exposure x", 1, "'x' is 0 in row 1, and in 5 other rows too"),
        (range(30), "--exposure gap", 1, "'gap' is missing in row 2: it must be a number above 0"),
        (range(30), "--exposure word", 1, "'word' has 'w' in row 1, which is not a number"),
    ],
)
def test_targets_that_cannot_be_fitted(here, capsys, values, options, code, message):
    y = list(values)
    n = np.arange(len(y))
    frame = pd.DataFrame({"x": n % 5, "y": y, "gap": np.where(n == 1, np.nan, 1.0), "word": "w"})
    frame.to_csv("bad.csv", index=False)
    told = call(capsys, "fit", "bad.csv", "-t", "y", *options.split(), *QUICK)
    assert message in " ".join(told.err.split())
    assert (told.code, told.out) == (code, "")
    assert not (here / "bad.model.json").exists()


def test_sizes_are_for_classes(here, capsys):
    told = call(capsys, "path", "people.csv", "-t", "hours")
    assert told.code == 1
    assert "maptree path is for classes so far" in " ".join(told.err.split())
