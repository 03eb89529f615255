"""Text that is written like numbers, dates or times: what is read, and how."""

from __future__ import annotations

import datetime as dt
import itertools
import pickle

import numpy as np
import pytest

from maptree.tables import deadline
from maptree.tables.values import Categories, Values
from maptree.tables.writing import (
    UnreadableTextError,
    read_as_written,
    read_text,
)
from maptree.tables.written_dates import DateWriting
from maptree.tables.written_numbers import NumberWriting
from written_text import DAY, column, found, read


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["4,321", "1,000", "12"], [4321, 1000, 12]),
        (["1.234.567", "12"], [1234567, 12]),
        (["1 234", "5"], [1234, 5]),
        (["1\u00a0234,5", "5"], [1234.5, 5.0]),
        (["1'234.5", "12\u2019345"], [1234.5, 12345.0]),
        (["1,5", "2,75", "3"], [1.5, 2.75, 3.0]),
        (["1,5", "5,"], [1.5, 5.0]),  # as 5. is a number
        (["4,321", "0,500"], [4.321, 0.5]),  # 0,500 does not count thousands
        (["4,321", "1,5"], [4.321, 1.5]),
        (["4,321", "1.234,5"], [4.321, 1234.5]),
        (["1,234.5", "1,234,567"], [1234.5, 1234567.0]),
        (["1,5e3", "-2,5"], [1500.0, -2.5]),
        (["$12.50", None, "$3"], [12.5, None, 3.0]),
        (["$1,234", "-$3", "$-4", "($5)", "- $6"], [1234, -3, -4, -5, -6]),
        (["1.234,50 EUR", "3 EUR", "(2,5 EUR)"], [1234.5, 3.0, -2.5]),
        (["EUR 5", "5 EUR"], [5, 5]),
        (["US$5", "US$ 6"], [5, 6]),
        (["\u20ac5,50", "6,25 \u20ac"], [5.5, 6.25]),
        (["12 %", "1.5%", "-3 %"], [12.0, 1.5, -3.0]),
        (["\u22123 %", "4 %"], [-3, 4]),
        ([" 4,321 ", "12\t"], [4321, 12]),
        ([f"{2**63:,}", "1,000"], [2.0**63, 1000.0]),
        ([f"{2**63 - 1:,}", "1,000"], [2**63 - 1, 1000]),
    ],
)
def test_numbers_as_people_write_them(texts, expected):
    numbers = found(*texts)
    assert numbers == expected
    assert list(map(type, numbers)) == list(map(type, expected))


