"""maptree fit: what it says and writes, options, held-out rows."""

from __future__ import annotations

import io
import json
import re
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import QUICK, call, people, widest, write_text
from maptree import MAPTreeClassifier, load_model, log_posterior
from maptree.cli.files import read_source
from maptree.cli.header import Dialect
from maptree.cli.target import known_labels, read_target
from maptree.trees.scores import score
from maptree.words.certificate import size_sentence
from samples import classifier, noisy


def test_fit_says_what_it_found(here, capsys):
    told = call(capsys, "fit", "people.csv", "--target", "buys", *QUICK, "--drop", "zip,hours")
    assert told.code == 0
    assert told.err == ""
    for part in (
        "people.csv: 200 rows, 9 columns.",
        "Target buys: no ",
        "  zip: dropped",
        "  id: 200 different values in 200 rows",
        "  country: every value is DE",
        "age <= 4",
        "Certificate",
        "No rows were held out",
        "Model written to people.model.json.",
    ):
        assert part in told.out
    assert "the search was stopped by the limit on expansions." in " ".join(told.out.split())
    assert widest(told.out) <= 80
    assert "\033" not in told.out
    model = load_model("people.model.json")
    assert model.training_.target == "buys"
    names = model.feature_names_in_.tolist()
    assert names == ["id", "age", "city", "joined", "member", "country"]
    kinds = [column.kind for column in model.encoder_.schema_]
    assert kinds == ["identifier", "number", "category", "date", "boolean", "constant"]
    assert model.callback is None
    assert model.max_expansions == 30


def test_nan_among_the_labels_of_a_parquet_file_is_missing(here, capsys):
    labels = pa.array([1.0, 2.0, np.nan, 2.0] * 10)  # NaN, not null
    pq.write_table(pa.table({"x": range(40), "y": labels}), "nan.parquet")
    told = call(capsys, "fit", "nan.parquet", "-t", "y", *QUICK)
    assert "Target y: 1 10, 2 20.\n10 rows without a target were left out." in told.out
    assert load_model("nan.model.json").training_.rows == 30


def test_a_large_tree_is_cut_on_a_terminal_only(here, capsys, monkeypatch):
    monkeypatch.setattr("maptree.cli.fitting._MOST_LINES", 3)
    a, b = np.arange(120) % 2, np.arange(120) // 2 % 2
    write_text(pd.DataFrame({"a": a, "b": b, "y": a ^ b}), here / "xor.csv")
    arguments = ("fit", "xor.csv", "-t", "y", *QUICK)
    whole = call(capsys, *arguments).out
    assert "Shown to depth" not in whole
    with monkeypatch.context() as terminal:
        terminal.setenv("NO_COLOR", "1")
        terminal.setattr(sys.stdout, "isatty", lambda: True)
        cut = call(capsys, *arguments).out
    tree = re.search(r"\nThe tree\n(.*?)\n\d+ leaves, depth", cut, re.S)[1].splitlines()
    below = [int(n) for n in re.findall(r": (\d+) leaves below, n = \d+", "\n".join(tree))]
    assert (len(tree), below) == (2, [2, 2])
    assert "Shown to depth 1. All of it: maptree show xor.model.json\n" in cut
    assert load_model("xor.model.json").export_text() in whole
    assert load_model("xor.model.json").export_text() in call(capsys, "show", "xor.model.json").out


def test_fit_says_which_thresholds_were_thinned(here, capsys):
    frame = pd.DataFrame({"few": [1.5, 2.5] * 100, "many": np.arange(200) % 97 / 8})
    write_text(frame.assign(more=frame.many**2, y=np.arange(200) % 2), here / "t.csv")
    told = call(capsys, "fit", "t.csv", "-t", "y", *QUICK)
    line = "many, more: at most 32 thresholds each, by quantile, of up to 96"
    assert f"\nNotes on columns\n  {line}\n" in told.out
    document = json.loads(call(capsys, "fit", "t.csv", "-t", "y", *QUICK, "--json").out)
    notes = [column["note"] for column in document["model"]["columns"]]
    assert notes[1].startswith("32 of 96 thresholds, by quantile")  # where each column has its own
    assert document["notes"] == []
    told = call(capsys, "fit", "t.csv", "-t", "y", *QUICK, "--drop", "more")
    assert "  many: 32 thresholds, by quantile, of 96\n" in told.out


