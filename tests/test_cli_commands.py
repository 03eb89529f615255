"""The commands: what they write, what they say, and what they refuse."""

from __future__ import annotations

import io
import json
import os
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from command import QUICK, call, people, widest, write_text
from maptree import MAPTreeClassifier, load_model
from maptree.cli.app import make_app
from maptree.cli.delimited import Dialect
from maptree.cli.files import read_source
from maptree.cli.screen import shown
from maptree.cli.target import known_labels, read_target
from maptree.cli.words import size_words
from maptree.scoring import score
from samples import noisy


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a table, where the commands run."""
    monkeypatch.chdir(tmp_path)
    write_text(people(), tmp_path / "people.csv")
    return tmp_path


@pytest.fixture
def fitted(here, capsys):
    """The same, with a model."""
    assert call(capsys, "fit", "people.csv", "-t", "buys", *QUICK).code == 0
    return here


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
        "the limit on expansions ended it",
        "No rows were held out",
        "Model written to people.model.json.",
    ):
        assert part in told.out
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


def test_why_there_is_one_leaf_only(here, capsys):
    (here / "chance.csv").write_text("x,y\n" + "1,a\n1,b\n2,a\n2,b\n" * 5)
    for options, words in (
        ([], "A single leaf: no test is worth a split."),
        (["--max-depth", "0"], "A single leaf: no tree is more probable with --max-depth 0."),
        (["--min-samples-leaf", "9"], "no tree is more probable with --min-samples-leaf 9."),
    ):
        told = call(capsys, "fit", "chance.csv", "-t", "y", "--alpha", ".1", *options)
        assert words in told.out
        constraint = f"with {' '.join(options)} is" if options else "tests is"
        assert f"{constraint} more probable" in " ".join(told.out.split())
    told = call(capsys, "show", "chance.model.json")
    assert "with --min-samples-leaf 9 is more" in " ".join(told.out.split())
    model = load_model("chance.model.json")
    model.certificate_ = replace(model.certificate_, status="interrupted", optimal=False)
    assert size_words(model) == "A single leaf: the search ended before it found a better tree."


def test_parameters_reach_the_classifier(here, capsys):
    options = "--alpha .9 --beta 1 --rho 1,2 --max-depth 2 --min-samples-leaf 5 --jobs 2"
    told = call(
        capsys, "fit", "people.csv", "-t", "buys", *options.split(), "--memory-limit", "1GiB",
        "--time-limit", "2", "-m", "other.json",
    )  # fmt: skip
    assert told.code == 0
    model = load_model("other.json")
    expected = {
        "alpha": 0.9, "beta": 1.0, "rho": [1.0, 2.0], "max_depth": 2, "min_samples_leaf": 5,
        "n_jobs": 2, "memory_limit": "1GiB", "time_limit": 2.0, "max_expansions": None,
    }  # fmt: skip
    assert {name: model.get_params()[name] for name in expected} == expected


def test_rows_without_a_target_are_left_out(here, capsys):
    frame = people()
    frame.loc[[3, 5, 7], "buys"] = "NA"
    write_text(frame, here / "some.csv")
    told = call(capsys, "fit", "some.csv", "-t", "buys", *QUICK)
    assert "3 rows without a target are left out." in told.out
    assert load_model("some.model.json").training_.rows == 197


def test_decimal_commas_are_pointed_out(here, capsys):
    rows = "".join(f'"{k},5";{k};"a,{k}";{"ny"[k % 2]}\n' for k in range(40))
    (here / "commas.csv").write_text("price;whole;text;y\n" + rows)
    told = call(capsys, "fit", "commas.csv", "-t", "y", *QUICK)
    assert told.code == 0
    said = " ".join(told.err.split())
    assert said.startswith("Note: 'price' looks like decimal commas, and every number is read as")
    assert "pass --decimal ," in said
    told = call(capsys, "fit", "commas.csv", "-t", "y", *QUICK, "--json")
    assert told.err == ""
    assert "'price' looks like decimal commas" in json.loads(told.out)["notes"][0]
    told = call(capsys, "fit", "commas.csv", "-t", "y", *QUICK, "--decimal", ",")
    assert told.err == ""
    assert call(capsys, "fit", "people.csv", "-t", "buys", *QUICK).err == ""


def test_a_column_that_counts_the_rows_is_left_out(here, capsys):
    frame = people().sort_values("buys")
    write_text(frame.reset_index(drop=True), here / "indexed.csv", index=True)
    told = call(capsys, "fit", "indexed.csv", "-t", "buys", *QUICK)
    assert "column_1: no name in the header, and it only counts the rows" in told.out
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
    assert "there are 200 rows" in told.err


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


# predict


def test_predictions_are_the_models(fitted, capsys):
    model, frame = load_model("people.model.json"), people()
    X = frame[model.feature_names_in_].assign(age=frame["age"].astype("Int64"))
    told = call(
        capsys, "predict", "people.model.json", "people.csv", "--proba", "--interval", "--explain",
        "--keep", "id", "--keep", "zip",
    )  # fmt: skip
    assert told.code == 0
    assert told.err == ""
    table = pd.read_csv(io.StringIO(told.out), dtype={"zip": str})
    assert list(table) == [
        "id", "zip", "prediction", "probability_no", "probability_yes",
        "low_no", "high_no", "low_yes", "high_yes", "rule",
    ]  # fmt: skip
    assert table["id"].tolist() == frame["id"].tolist()
    assert table["zip"].tolist() == frame["zip"].tolist()
    assert table["prediction"].tolist() == model.predict(X).tolist()
    proba = table[["probability_no", "probability_yes"]].to_numpy()
    np.testing.assert_array_equal(proba, model.predict_proba(X))
    ends = table[["low_no", "high_no", "low_yes", "high_yes"]].to_numpy().reshape(-1, 2, 2)
    np.testing.assert_array_equal(ends, model.predict_interval(X))
    assert set(table["rule"]) == set(model.rules())
    counts = table["rule"].value_counts()
    assert all(rule.endswith(f"n = {n}") for rule, n in counts.items())


def test_a_rule_is_true_of_a_row_with_a_hole(here, capsys):
    frame = pd.DataFrame({"b": [1, 2, 3, 4] * 10, "y": ["no", "no", "yes", "yes"] * 10})
    write_text(frame, here / "b.csv")
    assert call(capsys, "fit", "b.csv", "-t", "y", *QUICK).code == 0
    (here / "new.csv").write_text("a,b\n1,4\n2,\n", encoding="utf-8")
    told = call(capsys, "predict", "b.model.json", "new.csv", "--explain")
    rules = pd.read_csv(io.StringIO(told.out))["rule"].str.partition("  ->  ")
    assert rules[0].tolist() == ["b > 2.5", "b > 2.5 or missing"]
    assert rules[2].nunique() == 1


def test_intervals_of_the_prediction_alone(fitted, capsys):
    told = call(capsys, "predict", "people.model.json", "people.csv", "--interval", "--level", ".5")
    table = pd.read_csv(io.StringIO(told.out))
    assert list(table) == ["prediction", "probability", "low", "high"]
    assert ((table["low"] < table["probability"]) & (table["probability"] < table["high"])).all()


def test_a_level_needs_an_interval(fitted, capsys):
    told = call(capsys, "predict", "people.model.json", "people.csv", "--level", ".5")
    assert (told.code, told.out) == (2, "")
    assert "pass --interval, too" in told.err


@pytest.mark.parametrize("name", ["o.csv", "o.tsv", "o.parquet", "o.feather", "o.jsonl"])
def test_predictions_in_every_format(fitted, capsys, name):
    told = call(capsys, "predict", "people.model.json", "people.csv", "--keep", "id", "-o", name)
    assert told.code == 0
    assert told.out == ""
    assert told.err == f"200 predictions written to {name}.\n"
    path = fitted / name
    read = {
        ".csv": pd.read_csv,
        ".tsv": lambda file: pd.read_csv(file, sep="\t"),
        ".parquet": pd.read_parquet,
        ".feather": pd.read_feather,
        ".jsonl": lambda file: pd.read_json(file, lines=True),
    }[path.suffix]
    table = read(path)
    assert list(table) == ["id", "prediction"]
    assert len(table) == 200
    assert sorted(p.name for p in fitted.iterdir()) == sorted(
        [name, "people.csv", "people.model.json"]
    )


def test_predictions_do_not_replace_what_they_are_made_of(fitted, capsys):
    (fitted / "link.csv").symlink_to("people.csv")
    os.link("people.model.json", "same.csv")
    for output, replaced in (
        ("people.csv", "people.csv"),
        ("./link.csv", "people.csv"),
        ("same.csv", "people.model.json"),
    ):
        before = (fitted / replaced).read_bytes()
        told = call(capsys, "predict", "people.model.json", "people.csv", "-o", output)
        assert told.code == 2
        assert f"--output {output} would replace {replaced}: name another" in told.err
        assert (fitted / replaced).read_bytes() == before


def test_only_columns_that_the_tree_asks_about_are_needed(fitted, capsys):
    (fitted / "new.csv").write_text("extra,age,zip\n1,30,10115\n2,,?\n3,70,\n")
    model = load_model("people.model.json")
    asked = {model.encoder_.schema_[j].name for j in np.flatnonzero(model.feature_importances_)}
    assert asked == {"age"}
    told = call(capsys, "predict", "people.model.json", "new.csv")
    assert told.code == 0
    assert told.out.split() == ["prediction", "no", *told.out.split()[2:3], "yes"]


def test_columns_that_lack_or_are_renamed(fitted, capsys):
    (fitted / "new.csv").write_text("Age,town\n30,Oslo\n")
    told = call(capsys, "predict", "people.model.json", "new.csv")
    assert told.code == 1
    said = " ".join(told.err.split())
    assert "lacks the column 'age', which the tree asks about. Did you mean 'Age'?" in said


def test_models_without_names_or_encoder(here, capsys):
    X, y = noisy(n_columns=4)
    MAPTreeClassifier(encoder=None).fit(X, y).save("plain.json")
    MAPTreeClassifier(encoder=None).fit(pd.DataFrame(X, columns=list("abcd")), y).save("named.json")
    pd.DataFrame(X, columns=list("abcd")).assign(y=y).to_csv("bits.csv", index=False)
    pd.DataFrame(X).to_csv("bare.csv", index=False)
    one = call(capsys, "predict", "plain.json", "bare.csv")
    other = call(capsys, "predict", "named.json", "bits.csv")
    assert one.code == other.code == 0
    assert one.out == other.out
    told = call(capsys, "predict", "plain.json", "bits.csv")
    assert told.code == 1
    assert "fitted on 4 columns without names, and bits.csv has 5" in told.err
    assert call(capsys, "show", "named.json").code == 0
    told = call(capsys, "score", "named.json", "bits.csv")
    assert told.code == 2
    assert "pass --target" in told.err
    assert call(capsys, "score", "named.json", "bits.csv", "-t", "y").code == 0


# show, score, demo


def test_show(fitted, capsys):
    told = call(capsys, "show", "people.model.json")
    assert told.code == 0
    assert widest(told.out) <= 80
    model = load_model("people.model.json")
    for part in (model.export_text().splitlines()[0][:40], "Rules", "Certificate", "Columns"):
        assert part in told.out
    document = json.loads(call(capsys, "show", "people.model.json", "--json").out)
    assert document["model"]["tree"]["rules"] == model.rules()
    assert document["model"]["certificate"]["status"] == "expansion_limit"


def test_names_that_command_a_terminal(here, capsys):
    frame = people()
    frame["buys"] = frame["buys"] + "\033[2J"
    frame = frame.rename(columns={"age": "age\033]0;title\a", "country": "land\u202e\nfaked: line"})
    frame.to_csv("odd.csv", index=False)
    for arguments in (
        ["fit", "odd.csv", "-t", "buys", *QUICK],
        ["show", "odd.model.json"],
        ["score", "odd.model.json", "odd.csv"],
        ["predict", "odd.model.json", "people.csv"],
    ):
        told = call(capsys, *arguments)
        said = told.out + told.err
        assert all(c.isprintable() for c in said.replace("\n", ""))
        assert r"\x1b" in said
        assert "\nfaked" not in said
    assert shown("Köln\u00a0東京 👍") == "Köln\u00a0東京 👍"


def test_wide_tables(here, capsys):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 9, (60, 300))
    y = np.where(x[:, 250] > 4, "yes", "no")
    frame = pd.DataFrame(x, columns=[f"x{j}" for j in range(300)])
    constants = {f"c{j}": 1 for j in range(2000)} | {f"d{j}": j for j in range(40)}
    frame = pd.concat([frame, pd.DataFrame(constants, index=range(60))], axis=1)
    frame.assign(y=y).to_csv("wide.csv", index=False)
    told = call(capsys, "fit", "wide.csv", "-t", "y", *QUICK, "--drop", "x0")
    assert "  x0: dropped\n" in told.out
    assert "  2,001 columns, such as 'c0': every value is 1" in told.out
    assert "  and 20 more, which --json lists\n" in told.out
    assert len(told.out.splitlines()) < 50
    told = call(capsys, "show", "wide.model.json")
    assert "\nx250 " in told.out
    assert "\nand 279 more, which the tree does not ask about\n" in told.out
    assert "2,001 columns, such as 'c0'" in told.out
    assert len(told.out.splitlines()) < 80
    X, y = rng.integers(0, 2, (40, 500)), rng.integers(0, 2, 40)
    MAPTreeClassifier(encoder=None, max_expansions=5).fit(X, y).save("bits.json")
    assert len(call(capsys, "show", "bits.json").out.splitlines()) < 60


def test_columns_that_there_was_no_time_to_read(here, capsys):
    frame = pd.DataFrame(np.random.default_rng(0).random((50, 80)))
    frame.assign(y=["no", "yes"] * 25).to_csv("wide.csv", index=False)
    told = call(capsys, "fit", "wide.csv", "-t", "y", "--time-limit", "1e-6")
    assert told.code == 0
    assert "  79 columns, such as '1': no time to read it; raise --time-limit" in told.out
    said = " ".join(told.out.split("Certificate")[1].split())
    assert "no time to read 79 of 80 columns, so the tree cannot ask about them" in said
    told = call(capsys, "show", "wide.model.json")
    assert "79 columns, such as '1': no time to read it" in told.out
    assert "no time to read 79 of 80 columns" in told.out


def test_score(fitted, capsys):
    told = call(capsys, "score", "people.model.json", "people.csv")
    assert told.code == 0
    assert widest(told.out) <= 80
    assert "Confusion" in told.out
    frame = people()
    frame.loc[:9, "buys"] = "perhaps"
    frame.loc[10:14, "buys"] = ""
    write_text(frame, fitted / "odd.csv")
    told = call(capsys, "score", "people.model.json", "odd.csv")
    assert "10 rows have a class that the model does not know" in told.out
    assert "5 rows without a target are left out" in told.out
    told = call(capsys, "score", "people.model.json", "people.csv", "-t", "city")
    assert told.code == 1
    assert "no row has a class of the model" in told.err


def test_many_classes_fit_the_screen(here, capsys):
    rng = np.random.default_rng(0)
    kinds = [f"a rather long name of kind {k}" for k in range(12)]
    frame = pd.DataFrame({"x": rng.random(600), "kind": rng.choice(kinds, 600)})
    frame.to_csv("kinds.csv", index=False)
    told = call(capsys, "fit", "kinds.csv", "-t", "kind", *QUICK, "--test-fraction", ".5")
    assert told.code == 0
    assert widest(told.out) <= 80
    told = call(capsys, "score", "kinds.model.json", "kinds.csv")
    assert "most frequent confusions" in told.out
    assert widest(told.out) <= 80


def test_demo(here, capsys):
    told = call(capsys, "demo", "--model", "tic.json")
    assert told.code == 0
    assert "Proved: no tree over these tests is more probable" in told.out
    assert widest(told.out) <= 80
    assert load_model("tic.json").certificate_.log_posterior == pytest.approx(-300.9038, abs=1e-4)


# JSON


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "people.csv", "-t", "buys", *QUICK, "--cv", "2"],
        ["fit", "people.csv", "-t", "buys", *QUICK, "--test-fraction", ".2"],
        ["predict", "people.model.json", "people.csv", "--proba"],
        ["predict", "people.model.json", "people.csv", "-o", "out.csv"],
        ["score", "people.model.json", "people.csv"],
        ["show", "people.model.json"],
    ],
)
def test_one_json_document(fitted, capsys, arguments):
    told = call(capsys, *arguments, "--json")
    assert told.code == 0
    assert told.err == ""
    document = json.loads(told.out)
    assert document["command"] == arguments[0]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["fit", "nowhere.csv", "-t", "y"], 1),
        (["fit", "people.csv", "-t", "nothing"], 1),
        (["fit", "people.csv"], 2),
        (["fit", "people.csv", "-t", "buys", "--alpha", "7"], 2),
        (["show", "people.csv"], 1),
        (["dance"], 2),
    ],
)
def test_errors_are_one_json_document_too(here, capsys, arguments, code):
    told = call(capsys, *arguments, "--json")
    assert told.code == code
    assert told.err == ""
    error = json.loads(told.out)["error"]
    assert error["code"] == code
    assert error["message"]


# Mistakes


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ("-t Buys", 1, "no column 'Buys'. Did you mean 'buys'?"),
        ("-t income", 1, "no column 'income'. There are: 'id', 'age'"),
        ("-t age", 1, "looks like a measurement"),
        ("-t hours", 1, "looks like a measurement"),
        ("-t id", 1, "200 classes in 200 rows"),
        ("-t country", 1, "one class only, 'DE'"),
        ("-t buys --drop nothing", 1, "no column 'nothing'"),
        ("-t buys --drop id,age,hours,city,zip,joined,member,country", 1, "no column beside"),
        ("-t buys --positive Yes", 1, "Did you mean 'yes'?"),
        ("-t buys --test-fraction 0.001", 1, "leaves none"),
        ("-t buys --test-fraction 1.5", 2, "no part of the rows"),
        ("-t buys --cv 1", 2, "pass 2 folds or more"),
        ("-t buys --cv x", 2, "--cv"),
        ("-t buys --cv 3 --test-fraction .2", 2, "exclude each other"),
        ("-t buys --time-limit soon", 2, "--time-limit soon"),
        ("-t buys --time-limit 0", 2, "--time-limit 0"),
        ("-t buys --memory-limit lots", 2, "--memory-limit 'lots'"),
        ("-t buys --rho a,b", 2, "--rho a,b"),
        ("-t buys --rho -1", 2, "--rho -1 is out of range: pass a number from 1e-9 to 1e8, or"),
        ("-t buys --rho 1,nan", 2, "--rho 1,nan is out of range"),
        ("-t buys --alpha 2", 2, "--alpha 2.0 is out of range: pass a number above 0"),
        ("-t buys --drop id,buys", 2, "--drop buys is the target: drop other columns"),
        ("-t buys --time-limit -1", 2, "--time-limit -1.0 leaves no time: pass seconds, a number"),
        ("-t buys --time-limit inf", 2, "or none to search until the tree is proved"),
        ("-t buys --memory-limit 0MB", 2, "no memory at all: pass a size such as 4GiB or 500MB."),
        ("-t buys --max-expansions 0", 2, "pass a whole number of at least 1"),
        ("-t buys --rho 1,2,3", 1, "rho has 3 values but there are 2 classes"),
        ("-t buys --jobs 0", 2, "--jobs 0 runs nothing: pass a number of threads, or -1 for all"),
        ("-t buys --max-depth -1", 2, "--max-depth -1"),
        ("-t buys --seed -1", 2, "--seed -1"),
        ("-t buys --model people.csv", 1, "is no model file"),
        ("-t buys --model .", 1, "is a folder"),
        ("-t buys --model nowhere/m.json", 1, "there is no folder"),
        ("-t buys --format xml", 2, "--format xml"),
        ("-t buys --delimiter ab", 2, "--delimiter ab"),
        ("-t buys --decimal x", 2, "--decimal x"),
        ("--target", 2, "--target"),
        ("", 2, "--target"),
        ("-t buys --colour red", 2, "--colour"),
    ],
)
def test_mistakes(here, capsys, options, code, message):
    before = (here / "people.csv").read_bytes()
    told = call(capsys, "fit", "people.csv", *options.split())
    assert told.code == code
    assert message in " ".join(told.err.split())
    assert told.out == ""
    assert widest(told.err) <= 80
    for word in ("Traceback", "None", "classes_", "n_jobs", "an int "):
        assert word not in told.err
    assert [p.name for p in here.iterdir()] == ["people.csv"]
    assert (here / "people.csv").read_bytes() == before


def test_labels_that_all_lack(here, capsys):
    (here / "t.csv").write_text("a,b\n1,\n2,NA\n")
    told = call(capsys, "fit", "t.csv", "-t", "b")
    assert told.code == 1
    assert "missing in every row" in told.err


def test_ctrl_c_outside_of_the_search(here, capsys, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("maptree.cli.files.read_source", interrupt)
    told = call(capsys, "fit", "people.csv", "-t", "buys")
    assert (told.code, told.out, told.err) == (130, "", "maptree: Interrupted.\n")
    told = call(capsys, "fit", "people.csv", "-t", "buys", "--json")
    assert (told.code, told.err) == (130, "")
    assert json.loads(told.out) == {"error": {"code": 130, "message": "Interrupted."}}


def test_a_fault_asks_for_a_report(here, capsys, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("the moon is in the way")

    monkeypatch.setattr("maptree.cli.files.read_source", fail)
    told = call(capsys, "fit", "people.csv", "-t", "buys")
    assert told.code == 4
    assert "RuntimeError: the moon is in the way" in told.err
    assert "Please report it" in " ".join(told.err.split())


def test_every_command_has_an_example_in_its_help(capsys):
    names = [command.name for command in make_app().registered_commands]
    assert names == ["fit", "predict", "score", "show", "report", "export", "demo"]
    for name in names:
        told = call(capsys, name, "--help")
        assert told.code == 0
        assert f"maptree {name}" in told.out.split("Example:")[1]
        assert widest(told.out) <= 80
    told = call(capsys, "--help")
    for code in ("0 done", "1 a file", "2 wrong options", "3 a package", "130 stopped", "141 the"):
        assert code in " ".join(told.out.split())


def test_version(capsys):
    import maptree

    assert call(capsys, "--version").out == f"maptree {maptree.__version__}\n"
