"""The report on an average: what the trees share, next to the most probable one."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.metrics import accuracy_score, log_loss

from maptree import MAPTreeClassifier, MCMCTreeClassifier, SMCTreeClassifier, load_model
from models import HOSTILE_TEXTS
from outline import Outline
from samples import noisy, sampler


@pytest.fixture(scope="module")
def wine():
    data = load_wine(as_frame=True)
    return data.data, data.target_names[data.target]


@pytest.fixture(scope="module")
def model(wine):
    search = MAPTreeClassifier(max_expansions=400, time_limit=None).fit(*wine)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sampler(MCMCTreeClassifier, thin=200, initial_tree=search).fit(*wine)


def words(page):
    return " ".join(Outline(page).text.split())


def test_what_the_trees_share(model):
    page = words(model.to_html())
    summary = model.posterior_summary()
    assert f"What {summary.n_trees:,} trees share" in page
    assert f"Predictions are averaged over {summary.n_trees:,} trees; the most probable" in page
    for column in summary.columns[:12]:
        assert column.name in page
    assert summary.first_splits[0].test in page
    assert "Number of leaves" in page
    assert "the tree shown" in page
    assert "This is the prediction of the tree shown." in page
    assert "Proved: no tree" in page  # the certificate of the search


def test_sizes_begin_with_the_most_frequent(model):
    leaves = model.posterior_summary().leaves
    table = model.to_html().partition("Number of leaves, the most frequent first</caption>")[2]
    shown = re.findall(r'<tr><th scope="row">([0-9,]+)</th>', table.partition("</table>")[0])
    assert [leaves[int(n)] for n in shown] == sorted(leaves.values(), reverse=True)[:12]


def test_the_course_of_the_search_is_shown_as_far_as_there_is_one(model, wine):
    trace = model.fitted_.trace["log_posterior"]
    assert np.ptp(trace) == 0  # no tree is better than the one that the chains begin with
    assert "best tree so far" not in words(model.to_html())
    page = sampler(MCMCTreeClassifier, initial_tree=None, burn_in=0).fit(*wine).to_html()
    assert "best tree so far." in words(page)
    assert "upper bound" not in words(page)
    assert "upper bound: no tree can exceed it." in words(
        MAPTreeClassifier(max_expansions=5).fit(*wine).to_html()
    )


def test_doubt_is_shown(wine):
    model = sampler(MCMCTreeClassifier, n_samples=20, burn_in=5, initial_tree=None).fit(*wine)
    assert "The chains have not mixed" in words(model.to_html())
    assert 'class="caution"' in model.to_html()


def test_scores_are_those_of_the_average(model, wine):
    X, y = wine
    page = words(model.to_html(X=X, y=y))
    proba = model.predict_proba(X)
    assert f"{log_loss(y, proba):.3f}" in page
    tree = model.fitted_.probabilities[model.tree_.apply(model.encoder_.transform(X))]
    accuracy = accuracy_score(y, model.classes_[tree.argmax(axis=1)])
    alone = f"alone: accuracy {accuracy:.3f}, log loss {log_loss(y, tree):.3f}"
    assert alone in page


def test_particles_and_a_single_leaf():
    X, y = noisy()
    page = words(SMCTreeClassifier(n_particles=50, random_state=0).fit(X, y).to_html())
    assert "by 1 particle filter" in page
    lone = sampler(MCMCTreeClassifier).fit(np.zeros((4, 1)), [0, 1, 0, 1])
    assert "What 1 tree share" not in words(lone.to_html())
    assert "every tree is a single leaf" in words(lone.to_html())


def test_a_loaded_model_has_the_same_report(model, tmp_path):
    model.save(tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").to_html() == model.to_html()


def test_names_are_text_and_nothing_else():
    rng = np.random.default_rng(0)
    names = [name for name in HOSTILE_TEXTS if "\ud800" not in name]
    X = pd.DataFrame(rng.integers(0, 2, (80, len(names))), columns=names)
    y = (X.iloc[:, 0] ^ X.iloc[:, 1]).to_numpy()
    page = sampler(MCMCTreeClassifier, initial_tree=None).fit(X, y).to_html()
    assert [tag for tag, _ in Outline(page).elements].count("script") == 2
    assert "<img" not in page


def test_a_single_tree_has_no_such_section(wine):
    page = MAPTreeClassifier(max_expansions=5).fit(*wine).to_html()
    assert "average-heading" not in page
    assert "This is the prediction of the tree shown." not in page