def test_very_many_classes_are_not_all_listed(here, capsys):
    labels = np.repeat([f"c{k:02d}" for k in range(70)], [40, *[3] * 69])
    write_text(pd.DataFrame({"x": np.arange(len(labels)) % 2, "y": labels}), here / "many.csv")
    told = call(capsys, "fit", "many.csv", "-t", "y", "--max-depth", "0", *QUICK)
    said = " ".join(told.out.split())
    assert "Target y: c00 40, c01 3, " in said
    assert "c19 3 and 50 more classes." in said
    assert "n = 247 (40 c00, 3 c01, " in said
    assert ", 3 c11, and 58 other classes)" in said
    assert "c19 3 and 50 more classes." in " ".join(
        call(capsys, "show", "many.model.json").out.split()
    )


def test_columns_of_weight_0_are_left_out(here, capsys):
    told = call(
        capsys,
        "fit",
        "people.csv",
        "-t",
        "buys",
        *QUICK,
        "--column-weights",
        "zip=0, hours=0,age=1",
    )
    assert told.code == 0
    assert "  zip: weight 0\n" in told.out
    assert "  hours: weight 0\n" in told.out
    assert "  age: " not in told.out
    model = load_model("people.model.json")
    assert model.column_weights == {"zip": 0.0, "hours": 0.0, "age": 1.0}
    kinds = {column.name: column.kind for column in model.encoder_.schema_}
    assert kinds["zip"] == kinds["hours"] == "unused"
    dropped = call(capsys, "fit", "people.csv", "-t", "buys", *QUICK, "--drop", "zip,hours")
    assert load_model("people.model.json").tree_ == model.tree_
    # As the same tree in the same words, from "The tree" on.
    assert (
        told.out.split("The tree")[1].split("tests")[0]
        == (dropped.out.split("The tree")[1].split("tests")[0])
    )
    # Predictions do not need the columns that are left out.
    people().drop(columns=["zip", "hours"]).to_csv("few.csv", index=False)
    assert call(capsys, "predict", "people.model.json", "few.csv").code == 0


def test_columns_of_weight_0_of_a_matrix_without_an_encoder(here, capsys):
    X, y = noisy()
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    classifier(encoder=None, column_weights={"c2": 0}).fit(frame, y).save("matrix.json")
    told = call(capsys, "show", "matrix.json")
    lines = [line.split() for line in told.out.splitlines()]
    assert ["c1", "0", "or", "1"] in lines
    assert ["c2", "weight", "0"] in lines


def test_the_prior_on_the_command_line_is_that_of_the_library(here, capsys):
    options = ["--split-prior", "columns", "--column-weights", "age=2,id=0"]
    told = call(capsys, "fit", "people.csv", "-t", "buys", *QUICK, *options)
    assert told.code == 0
    model = load_model("people.model.json")
    assert (model.split_prior, model.column_weights) == ("columns", {"age": 2.0, "id": 0.0})
    X = people().drop(columns="buys")
    X["joined"] = X["joined"].dt.date
    answers, y = model.encoder_.transform(X), people()["buys"]
    score = log_posterior(model.tree_, answers, y, test_weights=model.test_weights_)
    assert score == pytest.approx(model.certificate_.log_posterior, abs=1e-6)
    equal = log_posterior(model.tree_, answers, y)
    assert abs(equal - score) > 0.1
    call(capsys, "report", "people.model.json")
    page = (here / "people.html").read_text(encoding="utf-8")
    assert "thresholds from coarse to fine, times weights of columns: id 0, age 2." in page


def test_max_thresholds(here, capsys):
    told = call(capsys, "fit", "people.csv", "-t", "buys", *QUICK, "--max-thresholds", "2")
    assert told.code == 0
    few = load_model("people.model.json")
    assert few.encoder.max_thresholds == 2
    assert all(len(column.thresholds) <= 2 for column in few.encoder_.schema_)
    call(capsys, "fit", "people.csv", "-t", "buys", *QUICK, "--max-thresholds", "32")
    assert load_model("people.model.json").encoder == "auto"
    told = call(capsys, "fit", "people.csv", "-t", "buys", *QUICK, "--max-thresholds", "all")
    assert "by quantile" not in told.out
    every = load_model("people.model.json")
    n_thresholds = sum(len(column.thresholds) for column in every.encoder_.schema_)
    assert f"tree over all {n_thresholds:,} thresholds of" in " ".join(told.out.split())
    assert every.encoder.max_thresholds is None
    hours = people()["hours"]
    schema = {column.name: column for column in every.encoder_.schema_}
    assert len(schema["hours"].thresholds) == len(hours.dropna().unique()) - 1


