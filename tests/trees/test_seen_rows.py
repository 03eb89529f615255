"""A model knows which rows it was fitted to, from whatever table they come."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from maptree import MAPTreeClassifier, scan_parquet
from maptree.encoding.answering import read_answers, training_overlap
from maptree.tables.labels import numbers_among
from maptree.tables.row_hashes import RowHashes
from maptree.tables.values import Categories, Values
from maptree.trees.seen_rows import SAMPLE, Overlap, SeenRows
from maptree.words.scored_rows import rows_heading, rows_sentences
from problems import seeds


def fit(X, y, weights=None, **options):
    return MAPTreeClassifier(max_expansions=3, time_limit=None, **options).fit(X, y, weights)


def overlap(model, X, y):
    answers = read_answers(model.fitted_.schema, X)
    codes = numbers_among(model.classes_, y, answers.n_rows)
    return training_overlap(model.fitted_, answers.row_hashes(), codes)


def of_rows(hashes, n):
    return {value for _, block in hashes.blocks(np.zeros(n, np.intp)) for value in block.tolist()}


def mixed_table(n, seed=0, values=40):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "a": rng.integers(0, values, n),
            "b": rng.integers(0, values, n) / 8,
            "c": rng.choice(["x", "y", "z"], n),
            "d": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, values, n), "D"),
            "e": rng.integers(0, 2, n).astype(bool),
        }
    )
    frame.loc[rng.random(n) < 0.1, ["b", "c"]] = None
    return frame, rng.choice(["no", "yes"], n)


def as_tuples(frame, y):
    return [*zip(*(frame[name].astype(str) for name in frame), y, strict=True)]


@seeds(3)
def test_up_to_a_thousand_rows_are_all_recognised(seed):
    frame, y = mixed_table(700, seed, values=4)  # so few values that rows repeat
    model = fit(frame[:500], y[:500])
    seen = Counter(as_tuples(frame[:500], y[:500]))
    found = overlap(model, frame[300:], y[300:])
    rows = as_tuples(frame[300:], y[300:])
    assert found.exact
    assert found.equal == found.low == found.high == sum(row in seen for row in rows)
    twins = sum(n for n in seen.values() if n > 1)
    assert found.by_chance == pytest.approx(twins / 500 * 400)
    assert not found.same


@seeds(3)
def test_of_more_rows_a_sample_is_recognised(seed):
    frame, y = mixed_table(9000, seed)
    model = fit(frame[:6000], y[:6000])
    rows = as_tuples(frame, y)
    seen = set(rows[:6000])
    other = [row in seen for row in rows[5000:]]
    found = overlap(model, frame[5000:], y[5000:])
    assert not found.exact
    assert 4000 * SAMPLE / 6000 * 0.8 < found.checked < 4000 * SAMPLE / 6000 * 1.25
    assert found.low <= sum(other) <= found.high or abs(found.estimate - sum(other)) < 150
    assert found.low <= found.estimate <= found.high
    none = overlap(model, frame[6000:].assign(b=0.0625), y[6000:])
    assert (none.equal, none.low) == (0, 0)
    assert 0 < none.high < 50


def test_the_same_table_in_any_order():
    frame, y = mixed_table(3000)
    model = fit(frame, y)
    order = np.random.default_rng(1).permutation(3000)
    assert overlap(model, frame.iloc[order], y[order]).same
    assert not overlap(model, frame[1:], y[1:]).same
    twice = [*range(1, 3000), 1]  # as many rows, but one of them twice
    assert not overlap(model, frame.iloc[twice], y[twice]).same
    changed = y.copy()
    changed[7] = "yes" if y[7] == "no" else "no"
    assert not overlap(model, frame, changed).same


def test_weights_are_repeated_rows():
    frame, y = mixed_table(200)
    weights = np.arange(200) % 3
    model = fit(frame, y, weights)
    assert overlap(
        model, frame.iloc[np.repeat(np.arange(200), weights)], np.repeat(y, weights)
    ).same
    assert not overlap(model, frame, y).same
    left_out = weights == 0
    seen = set(as_tuples(frame[~left_out], y[~left_out]))
    expected = sum(row in seen for row in as_tuples(frame[left_out], y[left_out]))
    assert overlap(model, frame[left_out], y[left_out]).equal == expected


def test_every_kind_of_table_has_the_same_rows(tmp_path):
    frame, y = mixed_table(2500)
    arrow = pa.Table.from_pandas(frame)
    pa.parquet.write_table(arrow, tmp_path / "rows.parquet")
    others = {
        "polars": pl.from_pandas(frame),
        "arrow": arrow,
        "parquet": scan_parquet(tmp_path / "rows.parquet"),
        "other types": frame.assign(
            a=frame["a"].astype("float32"),
            b=frame["b"].map(lambda v: None if v != v else Decimal(v)),
            c=frame["c"].astype("category"),
            d=frame["d"].astype("datetime64[s]"),
        ),
        "objects": frame.astype(object).where(frame.notna(), None),
        "nullable": frame.convert_dtypes(),
    }
    model = fit(frame, y)
    for name, X in others.items():
        assert overlap(model, X, y).same, name
        assert fit(X, y).training_.seen.digest == model.training_.seen.digest, name
    assert overlap(model, frame, y.tolist()).same
    upper = frame.assign(c=frame["c"].str.upper())[frame["c"].notna()]
    assert not overlap(model, upper, y[frame["c"].notna()]).equal


def test_of_0_1_tables_too():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (2500, 21)), rng.integers(0, 2, 2500)
    X[:, 3] = 1
    digests = set()
    names = [f"x{j}" for j in range(21)]
    for table in (X.astype("u1"), X.astype(bool), X.astype("f4"), pl.DataFrame(X, names)):
        for encoder in ("auto", None):
            model = fit(table, y, encoder=encoder)
            digests.add(model.training_.seen.digest)
            assert overlap(model, table, y).same
    assert len(digests) == 1
    fitted = fit(X, y)
    hole = X.astype(float)
    hole[0, 0] = np.nan
    assert not overlap(fitted, hole, y).same


def test_columns_that_lose_their_test_when_the_table_is_not_0_1():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (50, 3)), columns=list("abc")).assign(b=1)
    frame["text"] = rng.choice(["u", "v"], 50)
    y = rng.integers(0, 2, 50)
    model = fit(frame, y)
    assert overlap(model, frame, y).same
    assert overlap(model, frame.assign(b=0), y).same  # no test looks at it


@pytest.mark.filterwarnings("ignore:Some columns were left out")
def test_identifiers_count_only_as_missing_or_not():
    frame, y = mixed_table(60)
    frame["id"] = [f"P{i}" for i in range(60)]
    frame.loc[:5, "id"] = None
    model = fit(frame, y)
    assert overlap(model, frame, y).same
    renamed = frame.assign(id=frame["id"].where(frame["id"].isna(), "Q"))
    assert overlap(model, renamed, y).same
    assert not overlap(model, frame.assign(id="Q"), y).same


def test_whole_numbers_that_floats_would_round():
    large = 2**53 + np.arange(6)
    for data in (large, large.astype("u8"), large.astype(object), -large):
        hashes = RowHashes(6)
        hashes.add(0, Values("number", str(data.dtype), data))
        assert len(of_rows(hashes, 6)) == 6
    same = [Values("number", "", np.array([v], d)) for v, d in ((2**60, "i8"), (2.0**60, "f8"))]
    found = set()
    for values in (*same, Values("number", "", np.array([2**60], object))):
        hashes = RowHashes(1)
        hashes.add(0, values)
        found |= of_rows(hashes, 1)
    assert len(found) == 1


def test_there_is_a_limit_to_the_time_it_may_take(clock):
    codes = np.zeros(9000, np.intp)
    values = Values("number", "int64", np.arange(9000))
    hashes = RowHashes(9000, deadline=clock() + 1)
    hashes.add(0, values)
    assert SeenRows.of(hashes, codes) is not None
    clock.turn(2)
    assert SeenRows.of(hashes, codes) is None
    for kind in (
        values,
        Values("category", "", values.data % 2, categories=Categories.of([*"ab"])),
    ):
        few = RowHashes(4000, deadline=clock() - 1)
        few.add(1, kind.keep(slice(0, 4000)))  # too little to look at the clock
        assert few.complete
        late = RowHashes(9000, deadline=clock() - 1)
        late.add(1, kind)
        assert not late.complete


def test_wide_0_1_matrices(clock):
    """More columns than are hashed at a time: the same hashes, and the clock in between."""
    matrix = np.random.default_rng(0).integers(0, 2, (3, 5000), dtype=np.uint8)
    codes = np.zeros(3, np.intp)
    together, singly = RowHashes(3, deadline=clock()), RowHashes(3)
    together.add_binary(matrix)
    for j, column in enumerate(matrix.T):
        singly.add(j, Values("number", "uint8", column))
    assert SeenRows.of(together, codes) == SeenRows.of(singly, codes)
    clock.turn(1)
    assert SeenRows.of(together, codes) is None


def test_what_is_said():
    frame, y = mixed_table(900)
    model = fit(frame[:800], y[:800])
    said = [
        (frame[:800], y[:800], "On the rows it was fitted to"),
        (frame[800:], y[800:], "On held-out rows"),
        (frame[750:850], y[750:850], "On rows of which 50 of 100 were used for fitting"),
        (frame[700:800], y[700:800], "On rows that were all used for fitting"),
    ]
    held_out = rows_sentences(overlap(model, frame[800:], y[800:]))
    assert held_out == ["None of the 100 rows is equal to a training row."]
    for X, labels, heading in said:
        found = overlap(model, X, labels)
        assert rows_heading(found) == heading
        assert f'<h2 id="held-out-heading">{heading}</h2>' in model.to_html(X=X, y=labels)
    repeating, labels = mixed_table(900, values=2)
    model = fit(repeating[:800], labels[:800])
    found = overlap(model, repeating[800:], labels[800:])
    assert rows_heading(found).endswith("equal to training rows")
    assert "This does not show that the tree was fitted to them" in rows_sentences(found)[1]
    for by_chance, held_out in ((8.3, "about 8 of 40"), (39.9, "nearly all")):
        said = rows_sentences(Overlap(40, checked=40, equal=9, by_chance=by_chance))[1]
        assert said.endswith(f" {held_out} held-out rows would be equal to one, too.")
    many, labels = mixed_table(6000, values=400)
    model = fit(many[:4000], labels[:4000])
    for rows, heading in (
        (slice(4000, 6000), "On rows that were probably held out"),
        (slice(1000, 4000), "On rows that were probably all used for fitting"),
        (slice(3000, 5000), "On rows of which about 1,0"),
    ):
        found = overlap(model, many[rows], labels[rows])
        assert rows_heading(found)[:26] == heading[:26]
        assert "that can be checked" in rows_sentences(found)[0]
