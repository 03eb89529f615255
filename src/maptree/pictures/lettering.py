"""Text as shapes, in the units of the drawing.

Text objects have a size in points, whatever the size of the Axes. Shapes scale with the boxes
around them, so text that fits its box fits it at every size and resolution.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from maptree.pictures.short_text import fit


class Lettering:
    """Shapes of text in one weight and size."""

    def __init__(self, size: float, weight: str = "normal") -> None:
        from matplotlib.font_manager import FontProperties

        self._font = FontProperties(size=size, weight=weight)
        self.shapes: list[Any] = []

    def width(self, text: str) -> float:
        """Return the width of text."""
        from matplotlib.textpath import text_to_path

        with _without_warnings():
            width, _, _ = text_to_path.get_text_width_height_descent(text, self._font, False)
        return float(width)

    def write(
        self, x: float, y: float, head: str, tail: str = "", room: float = 1e9, align: float = 0
    ) -> None:
        """Add text that begins at x, or ends there with align 1; it is cut to fit the space."""
        from matplotlib.textpath import TextPath

        text = fit(head, tail, room, self.width)
        start = x - align * self.width(text)
        with _without_warnings():
            # An escaped dollar sign is printed; others would start a formula.
            self.shapes.append(TextPath((start, y), text.replace("$", r"\$"), prop=self._font))


def import_pyplot() -> Any:
    """Import matplotlib.pyplot, or say what to install."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Plots need matplotlib: pip install matplotlib. "
            "(to_html, export_text and rules do not need it.)"
        ) from error
    return plt


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Draw characters that the font does not have as boxes, without a warning."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(?s).*[Gg]lyph")
        yield
