"""Text that is written like numbers, dates or times: properties."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maptree.tables.writing import (
    TextOptions,
    UnreadableTextError,
    read_as_written,
    read_text,
)
from maptree.tables.written_dates import FORMS, DateWriting
from maptree.tables.written_numbers import NumberWriting
from problems import examples
from written_text import DAY, column, found, read


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