@pytest.mark.parametrize(
    "texts",
    [
        ["1.5", "2"],  # plain: perhaps a code that is meant as a category
        ["1", "2"],
        ["01067", "10115"],
        ["1,00,000", "2,000"],  # groups of two
        ["4,32", "4,321", "1.5"],
        ["1,234", "1.234,5", "1.5"],
        ["01,234"],
        ["12,34,567"],
        ["1 23"],
        ["$3", "4"],  # the unit is missing
        ["12%", "0.5"],
        ["12%%"],
        ["$"],
        ["(3)"],
        ["-($3)"],
        ["--3 %"],
        ["1,234\n5"],
        ["ABC 123"],
        ["1,5", "x"],
        ["1,5", ""],
        ["1" + ",000" * 20],  # longer than any number that people write
        ["31.12.2020\n30.12.2020", "x"],
        ["2020-01-01", "2020-01-01 10:00"],  # not all have a time of day
        ["2020-01-01 10:00", "2020-01-01 10:00Z"],  # nor a zone
        ["2020-01-01", "2020/01/02"],
        ["31/12/2020", "12/31/2020"],
        ["31.12.2020", "31/12/2020"],
        ["30.2.2020"],
        ["29.2.1900"],
        ["31.12.20"],  # which century
        ["Dez 31, 2020"],
        ["24:00"],
        ["13:00 PM"],
        ["0:30 AM"],
        ["10:60"],
        ["2020-13-01"],
        ["2020-00-01"],
        ["2020-01-00"],
        ["5 %", "$3"],
        ["10:00", "2020-01-01 10:00"],
        ["2020-01-01 10:00+25:00"],
        ["\u0661,\u0662\u0663\u0664"],  # digits of another script
    ],
)
def test_text_that_stays_text(texts):
    for order in itertools.permutations(texts):
        reading = read(*order)
        assert reading.writing is None
        assert reading.note == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2020/01/31", dt.date(2020, 1, 31)),
        ("2020-1-31", dt.date(2020, 1, 31)),
        ("2020.01.31", dt.date(2020, 1, 31)),
        ("31.1.2020", dt.date(2020, 1, 31)),
        ("31-01-2020", dt.date(2020, 1, 31)),
        ("1/31/2020", dt.date(2020, 1, 31)),
        ("Jan 01, 2020", dt.date(2020, 1, 1)),
        ("january 1 2020", dt.date(2020, 1, 1)),
        ("1 January 2020", dt.date(2020, 1, 1)),
        ("01-SEP-2020", dt.date(2020, 9, 1)),
        ("1. Sept. 2020", dt.date(2020, 9, 1)),
        ("01MAY2020", dt.date(2020, 5, 1)),
        ("2020-01-31", dt.date(2020, 1, 31)),
        ("2020-01-31T14:30", dt.datetime(2020, 1, 31, 14, 30)),
        ("31.01.2020 14:30:05.25", dt.datetime(2020, 1, 31, 14, 30, 5, 250000)),
        ("1/31/2020 2:30 PM", dt.datetime(2020, 1, 31, 14, 30)),
        ("1/31/2020, 12:05 a.m.", dt.datetime(2020, 1, 31, 0, 5)),
        ("Jan 31, 2020 9:05", dt.datetime(2020, 1, 31, 9, 5)),
        ("2020-01-31 14:30+02:00", dt.datetime(2020, 1, 31, 12, 30)),
        ("2020-01-31T14:30Z", dt.datetime(2020, 1, 31, 14, 30)),
        ("12:30", dt.time(12, 30)),
        ("9:30 pm", dt.time(21, 30)),
        ("23:59:59.000001", dt.time(23, 59, 59, 1)),
        ("29.2.2000", dt.date(2000, 2, 29)),
        ("0001-01-01", dt.date(1, 1, 1)),
        ("9999-12-31 23:59", dt.datetime(9999, 12, 31, 23, 59)),
    ],
)
def test_dates_as_people_write_them(text, expected):
    assert found(text, None) == [expected, None]


def test_day_and_month_that_cannot_be_told_apart_are_not_guessed():
    reading = read("01/02/2020", "03/04/2020")
    assert reading.writing is None
    assert reading.note.startswith("dates such as 03/04/2020 are not read, because day and month")
    assert "set dates to dmy or mdy" in reading.note
    assert found("01/02/2020", dates="dmy") == [dt.date(2020, 2, 1)]
    assert found("01/02/2020", dates="mdy") == [dt.date(2020, 1, 2)]
    # One value tells, for all; an option does not contradict it.
    for dates in (None, "dmy", "mdy"):
        assert found("01/02/2020", "13/02/2020", dates=dates)[0] == dt.date(2020, 2, 1)
        assert found("01/02/2020", "02/13/2020", dates=dates)[0] == dt.date(2020, 1, 2)
    assert read("05/05/2020").writing is None  # the same day either way, but other rows will come


def test_a_comma_that_may_be_either_separates_thousands():
    reading = read("1,000", "4,321")
    assert reading.note == (
        "text such as 4,321 is read as 4321: set decimal to a comma if it is 4.321"
    )
    assert found("1,000", "4,321", decimal=",") == [1.0, 4.321]
    assert read("1,000", "4,321", decimal=".").note == "text such as 4,321 is read as 4321"
    assert found("1,5", decimal=".") is None
    assert found("1.234", "12", decimal=",") == [1234, 12]
    assert found("1.234", "12") is None  # plain
    # The same for a point in money.
    assert "set decimal to a comma if it is 1234" in read("$1.234").note
    assert ": set" not in read("$1.23").note
    assert "4,321 is read as 4321: set" in read("9 876", "4,321").note  # the one that may differ
    assert ": set" not in read("1 234", "$5"[1:]).note


