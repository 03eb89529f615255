"""Columns of text, and what is read from them."""

from __future__ import annotations

import datetime as dt

import numpy as np

from maptree.tables.objects import read_objects
from maptree.tables.writing import (
    TextOptions,
    read_text,
)

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
