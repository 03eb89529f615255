"""The regressor."""

from __future__ import annotations

import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix, isspmatrix_csr
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    parametrize_with_checks,
)

import maptree
from maptree import (
    BinaryEncoder,
    MAPTreeClassifier,
    MAPTreeRegressor,
    NegativeBinomial,
    StudentT,
    TargetWarning,
    log_posterior,
)
from samples import regressor

# scikit-learn's own checks


class NumbersOnly(MAPTreeRegressor):
    """Does not say that it takes categories, for then the checks pass whole numbers only."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = False
        return tags


@parametrize_with_checks(
    [
        regressor(),
        regressor(encoder=BinaryEncoder(4)),
        NumbersOnly(time_limit=None, max_expansions=300),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# One check passes an array to a fitted frame on purpose, which warns.
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.filterwarnings("ignore:X has feature names")
def test_names_of_columns_as_in_scikit_learn():
    check_dataframe_column_names_consistency("MAPTreeRegressor", regressor())


# Tables


def rents(n_rows=200, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "area": rng.integers(30, 120, n_rows),
            "city": rng.choice(["Bonn", "Kiel", None], n_rows),
            "year": rng.integers(1950, 2020, n_rows).astype(float),
        }
    )
    frame.loc[::7, "year"] = np.nan
    level = 300 + 400 * (frame["area"] > 70) + 120 * (frame["city"] == "Kiel")
    return frame, pd.Series((level + rng.normal(0, 40, n_rows)).round(2), name="rent")


def visits(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_rows, 4))
    years = rng.choice([0.5, 1.0, 2.5], n_rows)
    return X, rng.poisson(np.array([0.4, 3.0])[X[:, 1]] * years), years


def test_a_raw_table():
    X, y = rents()
    model = regressor().fit(X, y)
    assert model.score(X, y) > 0.9
    assert model.score(X, y) == pytest.approx(r2_score(y, model.predict(X)))
    first, *_ = model.rules()
    assert re.fullmatch(
        r"area <= 7\d.5 and city = Kiel  ->  rent 4\d0 \[3\d0, \d+\], n = 28", first
    )
    assert "rent" in model.export_text()
    assert ", sd " in model.export_text()
    assert model.feature_importances_.argmax() == 0
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.get_n_leaves() == len(model.rules())
    assert model.get_depth() == model.tree_.depth
    assert model.training_.target == "rent"
    paths = model.decision_path(X)
    assert isspmatrix_csr(paths)
    assert paths[np.arange(len(X)), model.apply(X)].all()


def test_the_certificate_is_that_of_the_tree():
    X, y = rents(80)
    for parameters in ({}, {"kappa": 2.0, "nu": 8.0, "noise": 0.3}, {"split_prior": "tests"}):
        model = regressor(**parameters).fit(X, y)
        answers = model.encoder_.transform(X)
        score = log_posterior(
            model.tree_,
            answers,
            y,
            test_weights=model.test_weights_,
            likelihood="normal",
            noise=model.noise_,
            kappa=model.kappa_,
            nu=model.nu,
        )
        assert model.certificate_.log_posterior == pytest.approx(score, abs=1e-6)
    X, y, years = visits(80)
    model = regressor(likelihood="poisson").fit(X, y, exposure=years)
    score = log_posterior(model.tree_, X, y, likelihood="poisson", exposure=years)
    assert model.certificate_.log_posterior == pytest.approx(score, abs=1e-6)
    text = str(regressor().fit(X, years).certificate_)
    assert "rounded to 1/256 of its standard" in text
    assert "1/256" not in str(model.certificate_)


@pytest.mark.parametrize("factor", [100, -1, 0.01, 1e250, 1e-250, -3.3e-5])
def test_the_unit_of_y_does_not_matter(factor):
    X, y = rents(120)
    once, again = regressor().fit(X, y), regressor().fit(X, y * factor)
    for name in ("feature", "left", "right", "counts"):
        assert getattr(again.tree_, name).tolist() == getattr(once.tree_, name).tolist()
    assert again.certificate_.log_posterior == once.certificate_.log_posterior
    assert again.certificate_.log_posterior_bound == once.certificate_.log_posterior_bound
    np.testing.assert_allclose(again.predict(X), factor * once.predict(X), rtol=1e-9)
    expected = np.sort(factor * once.predict_interval(X), axis=1)
    np.testing.assert_allclose(again.predict_interval(X), expected, rtol=1e-9)


def test_neither_do_its_zero_nor_the_order_of_rows_nor_the_unit_of_exposure():
    X, y = rents(120)
    once, again = regressor().fit(X, y), regressor().fit(X, y + 5000)
    assert again.tree_ == once.tree_
    order = np.random.default_rng(0).permutation(len(y))
    assert regressor().fit(X.iloc[order], y.iloc[order]).tree_ == once.tree_
    X, y, years = visits()
    once = regressor(likelihood="poisson").fit(X, y, exposure=years)
    again = regressor(likelihood="poisson").fit(X, y, exposure=years * 365)
    assert again.tree_ == once.tree_
    assert again.certificate_.log_posterior == once.certificate_.log_posterior
    np.testing.assert_allclose(again.predict(X, exposure=365), once.predict(X, exposure=1))


def test_weights_are_copies():
    X, y = rents(60)
    weights = np.arange(60) % 4
    once = regressor().fit(X, y, sample_weight=weights)
    rows = np.repeat(np.arange(60), weights)
    again = regressor().fit(X.iloc[rows], y.iloc[rows])
    assert again.tree_ == once.tree_
    assert again.certificate_.log_posterior == pytest.approx(once.certificate_.log_posterior)
    np.testing.assert_allclose(again.predict(X), once.predict(X))


def test_thresholds_are_by_quantile_of_all_rows():
    X = np.arange(400.0).reshape(-1, 1)[np.random.default_rng(0).permutation(400)]
    model = regressor(max_depth=1).fit(X, X[:, 0])
    encoder = BinaryEncoder().fit(X)
    assert model.encoder_.schema_ == encoder.schema_
    assert len(model.encoder_.schema_[0].thresholds) == 32
    # Whole numbers that are classes to an encoder of its own, which has labels.
    y = (X[:, 0] > 200).astype(int)
    assert regressor(max_depth=1).fit(X, y).encoder_.schema_ == encoder.schema_
    assert len(BinaryEncoder().fit(X, y).schema_[0].thresholds) == 1
    assert BinaryEncoder().fit(X, y + 0.5).schema_ == encoder.schema_


def test_all_thresholds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    y = np.where(X[:, 0] > 0.123, 5, 1) + rng.normal(0, 0.3, 150)
    model = regressor(encoder=BinaryEncoder(max_thresholds=None), max_depth=2).fit(X, y)
    assert len(model.encoder_.schema_[0].thresholds) == 149
    below = X[X[:, 0] <= 0.123, 0].max()
    assert f"x0 <= {below:.1}"[:6] in model.rules()[0]
    assert model.score(X, y) > 0.95


def test_sets_of_categories():
    rng = np.random.default_rng(0)
    city = rng.choice([f"c{k:02}" for k in range(60)], 2000)
    level = np.array([3.0 * (hash_of(c) % 2) for c in city])
    frame = pd.DataFrame({"city": city})
    for likelihood, y in (
        ("normal", level + rng.normal(0, 0.5, 2000)),
        ("poisson", rng.poisson(level + 0.5)),
    ):
        model = regressor(likelihood=likelihood, encoder=BinaryEncoder(category_sets=True))
        model.fit(frame, y)
        column = model.encoder_.schema_[0]
        assert column.kind == "sets"
        name = "numbers" if likelihood == "normal" else "counts"
        assert f"groups learnt from the {name}" in column.note
        assert model.get_n_leaves() == 2
        assert model.score(frame, y) > 0.4


def hash_of(text):
    return sum(map(ord, text)) * 7 % 11


# Predictions


def test_predictive_distributions():
    X, y = rents()
    model = regressor().fit(X, y)
    dist = model.predict_dist(X)
    assert isinstance(dist, StudentT)
    np.testing.assert_array_equal(dist.mean, model.predict(X))
    scipys = dist.to_scipy()
    interval = model.predict_interval(X, level=0.8)
    np.testing.assert_allclose(interval, np.transpose(scipys.ppf([[0.1], [0.9]])))
    np.testing.assert_allclose(model.predict_quantile(X, 0.1), interval[:, 0])
    both = model.predict_quantile(X, [0.1, 0.5])
    assert both.shape == (len(X), 2)
    np.testing.assert_allclose(both[:, 1], model.predict(X))
    assert model.log_score(X, y) == pytest.approx(scipys.logpdf(y).mean())
    weights = np.arange(len(y)) / 10
    expected = np.average(scipys.logpdf(y), weights=weights)
    assert model.log_score(X, y, sample_weight=weights) == pytest.approx(expected)
    expected = r2_score(y, model.predict(X), sample_weight=weights)
    assert model.score(X, y, sample_weight=weights) == pytest.approx(expected)


def test_intervals_cover_held_out_rows():
    X, y = rents(600)
    model = regressor(max_expansions=2000).fit(X[:300], y[:300])
    low, high = model.predict_interval(X[300:], level=0.9).T
    inside = ((low <= y[300:]) & (y[300:] <= high)).mean()
    assert 0.85 < inside < 0.97


def test_counts_with_exposure():
    X, y, years = visits()
    model = regressor(likelihood="poisson").fit(X, y, exposure=years)
    rates = model.predict(X)
    np.testing.assert_allclose(model.predict(X, exposure=years), rates * years)
    np.testing.assert_allclose(model.predict(X, exposure=2), rates * 2)
    dist = model.predict_dist(X, exposure=years)
    assert isinstance(dist, NegativeBinomial)
    np.testing.assert_allclose(dist.mean, rates * years)
    assert model.log_score(X, y, exposure=years) == pytest.approx(dist.to_scipy().logpmf(y).mean())
    interval = model.predict_interval(X, exposure=years)
    cover = ((interval[:, 0] <= y) & (y <= interval[:, 1])).mean()
    assert cover >= 0.93
    np.testing.assert_array_equal(interval, np.floor(interval))
    np.testing.assert_array_equal(
        model.predict_quantile(X[:5], 0.5), model.predict_quantile(X[:5], 0.5, exposure=1)
    )
    assert model.rules()[0].startswith("x1 = 1  ->  rate of y 2.")
    assert ", exposure " in model.export_text()
    assert " events)" in regressor(likelihood="poisson").fit(X, y).export_text()
    assert model.score(X, y, exposure=years) > model.score(X, y)


def test_sparse_matrices_and_refits():
    X, y, years = visits()
    dense = regressor(likelihood="poisson").fit(X, y, exposure=years)
    sparse = regressor(likelihood="poisson").fit(csr_matrix(X), y, exposure=years)
    assert sparse.tree_ == dense.tree_
    dense.set_params(likelihood="normal").fit(X, y)
    assert isinstance(dense.predict_dist(X), StudentT)


def test_pickle_clone_and_model_selection():
    X, y = rents(80)
    model = regressor(kappa=0.5).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert again.tree_ == model.tree_
    assert again.rules() == model.rules()
    assert again.certificate_ == model.certificate_
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert clone(model).kappa == 0.5
    numbers = X[["area"]].to_numpy()
    assert cross_val_score(regressor(), numbers, y, cv=2).min() > 0.5
    search = GridSearchCV(regressor(), {"noise": [0.05, 0.5]}, cv=2).fit(numbers, y)
    assert search.best_params_["noise"] in (0.05, 0.5)


def test_alternatives_and_choosing_one():
    X, y, years = visits(120)
    model = regressor(likelihood="poisson", max_depth=2, max_expansions=None)
    model.fit(X, y, exposure=years)
    found = model.alternatives(3)
    assert len(found) == 3
    assert found[0].log_posterior == pytest.approx(model.certificate_.log_posterior)
    second = model.choose(found[1])
    assert second.tree_ == found[1].tree
    assert second.certificate_.status == "alternative"
    assert "rate of y" in str(found[1])
    given = model.alternatives(2, X=X, y=y, exposure=years)
    assert [one.tree for one in given] == [one.tree for one in found[:2]]
    with pytest.raises(ValueError, match="not the table that the model was fitted to"):
        model.alternatives(2, X=X, y=y + 1, exposure=years)
    with pytest.raises(ValueError, match="exposure was passed without X and y"):
        model.alternatives(2, exposure=years)
    with pytest.raises(ValueError, match="shape changed since fit"):
        clone_with(model, shape=3.0).alternatives(2, X=X, y=y, exposure=years)


def clone_with(model, **parameters):
    again = pickle.loads(pickle.dumps(model))
    return again.set_params(**parameters)


def test_monotone_means():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (200, 2)).astype(float)
    y = X[:, 0] - 3.0 * (X[:, 0] == 2) + rng.normal(0, 0.4, 200)
    model = regressor(max_depth=2, max_expansions=None).fit(X, y)
    found = model.alternatives(1, monotone={0: 1})
    means = model.choose(found[0]).predict([[k, 0.0] for k in range(5)])
    assert (np.diff(means) >= 0).all()
    assert "the mean must not fall with x0" in str(found)


# Bad input


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        ({"likelihood": "gamma"}, ValueError, "likelihood='gamma' is unknown"),
        ({"likelihood": 3}, TypeError, "likelihood=3 is unknown"),
        ({"kappa": 0}, ValueError, "kappa=0 is out of range: pass a number from 1e-06 to"),
        ({"nu": np.nan}, ValueError, "nu=nan is not finite"),
        ({"noise": "much"}, TypeError, "noise='much' is not a number"),
        ({"shape": -1.0, "likelihood": "poisson"}, ValueError, "shape=-1.0 is out of range"),
        ({"alpha": 2}, ValueError, "alpha=2 is out of range"),
        ({"max_depth": -1}, ValueError, "max_depth=-1 is too small"),
    ],
)
def test_bad_parameters(parameters, error, words):
    with pytest.raises(error, match=words):
        regressor(**parameters).fit([[0], [1]], [1.0, 2.0])


@pytest.mark.parametrize(
    ("y", "others", "error", "words"),
    [
        ([1.0, np.nan], {}, ValueError, "y has a missing number at row 1"),
        (["1", "2"], {}, TypeError, "y has '1' at row 0, which is text"),
        ([True, False], {}, TypeError, "a truth value"),
        ([1.0, 2.0], {"sample_weight": [0.5, 1]}, ValueError, "weights must be whole numbers"),
        ([1.0, 2.0], {"sample_weight": [0, 0]}, ValueError, "Every sample weight is zero"),
        ([1.0, 2.0], {"exposure": [1, 2]}, TypeError, 'exposure is for counts: pass likelihood="p'),
    ],
)
def test_bad_outcomes(y, others, error, words):
    model = regressor().fit([[0], [1]], [1, 2])
    before = dict(vars(model))
    with pytest.raises(error, match=words):
        model.fit([[0], [1]], y, **others)
    assert vars(model) == before  # unchanged


def test_bad_calls_of_predictions():
    X, y = [[0], [1]] * 5, np.arange(10.0)
    model = regressor().fit(X, y)
    counts = regressor(likelihood="poisson").fit(X, y)
    with pytest.raises(TypeError, match="exposure is for counts"):
        model.predict(X, exposure=[1] * 10)
    with pytest.raises(ValueError, match="exposure has 0 at row 0"):
        counts.predict(X, exposure=[0] * 10)
    with pytest.raises(ValueError, match="X has 10 rows but exposure has 2 numbers"):
        counts.predict(X, exposure=[1, 1])
    for q in (0, 1, [0.5, 2], []):
        with pytest.raises(ValueError, match="q="):
            model.predict_quantile(X, q)
    with pytest.raises(TypeError, match="q='half' is not a number"):
        model.predict_quantile(X, "half")
    with pytest.raises(ValueError, match="level=1 is out of range"):
        model.predict_interval(X, level=1)
    with pytest.raises(ValueError, match="y has -1 at row 0"):
        counts.log_score(X, y - 1)


def test_constant_numbers_and_one_row():
    for X, y in (([[0], [1]] * 4, [7.5] * 8), ([[3.0]], [7.5])):
        with pytest.warns(TargetWarning, match=r"y is 7.5 in every row.*intervals of no width"):
            model = regressor().fit(X, y)
        assert model.predict(X[:1]).tolist() == [7.5]
        assert model.predict_interval(X[:1]).tolist() == [[7.5, 7.5]]
        assert model.rules()[0].split("->")[1].startswith("  y 7.5 [7.5, 7.5], n =")
        with pytest.raises(ValueError, match="have no density"):
            model.log_score(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = regressor(likelihood="poisson").fit([[0], [1]] * 4, [0] * 8)
    assert 0 < model.predict([[0]])[0] < 0.5
    assert regressor(likelihood="poisson").fit([[0]], [3]).get_n_leaves() == 1


def test_extreme_magnitudes():
    X, y = rents(60)
    for factor in (1e297, 1e-300):
        model = regressor().fit(X, y * factor)
        assert np.isfinite(model.predict_interval(X)).all()
        assert "e+" in model.export_text() or "e-" in model.export_text()
    with pytest.raises(ValueError, match="too large"):
        regressor().fit(X, y * 1e305)


def test_columns_that_were_not_read_in_time():
    X, y = rents(50)
    model = regressor(time_limit=1e-9, max_expansions=None)
    with pytest.warns(maptree.TimeLimitWarning):
        model.fit(X, y)
    assert model.certificate_.log_posterior_bound == np.inf
    assert "Nothing is known about other trees" in str(model.certificate_)


# What is not made for numbers yet


def test_what_is_not_made_for_numbers_yet_says_so(tmp_path):
    X, y = rents(40)
    model = regressor().fit(X, y)
    with pytest.raises(TypeError, match="not made for trees that predict numbers yet"):
        maptree.compare(model, model)
    with pytest.raises(TypeError, match="for which there is no path of sizes yet"):
        maptree.size_path(X, y, regressor())
    assert not list(tmp_path.iterdir())
    assert "MAPTreeRegressor" in model._repr_mimebundle_()["text/plain"]
    maptree.plot_search(model)


def test_samplers_take_only_the_shape_of_a_tree_of_numbers():
    X = np.array([[0, 1], [1, 0]] * 6)
    model = regressor().fit(X, 5.0 * X[:, 0])
    chains = maptree.MCMCTreeClassifier(initial_tree=model, n_samples=5, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few samples have not mixed
        chains.fit(X, X[:, 0])
    assert chains.fitted_.certificate is None


def test_classifiers_still_refuse_numbers():
    with pytest.raises(ValueError, match="or use MAPTreeRegressor"):
        MAPTreeClassifier().fit([[0], [1]], [0.5, 1.5])
