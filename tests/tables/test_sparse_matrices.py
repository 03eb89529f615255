"""Sparse matrices give the trees, hashes and predictions of the same values as an array."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from maptree import BinaryEncoder, MAPTreeClassifier, MCMCTreeClassifier, SMCTreeClassifier
from maptree.tables.sparse import SparseMatrix

FORMATS = [
    sparse.csr_matrix,
    sparse.csr_array,
    sparse.csc_matrix,
    sparse.csc_array,
    sparse.coo_array,
    sparse.lil_matrix,
    sparse.dok_array,
    sparse.bsr_array,
]
MODELS = [
    MAPTreeClassifier(max_expansions=50, time_limit=None),
    MAPTreeClassifier(encoder=BinaryEncoder(max_thresholds=None), max_expansions=50),
    MCMCTreeClassifier(n_samples=20, burn_in=20, random_state=0),
    SMCTreeClassifier(n_particles=20, random_state=0),
]
VALUES = {
    "flags": lambda X: X.astype(bool),
    "zeros and ones": lambda X: X.astype(np.int8),
    "counts": lambda X: (X * np.arange(1, 9)).astype(np.uint16),
    "measurements": lambda X: X * np.linspace(-2, 3, len(X))[:, np.newaxis],
    "single": lambda X: (X * 0.1).astype(np.float32),
    "long": lambda X: (X * 1.5).astype(np.longdouble),
    "missing": lambda X: np.where(X * np.arange(len(X))[:, np.newaxis] % 7 == 3, np.nan, X),
}


def table(n_rows=120):
    rng = np.random.default_rng(3)
    X = (rng.random((n_rows, 8)) < 0.3).astype(float)
    y = np.where((X[:, 1] + X[:, 4] > 0) ^ (rng.random(n_rows) < 0.1), "yes", "no")
    return X, y


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.__name__)
def test_every_format_gives_the_same_tree(form, values):
    X, y = table()
    X = values(X)
    model = MAPTreeClassifier(max_expansions=50, time_limit=None)
    dense, thin = model.fit(X, y).fitted_, model.fit(form(X), y).fitted_
    assert thin.certificate.log_posterior == dense.certificate.log_posterior
    assert thin.schema == dense.schema
    assert thin.training.seen == dense.training.seen, "rows are recognised in any form"
    assert np.array_equal(model.predict_proba(form(X)), model.predict_proba(X))


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_every_method_takes_them(model, values):
    X, y = table()
    X = values(X)
    thin = sparse.csr_array(X)
    model.fit(thin, y)
    assert np.array_equal(model.predict_proba(thin), model.predict_proba(X))
    assert np.array_equal(model.predict(thin), model.predict(X))
    costs = {"yes": 4}
    assert np.array_equal(model.predict(thin, costs=costs), model.predict(X, costs=costs))
    assert str(model.decisions(thin, y)) == str(model.decisions(X, y))
    assert model.score(thin, y) == model.score(X, y)
    if isinstance(model, MAPTreeClassifier):
        assert np.array_equal(model.apply(thin), model.apply(X))
        assert (model.decision_path(thin) != model.decision_path(X)).nnz == 0
        assert np.array_equal(model.predict_interval(thin), model.predict_interval(X))
        assert model.to_html(X=thin, y=y) == model.to_html(X=X, y=y)


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_the_encoder_takes_them(values):
    X, y = table()
    X = values(X)
    thin = sparse.csr_matrix(X)
    encoder = BinaryEncoder().fit(thin, y)
    assert encoder.schema_ == BinaryEncoder().fit(X, y).schema_
    assert np.array_equal(encoder.transform(thin), encoder.transform(X))
    assert np.array_equal(encoder.transform_packed(thin), encoder.transform_packed(X))


def test_weights_of_columns_and_no_encoder():
    X, y = table()
    thin = sparse.csr_array(X)
    for options in ({"column_weights": {1: 0, 4: 3}}, {"encoder": None}):
        model = MAPTreeClassifier(max_expansions=50, time_limit=None, **options)
        dense = model.fit(X, y).fitted_
        fitted = model.fit(thin, y).fitted_
        assert fitted.certificate.log_posterior == dense.certificate.log_posterior
        assert fitted.training.seen == dense.training.seen
        assert np.array_equal(model.predict_proba(thin), model.predict_proba(X))


def test_entries_in_parts_are_summed_and_stored_zeros_are_zeros():
    rows, columns = [0, 0, 1, 2], [0, 0, 1, 1]
    X = sparse.coo_array(([0.5, 0.5, 0.0, 1.0], (rows, columns)), shape=(3, 2))
    for form in ("csc", "csr", "coo"):
        given = X.asformat(form)
        before = given.copy()
        found = SparseMatrix(sparse.csc_array(given))
        assert [found.read(j).data.tolist() for j in (0, 1)] == [[1, 0, 0], [0, 0, 1]]
        MAPTreeClassifier().fit(given, [0, 1, 1])
        assert given.nnz == before.nnz, "what the caller passed is unchanged"


def test_an_empty_matrix_and_an_empty_column():
    y = [0, 1] * 5
    model = MAPTreeClassifier().fit(sparse.csr_array((10, 3)), y)
    assert model.get_n_leaves() == 1
    assert model.predict(sparse.csr_array((2, 3))).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (sparse.csr_array([[1j, 0]] * 4), ValueError, "Complex data not supported"),
        (sparse.coo_array(np.ones(4)), ValueError, "1 dimension: pass a table of rows and columns"),
        (sparse.csr_array((0, 2)), ValueError, "Pass at least one row"),
        (sparse.csr_array((4, 0)), ValueError, "Pass at least one column"),
    ],
)
@pytest.mark.parametrize("model", MODELS[1:], ids=lambda model: type(model).__name__)
def test_what_is_refused(model, X, error, message):
    with pytest.raises(error, match=message):
        model.fit(X, [0, 1, 0, 1])


def test_other_values_than_in_fit_are_refused_with_their_place():
    X, y = table()
    model = MAPTreeClassifier().fit(sparse.csr_array(X), y)
    other = X[:5].copy()
    other[3, 2] = 2.0
    with pytest.raises(ValueError, match=r"X has 2\.0 at row 3, column 2: the matrix was all 0/1"):
        model.predict(sparse.csr_array(other))
    with pytest.raises(ValueError, match="X has 7 features"):
        model.predict(sparse.csr_array(X[:, 1:]))
    other[3, 2] = np.nan
    assert len(model.predict(sparse.csr_array(other))) == 5  # missing: the false branch
    with pytest.raises(ValueError, match=r"X has NaN at row 3, column 2: with encoder=None"):
        MAPTreeClassifier(encoder=None).fit(sparse.csr_array(other), y[:5])


def test_a_wide_matrix_is_never_whole_in_memory():
    n_rows, n_columns = 4000, 6000  # 192 MB as floats, 24 MB as bytes, 3 MB packed
    rng = np.random.default_rng(0)
    places = rng.integers(0, [[n_rows], [n_columns]], (2, 20_000))
    X = sparse.csr_array((np.ones(20_000), places), shape=(n_rows, n_columns))
    X.data[:] = 1.0
    y = rng.integers(0, 2, n_rows)
    model = MAPTreeClassifier(max_expansions=1, time_limit=None)
    tracemalloc.start()
    try:
        model.fit(X, y).predict(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40e6
