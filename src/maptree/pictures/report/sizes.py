"""The part of the report that shows the best trees of other sizes."""

from __future__ import annotations

from maptree.words.html_parts import noted, paragraphs, table
from maptree.words.size_path import HEAD, SizePath
from maptree.words.size_path_svg import size_path_svg

# What decides comes first: on a phone, the last columns have to be scrolled to.
_SCORED = ("leaves", "log loss", "gap", "accuracy", "log posterior", "depth")
_UNSCORED = ("leaves", "log posterior", "gap", "depth")


def sizes_html(path: SizePath | None, leaves: int) -> str:
    """Return the section, with the tree of the report marked; empty if there is no path."""
    if path is None:
        return ""
    head = _UNSCORED if path.folds is None else _SCORED
    cells = [list(head)]
    for entry in path:
        row = dict(zip(HEAD, path.row(entry), strict=True))
        marks = [*filter(None, [row[""]]), *["this tree"] * (entry.leaves == leaves)]
        first, *others = (row[name].replace("+-", "±") for name in head)
        cells.append([noted(first, ", ".join(marks)), *others])
    here = [i for i, entry in enumerate(path, start=1) if entry.leaves == leaves]
    return (
        '<section aria-labelledby="sizes-heading"><h2 id="sizes-heading">Smaller and larger '
        f'trees</h2><div class="beside">{table(cells, "Trees by size", marked=here)}'
        f"{size_path_svg(path, leaves)}</div>{paragraphs(path.notes, 'hint')}</section>"
    )