def test_category_sets(here, capsys):
    towns = [f"town {i % 40:02d}" for i in range(1200)]
    buys = ["no" if int(town[-2:]) % 2 else "yes" for town in towns]
    rows = pd.DataFrame({"town": towns, "buys": buys})
    rows.loc[::10, "buys"] = "no"
    rows.to_csv("towns.csv", index=False)
    told = call(capsys, "fit", "towns.csv", "-t", "buys", *QUICK, "--category-sets")
    assert "town in a set of 16 (town " in told.out
    assert "town: 40 categories, tested in sets of 2 groups learnt from the labels" in " ".join(
        told.out.split()
    )
    model = load_model("towns.model.json")
    assert (model.encoder.category_sets, model.encoder_.schema_[0].kind) == (True, "sets")
    rows.assign(town="Nowhere").drop(columns="buys").to_csv("new.csv", index=False)
    assert call(capsys, "predict", "towns.model.json", "new.csv").code == 0
    told = call(capsys, "fit", "towns.csv", "-t", "buys", *QUICK)
    assert "a set of" not in told.out
    model = load_model("towns.model.json")
    assert model.encoder == "auto"
    assert model.encoder_.schema_[0].kind == "category"


def test_json_names_the_prior(here, capsys):
    arguments = ["--column-weights", "zip=0", "--column-weights", "hours=0", "--alpha", ".9"]
    told = call(capsys, "fit", "people.csv", "-t", "buys", *QUICK, *arguments, "--json")
    document = json.loads(told.out)
    assert {"name": "zip", "reason": "weight 0"} in document["left_out"]
    assert document["model"]["prior"] == {
        "alpha": 0.9,
        "beta": 0.5,
        "rho": [2.5, 2.5],
        "split_prior": "columns",
        "column_weights": {"hours": 0.0, "zip": 0.0},
    }
    told = call(capsys, "show", "people.model.json", "--json")
    assert json.loads(told.out)["model"]["prior"] == document["model"]["prior"]


def test_a_first_column_without_a_name_is_used_if_it_has_a_weight(here, capsys):
    people().reset_index(drop=True).to_csv("indexed.csv")
    told = call(capsys, "fit", "indexed.csv", "-t", "buys", *QUICK)
    assert "column_1: no name in the header" in told.out
    told = call(
        capsys, "fit", "indexed.csv", "-t", "buys", *QUICK, "--column-weights", "column_1=0"
    )
    assert "column_1: weight 0" in told.out
    told = call(
        capsys, "fit", "indexed.csv", "-t", "buys", *QUICK, "--column-weights", "column_1=1"
    )
    assert "column_1: no name in the header" not in told.out


def test_why_there_is_one_leaf_only(here, capsys):
    (here / "chance.csv").write_text("x,y\n" + "1,a\n1,b\n2,a\n2,b\n" * 5)
    for options, words in (
        ([], "A single leaf: no test is worth a split."),
        (["--max-depth", "0"], "A single leaf: the depth is limited to 0."),
        (["--min-samples-leaf", "9"], "no tree with at least 9 rows in every leaf is more"),
    ):
        told = call(capsys, "fit", "chance.csv", "-t", "y", "--alpha", ".1", *options)
        assert words in " ".join(told.out.split())
    told = call(capsys, "show", "chance.model.json")
    assert "with at least 9 rows in every leaf, is more" in " ".join(told.out.split())
    fitted = load_model("chance.model.json").fitted_
    cut_short = replace(fitted.certificate, status="interrupted", optimal=False)
    assert (
        size_sentence(replace(fitted, certificate=cut_short))
        == "A single leaf: the search ended before it found a better tree."
    )


