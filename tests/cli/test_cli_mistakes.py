"""Output for machines, and what users get wrong."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from command import QUICK, call, widest, write_text
from maptree.cli.app import make_app
from maptree.parameters.names import nearest

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
        ["compare", "people.model.json", "people.model.json", "--data", "people.csv"],
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
        ("-t income", 1, "no column 'income'. Choose from 'id', 'age'"),
        ("-t id", 1, "200 classes in 200 rows"),
        ("-t country", 1, "only one class, 'DE'"),
        ("-t buys --drop nothing", 1, "no column 'nothing'"),
        ("-t buys --drop id,age,hours,city,zip,joined,member,country", 1, "no columns other than"),
        ("-t buys --positive Yes", 1, "Did you mean 'yes'?"),
        ("-t buys --test-fraction 0.001", 1, "leaves none"),
        ("-t buys --test-fraction 1.5", 2, "is out of range: pass a fraction"),
        ("-t buys --cv 1", 2, "pass 2 folds or more"),
        ("-t buys --cv x", 2, "--cv"),
        ("-t buys --cv 3 --test-fraction .2", 2, "cannot be combined"),
        ("-t buys --time-limit soon", 2, "--time-limit soon is not a number: pass a number of"),
        ("-t buys --patience long", 2, "--patience long is not a number: pass a number of at"),
        ("-t buys --patience 0.5", 2, "--patience 0.5 is too small: pass a number of at least 1"),
        ("-t buys --patience inf", 2, "--patience inf is not finite: pass a number of at least 1"),
        ("-t buys --time-limit 0", 2, "--time-limit 0"),
        ("-t buys --memory-limit lots", 2, "--memory-limit lots"),
        ("-t buys --rho a,b", 2, "--rho a,b"),
        ("-t buys --rho -1", 2, "--rho -1 is out of range: pass a number from 1e-9 to 1e8, or"),
        ("-t buys --rho 1,nan", 2, "--rho 1,nan is not finite"),
        ("-t buys --alpha 2", 2, "--alpha 2.0 is out of range: pass a number above 0"),
        ("-t buys --drop id,buys", 2, "--drop buys is the target: drop other columns"),
        (
            "-t buys --max-thresholds none",
            2,
            "--max-thresholds none: pass a whole number of at least 1, or all.",
        ),
        (
            "-t buys --max-thresholds 0",
            2,
            "--max-thresholds 0: pass a whole number of at least 1, or all.",
        ),
        ("-t buys --split-prior rows", 2, "--split-prior rows is unknown: pass tests or columns."),
        ("-t buys --first Age", 1, "no column 'Age'. Did you mean 'age'?"),
        ("-t buys --without city,Age", 1, "no column 'Age'. Did you mean 'age'?"),
        ("-t buys --without buys", 2, "--without buys is the target: name other columns."),
        ("-t buys --drop age --first age", 2, "--first age is a column that --drop leaves out"),
        ("-t buys --first age --without city,age", 2, "has 'age', which --without leaves out"),
        (
            "-t buys --first age --column-weights age=0",
            2,
            "--first age has 'age', which has weight 0 in --column-weights: pass a weight above 0.",
        ),
        (
            "-t buys --drop id --without age,hours,city,zip,joined,member,country",
            2,
            "leaves out every column: leave one to test.",
        ),
        ("-t buys --column-weights Age=2", 1, "no column 'Age'. Did you mean 'age'?"),
        (
            "-t buys --column-weights age",
            2,
            "--column-weights age: pass NAME=WEIGHT, such as",
        ),
        ("-t buys --column-weights =2", 2, "--column-weights =2: pass NAME=WEIGHT"),
        ("-t buys --column-weights age=two", 2, "age=two: two is not a number."),
        ("-t buys --column-weights age=", 2, "age=: nothing is not a number."),
        (
            "-t buys --column-weights age=-1",
            2,
            "--column-weights age=-1 is negative: pass a",
        ),
        ("-t buys --column-weights city=0,age=nan", 2, "--column-weights age=nan is not finite"),
        ("-t buys --column-weights age=inf", 2, "--column-weights age=inf is not finite"),
        ("-t buys --column-weights age=1,age=2", 2, "--column-weights has age twice"),
        ("-t buys --column-weights buys=2", 2, "buys=2 is about the target: pass weights of other"),
        ("-t buys --drop id --column-weights id=0", 2, "id=0 is about a column that --drop leaves"),
        (
            "-t buys --column-weights age=3000000",
            2,
            "--column-weights age=3000000 is more than 1,048,576 times the weight of 'id', 1: pass",
        ),
        (
            "-t buys --column-weights id=0,age=0,hours=0 --column-weights "
            "city=0,zip=0,joined=0,member=0,country=0",
            2,
            "--column-weights leaves out every column: pass a weight above 0.",
        ),
        (
            "-t buys --time-limit -1",
            2,
            "--time-limit -1.0 leaves no time: pass a number of seconds",
        ),
        ("-t buys --time-limit inf", 2, "or none to search until the tree is proved"),
        ("-t buys --memory-limit 0MB", 2, "leaves no memory: pass a size such as 4GiB or 500MB."),
        ("-t buys --max-expansions 0", 2, "pass a whole number of at least 1"),
        ("-t buys --rho 1,2,3", 1, "rho has 3 values but there are 2 classes"),
        (
            "-t buys --jobs 0",
            2,
            "--jobs 0 leaves no threads: pass a number of threads, or -1 for all",
        ),
        ("-t buys --max-depth -1", 2, "--max-depth -1"),
        ("-t buys --seed -1", 2, "--seed -1"),
        ("-t buys --model people.csv", 1, "is not a model file"),
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


@pytest.mark.parametrize("name", ["x[0]", "it's", '"quoted"', "a, b", "back\\slash", "a=b", "[]"])
def test_weights_of_columns_with_odd_names(here, capsys, name):
    pd.DataFrame({name: [1, 2, 3, 4] * 9, "b": [0, 1] * 18}).to_csv("odd.csv", index=False)
    fit = ["fit", "odd.csv", "-t", "b", *QUICK, "--column-weights"]
    told = call(capsys, *fit, f"{name}=-1")
    assert f"--column-weights {name}=-1 is negative" in " ".join(told.err.split())
    told = call(capsys, *fit, f"{name}=0")
    assert "--column-weights leaves out every column" in told.err
    told = call(capsys, *fit, f"{name}=2,", "--json")  # a comma at the end says nothing
    assert told.code == 0
    assert json.loads(told.out)["model"]["prior"]["column_weights"] == {name: 2}
    wide = pd.DataFrame({"a": [1, 2] * 18, name: [1, 2, 3, 4] * 9, "b": [0, 1] * 18})
    wide.to_csv("odd.csv", index=False)
    told = call(capsys, *fit, f"{name}=1048577")
    assert told.code == 2
    assert f"--column-weights {name}=1048577 is more than" in " ".join(told.err.split())


@pytest.mark.parametrize(
    ("command", "option", "value", "words"),
    [
        ("fit", "--max-leaf-nodes", "x", "a whole number, not 'x'"),
        ("fit", "--cv", "2.5", "a whole number, not '2.5'"),
        ("fit", "--alpha", "half", "a number, not 'half'"),
        ("fit", "--jobs", "", "a whole number, not ''"),
        ("path", "--choose", "all", "a whole number, not 'all'"),
        ("path", "--max-depth", "1e3", "a whole number, not '1e3'"),
        ("alternatives", "-n", "ten", "a whole number, not 'ten'"),
        ("alternatives", "--within", "2,5", "a number, not '2,5'"),
        ("predict", "--level", "95%", "a number, not '95%'"),
    ],
)
def test_what_is_not_a_number(here, capsys, command, option, value, words):
    given = ["people.csv", "-t", "buys"] if command in ("fit", "path") else ["a.json", "people.csv"]
    told = call(capsys, command, *given, option, value)
    assert told.code == 2
    assert told.err == f"maptree: {option} takes {words}.\n"


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
    assert told.code == 130
    assert (told.out, told.err) == ("", "maptree: Interrupted. No model was written.\n")
    told = call(capsys, "fit", "people.csv", "-t", "buys", "--json")
    assert (told.code, told.err) == (130, "")
    message = "Interrupted. No model was written."
    assert json.loads(told.out) == {"error": {"code": 130, "message": message}}
    told = call(capsys, "score", "people.model.json", "people.csv")
    assert "No model" not in told.err


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("sax", ["age", "sex"], ["sex"]),
        ("Petal.Length", ["petal_length", "petal_width"], ["petal_length"]),
        ("species", ["spec", "spices", "price"], ["spec", "spices"]),
        ("target", ["age", "get"], []),
        ("ides", ["id", "side", "deals"], ["side"]),
        ("outcome", ["income"], []),
    ],
)
def test_only_similar_names_are_suggested(name, known, expected):
    assert sorted(nearest(name, known)) == expected


def test_files_with_the_same_extension_are_not_similar(here, capsys):
    told = call(capsys, "fit", "tips.csv", "-t", "y")  # next to people.csv
    assert told.err == "maptree: There is no file tips.csv.\n"
    (here / "people.tsv").touch()
    told = call(capsys, "fit", "peple.tsv", "-t", "y")
    assert told.err == "maptree: There is no file peple.tsv. Did you mean people.tsv?\n"


@pytest.mark.parametrize("command", ["show", "predict", "score", "report"])
def test_a_table_in_place_of_the_model(command, here, capsys):
    told = call(capsys, command, "people.csv", *["people.csv"] * (command in ("predict", "score")))
    assert told.code == 1
    assert "people.csv is not a model file: it looks like a table." in " ".join(told.err.split())
    assert "Restore" not in told.err


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
    assert names == [
        "fit",
        "predict",
        "score",
        "compare",
        "show",
        "report",
        "path",
        "alternatives",
        "export",
        "demo",
    ]
    for name in names:
        told = call(capsys, name, "--help")
        assert told.code == 0
        assert f"maptree {name}" in told.out.split("Example")[1]
        assert widest(told.out) <= 80
    told = call(capsys, "--help")
    for code in (
        "0 success",
        "1 a file",
        "2 invalid options",
        "3 a package",
        "130 stopped",
        "141 the",
    ):
        assert code in " ".join(told.out.split())


def test_version(capsys):
    import maptree

    assert call(capsys, "--version").out == f"maptree {maptree.__version__}\n"


@pytest.mark.parametrize(("n_rows", "code"), [(42, 1), (63, 0)])
def test_classes_of_two_rows_each_are_refused(n_rows, code, here, capsys):
    """The rule is that of the classifiers, which warn."""
    frame = pd.DataFrame({"x": range(n_rows), "y": [f"c{i % 21}" for i in range(n_rows)]})
    write_text(frame, here / "few.csv")
    told = call(capsys, "fit", "few.csv", "-t", "y", *QUICK)
    assert told.code == code
    assert ("21 classes in 42 rows" in told.err) == (code == 1)
