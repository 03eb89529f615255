"""A tree as SVG: static in notebooks and without scripts, otherwise moved by the page's script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from maptree.pictures import layout as at
from maptree.pictures.boxes import Corner, Marks, NodeView, TreeView
from maptree.pictures.layout import Places
from maptree.pictures.report.markup import text
from maptree.pictures.short_text import fit, text_width

AnyView = TreeView[Any]

# Of a picture outside of the tree.
_WIDE, _BASE = 150.0, 19.0


def tree_svg(view: AnyView) -> str:
    """Return the SVG element, preceded by a marker at the height of the root."""
    places = view.place()
    leaves = sum(node.folded or 1 for node in view.leaves)
    folded = [text_width(_folded(node)) * at.SMALL_SIZE for node in view.nodes if node.folded]
    width = places.width + max([0, *(max(at.COLUMN_GAP - at.MARGIN, more) for more in folded)])
    middle = places.y[0] + at.BOX_HEIGHT / 2
    lines = [
        f'<div class="start"><svg width="1" height="{middle:g}"></svg><i></i></div>',
        f'<svg class="tree" xmlns="http://www.w3.org/2000/svg" role="img" '
        f'aria-label="Decision tree with {leaves:,} {"leaf" if leaves == 1 else "leaves"}" '
        f'width="{width:.0f}" height="{places.height:.0f}" '
        f'viewBox="0 0 {width:.0f} {places.height:.0f}">',
    ]
    lines += [_edge(view, places, node) for node in view.order if view.nodes[node].parent >= 0]
    lines += [_node(view, places, node) for node in view.order]
    return "\n".join([*lines, "</svg>"])


def _edge(view: AnyView, places: Places, number: int) -> str:
    """Draw the edge to a node; the page's script computes the same curve."""
    parent = view.nodes[number].parent
    x, y = places.x[parent] + places.box, places.y[parent] + at.BOX_HEIGHT / 2
    down, bend = places.y[number] - places.y[parent], at.COLUMN_GAP * 0.4
    curve = f"M{x:g} {y:g}c{bend:g} 0 0 {down:g} {bend:g} {down:g}H{places.x[number]:g}"
    return f'<path data-e="{number}" d="{curve}"/>'


def _node(view: AnyView, places: Places, number: int) -> str:
    """Draw a box with its content. Bars are thick lines, which need the fewest characters."""
    node, room, left = view.nodes[number], places.bar, at.INSET
    parts = [
        f'<g data-n="{number}" transform="translate({places.x[number]:g} {places.y[number]:g})">'
        f'<rect width="{places.box:g}" height="{at.BOX_HEIGHT:g}" rx="5"/>'
    ]
    colour = view.colour(node)
    if node.test < 0:
        parts.append(f'<path class="stripe k{colour}" d="M3 1v{at.BOX_HEIGHT - 2:g}"/>')
    title = fit(*view.parts(node), room / at.TITLE_SIZE)
    parts += [
        *_marks(view.marks(node), colour, room),
        f'<text x="{left:g}" y="{at.TITLE_BASELINE:g}">{text(title)}</text>'
        f'<text class="s" x="{left:g}" y="{at.SMALL_BASELINE:g}">'
        f"{text(_small(view, node, room))}</text>",
    ]
    if node.side:
        y = at.BOX_HEIGHT / 2 + (-4 if node.side == "yes" else 12)
        parts.append(f'<text class="s e" x="-5" y="{y:g}">{node.side}</text>')
    if node.folded:
        y = at.BOX_HEIGHT / 2 + 4
        parts.append(f'<text class="s" x="{places.box + 5:g}" y="{y:g}">{_folded(node)}</text>')
    return "".join([*parts, "</g>"])


def _folded(node: NodeView) -> str:
    return f"+{node.folded:,} leaves"


