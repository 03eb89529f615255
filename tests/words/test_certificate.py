"""What is said about a search: no empty statements, and no numbers beyond imagination."""

from __future__ import annotations

import re
from dataclasses import replace
from html import escape, unescape

import numpy as np
import pytest

from command import call
from maptree import BinaryEncoder, MAPTreeClassifier, load_model
from maptree.words.certificate import (
    certificate_sentences,
    headline,
    prior_sentence,
    size_sentence,
)
from maptree.words.glossary import GLOSSARY
from maptree.words.nats import NAT
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
    assert "No useful bound yet: " in said
    assert ("the proof is far from done" in said) == (gap > 50)
    assert ("another could be more than a million times as probable" in said) == (gap <= 50)
    assert "a large gap does not mean that the tree is bad" in said
    assert "Best found; no useful bound yet, but no tree of depth 2 or less is more" in said
    assert not re.search(r"10\^|e\+|\d times as probable", said.replace(NAT, ""))


def test_a_small_gap_is_said_in_numbers():
    said = " ".join(certificate_sentences(stopped(4.0, depth=0)))
    assert "Another may be up to 55 times as probable, but not more." in said
    assert NAT in said
    assert "of depth" not in said
    assert "useful" not in said
    head = headline(stopped(0.04))
    assert head.startswith("Best found; no tree is more than 1.05 times as probable, and none of")


@pytest.mark.parametrize(("depth", "itself"), [(1, True), (99, False)])
def test_what_proved_to_a_depth_means(depth, itself):
    X = np.arange(256)[:, np.newaxis] >> np.arange(8) & 1
    model = MAPTreeClassifier(max_expansions=1).fit(X, X[:, 0] ^ X[:, 1])
    assert model.tree_.depth == 2
    certificate = replace(
        model.fitted_.certificate, status="time_limit", optimal=False, gap=99.0, proved_depth=depth
    )
    said = certificate_sentences(replace(model.fitted_, certificate=certificate))[1]
    assert said.startswith(f"Proved to depth {depth}: no tree of depth {depth} or less is more ")
    assert ("than this one, which is of depth 2 itself." in said) == itself
    assert said.endswith("Deeper trees are not excluded.")


CONSTRAINED = [
    ({"max_depth": 1}, "of depth 1 or less"),
    ({"max_leaf_nodes": 3}, "of at most 3 leaves"),
    ({"without_columns": [1]}, "without a test of x1"),
]


@pytest.mark.parametrize(("constraint", "words"), CONSTRAINED)
def test_a_certificate_alone_names_its_trees(constraint, words):
    X = np.arange(64)[:, np.newaxis] >> np.arange(6) & 1
    model = MAPTreeClassifier(**constraint).fit(X, X[:, 0] & X[:, 1])
    certificate = model.certificate_
    said = " ".join(str(certificate).split())
    assert f"Proved: no tree over these 6 tests, {words}, is more probable than this one." in said
    assert "Other trees were not considered." in said
    assert certificate.headline == f"Proved: no tree {words} is more probable"
    assert f", {words}, is more probable" in certificate._repr_html_()
    assert tuple(certificate_sentences(model.fitted_)) == certificate.sentences
    free = MAPTreeClassifier().fit(X, X[:, 0] & X[:, 1]).certificate_
    assert "Other trees" not in str(free)


@pytest.mark.parametrize(("constraint", "words"), CONSTRAINED)
def test_a_stopped_search_names_its_trees(constraint, words):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (200, 12)), rng.integers(0, 2, 200)
    model = MAPTreeClassifier(**constraint).fit(X, y)
    certificate = replace(
        model.fitted_.certificate, status="time_limit", optimal=False, gap=400.0, proved_depth=1
    )
    fitted = replace(model.fitted_, certificate=certificate)
    assert headline(fitted).startswith(f"Best found of the trees {words}; no useful bound yet")
    said = certificate_sentences(fitted)
    assert said[0].startswith(f"Not proved to be the best tree over these 12 tests, {words}: the")
    assert any("; no such tree exceeds " in sentence for sentence in said)


def test_the_same_sentences_everywhere(here, capsys):
    (here / "a.csv").write_text(
        "a,b,y\n" + "\n".join(f"{i % 7},{i % 5},{'no' if i % 7 < 3 else 'yes'}" for i in range(70))
    )
    told = call(capsys, "fit", "a.csv", "-t", "y", "--max-depth", "1").out
    shown = call(capsys, "show", "a.model.json").out
    model = load_model("a.model.json")
    page = unescape(model.to_html())
    for sentence in certificate_sentences(model.fitted_):
        for text in (told, shown, str(model.certificate_), page):
            assert sentence in " ".join(text.split()), sentence


def test_the_glossary_explains_what_certificates_say():
    said = " ".join(certificate_sentences(stopped(30.0)))
    page = MAPTreeClassifier(max_depth=1).fit([[0], [1]] * 9, [0, 1] * 9).to_html()
    for term, words in GLOSSARY:
        assert f"<dt>{term}</dt><dd>{escape(words)}</dd>" in page
        assert re.sub(r"\d+", "2", term) in said.lower()
    assert page.count("<dl>") == 1


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


def test_a_tree_over_no_tests_counts_none():
    said = said_first([["same"]] * 36, [0, 1, 1] * 12)
    assert said == "Proved: no tree is more probable than this one."
