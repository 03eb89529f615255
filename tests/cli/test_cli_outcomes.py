"""Models of numbers and counts through their files: fit, predict, score, show, alternatives."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from command import QUICK, call, widest
from maptree import MAPTreeRegressor, load_model
from maptree.trees.measured_scores import MeasuredScores


def flats(n=240, seed=3):
    """Prices of flats, some of them missing."""
    rng = np.random.default_rng(seed)
    area, city = rng.integers(25, 160, n), rng.choice(["Bonn", "Kiel"], n)
    price = (area * (2500 + 900 * (city == "Bonn")) + rng.normal(0, 25000, n)).round(-2)
    frame = pd.DataFrame({"area": area, "city": city, "price": price})
    frame.loc[rng.random(n) < 0.05, "price"] = np.nan
    return frame


def claims(n=300, seed=4):
    """Events that were counted for different lengths of time."""
    rng = np.random.default_rng(seed)
    age, years = rng.integers(18, 80, n), rng.choice([0.5, 1, 2], n)
    events = rng.poisson((0.1 + 0.8 * (age < 35)) * years)
    return pd.DataFrame({"age": age, "years": years, "claims": events})


@pytest.fixture
def made(here, capsys):
    """A folder with both tables and a model of each."""
    flats().to_csv("flats.csv", index=False)
    claims().to_csv("claims.csv", index=False)
    flats(seed=5).to_csv("new_flats.csv", index=False)
    claims(seed=6).to_csv("new_claims.csv", index=False)
    for arguments in (
        ["flats.csv", "-t", "price", "--cv", "3"],
        ["claims.csv", "-t", "claims", "--exposure", "years", "--cv", "3"],
    ):
        told = call(capsys, "fit", *arguments, *QUICK)
        assert (told.code, told.err) == (0, "")
    return here


def test_fit_says_that_it_is_a_regression(here, capsys):
    flats().to_csv("flats.csv", index=False)
    told = call(capsys, "fit", "flats.csv", "-t", "price", *QUICK, "--test-fraction", "0.25")
    assert (told.code, told.err) == (0, "")
    said = " ".join(told.out.split())
    for part in (
        "Target price: numbers from ",
        "different values: this is a regression. Pass --task classes if they are classes.",
        "rows without a target were left out.",
        "On held-out rows 0.25 of the rows, seed 0: 57 rows. RMSE ",
        "The 90% intervals hold 0.",
        "After +-: the standard error over the rows.",
        "this tree ",
        "linear regression ",
        "one leaf ",
        "Model written to flats.model.json.",
    ):
        assert part in said
    assert widest(told.out) <= 80


def test_a_model_is_that_of_the_regressor(made):
    frame = flats().dropna(subset=["price"])
    model = load_model("flats.model.json")
    other = MAPTreeRegressor(max_expansions=30, time_limit=None)
    other.fit(frame[["area", "city"]], frame["price"])
    assert isinstance(model, MAPTreeRegressor)
    assert model.rules() == other.rules()
    assert model.certificate_.log_posterior == other.certificate_.log_posterior
    assert isinstance(model.training_.held_out, MeasuredScores)
    counted = claims()
    model = load_model("claims.model.json")
    other.set_params(likelihood="poisson")
    other.fit(counted[["age"]], counted["claims"], exposure=counted["years"])
    assert model.rules() == [rule.replace("of y", "of claims") for rule in other.rules()]


def test_text_gives_the_tree_of_the_numbers(made, capsys):
    frame = flats()
    texts = [None if p != p else f"${p:,.2f}" for p in frame["price"]]
    frame.assign(price=texts).to_csv("text.csv", index=False)
    told = call(capsys, "fit", "text.csv", "-t", "price", *QUICK)
    assert "price: text such as $" in told.out
    assert load_model("text.model.json").rules() == load_model("flats.model.json").rules()


@pytest.mark.parametrize(
    ("options", "level"), [([], 0.95), (["--level", "0.5"], 0.5), (["--interval"], 0.95)]
)
def test_predictions_have_intervals(made, capsys, options, level):
    told = call(capsys, "predict", "flats.model.json", "new_flats.csv", *options, "-o", "out.csv")
    assert told.code == 0
    found, model, X = pd.read_csv("out.csv"), load_model("flats.model.json"), flats(seed=5)
    X = X[["area", "city"]]
    assert found.columns.tolist() == ["prediction", "low", "high"]
    np.testing.assert_allclose(found["prediction"], model.predict(X))
    np.testing.assert_allclose(found[["low", "high"]], model.predict_interval(X, level))


def test_rules_explain_predictions(made, capsys):
    told = call(capsys, "predict", "flats.model.json", "new_flats.csv", "--explain", "-o", "o.csv")
    assert told.code == 0
    rules = set(pd.read_csv("o.csv")["rule"])
    assert rules <= set(load_model("flats.model.json").rules())
    assert all(" ->  price " in rule for rule in rules)


def test_counts_are_predicted_for_an_exposure(made, capsys):
    new, model = claims(seed=6), load_model("claims.model.json")
    arguments = ["predict", "claims.model.json", "new_claims.csv", "-o", "out.csv"]
    told = call(capsys, *arguments)
    assert "Predicted for an exposure of 1. Pass --exposure COLUMN" in " ".join(told.err.split())
    np.testing.assert_allclose(pd.read_csv("out.csv")["prediction"], model.predict(new[["age"]]))
    told = call(capsys, *arguments, "--exposure", "years")
    assert "exposure" not in told.err
    found = pd.read_csv("out.csv")
    expected = model.predict(new[["age"]], exposure=new["years"])
    np.testing.assert_allclose(found["prediction"], expected)
    ends = model.predict_interval(new[["age"]], exposure=new["years"])
    assert found[["low", "high"]].to_numpy().tolist() == ends.tolist()
    assert found["high"].dtype == np.int64


def test_scores_are_those_of_the_regressor(made, capsys):
    told = call(capsys, "score", "flats.model.json", "new_flats.csv", "--json")
    found, new = json.loads(told.out), flats(seed=5)
    known = new.dropna(subset=["price"])
    model, X, y = load_model("flats.model.json"), known[["area", "city"]], known["price"]
    away = y - model.predict(X)
    low, high = model.predict_interval(X, 0.9).T
    assert found["rows"] == len(known)
    assert found["rows_without_target"] == len(new) - len(known)
    assert found["rmse"]["value"] == pytest.approx(np.sqrt((away**2).mean()))
    assert found["r2"]["value"] == pytest.approx(model.score(X, y))
    assert found["log_score"]["value"] == pytest.approx(model.log_score(X, y))
    assert found["cover"]["value"] == pytest.approx(((low <= y) & (y <= high)).mean())
    assert found["width"] == pytest.approx((high - low).mean())
    assert found["training_rows"]["known"] == "exact"
    counted = claims(seed=6)
    arguments = ["score", "claims.model.json", "new_claims.csv", "--exposure", "years"]
    found = json.loads(call(capsys, *arguments, "--json").out)
    model, about = load_model("claims.model.json"), (counted[["age"]], counted["claims"])
    expected = model.log_score(*about, exposure=counted["years"])
    assert found["log_score"]["value"] == pytest.approx(expected)


@pytest.mark.parametrize(
    "arguments",
    [["flats.model.json", "flats.csv"], ["claims.model.json", "claims.csv", "--exposure", "years"]],
)
def test_the_training_rows_are_recognised(made, capsys, arguments):
    told = call(capsys, "score", *arguments)
    assert told.code == 0
    assert "On the rows it was fitted to" in told.out


def test_show_has_what_fit_said(made, capsys):
    told = call(capsys, "show", "flats.model.json")
    assert told.code == 0
    assert "A number: mean " in told.out
    assert "3-fold cross-validation, seed 0: " in told.out
    assert "\nlinear regression " in told.out
    assert widest(told.out) <= 80
    told = call(capsys, "show", "claims.model.json")
    assert "per unit of exposure." in told.out
    assert "\nPoisson regression " in told.out
    model = json.loads(call(capsys, "show", "claims.model.json", "--json").out)["model"]
    assert model["task"] == "count"
    assert model["prior"]["shape"] == 1.0
    assert model["training"]["held_out"]["method"] == "3-fold cross-validation, seed 0"


def test_alternatives_are_those_of_the_regressor(made, capsys):
    arguments = ["alternatives", "flats.model.json", "flats.csv", "-n", "3", "--max-depth", "1"]
    found = json.loads(call(capsys, *arguments, "--rising", "area", "--json").out)
    frame = flats().dropna(subset=["price"])
    model = load_model("flats.model.json").set_params(max_expansions=None)
    wish = {"monotone": {"area": 1}, "max_depth": 1}
    expected = model.alternatives(3, X=frame[["area", "city"]], y=frame["price"], **wish)
    assert [tree["rules"] for tree in found["trees"]] == [one.rules() for one in expected]
    assert call(capsys, *arguments, "--choose", "2").code == 0
    assert load_model("flats.2.model.json").rules() == expected[1].rules()
    arguments = ["alternatives", "claims.model.json", "claims.csv", "-n", "2", "--max-depth", "1"]
    assert call(capsys, *arguments, "--exposure", "years").code == 0
    told = call(capsys, *arguments)
    assert told.code == 2
    assert "fitted to counts with an exposure" in " ".join(told.err.split())


def test_other_priors(made, capsys):
    given = ["--kappa", "2", "--nu", "5", "--noise", "0.5", "--alpha", "0.5"]
    assert call(capsys, "fit", "flats.csv", "-t", "price", *QUICK, *given).code == 0
    model = load_model("flats.model.json")
    assert (model.kappa, model.nu, model.noise, model.alpha) == (2.0, 5.0, 0.5, 0.5)
    assert call(capsys, "fit", "claims.csv", "-t", "claims", "--task", "count", *QUICK).code == 0
    model = load_model("claims.model.json")
    assert (model.likelihood, model.shape, model.n_features_in_) == ("poisson", 1.0, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("predict flats.model.json new_flats.csv --proba", "--proba is for classes, and this mod"),
        ("predict flats.model.json new_flats.csv --costs a=2", "--costs is for classes"),
        ("predict flats.model.json new_flats.csv --exposure area", "and this one predicts numbers"),
        ("predict flats.model.json new_flats.csv --level 1", "--level 1: pass a number above 0"),
        ("predict claims.model.json new_claims.csv --exposure year", "Did you mean 'years'?"),
        ("score flats.model.json new_flats.csv --costs a=2", "--costs is for classes"),
        ("score flats.model.json new_flats.csv --positive a", "--positive is for classes"),
        ("score flats.model.json new_flats.csv --thresholds .5", "--thresholds is for classes"),
        ("score flats.model.json new_flats.csv -t city", "is not a number"),
        ("score claims.model.json new_claims.csv", "pass the column that has it, as in --exposure"),
        ("compare flats.model.json flats.model.json", "compare is for classes so far, and flats"),
        ("fit flats.csv -t price --average", "--average is for classes"),
    ],
)
def test_what_regressions_refuse(made, capsys, arguments, message):
    told = call(capsys, *arguments.split())
    assert told.code in (1, 2)
    assert told.out == ""
    assert message in " ".join(told.err.split())


def test_classes_have_no_exposure(fitted, capsys):
    for command in ("predict", "score", "alternatives"):
        told = call(capsys, command, "people.model.json", "people.csv", "--exposure", "age")
        assert told.code == 2
        assert "and this one predicts classes" in " ".join(told.err.split())
