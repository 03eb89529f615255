"""A small picture of a size path: how well the tree of each size predicts, and the elbow.

For notebooks and reports, where nothing has to be installed for it; ``plot_sizes`` draws more.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from maptree.words.size_path import SizePath

_WIDTH, _HEIGHT = 360, 190  # as wide as a phone, so that the letters need not be smaller there
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 14, 24, 56
_APART = 22  # between the numbers of the axis


def size_path_svg(path: SizePath, chosen: int | None = None) -> str:
    """Return held-out log loss by leaves or, without folds, log posteriors; empty if only one.

    The elbow has a large dot, the tree of ``chosen`` leaves a ring.
    """
    if len(path) < 2:
        return ""
    points = []  # leaves, value, low, high
    for entry in path:
        if entry.log_loss is None:
            value, error = entry.certificate.log_posterior, 0.0
        else:
            value, error = entry.log_loss.mean, entry.log_loss.error
        error = 0.0 if math.isnan(error) else error
        points.append((entry.leaves, value, value - error, value + error))
    name = "log posterior" if path.folds is None else f"held-out log loss, {path.folds} folds"
    low, high = min(point[2] for point in points), max(point[3] for point in points)
    least, most = points[0][0], points[-1][0]

    def x(leaves: int) -> float:
        return _LEFT + (leaves - least) / (most - least) * (_WIDTH - _LEFT - _RIGHT)

    def y(value: float) -> float:
        return _TOP + (high - value) / ((high - low) or 1.0) * (_HEIGHT - _TOP - _BOTTOM)

    line = "L".join(f"{x(leaves):.1f} {y(value):.1f}" for leaves, value, _, _ in points)
    whiskers = "".join(
        f"M{x(leaves):.1f} {y(bottom):.1f}V{y(top):.1f}" for leaves, _, bottom, top in points
    )
    dots = "".join(
        _dot(x(leaves), y(value), leaves == path.elbow, leaves == chosen)
        for leaves, value, _, _ in points
    )
    digits = 1 if path.folds is None else 3
    bottom = _HEIGHT - _BOTTOM + 8
    texts: list[tuple[float, float, str, str]] = [
        (_LEFT, 12, "start", name),
        (_LEFT - 8, y(high) + 4, "end", f"{high:.{digits}f}"),
        (_LEFT - 8, y(low) + 4, "end", f"{low:.{digits}f}"),
        (_LEFT - 8, bottom + 12, "end", "leaves"),
    ]
    texts += [
        (x(leaves), bottom + 12, "middle", f"{leaves:,}")
        for leaves in _numbered([point[0] for point in points], [path.elbow, chosen], x)
    ]
    words = f"{name[0].upper()}{name[1:]} by number of leaves; the {path.mark} is at {path.elbow:,}"
    keys, at = [(f"{path.mark}: {path.elbow:,}", True, chosen == path.elbow)], float(_LEFT)
    if chosen is not None:
        words += f", this tree at {chosen:,}"
        both = chosen == path.elbow
        keys = (
            [(f"{path.mark}, this tree", True, True)]
            if both
            else [*keys, ("this tree", False, True)]
        )
    legend = ""
    for said, elbow, ring in keys:
        legend += _dot(at, _HEIGHT - 8, elbow, ring)
        texts.append((at + 12, _HEIGHT - 4, "start", said))
        at += 24 + 7 * len(said)
    labels = "".join(
        f'<text x="{at:.1f}" y="{down:.1f}" text-anchor="{anchor}">{said}</text>'
        for at, down, anchor, said in texts
    )
    return (
        f'<svg class="sizes" role="img" aria-label="{words}." width="{_WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}" font-size="12" fill="currentColor">'
        f'<g fill="none" stroke="currentColor"><path d="M{_LEFT} {bottom - 4}H{_WIDTH - _RIGHT}" '
        f'stroke-opacity="0.35"/><path d="{whiskers}" stroke-opacity="0.5"/>'
        f'<path d="M{line}" stroke-width="1.5"/></g>{dots}{legend}{labels}</svg>'
    )


def _dot(x: float, y: float, elbow: bool, chosen: bool) -> str:
    place = f'cx="{x:.1f}" cy="{y:.1f}"'
    ring = f'<circle {place} r="7" fill="none" stroke="currentColor" stroke-width="1.5"/>' * chosen
    dot = f'<circle {place} r="5" fill="#E69F00"/>' if elbow else f'<circle {place} r="2.5"/>'
    return dot + ring


def _numbered(sizes: list[int], marked: list[int | None], x: Callable[[int], float]) -> list[int]:
    """Return the sizes whose numbers have room on the axis: first those that are marked.

    >>> _numbered([1, 2, 3, 4, 5, 6], [4, 5], lambda size: 15.0 * size)
    [4, 1, 6]
    """
    wanted = [size for size in marked if size in sizes] + [sizes[0], sizes[-1], *sizes]
    shown: list[int] = []
    for size in dict.fromkeys(filter(None, wanted)):
        if all(abs(x(size) - x(other)) >= _APART for other in shown):
            shown.append(size)
    return shown
