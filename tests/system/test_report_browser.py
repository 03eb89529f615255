"""The report in a real browser: answers as predict_proba gives them, keys, themes, hostile text."""

from __future__ import annotations

import math
import os
import shutil

import numpy as np
import pandas as pd
import pytest

from control import HANGS, wait_until
from maptree import MAPTreeClassifier
from maptree.pictures.layout import BOX_HEIGHT, MARGIN
from maptree.pictures.report.markup import piece
from maptree.pictures.tree_view import view_tree
from maptree.words.numbers import estimate_texts
from models import HOSTILE_TEXTS, change, pictured
from random_tables import random_tree
from report_cases import ASK, all_kinds, asked_columns, typed_rows, with_thresholds

pytestmark = pytest.mark.system


def lacking(reason):
    """Skip; but where everything has to run, fail."""
    if os.environ.get("MAPTREE_SYSTEM") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def browser():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        lacking("playwright is not installed: pip install playwright")
    found = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    if found is None:
        lacking("Chromium is not installed: apt-get install chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox"], timeout=1000 * HANGS
        )
        yield started
        started.close()


@pytest.fixture
def open_report(browser, tmp_path):
    """Open a report; nothing may be fetched, and nothing may be complained of."""
    faults, contexts = [], []

    def open_it(model, X=None, y=None, width=1280, title=None, **options):
        path = tmp_path / "report.html"
        model.to_html(path, X, y, title=title)
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        context.set_default_timeout(1000 * HANGS)
        page = context.new_page()

        def on_request(route):
            if route.request.url != path.as_uri():
                faults.append(f"asked for {route.request.url}")
                route.abort()
            else:
                route.continue_()

        page.route("**/*", on_request)
        page.on("console", lambda message: faults.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: faults.append(f"error: {error}"))
        page.on(
            "dialog", lambda dialog: (faults.append(f"dialog: {dialog.message}"), dialog.dismiss())
        )
        page.goto(path.as_uri())
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert faults == []


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


# The tree


def test_both_layouts_are_one(open_report):
    """The script places the boxes where Python does, so nothing jumps when it takes over."""
    model = pictured(30)
    page = open_report(model)
    page.get_by_role("button", name="Unfold all").click()
    places = view_tree(model.fitted_).place()
    for node in (0, 7, 31, 58):
        transform = page.locator(f'[data-n="{node}"]').get_attribute("transform")
        x, y = map(float, transform.removeprefix("translate(").removesuffix(")").split())
        assert (x, y) == pytest.approx((places.x[node], places.y[node]))


def visible_nodes(page):
    return page.locator(".tree g:not([hidden])").count()


def test_folding_by_mouse_and_by_buttons(open_report):
    page = open_report(pictured(12))
    page.get_by_role("button", name="Unfold all").click()
    assert visible_nodes(page) == 23
    before = page.locator("svg.tree").bounding_box()
    child = page.locator('[data-n="1"]')
    child.click()
    assert child.get_attribute("aria-expanded") == "false"
    folded = visible_nodes(page)
    assert folded < 23
    assert "leaves" in child.locator(".count").text_content()
    child.click()
    assert visible_nodes(page) == 23
    page.get_by_role("button", name="Fold all", exact=True).click()
    assert visible_nodes(page) == 1
    assert page.locator("svg.tree").bounding_box()["height"] < before["height"]
    page.get_by_role("button", name="Unfold all").click()
    assert visible_nodes(page) == 23


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


def test_keys_alone(open_report):
    """Without a mouse: reach the tree, walk, fold, zoom; then the form and the theme."""
    page = open_report(pictured(8))
    focused = "document.activeElement.getAttribute('aria-label') || document.activeElement.id"
    reached = []
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.append(page.evaluate(focused))
    assert reached[0] == "theme"
    assert reached.index("zoom-fit") < reached.index("The tree (scrollable)")
    tree_at = reached.index("The tree (scrollable)") + 1
    assert reached[tree_at].startswith("column 0 = 1?")
    assert "clear" in reached[tree_at + 1 :]
    assert "field-0" in reached[tree_at + 1 :]
    page.locator('[data-n="0"]').focus()
    steps = [("ArrowRight", "yes: "), ("ArrowDown", ""), ("Home", "column 0"), ("End", "no: ")]
    for key, start in steps:
        page.keyboard.press(key)
        assert page.evaluate(focused).startswith(start)
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    assert visible_nodes(page) == 1
    page.keyboard.press("ArrowRight")
    assert visible_nodes(page) == 15
    page.keyboard.press("ArrowLeft")
    assert visible_nodes(page) == 1
    page.keyboard.press(" ")
    width = page.locator("svg.tree").bounding_box()["width"]
    page.keyboard.press("+")
    assert page.locator("svg.tree").bounding_box()["width"] == pytest.approx(1.25 * width, rel=0.01)
    page.keyboard.press("-")
    page.keyboard.press("0")
    assert page.locator("#tip").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#tip").is_visible()


