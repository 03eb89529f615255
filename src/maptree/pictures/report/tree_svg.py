"""A tree as SVG: static in notebooks and without scripts, otherwise moved by the page's script."""

from __future__ import annotations

from maptree.pictures import layout as at
from maptree.pictures.colours import PALETTE, bar
from maptree.pictures.layout import Places
from maptree.pictures.report.markup import text
from maptree.pictures.short_text import fit, text_width
from maptree.pictures.tree_view import NodeView, TreeView


def tree_svg(view: TreeView) -> str:
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


def _edge(view: TreeView, places: Places, number: int) -> str:
    """Draw the edge to a node; the page's script computes the same curve."""
    parent = view.nodes[number].parent
    x, y = places.x[parent] + places.box, places.y[parent] + at.BOX_HEIGHT / 2
    down, bend = places.y[number] - places.y[parent], at.COLUMN_GAP * 0.4
    curve = f"M{x:g} {y:g}c{bend:g} 0 0 {down:g} {bend:g} {down:g}H{places.x[number]:g}"
    return f'<path data-e="{number}" d="{curve}"/>'


def _node(view: TreeView, places: Places, number: int) -> str:
    """Draw a box with its content. Bars are thick lines, which need the fewest characters."""
    node, room = view.nodes[number], places.bar
    left, middle = at.INSET, at.BAR_TOP + at.BAR_HEIGHT / 2
    parts = [
        f'<g data-n="{number}" transform="translate({places.x[number]:g} {places.y[number]:g})">'
        f'<rect width="{places.box:g}" height="{at.BOX_HEIGHT:g}" rx="5"/>'
    ]
    if node.test < 0:
        colour = view.colours[node.best]
        parts.append(f'<path class="stripe k{colour}" d="M3 1v{at.BOX_HEIGHT - 2:g}"/>')
    for colour, start, end in bar(node.mean, node.best, view.colours):
        first, last = round(left + start * room), round(left + end * room)
        parts.append(f'<path class="k{colour}" d="M{first} {middle:g}H{last}"/>')
    low, high = left + node.interval[node.best] * room
    parts.append(
        f'<path class="w" d="M{low:.1f} {at.WHISKER - 2:g}v4m0-2H{high:.1f}m0-2v4"/>'
        f'<text x="{left:g}" y="{at.TITLE_BASELINE:g}">{text(_title(view, node, room))}</text>'
        f'<text class="s" x="{left:g}" y="{at.SMALL_BASELINE:g}">'
        f"{text(_small(view, node, room))}</text>"
    )
    if node.side:
        y = at.BOX_HEIGHT / 2 + (-4 if node.side == "yes" else 12)
        parts.append(f'<text class="s e" x="-5" y="{y:g}">{node.side}</text>')
    if node.folded:
        y = at.BOX_HEIGHT / 2 + 4
        parts.append(f'<text class="s" x="{places.box + 5:g}" y="{y:g}">{_folded(node)}</text>')
    return "".join([*parts, "</g>"])


def _folded(node: NodeView) -> str:
    return f"+{node.folded:,} leaves"


def _title(view: TreeView, node: NodeView, room: float) -> str:
    if node.test < 0:
        return fit(view.classes[node.best], "", room / at.TITLE_SIZE)
    return fit(node.name, node.rest, room / at.TITLE_SIZE)


def _small(view: TreeView, node: NodeView, room: float) -> str:
    return fit(*view.small(node), room / at.SMALL_SIZE * at.SMALL_ROOM)


def legend(view: TreeView) -> str:
    """Return the list of classes and their colours."""
    items = [
        f'<li><span class="swatch k{colour}"></span><bdi>{text(name)}</bdi></li>'
        for colour, name in view.legend(40)
    ]
    return f'<ul class="legend">{"".join(items)}</ul>'


def palette_css() -> str:
    """Return the colours as style rules, for lines and for boxes."""
    return "\n".join(
        f".k{number} {{ stroke: {colour}; background-color: {colour}; }}"
        for number, colour in enumerate(PALETTE)
    )