def _marks(marks: Marks, colour: int, room: float) -> list[str]:
    """Draw a bar or a shape, and the interval below it."""
    left, middle = at.INSET, at.BAR_TOP + at.BAR_HEIGHT / 2
    parts = []
    for part, start, end in marks.parts:
        first, last = round(left + start * room), round(left + end * room)
        parts.append(f'<path class="k{part}" d="M{first} {middle:g}H{last}"/>')
    if marks.shape:
        parts.append(_shape(marks, colour, left, room, at.SHAPE_TOP, at.SHAPE_BASE))
    line = at.SHAPE_WHISKER if marks.shape else at.WHISKER
    return [*parts, _interval(marks, left, room, line)]


def spread_svg(marks: Marks, colour: int) -> str:
    """Return the distribution of y as a small picture of its own."""
    shape = _shape(marks, colour, 1, _WIDE - 2, 1, _BASE)
    return (
        f'<svg class="spread" viewBox="0 0 {_WIDE:g} {_BASE + 7:g}" aria-hidden="true">'
        f"{shape}{_interval(marks, 1, _WIDE - 2, _BASE + 4)}</svg>"
    )


def _shape(marks: Marks, colour: int, left: float, room: float, top: float, base: float) -> str:
    """Draw a distribution on its line, and the mean of all rows."""
    outline = _path(marks.shape, left, room, base, base - top)
    mean = "" if marks.common is None else f"M{left + marks.common * room:.1f} {top:g}V{base:g}"
    return (
        f'<path class="shape f{colour}" d="{outline}"/>'
        f'<path class="o" d="M{left:g} {base:g}h{room:g}{mean}"/>'
    )


def _interval(marks: Marks, left: float, room: float, line: float) -> str:
    """Draw an interval, with ticks at its ends and perhaps at the mean."""
    low, high = (left + end * room for end in marks.interval)
    tick = "" if marks.mean is None else f"M{left + marks.mean * room:.1f} {line - 2:g}v4"
    return f'<path class="w" d="M{low:.1f} {line - 2:g}v4m0-2H{high:.1f}m0-2v4{tick}"/>'


def _path(shape: Sequence[Corner], left: float, room: float, base: float, height: float) -> str:
    """Return an outline as a path, each corner relative to the one before, in tenths."""
    at_x, at_y = round(10 * (left + shape[0][0] * room)), round(10 * base)
    path = [f"M{at_x / 10:g} {at_y / 10:g}"]
    for across, up in shape[1:]:
        x, y = round(10 * (left + across * room)), round(10 * (base - up * height))
        if (x, y) == (at_x, at_y):
            continue
        right, down = f"{(x - at_x) / 10:g}", f"{(y - at_y) / 10:g}"
        if x == at_x:
            path.append(f"v{down}")
        elif y == at_y:
            path.append(f"h{right}")
        else:
            path.append(f"l{right}{'' if down.startswith('-') else ' '}{down}")
        at_x, at_y = x, y
    return "".join(path)


def _small(view: AnyView, node: NodeView, room: float) -> str:
    return fit(*view.small(node), room / at.SMALL_SIZE * at.SMALL_ROOM)


def legend(view: AnyView) -> str:
    """Return the list of colours and what they mean."""
    items = []
    for before, colours, after in view.legend(40):
        swatches = "".join(f'<span class="swatch k{colour}"></span>' for colour in colours)
        if len(colours) > 1:
            swatches = f'<span class="ramp">{swatches}</span>'
        items.append(f"<li>{_name(before)}{swatches}{_name(after)}</li>")
    return f'<ul class="legend">{"".join(items)}</ul>'


def _name(words: str) -> str:
    return f"<bdi>{text(words)}</bdi>" if words else ""


def palette_css(view: AnyView) -> str:
    """Return the colours as style rules, for lines and boxes, and where there are for shapes."""
    rules = [
        f".k{number} {{ stroke: {colour}; background-color: {colour}; }}"
        for number, colour in enumerate(view.palette)
    ]
    if view.marks(view.nodes[0]).shape:
        rules += [
            f".shape.f{number} {{ fill: {colour}; }}" for number, colour in enumerate(view.palette)
        ]
    return "\n".join(rules)