def test_zoom_and_drag(open_report):
    page = open_report(pictured(40))
    page.get_by_role("button", name="Unfold all").click()
    width = page.locator("svg.tree").bounding_box()["width"]
    viewport = page.locator("#viewport")
    box = viewport.bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 200)
    # Heard by the page once the tree has.
    page.evaluate("window.wheels = 0; addEventListener('wheel', () => window.wheels++)")
    page.mouse.wheel(0, -200)
    wait_until(lambda: page.evaluate("window.wheels") == 1)
    assert page.locator("svg.tree").bounding_box()["width"] == pytest.approx(
        width
    )  # the page scrolls
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    wait_until(lambda: page.evaluate("window.wheels") == 2)
    assert page.locator("svg.tree").bounding_box()["width"] > 1.2 * width
    left, top = viewport.evaluate("v => [v.scrollLeft, v.scrollTop]")
    page.mouse.move(box["x"] + 300, box["y"] + 150)
    page.mouse.down()
    page.mouse.move(box["x"] + 200, box["y"] + 110, steps=4)
    page.mouse.up()
    assert viewport.evaluate("v => [v.scrollLeft, v.scrollTop]") == pytest.approx(
        [left + 100, top + 40], abs=2
    )
    assert visible_nodes(page) == 79  # a drag is no click
    page.get_by_role("button", name="Fit").click()
    fitted = page.locator("svg.tree").bounding_box()
    assert fitted["width"] <= box["width"] + 1


@pytest.mark.filterwarnings("ignore::maptree.IdentifierWarning")
def test_pointing_shows_counts_and_the_rule(open_report):
    X = pd.DataFrame({"age": np.r_[np.arange(40.0), [np.nan] * 5]})
    model = MAPTreeClassifier().fit(X, np.r_[np.arange(40) > 20, [True] * 5])
    page = open_report(model)
    leaf = model.apply(pd.DataFrame({"age": [35.0]}))[0]
    page.locator(f'[data-n="{leaf}"]').hover()
    tip = page.locator("#tip")
    assert tip.is_visible()
    assert "age > 20.5 or missing" in tip.text_content()
    assert "24 rows" in tip.text_content()


# The page


def test_light_and_dark(open_report):
    background = "getComputedStyle(document.body).backgroundColor"
    page = open_report(pictured(4), color_scheme="dark")
    dark = page.evaluate(background)
    button = page.locator("#theme")
    assert button.get_attribute("aria-pressed") == "true"
    button.click()
    light = page.evaluate(background)
    assert light == "rgb(255, 255, 255)"
    assert dark != light
    assert button.get_attribute("aria-pressed") == "false"
    page.emulate_media(media="print")
    button.evaluate("b => b.click()")
    assert page.evaluate(background) == "rgb(255, 255, 255)"  # paper is white
    assert not page.locator("#what-if").is_visible()
    assert page.locator(".rules").is_visible()


@pytest.mark.parametrize("width", [375, 768, 1280])
@pytest.mark.parametrize("hostile", [False, True])
def test_nothing_sticks_out_of_the_page(open_report, width, hostile):
    labels = HOSTILE_TEXTS[:7] if hostile else ["no", "yes"]
    model = pictured(30, HOSTILE_TEXTS if hostile else None, labels)
    page = open_report(model, width=width, title=HOSTILE_TEXTS[6] if hostile else None)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    boxes = page.locator("main > section, .desk > section, header").all()
    assert all(b.bounding_box()["x"] + b.bounding_box()["width"] <= width for b in boxes)


def test_hostile_text_is_only_text(open_report):
    model = pictured(30, HOSTILE_TEXTS, HOSTILE_TEXTS[:9])
    page = open_report(model, title=HOSTILE_TEXTS[0])
    assert page.title() == HOSTILE_TEXTS[0]
    assert page.locator("script").count() == 2
    assert page.locator("img, iframe, object, link:not([rel=icon]), a").count() == 0
    for i in range(page.locator(".field").count()):
        page.locator(f"#field-{i}").select_option(index=1 + i % 2)
    page.locator('[data-n="0"]').hover()
    words = page.locator("body").inner_text()
    assert "<script>alert(1)</script>" in words
    assert "</script><img src=x onerror=alert(1)>" in words
    assert page.locator("script").count() == 2
    # Text in a box stays in the box, whatever letters it has.
    sticking_out = page.evaluate("""() => {
      const right = (element) => element.getBoundingClientRect().right;
      return [...document.querySelectorAll(".tree g > text:not(.e):not(.count)")]
        .filter((text) => right(text) > right(text.parentElement.querySelector("rect")))
        .map((text) => text.textContent);
    }""")
    assert sticking_out == []


def test_without_scripts(open_report):
    model = pictured(6)
    page = open_report(model, java_script_enabled=False)
    assert page.locator(".tree g").count() == 11
    assert not page.locator("#what-if").is_visible()
    words = page.locator("body").inner_text()
    for rule in model.rules():
        assert rule.split("  ->  ")[0] in words


def test_large_and_deep(open_report):
    page = open_report(pictured(200, labels=[f"class {k}" for k in range(20)]))
    page.locator("#field-0").select_option(index=1)
    assert page.locator("#answer li").count() == 20
    page.get_by_role("button", name="Unfold all").click()
    assert visible_nodes(page) == 399


