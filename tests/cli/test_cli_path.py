"""``maptree path``, and ``maptree fit --max-leaf-nodes``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command import QUICK, call
from maptree import load_model


def test_fit_limits_leaves(here, capsys):
    told = call(capsys, "fit", "people.csv", "-t", "buys", *QUICK, "--max-leaf-nodes", "2")
    assert told.code == 0
    assert "of at most 2 leaves" in " ".join(told.out.split())
    assert load_model("people.model.json").get_n_leaves() <= 2


def test_a_path_is_printed_drawn_and_its_tree_saved(here, capsys):
    told = call(
        capsys,
        *("path", "people.csv", "-t", "buys", "--max-leaf-nodes", "4", "--cv", "2"),
        *("--time-limit", "none", "--plot", "path.png", "--report", "path.html"),
        *("--choose", "2"),
    )
    assert told.code == 0
    assert told.out.startswith("people.csv: 200 rows, ")  # as fit does
    assert "\nNotes on columns\n" in told.out
    assert "log posterior" in told.out
    assert "The tree of 2 leaves" in told.out
    model = load_model("people.model.json")
    assert model.get_n_leaves() == 2
    assert model.max_leaf_nodes == 2
    assert model.training_.target == "buys"
    assert Path("path.png").read_bytes().startswith(b"\x89PNG")
    assert "Smaller and larger trees" in Path("path.html").read_text()


def test_a_path_as_json(here, capsys):
    told = call(
        capsys,
        *("path", "people.csv", "-t", "buys", "--max-leaf-nodes", "3", "--cv", "0"),
        *("--time-limit", "none", "--json"),
    )
    assert told.code == 0
    document = json.loads(told.out)
    assert document["chosen"] == document["sizes"][-1]["leaves"]
    assert document["elbow"] is None  # nothing was scored
    assert all(size["optimal"] for size in document["sizes"])
    assert document["folds"] is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--max-leaf-nodes", "0"], "--max-leaf-nodes 0 is too small"),
        (["--max-leaf-nodes", "500"], "pass 1 to 128"),
        (["--choose", "17"], "--choose 17: pass 1 to 16 leaves."),
        (["--cv", "1"], "--cv 1: pass 2 folds or more."),
        (["--cv", "100000"], "Pass fewer folds."),
        (["-t", "buy"], "buy"),
    ],
)
def test_mistakes(here, capsys, options, words):
    told = call(capsys, "path", "people.csv", "-t", "buys", *options)
    assert told.code in (1, 2)
    assert words in " ".join(told.err.split())
    assert not Path("people.model.json").exists()


def test_a_path_takes_the_wishes_limits_and_prior_of_fit(here, capsys):
    options = [
        *("--without", "age", "--first", "city,hours", "--column-weights", "member=2"),
        *("--max-depth", "2", "--min-samples-leaf", "5", "--alpha", "0.8", "--beta", "1"),
        *("--rho", "1,2", "--split-prior", "tests", "--max-thresholds", "4", "--category-sets"),
        *("--memory-limit", "1GiB", "--jobs", "2", "--max-expansions", "400"),
    ]
    told = call(
        capsys,
        *("path", "people.csv", "-t", "buys", "--drop", "id", "--max-leaf-nodes", "3"),
        *("--cv", "0", "--time-limit", "none", "--choose", "3", *options),
    )
    assert told.code == 0, told.err
    model = load_model("people.model.json")
    tested = {model.feature_names_in_[j] for j in model.fitted_.used_columns}
    assert "age" not in tested
    given = model.get_params(deep=False)
    for name, value in {
        "first_columns": ["city", "hours"],
        "without_columns": ["age"],
        "column_weights": {"member": 2.0},
        "max_depth": 2,
        "min_samples_leaf": 5,
        "alpha": 0.8,
        "beta": 1.0,
        "rho": [1.0, 2.0],
        "split_prior": "tests",
    }.items():
        assert given[name] == value, name
    assert (model.encoder.max_thresholds, model.encoder.category_sets) == (4, True)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--without", "agee"], "people.csv has no column 'agee'. Did you mean 'age'?"),
        (["--first", "buys"], "--first buys is the target"),
        (["--column-weights", "age"], "pass NAME=WEIGHT"),
        (["--max-depth", "-1"], "--max-depth -1 is too small"),
        (["--rho", "1,2,3"], "--rho has 3 values but there are 2 classes"),
    ],
)
def test_wishes_of_a_path_that_cannot_be_met(here, capsys, options, words):
    told = call(capsys, "path", "people.csv", "-t", "buys", *options)
    assert told.code in (1, 2)
    assert words in " ".join(told.err.split())
    assert not Path("people.model.json").exists()


def test_fit_and_path_share_their_options():
    from typer.main import get_command

    from maptree.cli.app import make_app

    commands = get_command(make_app()).commands
    fit, path = (
        {option.name: (option.help, option.default) for option in commands[name].params}
        for name in ("fit", "path")
    )
    of_fit = {"test_fraction", "seed", "patience", "average", "iterations"}
    of_path = {"choose", "plot", "report"}
    differ = {"max_leaf_nodes", "cv", "time_limit"}
    assert set(fit) - of_fit == set(path) - of_path
    assert {name for name in fit.keys() & path.keys() if fit[name] != path[name]} == differ