def test_parameters_reach_the_classifier(here, capsys):
    options = "--alpha .9 --beta 1 --rho 1,2 --max-depth 2 --min-samples-leaf 5 --jobs 2"
    told = call(
        capsys, "fit", "people.csv", "-t", "buys", *options.split(), "--memory-limit", "1GiB",
        "--time-limit", "900", "--max-expansions", "40", "--patience", "8", "-m", "other.json",
    )  # fmt: skip
    assert told.code == 0
    model = load_model("other.json")
    expected = {
        "alpha": 0.9, "beta": 1.0, "rho": [1.0, 2.0], "max_depth": 2, "min_samples_leaf": 5,
        "n_jobs": 2, "memory_limit": "1GiB", "time_limit": 900.0, "max_expansions": 40,
        "patience": 8.0,
    }  # fmt: skip
    assert {name: model.get_params()[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("options", "of_tree", "of_folds"),
    [([], None, 4.0), (["--patience", "2"], 2.0, 2.0), (["--patience", "None"], None, None)],
)
def test_folds_are_less_patient(here, capsys, monkeypatch, options, of_tree, of_folds):
    seen = []
    real = MAPTreeClassifier.fit

    def fit(self, X, y):
        seen.append(self.patience)
        return real(self, X, y)

    monkeypatch.setattr(MAPTreeClassifier, "fit", fit)
    told = call(capsys, "fit", "people.csv", "-t", "buys", *QUICK, "--cv", "3", *options)
    assert told.code == 0
    assert seen == [of_tree, *[of_folds] * 3]
    assert load_model("people.model.json").patience == of_tree


def test_rows_without_a_target_are_left_out(here, capsys):
    frame = people()
    frame.loc[[3, 5, 7], "buys"] = "NA"
    write_text(frame, here / "some.csv")
    told = call(capsys, "fit", "some.csv", "-t", "buys", *QUICK)
    assert "3 rows without a target were left out." in told.out
    assert load_model("some.model.json").training_.rows == 197


def test_many_numbers_as_a_target_get_a_note(here, capsys):
    delays = [""] + [f"{k % 101 - 20}.0" for k in range(5050)]
    lines = [f"{k % 2},{delay}" for k, delay in enumerate(delays)]
    (here / "delays.csv").write_text("\n".join(["late,delay", *lines]) + "\n")
    classes = ["delays.csv", "-t", "delay", "--task", "classes", *QUICK]
    said = " ".join(call(capsys, "fit", *classes).out.split())
    note = "101 different numbers, from -20.0 to 80.0. Each is a class of its own, without order"
    assert f"delay has {note}: if they are measurements, pass --task number." in said
    told = call(capsys, "fit", *classes, "--json")
    assert json.loads(told.out)["notes"][0].startswith(f"delay: {note}")
    said = call(capsys, "fit", "delays.csv", "-t", "delay", "--positive", "80.0", *QUICK).out
    assert "different numbers" not in said


def test_a_column_that_counts_the_rows_is_left_out(here, capsys):
    frame = people().sort_values("buys")
    write_text(frame.reset_index(drop=True), here / "indexed.csv", index=True)
    told = call(capsys, "fit", "indexed.csv", "-t", "buys", *QUICK)
    assert "column_1: no name in the header, and it only numbers the rows" in told.out
    assert "column_1" not in load_model("indexed.model.json").feature_names_in_


@pytest.mark.parametrize("label", [["0", "1"], ["false", "true"], ["1.0", "2.0"], ["no", "yes"]])
def test_labels_come_out_as_they_went_in(here, capsys, label):
    frame = people()
    frame["buys"] = np.where(frame["buys"] == "yes", label[1], label[0])
    write_text(frame, here / "labels.csv")
    assert call(capsys, "fit", "labels.csv", "-t", "buys", *QUICK).code == 0
    told = call(capsys, "predict", "labels.model.json", "labels.csv")
    predicted = pd.read_csv(io.StringIO(told.out), dtype=str)["prediction"]
    assert set(predicted.str.lower()) == set(label)
    told = call(capsys, "score", "labels.model.json", "labels.csv", "--json")
    assert json.loads(told.out)["unknown"] == 0
    right = (predicted.str.lower() == frame["buys"]).mean()
    assert json.loads(told.out)["accuracy"] == pytest.approx(right)


@pytest.mark.parametrize(
    ("classes", "labels", "unknown"),
    [
        (["1.0", "2.0"], ["1", "2"], 0),
        (["1", "2"], ["1.0", "2.00"], 0),
        (["1.0", "2.5"], ["1", "2.50"], 0),
        (["01067", "10115"], ["1067", "10115"], 1),
        (["1.0", "x"], ["1", "x"], 1),
    ],
)
def test_numbers_are_the_same_classes_however_they_are_written(here, classes, labels, unknown):
    (here / "fit.csv").write_text("y\n" + "\n".join(classes * 2))
    (here / "new.csv").write_text("y\n" + "\n".join(labels))
    fitted_on = read_target(read_source("fit.csv", None, Dialect()), "y").labels
    source = read_source("new.csv", None, Dialect())
    codes, n_unknown = known_labels(source, "y", np.unique(fitted_on))
    assert n_unknown == unknown
    assert codes.tolist() == [-1 if unknown else 0, 1]


def test_one_class_against_the_others(here, capsys):
    told = call(capsys, "fit", "people.csv", "-t", "city", "--positive", "Oslo", *QUICK)
    assert told.code == 0
    assert load_model("people.model.json").classes_.tolist() == ["Oslo", "not Oslo"]
    told = call(capsys, "score", "people.model.json", "people.csv", "--json")
    document = json.loads(told.out)
    assert document["unknown"] == 0
    assert document["rows"] == 200


@pytest.mark.parametrize("how", [["--test-fraction", "0.3"], ["--cv", "3"]])
def test_held_out_scores(here, capsys, how):
    told = call(capsys, "fit", "people.csv", "-t", "buys", *QUICK, *how, "--seed", "4")
    assert told.code == 0
    assert "Accuracy 0." in told.out
    assert "Calibration" in told.out
    assert widest(told.out) <= 80
    training = load_model("people.model.json").training_
    fraction = how[0] == "--test-fraction"
    assert training.rows == (140 if fraction else 200)
    assert training.held_out.rows == (60 if fraction else 200)
    assert 0.7 < training.held_out.accuracy <= 1
    assert "seed 4" in training.held_out.method
    again = call(capsys, "fit", "people.csv", "-t", "buys", *QUICK, *how, "--seed", "4")
    assert load_model("people.model.json").training_.held_out == training.held_out
    # But for the seconds, which differ.
    tails = [
        [line for line in out.splitlines()[-12:] if " s, " not in line]
        for out in (told.out, again.out)
    ]
    assert tails[0] == tails[1]


def test_held_out_rows_of_a_rare_class(here, capsys):
    frame = people()
    frame.loc[0, "buys"] = "maybe"
    write_text(frame, here / "rare.csv")
    for how in (["--cv", "4"], ["--test-fraction", "0.2"], ["--cv", "200"]):
        told = call(capsys, "fit", "rare.csv", "-t", "buys", "--max-expansions", "1", *how)
        assert told.code == 0
    told = call(capsys, "fit", "rare.csv", "-t", "buys", "--cv", "201")
    assert told.code == 1
    assert "there are only 200 rows" in told.err


def test_scores_are_what_scikit_learn_says():
    from sklearn.metrics import accuracy_score, confusion_matrix, log_loss

    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 500)
    probabilities = rng.dirichlet([1, 2, 3], 500)
    scores = score(probabilities, labels)
    predicted = probabilities.argmax(axis=1)
    assert scores.accuracy == accuracy_score(labels, predicted)
    assert scores.log_loss == pytest.approx(log_loss(labels, probabilities))
    np.testing.assert_array_equal(scores.confusion[:3], confusion_matrix(labels, predicted))
    confidence, right = probabilities.max(axis=1), predicted == labels
    bins = pd.cut(confidence, np.linspace(0, 1, 11), right=False)
    frame = pd.DataFrame({"bin": bins, "p": confidence, "right": right})
    error = sum(
        len(part) * abs(part["p"].mean() - part["right"].mean())
        for _, part in frame.groupby("bin", observed=True)
    )
    assert scores.calibration_error == pytest.approx(error / 500)
    assert sum(b.rows for b in scores.bins) == 500
    unknown = score(probabilities, np.where(labels == 2, -1, labels))
    assert unknown.unknown == (labels == 2).sum()
    known = labels != 2
    given = probabilities[known, labels[known]]
    assert unknown.log_loss == pytest.approx(-np.log(given).mean())
