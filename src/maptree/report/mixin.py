"""What a fitted classifier shows of itself: as a report, and in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any


class ReportMixin:
    """Adds ``to_html`` and the representation in notebooks to a classifier with a tree."""

    def to_html(
        self,
        path: str | PathLike[str] | None = None,
        X: Any = None,
        y: Any = None,
        feature_names: Sequence[str] | None = None,
        title: str | None = None,
    ) -> str | None:
        """Write the tree as one HTML file that needs no network; without a path, return its text.

        Parameters are those of ``maptree.write_report``.

        >>> from maptree import MAPTreeClassifier
        >>> model = MAPTreeClassifier().fit([[0], [1]] * 6, ["no", "yes"] * 6)
        >>> "<svg" in model.to_html()
        True
        """
        from maptree.report.write import report_html, write_report

        if path is None:
            return report_html(self, X, y, feature_names, title)
        write_report(self, path, X, y, feature_names, title)
        return None

    def _repr_html_inner(self) -> str:
        """Return the tree as a picture; before ``fit`` what scikit-learn shows."""
        if not hasattr(self, "tree_"):
            html: str = super()._repr_html_inner()  # type: ignore[misc]
            return html
        from maptree.report.notebook import notebook_html

        return notebook_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Return HTML for notebooks, and text for whatever does not show that."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if hasattr(self, "tree_") and "text/html" in bundle:
            from maptree.report.notebook import notebook_text

            bundle["text/html"] = self._repr_html_inner()
            bundle["text/plain"] = f"{self!r}\n{notebook_text(self)}"
        return bundle