def test_currencies_are_not_mixed():
    for texts in itertools.permutations(["$3", "4 EUR", "$5.50"]):
        reading = read(*texts)
        assert reading.writing is None
        assert reading.note == "money in several currencies ($, EUR) is not read"
    assert read("$3", "4 EUR", "free").note == ""


def test_what_notes_say():
    assert read("31.12.2020").note == "text such as 31.12.2020 is read as dates, day first"
    assert read("12/31/2020").note == "text such as 12/31/2020 is read as dates, month first"
    assert read("Jan 1, 2020").note == "text such as Jan 1, 2020 is read as dates"
    assert read("12:30").note == "text such as 12:30 is read as times"
    assert read("12 %").note == "text such as 12 % is read as 12"


# Later tables


def test_later_text_may_have_no_unit_and_dates_may_be_iso():
    euros = NumberWriting(",", "EUR")
    assert read_as_written(column(["5", "1.234,5 EUR"]), euros, False, "c").data.tolist() == [
        5.0,
        1234.5,
    ]
    german = DateWriting("31.12.2021")
    read_ = read_as_written(column(["1.2.2020", "2020-02-01"]), german, False, "column 0")
    assert read_.data.tolist() == [18293, 18293]
    mixed = read_as_written(column(["1.2.2020", "1.2.2020 10:00"]), german, False, "column 0")
    assert mixed.kind == "datetime"
    assert mixed.data.tolist() == [18293 * DAY, 18293 * DAY + 10 * DAY // 24]


@pytest.mark.parametrize(
    ("writing", "text", "called"),
    [
        (NumberWriting(".", "$", True), "5 EUR", "numbers such as $1,234.5"),
        (NumberWriting(",", ""), "12.50", "numbers such as 1.234,5"),
        (DateWriting("31.12.2021"), "12/31/2020", "dates such as 31.12.2021"),
        (DateWriting("31.12.2021"), "31.12.2020 10:00Z", "dates such as 31.12.2021"),
        (DateWriting("12:30"), "noon", "times such as 12:30"),
    ],
)
def test_text_that_cannot_be_read_is_refused_with_its_row(writing, text, called):
    good = {"12:30": "9:30"}.get(getattr(writing, "form", ""), "2020-01-01")
    texts = ["3" if isinstance(writing, NumberWriting) else good, None, text, text]
    with pytest.raises(UnreadableTextError, match="at row 2, column 'price'") as caught:
        read_as_written(column(texts), writing, False, "column 'price'")
    assert repr(text) in str(caught.value)
    assert called in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.row) == (str(caught.value), 2)
    lenient = read_as_written(column(texts), writing, False, "column 'price'", strict=False)
    assert lenient.is_missing().tolist() == [False, True, True, True]
    nothing = read_as_written(column([text]), writing, False, "column 'price'", strict=False)
    assert nothing.is_missing().all()


# Work


def counting(texts):
    """Values whose categories count how many of them are looked at."""
    looked = []

    def block(start, stop):
        looked.append(stop - start)
        return texts[start:stop]

    values = Values(
        "category",
        "str",
        np.arange(len(texts), dtype=np.int32),
        categories=Categories(len(texts), block),
        text=True,
    )
    return values, looked


def test_ordinary_text_is_looked_at_once():
    values, looked = counting([f"name {i}" for i in range(100_000)])
    assert read_text(values).writing is None
    assert sum(looked) <= 4  # the first text, for dates, numbers and currencies


def test_text_that_stops_looking_like_numbers_is_left():
    texts = [f"{i},5" for i in range(100_000)]
    texts[1] = "one"
    values, looked = counting(texts)
    assert read_text(values).writing is None
    assert sum(looked) <= 4 * 8192 + 4


def test_the_clock_is_looked_at_between_blocks(monkeypatch):
    values, looked = counting([f"{i},5" for i in range(100_000)])
    ticks = itertools.count()
    monkeypatch.setattr(deadline.time, "perf_counter", lambda: float(next(ticks)))
    with pytest.raises(deadline.OutOfTimeError), deadline.until(3.5):
        read_text(values)
    assert sum(looked) <= 5 * 8192
    assert read_text(values).writing is not None
