"""--costs, --positive and --thresholds; baselines of held-out rows."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score

from command import QUICK, call, people, widest, write_text
from maptree import load_model
from maptree.cli.deciding import parse_costs, read_deciding
from maptree.cli.mistakes import Refusal

MATRIX = [[0, 1], [7, 0]]


def truth(frame=None):
    model, frame = load_model("people.model.json"), people() if frame is None else frame
    X = frame[model.feature_names_in_].assign(age=frame["age"].astype("Int64"))
    return model, X, frame["buys"].to_numpy()


def table_of(costs):
    return np.array(costs, dtype=float)


# score


def test_score_says_what_thresholds_and_costs_do(fitted, capsys):
    model, X, y = truth()
    told = call(capsys, "score", "people.model.json", "people.csv", "--costs", "yes=7")
    assert told.code == 0
    assert widest(told.out) <= 80
    assert "Costs: no as yes 1, yes as no 7." in told.out
    found = model.decisions(X, y, costs=MATRIX)
    for part in found.tables():
        if "\n" in part:
            assert part in told.out
    assert "most frequent class" in told.out


def test_score_for_machines(fitted, capsys):
    model, X, y = truth()
    args = ("score", "people.model.json", "people.csv", "--costs", "yes:no=7", "--json")
    found = json.loads(call(capsys, *args).out)
    p = model.predict_proba(X)[:, 1]
    assert found["roc_auc"] == pytest.approx(roc_auc_score(y == "yes", p))
    assert found["decisions"]["costs"]["matrix"] == MATRIX
    assert found["decisions"]["positive"] == "yes"
    chosen = model.predict(X, costs=MATRIX)
    cost = (7 * ((y == "yes") & (chosen == "no")) + ((y == "no") & (chosen == "yes"))).sum()
    assert found["decisions"]["costs"]["least_expected"] == cost
    marks = {mark: at["cost"] for at in found["decisions"]["thresholds"] for mark in at["marks"]}
    assert marks["costs"] == cost
    assert marks["best"] <= cost
    dummy = DummyClassifier(strategy="prior").fit(X, y)
    (baseline,) = found["baselines"]
    assert baseline["name"] == "most frequent class"
    assert baseline["accuracy"] == pytest.approx(accuracy_score(y, dummy.predict(X)))
    assert baseline["log_loss"] == pytest.approx(log_loss(y, dummy.predict_proba(X)))
    assert baseline["roc_auc"] == 0.5


def test_thresholds_that_are_asked_for(fitted, capsys):
    args = ("--thresholds", "0.2, 0.9", "--positive", "no")
    told = call(capsys, "score", "people.model.json", "people.csv", *args)
    assert "If no is predicted where its probability is at least the threshold" in told.out
    lines = [line.split()[0] for line in told.out.split("\n") if line.strip()]
    first = lines.index("threshold")
    assert lines[first + 1 : first + 3] == ["0.2", "0.9"]


def test_a_class_that_the_file_does_not_have(fitted, capsys):
    frame = people()
    write_text(frame[frame["buys"] == "no"], fitted / "no.csv")
    told = call(capsys, "score", "people.model.json", "no.csv", "--costs", "yes=7")
    assert told.code == 0
    assert "ROC AUC" not in told.out
    assert "yes       0" in told.out


def test_the_positive_class_of_fit_is_that_of_thresholds(here, capsys):
    frame = people()
    frame["buys"] = np.where(np.arange(len(frame)) % 3 == 0, "maybe", frame["buys"])
    write_text(frame, here / "three.csv")
    call(capsys, "fit", "three.csv", "-t", "buys", "--positive", "maybe", *QUICK)
    told = call(capsys, "score", "three.model.json", "three.csv", "--json")
    assert json.loads(told.out)["decisions"]["positive"] == "maybe"


# predict


def test_predict_by_costs(fitted, capsys):
    model, X, _ = truth()
    args = ("predict", "people.model.json", "people.csv", "--costs", "yes=7", "--proba")
    table = pd.read_csv(io.StringIO(call(capsys, *args).out))
    assert table["prediction"].tolist() == model.predict(X, costs=MATRIX).tolist()
    expected = (model.predict_proba(X) @ table_of(MATRIX)).min(axis=1)
    np.testing.assert_allclose(table["expected_cost"], expected)
    told = call(capsys, *args[:-1], "--interval")
    table = pd.read_csv(io.StringIO(told.out))
    k = np.searchsorted(model.classes_, table["prediction"])
    np.testing.assert_array_equal(table["probability"], model.predict_proba(X)[range(len(k)), k])


# report


def test_report_with_costs(fitted, capsys):
    args = ("--data", "people.csv", "--costs", "yes=7", "--positive", "no")
    assert call(capsys, "report", "people.model.json", *args).code == 0
    page = (fitted / "people.html").read_text()
    assert "Costs: no as yes 1, yes as no 7." in page
    assert "If no is predicted where" in page


@pytest.mark.parametrize("option", ["--costs", "--positive"])
def test_report_without_rows_has_no_use_for_costs(fitted, capsys, option):
    told = call(capsys, "report", "people.model.json", option, "yes")
    assert (told.code, told.out) == (2, "")
    assert f"{option} has no effect without --data: pass both." in told.err


# How costs are typed


def test_costs_in_a_file(fitted, capsys):
    (fitted / "costs.csv").write_text("true;yes;no\nyes;0;7\nno;1;0\n", encoding="utf-8")
    args = ("score", "people.model.json", "people.csv", "--json", "--costs")
    found = json.loads(call(capsys, *args, "costs.csv").out)
    assert found["decisions"]["costs"]["matrix"] == MATRIX
    typed = json.loads(call(capsys, *args, "yes:no=7,no=1").out)
    assert typed["decisions"] == found["decisions"]
    twice = json.loads(call(capsys, *args, "yes=7", "--costs", "no=1").out)
    assert twice["decisions"] == found["decisions"]


def test_names_with_commas_colons_and_equals_signs():
    classes = ["a:b", "c, d", "e=f"]
    found = parse_costs(["a:b:c, d=3", "c, d=4", "e=f:a:b=0.5"], classes)
    assert found.tolist() == [[0, 3, 1], [4, 0, 4], [0.5, 1, 0]]
    assert parse_costs(["a:b=2, e=f=5"], classes)[0, 1] == 2


@pytest.mark.parametrize(
    ("costs", "code", "words"),
    [
        ("yess=5", 1, ["no class 'yess'", "Did you mean 'yes'?"]),
        ("yes:never=5", 1, ["no class 'never'", "Choose from 'no', 'yes'"]),
        ("yes=many", 2, ["many is not a number"]),
        ("yes=", 2, ["nothing is not a number"]),
        ("=5", 2, ["Pass CLASS=COST"]),
        ("yes=-5", 2, ["-5 is negative", "at least 0"]),
        ("yes=inf", 2, ["inf is not finite"]),
        ("yes=nan", 2, ["nan is not finite"]),
        ("yes=5,yes=6", 2, ["has yes twice"]),
        ("yes", 2, ["there is no such file", "Pass CLASS=COST"]),
        ("5", 2, ["there is no such file", "Pass CLASS=COST"]),
        ("cost.csv", 1, ["There is no file cost.csv", "Did you mean costs.csv"]),
        ("empty.csv", 1, ["is empty", "names the predicted classes"]),
        ("narrow.csv", 1, ["its first line has no class 'yes'"]),
        ("short.csv", 1, ["its first column has no class 'yes'"]),
        ("twice.csv", 1, ["its first column has 'no' twice"]),
        ("other.csv", 1, ["its first line has 'maybe'", "no such class"]),
        ("ragged.csv", 1, ["the line of 'yes' has 1 costs", "2 classes"]),
        ("words.csv", 2, ["line of 'no', column 'yes'", "one is not a number"]),
        ("minus.csv", 2, ["line of 'yes', column 'no'", "-7 is negative"]),
        ("bytes.csv", 1, ["is not a CSV file"]),
    ],
)
@pytest.mark.parametrize("command", ["score", "predict", "report"])
def test_costs_that_cannot_be_used(fitted, capsys, command, costs, code, words):
    files = {
        "costs": "true,no,yes\nno,0,1\nyes,7,0\n",
        "empty": "",
        "narrow": "true,no\nno,0\nyes,7\n",
        "short": "true,no,yes\nno,0,1\n",
        "twice": "true,no,yes\nno,0,1\nyes,7,0\nno,0,1\n",
        "other": "true,no,maybe\nno,0,1\nyes,7,0\n",
        "ragged": "true,no,yes\nno,0,1\nyes,7\n",
        "words": "true,no,yes\nno,0,one\nyes,7,0\n",
        "minus": "true,no,yes\nno,0,1\nyes,-7,0\n",
    }
    for name, text in files.items():
        (fitted / f"{name}.csv").write_text(text, encoding="utf-8")
    (fitted / "bytes.csv").write_bytes(b"\xff\xfa\x00,\n")
    where = ["--data", "people.csv"] if command == "report" else ["people.csv"]
    told = call(capsys, command, "people.model.json", *where, "--costs", costs)
    assert (told.code, told.out) == (code, "")
    said = " ".join(told.err.split())
    for part in words:
        assert part in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["--thresholds", "1.5"], 2, "has 1.5: pass probabilities from 0 to 1"),
        (["--thresholds", "-0.1,0.5"], 2, "has -0.1: pass probabilities"),
        (["--thresholds", "half"], 2, "--thresholds half: pass probabilities"),
        (["--thresholds", ","], 2, "is not a list of numbers: pass probabilities"),
        (["--thresholds", "nan"], 2, "has nan: pass probabilities"),
        (["--positive", "Yes"], 1, "has no such class. Did you mean 'yes'?"),
    ],
)
def test_thresholds_that_cannot_be_used(fitted, capsys, args, code, words):
    told = call(capsys, "score", "people.model.json", "people.csv", *args)
    assert (told.code, told.out) == (code, "")
    assert words in " ".join(told.err.split())


def test_thresholds_of_three_classes_need_one_that_they_are_about():
    with pytest.raises(Refusal, match="Pass the one that they are about, too: --positive CLASS"):
        read_deciding(["a", "b", "c"], thresholds="0.5")
    assert read_deciding(["a", "b", "c"]).positive is None
    assert read_deciding(["a", "b", "c"], positive="b", thresholds="0.5").positive == 1


# Baselines


@pytest.mark.parametrize("args", [["--cv", "3"], ["--test-fraction", "0.3"]])
def test_baselines_are_scored_on_the_held_out_rows_and_kept(here, capsys, args):
    told = call(capsys, "fit", "people.csv", "-t", "buys", *QUICK, *args, "--json")
    held_out = json.loads(told.out)["held_out"]
    assert [one["name"] for one in held_out["baselines"]] == [
        "logistic regression",
        "most frequent class",
    ]
    regression, frequent = held_out["baselines"]
    assert frequent["roc_auc"] == 0.5
    assert frequent["accuracy"] < regression["accuracy"]
    assert regression["log_loss"] < frequent["log_loss"]
    kept = load_model("people.model.json").training_.held_out
    assert [vars(one) for one in kept.baselines] == held_out["baselines"]
    assert kept.roc_auc == held_out["roc_auc"]
    for command in ("show", "report"):
        told = call(capsys, command, "people.model.json")
        said = told.out if command == "show" else (here / "people.html").read_text()
        assert "logistic regression" in said
        assert f"{regression['log_loss']:.3f}" in said


def test_ctrl_c_inside_the_regression_keeps_the_model(here, capsys, monkeypatch):
    import maptree.estimators.baselines as module

    def struck(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "logistic_regression", struck)
    told = call(capsys, "fit", "people.csv", "-t", "buys", *QUICK, "--cv", "2")
    assert told.code == 130
    assert "was not scored" in told.out
    assert load_model("people.model.json").training_.held_out is None


def test_very_many_probabilities_go_without_the_regression(here, capsys, monkeypatch):
    import maptree.estimators.baselines as module

    monkeypatch.setattr(module, "MOST_PROBABILITIES", 100)
    told = call(capsys, "fit", "people.csv", "-t", "buys", *QUICK, "--cv", "2", "--json")
    baselines = json.loads(told.out)["held_out"]["baselines"]
    assert [one["name"] for one in baselines] == ["most frequent class"]


def test_very_many_rows_are_thinned_for_the_regression(here, capsys, monkeypatch):
    import maptree.estimators.baselines as module

    seen = []
    regression = module.logistic_regression

    def noted(fitted, training, labels, others):
        seen.append(training.n_rows)
        return regression(fitted, training, labels, others)

    monkeypatch.setattr(module, "logistic_regression", noted)
    monkeypatch.setattr(module, "MOST_ROWS", 50)
    assert call(capsys, "fit", "people.csv", "-t", "buys", *QUICK, "--cv", "2").code == 0
    assert seen == [50, 50]
