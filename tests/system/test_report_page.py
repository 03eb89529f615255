"""The report in a real browser: folding, zooming, keys, themes, narrow screens, hostile text."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from control import wait_until
from maptree import MAPTreeClassifier
from maptree.pictures.layout import BOX_HEIGHT
from maptree.pictures.tree_view import view_tree
from models import HOSTILE_TEXTS, pictured
from report_cases import lacking

pytestmark = pytest.mark.system


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

    def leaves():
        page.mouse.wheel(0, 300)  # again and again: a page that is still laid out may miss one
        return not inside(page, '[data-n="0"] rect')

    wait_until(leaves)  # and it is free to leave
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