def inside(page, element, frame="#viewport"):
    """Whether a box is in view in its frame and on the screen."""
    box, room = page.locator(element).bounding_box(), page.locator(frame).bounding_box()
    return all(
        low <= box[start] and box[start] + box[size] <= min(low + room[size], most) + 1
        for start, size, low, most in (
            ("x", "width", room["x"], page.viewport_size["width"]),
            ("y", "height", room["y"], page.viewport_size["height"]),
        )
    )


@pytest.mark.parametrize(("width", "levels"), [(375, 2), (1280, 4)])
def test_the_first_view_can_be_read(open_report, width, levels):
    """The root and what follows are seen; of a large tree the rest is folded, and said to be."""
    model = pictured(200)
    page = open_report(model, width=width)
    depth = [node.depth for node in view_tree(model.fitted_).nodes]
    assert all(inside(page, f'[data-n="{n}"] rect') for n, d in enumerate(depth) if d < levels)
    scale = page.locator('[data-n="0"] rect').bounding_box()["height"] / BOX_HEIGHT
    assert scale >= 0.65 - 0.02
    counts = page.locator(".tree g:not([hidden]) .count").all_text_contents()
    hidden = sum(int(text.split()[0]) for text in counts if text)
    shown = page.locator(".tree g:not([hidden]):not([aria-expanded])").count()
    assert hidden + shown == 200
    assert hidden > 0


@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("n_leaves", [40, 1200])
def test_the_number_of_folded_leaves_is_inside_the_picture(open_report, width, n_leaves):
    page = open_report(pictured(n_leaves), width=width)
    wide = "document.querySelector('[data-n=\"0\"] .count').style.letterSpacing = '3px'"
    page.evaluate(wide)  # as in a wide font
    page.get_by_role("button", name="Fold all", exact=True).click()
    count = page.locator('[data-n="0"] .count')
    assert count.text_content() == f"+{n_leaves:,} leaves"
    boxes = (count.bounding_box(), page.locator(".tree").bounding_box())
    ends = [box["x"] + box["width"] for box in boxes]
    assert ends[0] <= ends[1]


def test_a_tree_that_is_wider_than_its_frame_says_so(open_report):
    model = pictured(12)
    hint = "#sideways"
    assert open_report(model, width=375).locator(hint).is_visible()
    page = open_report(model, width=1280)
    page.get_by_role("button", name="Fit").click()
    assert not page.locator(hint).is_visible()
    for _ in range(6):
        page.get_by_role("button", name="Larger").click()
    assert page.locator(hint).is_visible()


def test_without_scripts_the_view_begins_at_the_root(browser, open_report, tmp_path):
    model = pictured(200)
    page = open_report(model, java_script_enabled=False)
    wait_until(lambda: inside(page, '[data-n="0"] rect'))
    viewport = page.locator("#viewport").bounding_box()
    page.mouse.move(viewport["x"] + 200, viewport["y"] + 200)
    page.mouse.wheel(0, 300)  # and it is free to leave
    wait_until(lambda: not inside(page, '[data-n="0"] rect'))
    cell = browser.new_page()
    cell.set_content(model._repr_html_())
    wait_until(lambda: inside(cell, '[data-n="0"] rect', ".room"))
    cell.close()


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (375, 700)])
def test_all_fields_and_the_answer_are_in_view(open_report, width, height):
    """Nothing scrolls but the page, and the answer is seen while a field is changed."""
    page = open_report(pictured(29), width=width)
    page.set_viewport_size({"width": width, "height": height})
    assert page.locator(".field").count() == 28
    assert page.evaluate(
        "(f => f.scrollHeight <= f.clientHeight + 1)(document.querySelector('form'))"
    )
    for i in (0, 27, 12):
        field = page.locator(f"#field-{i}")
        field.focus()
        field.select_option(index=1)
        assert page.locator("#verdict").bounding_box()["y"] + 30 < height
        assert inside(page, f"#field-{i}", "form")
        answer = page.locator("#verdict").bounding_box()
        box = field.bounding_box()
        assert box["y"] + box["height"] <= answer["y"] + 1
    spoken = page.locator("[role=status], [aria-live]")
    assert spoken.count() == 1
    assert spoken.text_content().startswith(("no 0.", "yes 0."))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
def test_accessibility(open_report, scheme, width):
    """No violation of axe's rules, before and after an answer."""
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        lacking("axe is not installed: pip install axe-playwright-python")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"age": rng.normal(40, 9, 400), "colour": rng.choice(["red", "blue", "green"], 400)}
    )
    y = np.where((X["age"] > 45) | (X["colour"] == "red"), "yes", "no")
    model = MAPTreeClassifier().fit(X, y)
    page = open_report(model, X, y, width=width, color_scheme=scheme, bypass_csp=True)
    for _ in range(2):
        found = Axe().run(page).response["violations"]
        assert [(v["id"], [n["html"][:200] for n in v["nodes"]]) for v in found] == []
        page.get_by_role("textbox", name="age").fill("50")
        wait_until(lambda: not page.evaluate("document.getAnimations().length"))
