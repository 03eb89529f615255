"""What a model over very many thresholds keeps: those that its tree tests, and no values."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest

from maptree import BinaryEncoder, MAPTreeClassifier, load_model, log_posterior
from maptree.encoding import choosing
from maptree.estimators import searched
from maptree.schema.kept_thresholds import FEW_THRESHOLDS, Kept
from maptree.schema.placing import EveryThreshold, ReadAgain, digest_of
from maptree.words.certificate import certificate_sentences
from samples import classifier

EVERY = BinaryEncoder(max_thresholds=None)
# How the caller holds the table; whether it is read again, or a copy was made of it.
CONTAINERS = {
    "rows": (np.ascontiguousarray, True),
    "columns": (np.asfortranarray, True),
    "strides": (lambda X: np.repeat(X, 2, axis=0)[::2], True),
    "floats of 32 bits": (lambda X: X.astype(np.float32), True),
    "floats of 16 bits": (lambda X: X.astype(np.float16), False),
    "whole numbers": (lambda X: (X * 1e6).astype(np.int32), True),
    "masked": (lambda X: np.ma.masked_greater((X * 1e6).astype(np.int64), 900_000), True),
    "lists": (np.ndarray.tolist, False),
    "pandas": (pd.DataFrame, True),
    "pandas, several types": (lambda X: pd.DataFrame({"a": X[:, 0], "b": range(len(X))}), True),
    "pandas, nullable": (lambda X: pd.DataFrame(X).convert_dtypes(), True),
    "polars": (pl.DataFrame, True),
    "decimals": (lambda X: pl.DataFrame(X).cast(pl.Decimal(12, 6)), False),
}


def table(n_rows, n_columns=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, n_columns))
    y = (X[:, 0] > 0.3) & (X[:, 1] < 0.6) ^ (rng.random(n_rows) < 0.1)
    return X, y.astype(int)


@pytest.fixture
def few(monkeypatch):
    """Let columns of more than 50 thresholds have very many."""
    monkeypatch.setattr(choosing, "FEW_TESTS", 0)

    def set_to(number):
        for module in (choosing, searched):
            monkeypatch.setattr(module, "FEW_THRESHOLDS", number)

    set_to(50)
    return set_to


@pytest.fixture
def kinds(monkeypatch):
    """The types of thresholds that a search begins with, by column."""
    found = []

    fitted = searched.fitted_of

    def note(reading, *arguments):
        found.append([type(column.thresholds) for column in reading.schema.columns])
        return fitted(reading, *arguments)

    monkeypatch.setattr(searched, "fitted_of", note)
    return found


def check_same(lean, whole, X, folder):
    """All that a model says is what one with all thresholds says."""
    assert lean.tree_ == whole.tree_
    assert lean.rules() == whole.rules()
    assert str(lean.encoder_.report()) == str(whole.encoder_.report())
    assert len(lean.test_weights_) == len(whole.test_weights_)
    used = whole.fitted_.used_tests
    np.testing.assert_array_equal(lean.test_weights_[used], whole.test_weights_[used])
    np.testing.assert_array_equal(lean.predict_proba(X), whole.predict_proba(X))
    np.testing.assert_array_equal(lean.feature_importances_, whole.feature_importances_)
    for export in ("to_dict", "to_python", "to_dot"):
        assert getattr(lean, export)() == getattr(whole, export)()
    lean.save(folder / "model.json")
    again = load_model(folder / "model.json")
    assert again.fitted_.schema == lean.fitted_.schema
    assert again.rules() == lean.rules()


@pytest.mark.filterwarnings("ignore::maptree.IdentifierWarning")
@pytest.mark.parametrize("prior", ["tests", "columns"])
@pytest.mark.parametrize("container", CONTAINERS)
def test_nothing_else_changes(few, kinds, tmp_path, container, prior):
    made, is_read_again = CONTAINERS[container]
    X, y = table(200)
    X[:, 2] = np.where(X[:, 2] < 0.1, np.nan, X[:, 2]) if container == "rows" else X[:, 2]
    X = made(X)
    given = {"encoder": EVERY, "split_prior": prior, "max_expansions": 20, "rho": 0.1}
    lean = classifier(**given).fit(X, y)
    few(10**9)
    whole = classifier(**given).fit(X, y)
    assert set(kinds[0]) == {ReadAgain if is_read_again else EveryThreshold}
    assert set(kinds[1]) == {EveryThreshold}
    for column in lean.fitted_.schema.columns:
        assert isinstance(column.thresholds, Kept)
    assert lean.encoder_.schema_ == tuple(lean.fitted_.schema.columns)
    assert any(column.thresholds.items for column in lean.encoder_.schema_)
    check_same(lean, whole, X, tmp_path)
    assert lean.certificate_.log_posterior == whole.certificate_.log_posterior
    assert certificate_sentences(lean.fitted_)[0] == certificate_sentences(whole.fitted_)[0]


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_of_weight_0_have_no_thresholds(few, kinds, tmp_path, weighted):
    X, y = table(300)
    weights = np.random.default_rng(1).integers(0 if weighted else 1, 3, 300)
    given = {"encoder": EVERY, "max_expansions": 20, "rho": 0.1}
    lean = classifier(**given).fit(X, y, weights)
    few(10**9)
    check_same(lean, classifier(**given).fit(X, y, weights), X, tmp_path)
    assert set(kinds[0]) == {EveryThreshold if weighted else ReadAgain}


def test_equal_rows_and_missing_values(few, tmp_path):
    """Where rows are one, any of them tells the value; a threshold may be beside missing ones."""
    X, y = table(150)
    X[::7, 0] = np.nan
    X[::5, 1] = np.nan
    X, y = np.repeat(X, 3, axis=0), np.repeat(y, 3)
    y[::3] = 1 - y[::3]
    given = {"encoder": EVERY, "max_expansions": 20, "rho": 0.1, "split_prior": "columns"}
    lean = classifier(**given).fit(X, y)
    few(10**9)
    check_same(lean, classifier(**given).fit(X, y), X, tmp_path)


def test_thresholds_that_are_read_again():
    values = np.array([3.0, np.nan, 1.0, 2.5, 1.0, 0.25])
    later = ReadAgain(lambda: values, 4, True, digest_of(values))
    every = EveryThreshold("number", np.array([0.25, 1.0, 2.5, 3.0]))
    assert later[:3] == every
    assert later.beside([(5, 2), (4, 3), (3, 0)]) == list(every)


def test_a_model_does_not_grow_with_the_thresholds():
    X, y = table(100_000, 2)
    model = MAPTreeClassifier(encoder=EVERY, split_prior="columns", max_depth=1, time_limit=None)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        model.fit(X, y)
        held = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    proved = certificate_sentences(model.fitted_)[0]
    assert "tree over all 199,998 thresholds of 2 columns" in proved
    assert len(model.encoder_.schema_[0].thresholds) == len(X) - 1 > FEW_THRESHOLDS
    assert len(model.test_weights_) == 2 * (len(X) - 1)
    assert len(pickle.dumps(model)) < 40_000
    assert held < 200_000
    with pytest.raises(ValueError, match="has only the thresholds that its tree tests"):
        model.encoder_.transform(X[:5])


def test_a_column_of_few_thresholds_keeps_them_all():
    X, y = table(FEW_THRESHOLDS + 1, 2)
    model = classifier(encoder=EVERY, max_expansions=1).fit(X, y)
    assert isinstance(model.fitted_.schema.columns[0].thresholds, EveryThreshold)
    X, y = table(FEW_THRESHOLDS + 2, 2)
    model = classifier(encoder=EVERY, max_expansions=1).fit(X, y)
    assert isinstance(model.fitted_.schema.columns[0].thresholds, Kept)


@pytest.mark.parametrize("value", [np.nan, 0.0])
def test_a_table_that_is_changed_while_it_is_fitted_is_refused(few, value):
    X, y = table(200)
    model = classifier(encoder=EVERY).fit(X, y)
    before = model.rules()

    def change(progress):
        X[:] = value

    changing = model.set_params(callback=change)
    with pytest.raises(ValueError, match=r"X was changed while it was fitted.*fit again"):
        changing.fit(X, y)
    assert model.rules() == before


def test_what_is_not_kept_does_not_hinder_a_look_at_the_encoder(few):
    X, y = table(200)
    encoder = classifier(encoder=EVERY).fit(X, y).encoder_
    kept = [column.thresholds for column in encoder.schema_]
    assert all(isinstance(thresholds, Kept) for thresholds in kept)
    numbers = encoder.test_thresholds_
    assert numbers[~np.isnan(numbers)].tolist() == [t for of in kept for t in of.items]
    assert "test_thresholds_" in dir(encoder)
    assert "BinaryEncoder" in encoder._repr_html_()
    with pytest.raises(ValueError, match="only the thresholds that its tree tests"):
        encoder.test_weights()
    assert set(encoder.test_weights("tests")) == {1}


def test_the_weights_of_all_tests_come_from_an_encoder(few):
    X, y = table(200)
    model = classifier(encoder=EVERY).fit(X, y)
    every = BinaryEncoder(max_thresholds=None).fit(X, y)
    answers = every.transform(X)
    with pytest.raises(ValueError, match=r"is 0: .*BinaryEncoder\(max_thresholds=None\)"):
        log_posterior(model.tree_, answers, y, test_weights=model.test_weights_)
    score = log_posterior(model.tree_, answers, y, test_weights=every.test_weights())
    assert score == pytest.approx(model.certificate_.log_posterior, abs=1e-6)
