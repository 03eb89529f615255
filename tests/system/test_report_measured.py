"""The report of a regressor in a real browser: a case that is entered gets the model's answer."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from maptree import MAPTreeRegressor
from report_cases import typed_rows

pytestmark = pytest.mark.system

ASK = """
([names, rows]) => {
  const labels = [...document.querySelectorAll(".field label")];
  const controls = names.map((name) =>
    document.getElementById(labels.find((l) => l.textContent === name).htmlFor));
  return rows.map((row) => {
    row.forEach((text, i) => {
      const control = controls[i];
      const place = () => [...control.options].findIndex((o) => o.textContent === text);
      if (control.tagName === "SELECT") control.selectedIndex = place();
      else control.value = text;
    });
    controls[0].dispatchEvent(new Event("input", { bubbles: true }));
    const numbers = (element) => [...element.querySelectorAll("data")].map((d) => Number(d.value));
    const said = document.getElementById("verdict");
    return {
      leaf: Number(document.getElementById("answer").dataset.leaf),
      said: said.textContent,
      values: numbers(said),
      mean: Number(document.getElementById("answer-mean")?.value),
      intervals: [...document.querySelectorAll("#answer li")].map(numbers),
      errors: [...document.querySelectorAll(".error:not([hidden])")].length,
    };
  });
}
"""


def table(n_rows, seed):
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n_rows).round(3)
    size[rng.random(n_rows) < 0.2] = np.nan
    X = pd.DataFrame({"size": size, "colour": rng.choice(["red", "blue", "<b>"], n_rows)})
    level = 2.0 + 3 * (np.nan_to_num(size) > 0.3) + 9 * (X["colour"] == "red").to_numpy()
    return X, level, rng


def asked(model, page, rows, *more):
    names = [model.fitted_.schema.names[j] for j in model.fitted_.used_columns]
    typed = [
        [*row, *(repr(float(values[i])) for values in more)]
        for i, row in enumerate(typed_rows(model, rows, names))
    ]
    return page.evaluate(ASK, [[*names, *["exposure"] * len(more)], typed])


@pytest.mark.parametrize("unit", [1.0, 1e-3, 1e6])
def test_numbers(open_report, unit):
    X, level, rng = table(400, 0)
    model = MAPTreeRegressor(max_expansions=300).fit(X, unit * (level + rng.normal(size=400)))
    rows = table(100, 1)[0]
    answers = asked(model, open_report(model), rows)
    assert [answer["errors"] for answer in answers] == [0] * len(rows)
    assert [answer["leaf"] for answer in answers] == model.apply(rows).tolist()
    values = np.array([answer["values"] for answer in answers])
    np.testing.assert_array_equal(values[:, 0], model.predict(rows))
    intervals = np.array([answer["intervals"] for answer in answers])
    for i, level in enumerate((0.5, 0.9, 0.95)):
        expected = model.predict_interval(rows, level)
        np.testing.assert_allclose(intervals[:, i], expected, rtol=1e-8)
    # The digits are those of the rules.
    texts = {rule.split("  ->  ")[1].split(", n = ")[0] for rule in model.rules()}
    for answer in answers:
        said = answer["said"].replace("(", "[").replace(")", "]").replace(" to ", ", ")
        assert said in texts


@pytest.mark.parametrize("scale", [0.1, 1.0, 300.0])
def test_counts_with_an_exposure(open_report, scale):
    X, level, rng = table(400, 0)
    years = rng.uniform(0.2, 5, 400)
    model = MAPTreeRegressor(likelihood="poisson", max_expansions=300)
    model.fit(X, rng.poisson(scale * level * years), exposure=years)
    rows = table(60, 1)[0]
    exposure = np.random.default_rng(2).choice([0.01, 0.5, 1.0, 2.5, 40.0], 60)
    answers = asked(model, open_report(model), rows, exposure)
    assert [answer["leaf"] for answer in answers] == model.apply(rows).tolist()
    means = [answer["mean"] for answer in answers]
    np.testing.assert_allclose(means, model.predict(rows, exposure), rtol=1e-9)
    intervals = np.array([answer["intervals"] for answer in answers])
    for i, level in enumerate((0.5, 0.9, 0.95)):
        expected = model.predict_interval(rows, level, exposure)
        np.testing.assert_array_equal(intervals[:, i], expected)


def test_a_wrong_exposure(open_report):
    model = MAPTreeRegressor(likelihood="poisson").fit([[0], [1]] * 9, [1, 9] * 9, exposure=2.0)
    page = open_report(model)
    page.fill("#field-exposure", "-1")
    assert "number above 0" in page.locator("#field-exposure-error").inner_text()
    assert "No prediction" in page.locator("#verdict").inner_text()
