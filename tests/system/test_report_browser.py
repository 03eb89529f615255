"""The report in a real browser: a case that is entered gets the answer of predict_proba."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from control import wait_until
from maptree import MAPTreeClassifier
from maptree.pictures.layout import MARGIN
from maptree.pictures.report.markup import piece
from maptree.words.numbers import estimate_texts
from models import change, pictured
from random_tables import random_tree
from report_cases import ASK, all_kinds, asked_columns, typed_rows, with_thresholds

pytestmark = pytest.mark.system


# Cases of every kind


@pytest.fixture(scope="module")
def model():
    train = all_kinds(500, seed=0)
    y = np.random.default_rng(0).choice(["<b>no</b>", 'yes "</script>'], 500)
    fitted = MAPTreeClassifier(max_expansions=1, max_depth=1).fit(train, y)
    answers = fitted.encoder_.transform(train)
    trees = (random_tree(answers, np.random.default_rng(seed), max_depth=7) for seed in range(100))
    return change(fitted, tree=max(trees, key=lambda tree: len(asked_columns(fitted, tree))))


def test_answers_are_those_of_the_model(model, open_report):
    """Rows of all kinds, with missing and unknown values, and times at the thresholds."""
    rows = with_thresholds(model, all_kinds(500, seed=1, unknown=True))
    asked = asked_columns(model, model.tree_)
    assert len(asked) >= 13
    names = [name for j, name in enumerate(rows) if j in asked]
    page = open_report(model)
    typed = typed_rows(model, rows, names)
    answers = page.evaluate(ASK, [names, typed])
    assert [answer["errors"] for answer in answers] == [[]] * len(rows)
    assert [answer["leaf"] for answer in answers] == model.apply(rows).tolist()
    assert [answer["said"] for answer in answers] == model.predict(rows).tolist()
    numbers = np.array([answer["numbers"] for answer in answers])
    np.testing.assert_allclose(numbers[:, :, 0], model.predict_proba(rows), rtol=0, atol=1e-15)
    np.testing.assert_allclose(numbers[:, :, 1:], model.predict_interval(rows), rtol=0, atol=6e-7)
    paths = model.decision_path(rows)
    for row, answer in enumerate(answers):
        assert sorted(answer["lit"]) == paths[row].indices.tolist()


def test_numbers_at_their_thresholds(open_report):
    """Floats next to a threshold, and whole numbers that no float can tell apart."""
    X = pd.DataFrame(
        {"x": [0.1, 0.3] * 20, "n": pd.array([2**53, 2**53 + 1] * 20, dtype="Int64")}
    ).sample(frac=1, random_state=0)
    y = (X["x"].to_numpy() > 0.2).astype(int)
    floats = MAPTreeClassifier().fit(X[["x"]], y)
    (threshold,) = floats.encoder_.schema_[0].thresholds
    near = [
        threshold,
        math.nextafter(threshold, 1),
        math.nextafter(threshold, 0),
        math.inf,
        -math.inf,
    ]
    page = open_report(floats)
    answers = page.evaluate(ASK, [["x"], [[repr(v)] for v in near]])
    expected = floats.apply(pd.DataFrame({"x": near})).tolist()
    assert [answer["leaf"] for answer in answers] == expected
    whole = MAPTreeClassifier().fit(X[["n"]], (X["n"] > 2**53).astype(int))
    answers = open_report(whole).evaluate(ASK, [["n"], [[str(2**53)], [str(2**53 + 1)]]])
    assert [a["leaf"] for a in answers] == whole.apply(
        pd.DataFrame({"n": pd.array([2**53, 2**53 + 1], dtype="Int64")})
    ).tolist()
    assert answers[0]["leaf"] != answers[1]["leaf"]


def test_typing_by_hand(model, open_report):
    """Real keys and choices, a few rows; then what cannot be read, and clearing."""
    rows = all_kinds(4, seed=2)
    page = open_report(model)
    fields = page.locator(".field")
    names = [label.replace(" in UTC", "") for label in fields.locator("label").all_text_contents()]
    typed = typed_rows(model, rows, names)
    for row, entered in enumerate(typed):
        for i, text in enumerate(entered):
            control = page.locator(f"#field-{i}")
            if control.evaluate("c => c.tagName") == "SELECT":
                control.select_option(label=text)
            else:
                control.fill(text)
        assert page.locator("#answer-class").text_content() == model.predict(rows.iloc[[row]])[0]
        shown = page.locator("#answer li").first.locator("data").first
        assert float(shown.get_attribute("value")) == pytest.approx(
            model.predict_proba(rows.iloc[[row]]).max(), abs=1e-12
        )
    number = page.locator(f"#field-{names.index('tenths')}")
    number.fill("1,5")
    assert number.get_attribute("aria-invalid") == "true"
    assert "not a number" in page.locator(".error:visible").text_content()
    assert page.locator("#answer-class").count() == 0
    assert page.locator(".tree .lit").count() == 0
    page.locator("#clear").click()
    assert page.locator(".error:visible").count() == 0
    assert number.input_value() == ""


@pytest.mark.filterwarnings("ignore::maptree.IdentifierWarning")
def test_missing_where_none_was_is_pointed_out(open_report):
    X = pd.DataFrame({"age": np.arange(40.0)})
    model = MAPTreeClassifier().fit(X, np.arange(40) > 20)
    page = open_report(model)
    field = page.get_by_role("textbox", name="age")
    field.fill("7")
    assert page.locator(".caution").count() == 0
    field.fill("")
    assert "never in the training rows: age" in page.locator("#answer .caution").text_content()
    assert "Unreliable" in page.locator("#verdict").text_content()


def test_times_are_entered_in_utc_and_the_field_says_so(open_report):
    when = pd.date_range("2021-03-01", periods=40, freq="h")
    for zone, note in (("Europe/Berlin", "The tree shows times in Europe/Berlin."), ("UTC", None)):
        X = pd.DataFrame({"when": when.tz_localize("UTC").tz_convert(zone)})
        page = open_report(MAPTreeClassifier().fit(X, np.arange(40) > 20))
        assert page.locator(".field label").text_content() == "when in UTC"
        notes = page.locator(".field .note")
        assert notes.all_text_contents()[1:] == ([note] if note else [])
        described = page.locator("#field-0").get_attribute("aria-describedby").split()
        assert {n.get_attribute("id") for n in notes.all()} < set(described)


def test_a_value_that_was_not_seen_is_pointed_out(open_report):
    X = pd.DataFrame({"sex": ["men", "women"] * 20})
    page = open_report(MAPTreeClassifier().fit(X, [0, 1] * 20))
    field = page.locator(".field select")
    assert field.locator("option").all_text_contents() == [
        "missing", "women", "men", "any other value",
    ]  # fmt: skip
    field.select_option("men")
    assert "Because sex = men" in page.locator("#answer").text_content()
    assert "Not one of the values" not in page.locator("#answer").text_content()
    field.select_option("any other value")
    said = page.locator("#answer").text_content()
    assert "Not one of the values in the training rows: sex." in said
    assert "takes the false branch of every test" in said


def test_fields_say_what_the_tree_compares_them_with(open_report):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.choice([20, 30, 40, 50, 60], (400, 2)), columns=["age", "height"])
    y = np.digitize(X["age"], [35, 55]) + 3 * (X["height"] > 50)
    model = MAPTreeClassifier().fit(X, y)
    page = open_report(model)
    notes = {
        field.locator("label").text_content(): field.locator(".note").text_content()
        for field in page.locator(".field").all()
    }
    assert notes == {"age": "compared with 35 to 55", "height": "compared with 55"}
    described = page.locator(".field input").first.get_attribute("aria-describedby").split()
    assert page.locator(f"#{described[0]}").text_content().startswith("compared with")


LINES = """(element) => {
  const range = document.createRange();
  return [...element.querySelectorAll("th bdi")].flatMap((name) => {
    const text = name.firstChild;
    return [...text.data.matchAll(/\\S+/g)].map((word) => {
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      const pieces = [...range.getClientRects()];
      const lines = (side) => new Set(pieces.map((piece) => Math.round(piece[side]))).size;
      return [word[0], Math.min(lines("top"), lines("left"))]; // names may go up
    });
  });
}"""


@pytest.mark.parametrize("width", [1280, 375])
def test_a_table_of_many_classes(open_report, width):
    labels = [f"{a} Industries {b}" for a in ("Northern", "Southern") for b in range(28)]
    model = pictured(40, labels=labels)
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (900, 39)), columns=model.feature_names_in_)
    page = open_report(model, X, rng.choice(labels, 900), width=width)
    table = page.locator(".confusion")
    words = table.evaluate(LINES)
    assert ["others", 1] in words
    assert [word for word, parts in words if parts > 1] == []  # none is broken
    room = page.locator(".wide:has(.confusion)")
    if width == 1280:
        assert room.evaluate("(e) => e.scrollWidth - e.clientWidth") == 0  # none is cut off
    else:  # the names of the rows stay in view
        room.evaluate("(e) => { e.scrollLeft = 200; }")
        left = [e.bounding_box()["x"] for e in (room, table.locator("tbody th").first)]
        assert abs(left[0] - left[1]) < 1


@pytest.mark.parametrize(("mean", "low", "high"), [
    (0.9991, 0.9975, 0.99982), (0.7, 0.4, 0.9), (0.02, 1e-7, 0.1), (0.5, 0.0, 1.0),
    (0.9999995, 0.999, 0.9999999), (0.0004, 1e-5, 0.003), (0.96, 0.9, 0.99999),
])  # fmt: skip
def test_numbers_are_written_as_in_words(browser, mean, low, high):
    page = browser.new_page()
    page.add_script_tag(content=piece("numbers.js"))
    for digits in (2, 3):
        texts = page.evaluate(
            "([estimate, digits]) => writeEstimate(estimate, digits)",
            [{"mean": mean, "low": low, "high": high}, digits],
        )
        assert tuple(texts) == estimate_texts(mean, low, high, digits)
    page.close()


def test_a_lone_leaf_has_one_answer(open_report):
    page = open_report(MAPTreeClassifier().fit([[1]] * 10, ["a"] * 9 + ["b"]))
    assert page.locator("#answer-class").text_content() == "a"
    assert page.locator("#answer .hint").text_content() == "From 10 rows."


def test_an_answer_unfolds_its_way(model, open_report):
    page = open_report(model)
    page.get_by_role("button", name="Fold all", exact=True).click()
    page.locator("#field-0").focus()
    page.evaluate("document.getElementById('case').dispatchEvent(new Event('input'))")
    lit = page.locator(".tree g.lit")
    assert lit.count() >= 2
    assert all(not g.get_attribute("hidden") for g in lit.all())
    assert page.locator(".tree path.lit").count() == lit.count() - 1
    room = page.locator("#viewport").bounding_box()

    def in_view():
        box = lit.last.locator("rect").bounding_box()
        right = box["x"] + box["width"]
        return room["x"] <= box["x"] + 1 and right <= room["x"] + room["width"] + MARGIN

    wait_until(in_view)  # the viewport scrolls smoothly
