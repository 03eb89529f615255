"""Averages on the command line: fit, predict, score, show, report, export."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from command import QUICK, call, widest
from maptree import MCMCTreeClassifier, load_model
from maptree.cli import fitting
from maptree.trees.scores import score

AVERAGE = ["--target", "buys", "--drop", "id,zip", *QUICK, "--average", "--iterations", "2500"]


@pytest.fixture
def fitted(here, capsys):
    """A folder with a table and an averaged model; what fit said."""
    told = call(capsys, "fit", "people.csv", *AVERAGE)
    assert told.code == 0, told.err
    return told


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_fit_says_what_the_trees_share(fitted):
    for part in (
        "The most probable tree\n",
        "Certificate\n",
        "The average\nPredictions are averaged over ",
        "by 4 Markov\nchains of 3,750 iterations.",
        "P(used)",
        "First split, and the most frequent",
        "Model written to people.model.json.",
    ):
        assert part in fitted.out
    assert widest(fitted.out) <= 80
    model = load_model("people.model.json")
    assert isinstance(model, MCMCTreeClassifier)
    assert (model.thin_, model.burn_in_, model.random_state) == (10, 1250, 0)
    assert model.certificate_.status == "expansion_limit"
    assert model.training_.target == "buys"


def test_chains_that_have_not_mixed_are_pointed_out(here, capsys):
    told = call(capsys, "fit", "people.csv", *AVERAGE[:-1], "250")
    assert told.code == 0
    assert "The chains have not mixed: R-hat " in told.out
    assert "another run would predict" in told.out
    assert "Fit again with longer chains, --average --iterations" in told.out
    assert "The chains have not mixed" in call(capsys, "show", "people.model.json").out


def test_without_iterations_chains_are_as_long_as_needed(here, capsys):
    told = call(capsys, "fit", "people.csv", *AVERAGE[:-2], "--json")
    document = json.loads(told.out)["model"]["average"]
    assert document["mixed"] is True
    assert document["r_hat"] <= 1.1
    assert sum(document["leaves"].values()) == pytest.approx(1)
    assert {"name", "probability", "expected_splits", "low", "high"} == set(document["columns"][0])
    assert {"name", "probability", "test", "test_probability"} == set(document["first_splits"][0])


def test_predict_averages(fitted, capsys):
    model = load_model("people.model.json")
    table = pd.read_csv("people.csv", dtype={"zip": str}, parse_dates=["joined"])
    X = table[model.feature_names_in_]
    plain = rows(call(capsys, "predict", "people.model.json", "people.csv", "--proba").out)
    proba = model.predict_proba(X)
    assert [row["prediction"] for row in plain] == model.predict(X).tolist()
    np.testing.assert_array_equal([float(row["probability_yes"]) for row in plain], proba[:, 1])
    told = call(capsys, "predict", "people.model.json", "people.csv", "--interval", "--level", 0.5)
    ends = model.predict_interval(X, 0.5)
    best = proba.argmax(axis=1)
    for i, row in enumerate(rows(told.out)):
        assert float(row["probability"]) == proba[i, best[i]]
        assert [float(row["low"]), float(row["high"])] == ends[i, best[i]].tolist()


def test_predict_with_the_single_tree(fitted, capsys):
    told = call(capsys, "predict", "people.model.json", "people.csv", "--explain")
    assert told.code == 2
    assert "pass --single-tree to predict with the most probable tree" in told.err
    told = call(capsys, "predict", "people.model.json", "people.csv", "--explain", "--single-tree")
    assert told.code == 0
    rules = load_model("people.model.json").rules()
    assert {row["rule"].partition("  ->")[0] for row in rows(told.out)} <= {
        rule.partition("  ->")[0].replace(" or missing", "") for rule in rules
    } | {rule.partition("  ->")[0] for rule in rules}


def test_columns_that_only_other_trees_test_are_needed(fitted, capsys):
    model = load_model("people.model.json")
    shown = {model.feature_names_in_[j] for j in model.fitted_.used_columns}
    needed = {model.feature_names_in_[j] for j in model.fitted_.needed_columns}
    assert shown < needed
    table = pd.read_csv("people.csv")
    table[sorted(shown)].to_csv("few.csv", index=False)
    told = call(capsys, "predict", "people.model.json", "few.csv")
    assert told.code == 1
    assert "which the trees test" in " ".join(told.err.split())
    assert call(capsys, "predict", "people.model.json", "few.csv", "--single-tree").code == 0


def test_score_compares_the_average_with_the_tree(fitted, capsys):
    told = call(capsys, "score", "people.model.json", "people.csv")
    assert "The most probable tree alone: Accuracy" in told.out
    document = json.loads(call(capsys, "score", "people.model.json", "people.csv", "--json").out)
    model = load_model("people.model.json")
    table = pd.read_csv("people.csv", dtype={"zip": str}, parse_dates=["joined"])
    codes = np.searchsorted(model.classes_, table["buys"])
    expected = score(model.predict_proba(table[model.feature_names_in_]), codes)
    assert document["log_loss"] == pytest.approx(expected.log_loss)
    assert document["most_probable_tree"]["log_loss"] != document["log_loss"]


@pytest.mark.parametrize("how", [["--cv", "3"], ["--test-fraction", "0.3"]])
def test_held_out_rows_are_predicted_by_averages(here, capsys, how):
    told = call(capsys, "fit", "people.csv", *AVERAGE, *how, "--json")
    document = json.loads(told.out)
    tree = call(capsys, "fit", "people.csv", *AVERAGE[:-3], *how, "--json")
    assert document["held_out"]["log_loss"] != json.loads(tree.out)["held_out"]["log_loss"]
    assert load_model("people.model.json").training_.held_out is not None


def test_exports_of_an_average(fitted, capsys):
    told = call(capsys, "export", "people.model.json", "--to", "sql")
    assert told.code == 2
    assert "an export holds one. Pass --single-tree" in " ".join(told.err.split())
    told = call(capsys, "export", "people.model.json", "--to", "text", "--single-tree")
    assert told.out.strip() == load_model("people.model.json").export_text()


def test_other_commands_take_the_tree_or_refuse(fitted, capsys):
    told = call(capsys, "alternatives", "people.model.json", "people.csv")
    assert told.code == 1
    assert "fitted without --average" in " ".join(told.err.split())
    call(capsys, "fit", "people.csv", *AVERAGE[:-3], "--model", "tree.json")
    told = call(capsys, "compare", "people.model.json", "tree.json", "--data", "people.csv")
    assert told.code == 0
    assert "nats" in told.out


def test_a_report_on_an_average(fitted, capsys):
    told = call(capsys, "report", "people.model.json", "--data", "people.csv")
    assert told.code == 0
    page = Path("people.html").read_text(encoding="utf-8")
    assert "trees share</h2>" in page
    assert "The most probable tree alone: accuracy" in page


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--iterations", "1000"], "--iterations has no effect without --average"),
        (["--average", "--iterations", "10"], "--iterations 10: pass a whole number from 250"),
        (["--average", "--max-depth", "3"], "--average cannot be combined with --max-depth"),
        (["--average", "--min-samples-leaf", "3"], "the chains draw from all trees"),
        (["--average", "--max-leaf-nodes", "3"], "the chains draw from all trees"),
        (["--average", "--without", "age"], "the chains draw from all trees"),
        (["--average", "--first", "age"], "the chains draw from all trees"),
    ],
)
def test_wrong_wishes(here, capsys, options, message):
    told = call(capsys, "fit", "people.csv", "--target", "buys", *QUICK, *options)
    assert told.code == 2
    assert message in " ".join(told.err.split())


def test_a_search_that_was_interrupted_is_kept_without_an_average(here, capsys, monkeypatch):
    monkeypatch.setattr(fitting, "was_interrupted", lambda fitted: True)
    told = call(capsys, "fit", "people.csv", *AVERAGE)
    assert told.code == 130
    assert load_model("people.model.json").certificate_ is not None
    assert "The average" not in told.out


def test_an_average_is_not_called_a_tree(here, capsys):
    # Next to baselines, and where its scores would stand for those of its most probable tree.
    call(capsys, "fit", "people.csv", *AVERAGE, "--cv", "2")
    call(capsys, "fit", "people.csv", *AVERAGE[:-3], "--cv", "2", "--model", "tree.json")
    for command in (["show"], ["score", "people.csv"]):
        told = call(capsys, command[0], "people.model.json", *command[1:])
        assert "this average" in told.out
        assert "this tree " not in told.out
    call(capsys, "report", "people.model.json")
    assert "this average" in Path("people.html").read_text(encoding="utf-8")
    told = call(capsys, "compare", "people.model.json", "tree.json")
    assert "log loss" not in told.out
    assert "The first model predicts by an average" in told.out
