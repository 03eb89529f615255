"""The commands that write a model in other forms: report and export."""

from __future__ import annotations

import json

import pytest

from command import QUICK, call, people, widest, write_text
from maptree import load_model
from maptree.cli.commands.export import FORMATS


def test_report(fitted, capsys):
    told = call(capsys, "report", "people.model.json")
    assert (told.code, told.out, told.err) == (0, "", "Report written to people.html.\n")
    page = (fitted / "people.html").read_text()
    assert "Confusion" not in page
    frame = people()
    frame.loc[:9, "buys"] = "perhaps"
    frame.loc[10:14, "buys"] = ""
    write_text(frame, fitted / "odd.csv")
    told = call(
        capsys, "report", "people.model.json", "--data", "odd.csv", "-o", "odd.html",
        "--title", "Who <buys>?",
    )  # fmt: skip
    assert told.code == 0
    assert "5 rows without a target were left out" in told.err
    assert "10 rows have a class that the model does not know; counted as wrong" in told.err
    page = (fitted / "odd.html").read_text()
    assert "Confusion" in page
    assert "Who &lt;buys&gt;?" in page
    assert "10 rows have a class that the tree does not know" in page
    scores = json.loads(call(capsys, "score", "people.model.json", "odd.csv", "--json").out)
    for name, key in (("Accuracy", "accuracy"), ("Log loss", "log_loss")):
        assert f"<dt>{name}</dt><dd>{scores[key]:.3f}</dd>" in page


def test_report_for_machines(fitted, capsys):
    told = call(capsys, "report", "people.model.json", "--data", "people.csv", "--json")
    assert json.loads(told.out)["report"] == "people.html"
    assert (fitted / "people.html").exists()


def test_report_says_whether_the_model_was_fitted_to_the_rows(here, capsys):
    call(capsys, "fit", "people.csv", "-t", "buys", *QUICK, "--cv", "2")
    told = call(capsys, "report", "people.model.json", "--data", "people.csv")
    assert "The tree was fitted to these 200 rows." in told.err
    page = (here / "people.html").read_text()
    assert ">On the rows it was fitted to</h2>" in page
    assert ">On rows held out by fit</h2>" in page
    assert "<p>2-fold cross-validation, seed 0.</p>" in page
    write_text(people(300, seed=2), here / "others.csv")
    told = call(capsys, "report", "people.model.json", "--data", "others.csv", "--json")
    assert json.loads(told.out)["training_rows"]["summary"] == "On held-out rows"
    assert ">On held-out rows</h2>" in (here / "people.html").read_text()


def test_report_refuses(fitted, capsys):
    told = call(capsys, "report", "people.model.json", "--data", "people.csv", "-t", "buy")
    assert told.code == 1
    assert "Did you mean 'buys'?" in told.err
    told = call(capsys, "report", "people.model.json", "-o", "nowhere/people.html")
    assert told.code == 1
    assert "create it first" in told.err


@pytest.mark.parametrize("to", [name for name in FORMATS if name != "onnx"])
def test_export(fitted, capsys, to):
    told = call(capsys, "export", "people.model.json", "--to", to)
    assert told.code == 0
    assert told.out.endswith("\n")
    assert call(capsys, "export", "people.model.json", "--to", to, "-o", "tree.txt").code == 0
    assert (fitted / "tree.txt").read_text() == told.out
    document = json.loads(call(capsys, "export", "people.model.json", "--to", to, "--json").out)
    assert document["content"] == told.out


def test_export_is_what_the_method_writes(fitted, capsys):
    model = load_model("people.model.json")
    told = call(capsys, "export", "people.model.json", "--to", "sqlite", "--table", "people")
    assert told.out.rstrip("\n") == model.to_sql("sqlite", table="people").rstrip("\n")
    assert call(capsys, "export", "people.model.json", "--to", "onnx", "-o", "a.onnx").code == 0
    assert (fitted / "a.onnx").read_bytes() == model.to_onnx().SerializeToString()


def test_export_refuses(fitted, capsys):
    told = call(capsys, "export", "people.model.json", "--to", "postgres")
    assert told.code == 2
    assert "Did you mean postgresql?" in " ".join(told.err.split())
    assert widest(told.err) <= 80
    told = call(capsys, "export", "people.model.json", "--to", "onnx")
    assert told.code == 2
    assert "pass --output" in told.err


@pytest.mark.parametrize("command", [("report",), ("export", "--to", "json")])
def test_nothing_else_is_written_over(fitted, capsys, command):
    """Neither the model that is read, nor another, nor a table; but what the command wrote."""
    name, *options = command
    kept = {file: file.read_bytes() for file in fitted.iterdir()}
    (fitted / "link.html").symlink_to("people.model.json")
    (fitted / "other.json").write_bytes(kept[fitted / "people.model.json"])
    foreign = "is not a report" if name == "report" else "is not an exported tree"
    for output, why in (
        ("people.model.json", "is the model itself"),
        ("link.html", "is the model itself"),
        ("people.csv", foreign),
        ("other.json", foreign),
    ):
        told = call(capsys, name, "people.model.json", *options, "-o", output)
        assert told.code == 1
        assert why in " ".join(told.err.split())
        assert "name another file" in " ".join(told.err.split())
    assert {file: file.read_bytes() for file in kept} == kept
    for _ in range(2):
        assert call(capsys, name, "people.model.json", *options, "-o", "mine").code == 0
