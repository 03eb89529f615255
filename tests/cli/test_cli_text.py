"""Numbers and dates as people write them, and identifiers, on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

from command import QUICK, call
from maptree import load_model


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path, header, rows):
    lines = [";".join(map(str, row)) for row in rows]
    path.write_text("\n".join([header, *lines]) + "\n")


def told(capsys, *arguments):
    """What a command says, in one line, and its exit code."""
    result = call(capsys, *arguments)
    return result.code, " ".join((result.out + result.err).split())


def fit(capsys, data, *options):
    code, said = told(capsys, "fit", data, "-t", "y", *QUICK, *options)
    assert code == 0, said
    model = load_model(data.replace(".csv", ".model.json"))
    return said, {column.name: column for column in model.encoder_.schema_}


def test_thousands_are_not_decimals(here, capsys):
    """Of 900 and 4,321 the second is the larger one; read as 4.321 it would be the smaller one."""
    km = [900 + 37 * k for k in range(60)]
    write(here / "km.csv", "km;y", [(f"{x:,}", "ny"[x > 1500]) for x in km])
    said, columns = fit(capsys, "km.csv")
    assert "km: text such as 3,083 is read as 3083: pass --decimal , if it is 3.083" in said
    assert "km <= 1510" in said
    assert "Proved: no tree" in said
    assert columns["km"].kind == "number"
    said, columns = fit(capsys, "km.csv", "--decimal", ",")
    assert columns["km"].thresholds[0] < 4
    assert "pass --decimal" not in said
    said, columns = fit(capsys, "km.csv", "--decimal", ".")
    assert "km: text such as 3,083 is read as 3083" in said
    assert "pass --decimal" not in said


def test_decimal_commas_are_read(here, capsys):
    rows = [(f"{k},5", f"1.{k + 100},5", f"a,{k}", "ny"[k > 20]) for k in range(40)]
    write(here / "commas.csv", "price;large;text;y", rows)
    for options in ([], ["--decimal", ","]):
        said, columns = fit(capsys, "commas.csv", *options)
        assert columns["price"].kind == columns["large"].kind == "number"
        assert "price <= 20 n" in said.replace(":", " n") or "price <= 21" in said
    _, columns = fit(capsys, "commas.csv", "--decimal", ".")
    assert columns["price"].kind == "identifier"
    document = json.loads(call(capsys, "fit", "commas.csv", "-t", "y", *QUICK, "--json").out)
    assert document["notes"] == [
        "price: text such as 9,5 is read as 9.5",
        "large: text such as 1.139,5 is read as 1139.5",
    ]


def test_points_between_thousands_with_the_option(here, capsys):
    rows = [(900 + k if k < 50 else f"1.{k:03d}", f"1.{k:03d}", "ny"[k > 50]) for k in range(100)]
    write(here / "points.csv", "some;all;y", rows)
    _, columns = fit(capsys, "points.csv", "--decimal", ",")
    assert min(columns["some"].thresholds) >= 900
    assert min(columns["all"].thresholds) >= 1000
    _, columns = fit(capsys, "points.csv")
    assert max(columns["all"].thresholds) < 2  # plain numbers, as ever


def test_days_and_months(here, capsys):
    rows = [(f"{k % 12 + 1:02d}/{k // 12 + 1:02d}/2020", "ny"[k > 30]) for k in range(60)]
    write(here / "days.csv", "day;y", rows)
    said, columns = fit(capsys, "days.csv")
    assert columns["day"].kind == "identifier"
    assert "day and month cannot be told apart: pass --dates dmy or --dates mdy" in said
    said, columns = fit(capsys, "days.csv", "--dates", "dmy")
    assert "day: text such as 12/05/2020 is read as dates, day first" in said
    assert "day <= 2020-03" in said
    code, said = told(capsys, "fit", "days.csv", "-t", "y", "--dates", "ydm")
    assert (code, said) == (2, "maptree: --dates ydm is unknown: pass dmy or mdy.")


def test_new_rows_are_read_as_the_model_was(here, capsys):
    rows = [
        (f"${k:,}.50", f"{k % 28 + 1}.{k % 12 + 1}.2020", "ny"[k > 500]) for k in range(0, 1000, 9)
    ]
    write(here / "shop.csv", "price;day;y", rows)
    fit(capsys, "shop.csv", "--cv", "2")
    expected = [row[-1] for row in rows]
    result = call(capsys, "predict", "shop.model.json", "shop.csv", "--explain")
    assert [line.split(",")[0] for line in result.out.split("\n")[1:-1]] == expected
    assert "price <= $500" in result.out
    code, said = told(capsys, "score", "shop.model.json", "shop.csv")
    assert code == 0
    assert "Accuracy 1.0" in said
    assert told(capsys, "report", "shop.model.json", "--data", "shop.csv")[0] == 0
    # Numbers may have no unit; another unit is refused.
    write(here / "new.csv", "price;day", [("1,000.5", "1.1.2020"), ("3", "2020-01-01")])
    assert call(capsys, "predict", "shop.model.json", "new.csv").out.split()[1:] == ["y", "n"]
    write(here / "new.csv", "price;day", [("1.000,5", "1.1.2020"), ("3", "2020-01-01")])
    result = call(capsys, "predict", "shop.model.json", "new.csv", "--decimal", ",")
    assert result.out.split()[1:] == ["y", "n"]
    for price, day, wrong in (
        (
            "3 EUR",
            "1.1.2020",
            "'3 EUR' in row 2, but the model was fitted on numbers such as $1,234.5",
        ),
        (
            "$3",
            "1/1/2020",
            "'1/1/2020' in row 2, but the model was fitted on dates such as 31.12.2021",
        ),
    ):
        write(here / "new.csv", "price;day", [("$3", "1.1.2020"), (price, day)])
        code, said = told(capsys, "predict", "shop.model.json", "new.csv")
        assert code == 1
        assert wrong in said
        assert "pass its word with --missing" in said


def test_held_out_rows_may_have_text_that_the_others_do_not(here, capsys):
    """The reading is that of the rows fitted on; what it does not fit counts as missing."""
    rows = [(f"${k}.50", "ny"[k > 50]) for k in range(100)]
    rows[3] = ("free", "n")
    write(here / "odd.csv", "price;y", rows)
    for options in (["--cv", "4"], ["--test-fraction", "0.4"]):
        said, _ = fit(capsys, "odd.csv", *options)
        assert "On held-out rows" in said


def test_advice_for_numbers_with_commas_is_safe(here, capsys):
    write(here / "plain.csv", "km;y", [(k, "ny"[k > 50]) for k in range(100)])
    fit(capsys, "plain.csv")
    write(here / "new.csv", "km;y", [("1,000", "n"), ("4,321", "n")])
    code, said = told(capsys, "predict", "plain.model.json", "new.csv")
    assert code == 1
    assert "Pass --decimal , for decimal commas, or remove them if they separate thousands." in said


# Identifiers


def patients(n=200):
    """Rows in the order of their number, with a status that has to do with it."""
    rng = np.random.default_rng(2)
    number = np.arange(1, n + 1)
    status = np.where(rng.random(n) < np.where(number < n // 2, 0.8, 0.2), "n", "y")
    return number, rng.integers(30, 70, n), rng.integers(1990, 2000, n), status


def test_numbers_that_count_the_rows_are_pointed_out(here, capsys):
    number, age, year, status = patients()
    shuffled = np.random.default_rng(1).permutation(number)
    rows = zip(number, 3 * number[::-1], shuffled, age, np.sort(year), status, strict=True)
    write(here / "pbc.csv", "id;fall;mixed;age;year;y", rows)
    said, columns = fit(capsys, "pbc.csv")
    advice = "with the rows, like an identifier: pass --drop"
    assert f"id: whole numbers that all differ and rise {advice} id if it only numbers them" in said
    assert f"fall: whole numbers that all differ and fall {advice} fall" in said
    for other in ("mixed", "age", "year"):
        assert f"--drop {other}" not in said
    assert columns["id"].tests  # it stays in the search
    said, columns = fit(capsys, "pbc.csv", "--drop", "id,fall")
    assert "like an identifier" not in said
    assert "id" not in columns
    document = json.loads(call(capsys, "fit", "pbc.csv", "-t", "y", *QUICK, "--json").out)
    numbered = [note.partition(":")[0] for note in document["notes"] if "identifier" in note]
    assert numbered == ["id", "fall"]
