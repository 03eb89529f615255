"""What is said about a search: no empty statements, and no numbers beyond imagination."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from command import call
from maptree import BinaryEncoder, MAPTreeClassifier
from maptree.words.certificate import (
    certificate_sentences,
    headline,
    prior_sentence,
    size_sentence,
)
from models import change

COMMANDS = ("fit", "predict", "score", "show", "report", "export", "demo")


def stopped(gap, depth=2):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (200, 12)), rng.integers(0, 2, 200)
    model = MAPTreeClassifier(max_expansions=2).fit(X, y)
    certificate = replace(
        model.certificate_,
        gap=gap,
        log_posterior_bound=model.certificate_.log_posterior + gap,
        proved_depth=depth,
    )
    return change(model, certificate=certificate).fitted_


def test_the_only_tree_of_depth_0():
    model = MAPTreeClassifier(max_depth=0).fit([[0], [1]] * 9, [0, 1] * 9)
    said = [headline(model.fitted_), size_sentence(model.fitted_), str(model.certificate_)]
    said += [*certificate_sentences(model.fitted_), model.to_html()]
    assert not any("depth 0 or less" in text for text in said)
    assert said[0] == "A single leaf is the only tree of depth 0"
    assert size_sentence(model.fitted_) == "A single leaf: the depth is limited to 0."


@pytest.mark.parametrize("gap", [20.0, 3681.4, 1e5])
def test_a_large_gap_is_said_in_words(gap):
    fitted = stopped(gap)
    said = " ".join([headline(fitted), *certificate_sentences(fitted)])
    assert "far more probable: no useful bound yet" in said
    assert "Best found; no useful bound yet, but proved best to depth 2" in said
    assert "10⁸" not in said
    assert "times as probable" not in said


def test_a_small_gap_is_said_in_numbers():
    said = " ".join(certificate_sentences(stopped(4.0, depth=0)))
    assert "that is up to 55 times as probable." in said
    assert "of depth" not in said
    assert headline(stopped(0.04)).startswith("Best found; at most 0.04 nats below")


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({}, "rho 2.5; all columns weigh the same, and thresholds from coarse to fine."),
        ({"split_prior": "tests", "rho": [1, 2]}, "rho 1, 2; all tests weigh the same."),
        (
            {"column_weights": {"x1": 0, 0: 1, 2: 0.0}},
            "from coarse to fine, times weights of columns: x1 0, x2 0.",
        ),
        ({"column_weights": dict.fromkeys(range(11), 0)}, "x8 0, x9 0 and 1 more."),
    ],
)
def test_the_prior_is_named(params, said):
    X, y = np.eye(12)[np.arange(60) % 12] + np.arange(60)[:, np.newaxis] % 3, np.arange(60) % 2
    model = MAPTreeClassifier(max_expansions=2, **params).fit(X, y)
    assert prior_sentence(model.fitted_).endswith(said)
    assert prior_sentence(model.fitted_) in model.to_html()


def test_help_has_no_type(capsys):
    for command in ((), *((name,) for name in COMMANDS)):
        text = call(capsys, *command, "--help").out
        assert "--help" in text
        assert "<bool>" not in text, command


def test_thousands_are_separated(here, capsys):
    names = [f"x{j}" for j in range(1200)]
    lines = [",".join([*names, "y"])]
    rng = np.random.default_rng(0)
    for i in range(1100):
        lines.append(",".join([*map(str, rng.integers(0, 2, 1200)), "ab"[i % 2]]))
    (here / "wide.csv").write_text("\n".join(lines), encoding="utf-8")
    said = call(capsys, "fit", "wide.csv", "-t", "y", "--max-expansions", "1").out
    assert "1,100 rows, 1,201 columns" in said
    assert "n = 1,100" in said or "of 1,200 columns" in said


def said_first(X, y, **params):
    encoder = BinaryEncoder(max_thresholds=None)
    model = MAPTreeClassifier(encoder=encoder, **params).fit(X, y)
    return certificate_sentences(model.fitted_)[0]


def test_the_certificate_names_all_thresholds():
    y = [0, 0, 0, 1, 1, 1] * 6
    numbers = np.arange(36) % 6
    two = np.stack([numbers, np.arange(36) * 7 % 36], axis=1)
    said = said_first(two, y)
    assert said == (
        "Proved: no tree over all 40 thresholds of 2 columns is more probable than this one."
    )
    said = said_first(two, y, max_depth=1)
    assert "over all 40 thresholds of 2 columns, of depth 1 or less, is" in said
    mixed = [[a, b] for a, b in zip(numbers.tolist(), list("abc" * 12), strict=True)]
    assert "over all 5 thresholds of 1 column and 3 other tests is" in said_first(mixed, y)
    mixed[0][0] = None
    assert "over all 5 thresholds of 1 column and 4 other tests is" in said_first(mixed, y)
    assert "tree over this test is" in said_first(np.array([[3], [7]] * 18), [0, 1] * 18)
    assert "over these 3 tests is" in said_first([[c] for c in "abc" * 12], y)
    assert "over these 2 tests is" in said_first(np.eye(2, dtype=int)[numbers % 2], y)
