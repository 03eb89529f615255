"""predict, show, score and demo: what they write and say."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from command import QUICK, call, people, widest, write_text
from maptree import MAPTreeClassifier, load_model
from maptree.cli.screen import shown
from samples import noisy

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
    assert "without --interval: pass both" in told.err


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
    assert "has no column 'age', which the tree tests. Did you mean 'Age'?" in said


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
    assert "fitted on 4 columns without names, but bits.csv has 5" in told.err
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
    assert "  and 20 more; --json lists all\n" in told.out
    assert len(told.out.splitlines()) < 50
    told = call(capsys, "show", "wide.model.json")
    assert "\nx250 " in told.out
    assert "\nand 279 more that the tree does not test\n" in told.out
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
    assert (
        "  79 columns, such as '1': not read before the time limit; raise --time-limit" in told.out
    )
    said = " ".join(told.out.split("Certificate")[1].split())
    assert "no time to read 79 of 80 columns: the tree does not test them" in said
    told = call(capsys, "show", "wide.model.json")
    assert "79 columns, such as '1': not read before the time limit" in told.out
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
    assert "5 rows without a target were left out" in told.out
    told = call(capsys, "score", "people.model.json", "people.csv", "-t", "city")
    assert told.code == 1
    assert "has a class that the model knows" in told.err


def test_score_says_whether_the_model_was_fitted_to_the_rows(fitted, capsys):
    from maptree.cli.files import read_source
    from maptree.cli.header import MISSING, Dialect

    def seen(*arguments):
        text = call(capsys, "score", "people.model.json", *arguments)
        document = json.loads(call(capsys, "score", "people.model.json", *arguments, "--json").out)
        assert text.code == 0
        assert f"\n{document['training_rows']['summary']}\n" in text.out
        return document["training_rows"]

    same = seen("people.csv")
    assert (same["same"], same["summary"]) == (True, "On the rows it was fitted to")
    source = read_source("people.csv", None, Dialect(None, None, MISSING, "."))
    pq.write_table(source.typed(source.columns), "people.parquet")
    assert seen("people.parquet")["same"]
    people().drop(columns="joined").to_json("people.jsonl", orient="records", lines=True)
    unknown = seen("people.jsonl")
    assert (unknown["known"], unknown["checked"]) == ("nothing", 0)
    assert unknown["unknown"] == "people.jsonl has no column 'joined'"
    write_text(people(300, seed=2), fitted / "others.csv")
    others = seen("others.csv")
    assert (others["summary"], others["checked"], others["equal"]) == ("On held-out rows", 300, 0)
    both = pd.concat([people(), people(300, seed=2)])
    write_text(both, fitted / "both.csv")
    assert seen("both.csv")["summary"] == "On rows of which 200 of 500 were used for fitting"
    half = people()
    half.loc[:49, "buys"] = ""
    write_text(half, fitted / "half.csv")
    assert seen("half.csv")["summary"] == "On rows that were all used for fitting"


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
    assert "Proved: no tree over these 27 tests is more probable" in told.out
    assert widest(told.out) <= 80
    assert load_model("tic.json").certificate_.log_posterior == pytest.approx(-300.9038, abs=1e-4)


def test_the_demo_as_a_module_is_the_command(here, capsys):
    module = subprocess.run(
        [sys.executable, "-m", "maptree.demo", "--json"], capture_output=True, text=True, check=True
    )
    one, other = json.loads(module.stdout), json.loads(call(capsys, "demo", "--json").out)
    assert one["command"] == other["command"] == "demo"
    assert one["model"]["tree"] == other["model"]["tree"]
    assert one["model"]["certificate"]["optimal"]
