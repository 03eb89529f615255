"""Matplotlib, where it is installed."""

from __future__ import annotations

from typing import Any


def import_pyplot() -> Any:
    """Import matplotlib.pyplot, or say what to install."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Plots need matplotlib: pip install matplotlib. "
            "(to_html, export_text and rules do without.)"
        ) from error
    return plt
