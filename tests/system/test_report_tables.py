"""The tables of the report on a phone: what decides is in view without scrolling."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from maptree import MAPTreeClassifier, MCMCTreeClassifier, choose_size, size_path
from samples import sampler

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    names = ["compactness", "smoothness of all", "perimeter", "concavity", "texture_of_the_surface"]
    X = pd.DataFrame(rng.normal(size=(300, 5)).round(1), columns=names)
    chance = 1 / (1 + np.exp(-2 * X["compactness"] - 2 * (X["perimeter"] > 0) * X["concavity"]))
    return X, np.where(rng.random(300) < chance, "malignant", "benign")


def in_view(page, room, element):
    """Whether an element is there, and nothing of it is cut off by the frame that scrolls."""
    if not page.locator(element).count():
        return False
    frame, box = (page.locator(one).first.bounding_box() for one in (room, element))
    right, end = frame["x"] + frame["width"], box["x"] + box["width"]
    return frame["x"] <= box["x"] and end <= right + 0.5 and right <= page.viewport_size["width"]


def test_what_decides_is_in_view(table, open_report):
    X, y = table
    estimator = MAPTreeClassifier(max_expansions=2000, time_limit=None, max_depth=3)
    path = size_path(X, y, estimator, max_leaf_nodes=5, cv=2)
    model = choose_size(path)
    found = model.alternatives(8)
    parts = {"sizes": path, "alternatives": found, "costs": {"malignant": 5}}
    page = open_report(model, X, y, width=375, parts=parts)
    sizes = "[aria-labelledby=sizes-heading]"
    assert page.locator(f"{sizes} .best").count() == 1
    for cell in (".best .note", ".best td:nth-child(2)", ".best td:nth-child(3)", "svg"):
        within = f"{sizes} .wide" if cell != "svg" else sizes
        assert in_view(page, within, f"{sizes} {cell}"), cell
    thresholds = ".wide:has(th:text-is('threshold'))"
    for cell in (".best .note", ".best td:nth-child(2)", ".best td:nth-child(4)"):
        assert in_view(page, thresholds, f"{thresholds} {cell}"), cell
    for row in (1, 2):  # odds and nats of five trees
        cell = f".rivals tbody tr:nth-child({row}) td:nth-child(6)"
        assert in_view(page, ".wide:has(.rivals)", cell)


def test_words_of_an_average_stay_whole(table, open_report):
    X, y = table
    search = MAPTreeClassifier(max_expansions=100, time_limit=None).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = sampler(MCMCTreeClassifier, initial_tree=search).fit(X, y)
    page = open_report(model, width=375)
    name = page.locator(".shares th bdi", has_text="compactness").first
    assert name.evaluate("(e) => e.getClientRects().length") == 1
    assert page.evaluate(
        "[...document.querySelectorAll('.wide:has(.shares)')]"
        ".every((e) => e.scrollWidth <= e.clientWidth)"
    )
