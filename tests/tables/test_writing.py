"""Text that is written like numbers, dates or times: what is read, and how."""

from __future__ import annotations

import datetime as dt
import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maptree.tables import deadline
from maptree.tables.objects import read_objects
from maptree.tables.values import Categories, Values
from maptree.tables.writing import (
    TextOptions,
    UnreadableTextError,
    read_as_written,
    read_text,
)
from maptree.tables.written_dates import FORMS, DateWriting
from maptree.tables.written_numbers import NumberWriting
from problems import examples

DAY = 86_400_000_000  # microseconds


def column(texts):
    return read_objects(np.array([*texts], dtype=object), "object", "column 0")


def read(*texts, **options):
    return read_text(column(texts), options=TextOptions(**options))


def found(*texts, **options):
    """The values as they were read; None if the text stays text."""
    reading = read(*texts, **options)
    if reading.writing is None:
        assert reading.values.kind == "category"
        return None
    missing = reading.values.is_missing()
    data = reading.values.data.tolist()
    if reading.values.kind == "date":
        data = [dt.date(1970, 1, 1) + dt.timedelta(days=day) for day in data]
    elif reading.values.kind != "number":
        data = [dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=moment) for moment in data]
        if reading.values.kind == "time":
            data = [moment.time() for moment in data]
    return [None if absent else value for value, absent in zip(data, missing, strict=True)]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["4,321", "1,000", "12"], [4321, 1000, 12]),
        (["1.234.567", "12"], [1234567, 12]),
        (["1 234", "5"], [1234, 5]),
        (["1\u00a0234,5", "5"], [1234.5, 5.0]),
        (["1'234.5", "12\u2019345"], [1234.5, 12345.0]),
        (["1,5", "2,75", "3"], [1.5, 2.75, 3.0]),
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


# Round trips, order, and one row more


def grouped(mark, decimal):
    def write(number):
        return f"{number:,}".replace(",", "g").replace(".", decimal).replace("g", mark)

    return write


NUMBERS = {
    "1,234.5": grouped(",", "."),
    "1.234,5": grouped(".", ","),
    "1 234.5": grouped(" ", "."),
    "1 234,5": grouped("\u202f", ","),
    "1'234.5": grouped("'", "."),
    "$1,234.5": lambda x: f"-${-x:,}" if x < 0 else f"${x:,}",
    "($1,234.5)": lambda x: f"(${-x:,})" if x < 0 else f"${x:,}",
    "1.234,5 EUR": lambda x: f"{grouped('.', ',')(x)} EUR",
    "CHF 1'234.5": lambda x: f"CHF {grouped(chr(39), '.')(x)}",
    "1,234.5 %": lambda x: f"{x:,} %",
}
WHOLE = st.integers(-(2**62), 2**62)
BROKEN = st.decimals(-(10**9), 10**9, places=2, allow_nan=False).map(float)


@pytest.mark.parametrize("how", NUMBERS)
@examples(10)
@given(st.lists(WHOLE, min_size=1) | st.lists(BROKEN, min_size=1), st.randoms())
def test_numbers_come_back(how, numbers, random):
    write = NUMBERS[how]
    # Two numbers that show the way of writing.
    anchors = [1234567] if all(isinstance(x, int) for x in numbers) else [1234567.25]
    given_ = [*anchors, *numbers]
    random.shuffle(given_)
    reading = read(*map(write, given_))
    assert isinstance(reading.writing, NumberWriting)
    assert reading.values.data.tolist() == given_
    # Later tables are read in the same way, value by value.
    later = read_as_written(column(map(write, numbers)), reading.writing, False, "column 0")
    assert later.data.tolist() == numbers


DATES = {
    "2021-12-31": "%Y-%m-%d",
    "2021/12/31": "%Y/%m/%d",
    "2021.12.31": "%Y.%m.%d",
    "31-12-2021": "%d-%m-%Y",
    "31/12/2021": "%d/%m/%Y",
    "31.12.2021": "%d.%m.%Y",
    "12-31-2021": "%m-%d-%Y",
    "12/31/2021": "%m/%d/%Y",
    "12.31.2021": "%m.%d.%Y",
    "Dec 31, 2021": "%b %d, %Y",
    "31 Dec 2021": "%d %B %Y",
}
TIMES = {"": "", "minutes": " %H:%M", "seconds": "T%H:%M:%S.%f", "half": " %I:%M:%S.%f %p"}


