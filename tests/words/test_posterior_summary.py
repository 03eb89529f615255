"""What weighted trees have in common, in numbers and as text."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from maptree import MCMCTreeClassifier, PosteriorSummary, SMCTreeClassifier
from samples import noisy, sampler

BOTH = [MCMCTreeClassifier, SMCTreeClassifier]


@pytest.mark.parametrize("kind", BOTH)
def test_frequencies_sizes_and_trees(kind):
    data = load_wine(as_frame=True)
    model = sampler(kind).fit(data.data, data.target)
    summary = model.posterior_summary(n_trees=4)
    assert isinstance(summary, PosteriorSummary)
    assert summary.n_trees == len(model.trees_)
    weighted = list(zip(model.trees_, model.weights_, strict=True))

    names = model.encoder_.get_feature_names_out()
    for column in summary.columns:
        tests = np.flatnonzero(
            model.encoder_.test_columns_ == data.feature_names.index(column.name)
        )
        held = [np.isin(tree.feature, tests).sum() for tree, _ in weighted]
        assert column.probability == pytest.approx(
            sum(w for (_, w), n in zip(weighted, held, strict=True) if n)
        )
        assert column.expected_splits == pytest.approx(model.weights_ @ held)
    for test in summary.tests:
        number = names.tolist().index(test.name)
        used = sum(w for tree, w in weighted if number in tree.feature)
        assert test.probability == pytest.approx(used)
    for found in (summary.columns, summary.tests):
        probabilities = [split.probability for split in found]
        assert probabilities == sorted(probabilities, reverse=True)
        assert min(probabilities) > 0
    inner = sum(w * (tree.n_leaves - 1) for tree, w in weighted)
    assert sum(split.expected_splits for split in summary.columns) == pytest.approx(inner)

    for found, size in ((summary.leaves, "n_leaves"), (summary.depth, "depth")):
        assert list(found) == sorted(found)
        for value, probability in found.items():
            share = sum(w for tree, w in weighted if getattr(tree, size) == value)
            assert probability == pytest.approx(share)
        assert sum(found.values()) == pytest.approx(1)

    assert [found.tree for found in summary.trees] == [tree for tree, _ in weighted[:4]]
    assert [found.weight for found in summary.trees] == model.weights_[:4].tolist()
    assert [f.log_posterior for f in summary.trees] == model.tree_log_posteriors_[:4].tolist()
    with pytest.raises(dataclasses.FrozenInstanceError):
        summary.n_trees = 0


@pytest.mark.parametrize("kind", BOTH)
def test_the_text_fits_a_terminal(kind):
    X, y = noisy(n_rows=60, n_columns=30)
    long = [
        f"a column with a rather long name, as spreadsheets have, no. {i:02}" for i in range(30)
    ]
    model = sampler(kind, alpha=0.99, beta=0.1, rho=0.01).fit(pd.DataFrame(X, columns=long), y)
    text = str(model.posterior_summary())
    assert max(map(len, text.splitlines())) < 80
    assert "a column with a rather long ...spreadsheets have, no. 00 " in text
    assert " more\n" in text
    assert f"of {len(model.trees_):,} distinct trees" in text
    assert all(line == line.rstrip() for line in text.splitlines())


@pytest.mark.parametrize("kind", BOTH)
def test_names_are_those_of_the_table_or_as_given(kind):
    X, y = noisy()
    model = sampler(kind).fit(X, y)
    assert model.posterior_summary().columns[0].name == "x0"
    assert model.posterior_summary().tests[0].name == "x0 = 1"
    named = model.posterior_summary(feature_names=list("abcdefgh"))
    assert named.columns[0].name == "a"
    with pytest.raises(TypeError, match="n_trees="):
        model.posterior_summary(n_trees=2.5)


@pytest.mark.parametrize("kind", BOTH)
def test_a_lone_leaf(kind):
    summary = sampler(kind).fit([[0], [0], [0]], [0, 1, 1]).posterior_summary()
    assert summary.columns == summary.tests == ()
    assert summary.leaves == {1: 1}
    assert summary.depth == {0: 1}
    assert "every tree is a single leaf" in str(summary)
