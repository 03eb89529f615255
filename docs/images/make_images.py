"""Make the pictures of docs/plots-and-reports.md. Needs matplotlib, playwright and Chromium."""

from __future__ import annotations

import io
import shutil
import tempfile
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import train_test_split

from maptree import MAPTreeClassifier, plot_search, plot_tree

mpl.use("Agg")
HERE = Path(__file__).parent


def save(ax: Any, name: str, dpi: int) -> None:
    """Write a picture in few colours, which keeps the repository small."""
    buffer = io.BytesIO()
    ax.figure.savefig(buffer, dpi=dpi)
    Image.open(buffer).convert("RGB").quantize(48).save(HERE / f"{name}.png", optimize=True)


wine = load_wine(as_frame=True)
wines = MAPTreeClassifier(time_limit=10).fit(wine.data, wine.target_names[wine.target])
save(plot_tree(wines), "tree", 110)

digits = load_digits(as_frame=True)
numerals = MAPTreeClassifier(time_limit=10).fit(digits.data, digits.target)
save(plot_tree(numerals), "tree-of-many-leaves", 62)

cancer = load_breast_cancer(as_frame=True)
labels = np.asarray(cancer.target_names[cancer.target])
X, X_test, y, y_test = train_test_split(cancer.data, labels, random_state=0, stratify=labels)
model = MAPTreeClassifier(time_limit=10).fit(X, y)
save(plot_search(model), "search", 100)

with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
    report = Path(folder) / "report.html"
    model.to_html(report, X_test, y_test, title="Breast cancer")
    browser = playwright.chromium.launch(
        executable_path=shutil.which("chromium"), args=["--no-sandbox"]
    )
    for name, width, height, scheme in (
        ("report-light", 1280, 800, "light"),
        ("report-dark", 1280, 800, "dark"),
        ("report-phone", 375, 1100, "light"),
    ):
        page = browser.new_page(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            reduced_motion="reduce",
        )
        page.goto(report.as_uri())
        for field in page.locator(".field").all():  # a case like the first of the test rows
            column = field.locator("label").text_content()
            field.locator("input").fill(str(X_test.iloc[0][column]))
        page.evaluate("document.activeElement.blur()")
        page.screenshot(path=HERE / f"{name}.png")
        page.close()
    browser.close()