@pytest.mark.parametrize("form", DATES)
@pytest.mark.parametrize("time", TIMES)
@examples(4)
@given(st.lists(st.datetimes(dt.datetime(1000, 1, 1)), min_size=1), st.randoms())
def test_dates_come_back(form, time, moments, random):
    layout = DATES[form] + TIMES[time]
    moments = [*moments, dt.datetime(2020, 12, 31)]  # which shows the order
    if time == "minutes":
        moments = [moment.replace(second=0, microsecond=0) for moment in moments]
    random.shuffle(moments)
    texts = [moment.strftime(layout) for moment in moments]
    reading = read(*texts)
    assert reading.writing == DateWriting(form)
    expected = moments if time else [moment.date() for moment in moments]
    assert found(*texts) == expected
    later = read_as_written(column(texts[:1]), reading.writing, False, "column 0")
    assert later.data[0] == reading.values.data[0]


def test_every_form_is_tested():
    assert {*DATES, "12:30"} == set(FORMS)


TEXTS = (
    st.sampled_from(
        ["", "x", "n/a", "1.5", "01", "4,321", "1,5", "1.234.567", "$5", "5 EUR", "5 %"]
    )
    | st.sampled_from(["1/2/2020", "31.12.2020", "12/31/2020", "2020-01-01", "Jan 1, 2020", "9:30"])
    | st.from_regex(r"[$]?[0-9]{1,3}([.,' ][0-9]{2,3}){0,2}( ?(%|EUR))?", fullmatch=True)
    | st.from_regex(
        r"[0-9]{1,2}([./-])[0-9]{1,2}\1(19|20)[0-9]{2}( [0-9]{1,2}:[0-9]{2})?", fullmatch=True
    )
    | st.text(max_size=8)
)
OPTIONS = st.builds(
    TextOptions, st.sampled_from([None, "dmy", "mdy"]), st.sampled_from([None, ".", ","])
)


@examples(120)
@given(st.lists(TEXTS, min_size=1, max_size=6), OPTIONS, st.randoms())
def test_the_order_of_rows_does_not_matter(texts, options, random):
    one = read_text(column(texts), options=options)
    order = list(range(len(texts)))
    random.shuffle(order)
    other = read_text(column([texts[i] for i in order]), options=options)
    assert (one.writing, one.note) == (other.writing, other.note)
    if one.writing is not None:
        assert one.values.data[order].tolist() == other.values.data.tolist()
    # Nor does it matter how often a text occurs, or which rows do not count.
    twice = read_text(column([*texts, *texts]), options=options)
    assert (one.writing, one.note) == (twice.writing, twice.note)
    counted = np.array([True] * len(texts) + [False])
    part = read_text(column([*texts, "odd"]), counted, options)
    assert (one.writing, one.note) == (part.writing, part.note)
    if one.writing is not None:
        assert part.values.is_missing().tolist() == [False] * len(texts) + [True]


@examples(120)
@given(st.lists(TEXTS, min_size=1, max_size=5), TEXTS)
def test_one_row_more_changes_the_reading_only_as_documented(texts, another):
    """It turns the reading off, or settles the decimal mark or the order of day and month."""
    before, after = read(*texts), read(*texts, another)
    if after.writing is None:
        return
    if before.writing is None:  # plain numbers, or dates that could not be told apart
        assert before.note.startswith("dates") or all(
            set(t.strip()) <= set("0123456789.+-eE") for t in texts
        )
    elif before.values.data.tolist() != after.values.data[: len(texts)].tolist():
        assert ": set decimal to a comma" in before.note
        assert (before.writing.decimal, after.writing.decimal) == (".", ",")


@examples(100)
@given(st.lists(TEXTS, min_size=1, max_size=5), st.lists(TEXTS, min_size=1, max_size=5))
def test_later_rows_are_read_one_by_one(texts, later):
    """What a row is read as does not depend on the others: it is what it was, or refused."""
    reading = read(*texts)
    if reading.writing is None:
        return
    zoned = reading.values.zone is not None
    again = read_as_written(column(texts), reading.writing, zoned, "column 0")
    assert again.data.tolist() == reading.values.data.tolist()

    def instant(values, row):
        unit = DAY if values.kind == "date" else 1
        return None if values.is_missing()[row] else values.data[row] * unit

    together = read_as_written(column(later), reading.writing, zoned, "column 0", strict=False)
    for row, text in enumerate(later):
        try:
            alone = read_as_written(column([text]), reading.writing, zoned, "column 0")
        except UnreadableTextError:
            assert together.is_missing()[row]
        else:
            assert instant(together, row) == instant(alone, 0)


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
