"""The course of a search, drawn with matplotlib."""

from __future__ import annotations

from typing import Any

from maptree.pictures.colours import PALETTE
from maptree.pictures.lettering import Lettering, import_pyplot
from maptree.pictures.search_view import view_search
from maptree.trees.certificate import Certificate
from maptree.trees.fitted import FittedTree, HasFittedTree, fitted_tree
from maptree.words.certificate import headline, short_verdict
from maptree.words.values import seconds_text

# In points. In a smaller Axes a legend would cover what it explains.
_LEGEND_WIDTH, _LEGEND_HEIGHT = 160.0, 100.0
_TITLE_SIZE = 10.0


def plot_search(classifier: FittedTree | HasFittedTree, ax: Any = None) -> Any:
    """Draw the log posterior of the best tree, and the upper bound on all trees, against time.

    The gap between the two is shaded, and the title says what is proved. In a small ``ax`` the
    title is short and there is no legend. Time is on a logarithmic scale if it spans more than a
    factor of 30. Samplers have no bound, so none is drawn. For a classifier without a trace, only
    the end of the search is drawn.

    Parameters
    ----------
    classifier : fitted MAPTreeClassifier, MCMCTreeClassifier or SMCTreeClassifier
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from maptree import MAPTreeClassifier, plot_search
    >>> model = MAPTreeClassifier().fit([[25.0], [31.0], [47.0], [60.0]] * 5, [0, 0, 1, 1] * 5)
    >>> plot_search(model).get_title()  # doctest: +ELLIPSIS
    'Proved: no tree is more probable (... s)'
    """
    fitted = fitted_tree(classifier)
    plt = import_pyplot()
    view = view_search(fitted)
    if view is None:
        raise ValueError(
            "The tree has neither a trace nor a certificate, so there is nothing to draw: fit it "
            "again, or save it with its trace."
        )
    if ax is None:
        _, ax = plt.subplots(figsize=(7.0, 3.6), layout="constrained")
    style: dict[str, Any] = {"marker": "o", "markersize": 3} if len(view.seconds) == 1 else {}
    if view.bound is not None:
        ax.step(
            view.seconds,
            view.bound,
            where="post",
            color=PALETTE[1],
            label="upper bound",
            **style,
        )
        ax.fill_between(
            view.seconds,
            view.best,
            view.bound,
            step="post",
            color=PALETTE[1],
            alpha=0.15,
            label="gap",
        )
    ax.step(view.seconds, view.best, where="post", color=PALETTE[0], label="best tree", **style)
    if view.log_time:
        ax.set_xscale("log")
    ax.set(xlabel="seconds", ylabel="log posterior (nats)")
    ax.margins(x=0.02, y=0.08)
    ax.grid(alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)
    extent, points = ax.get_window_extent(), 72 / ax.figure.dpi
    width, height = extent.width * points, extent.height * points
    if width >= _LEGEND_WIDTH and height >= _LEGEND_HEIGHT:
        ax.legend(loc="best", frameon=False)
    if fitted.certificate is not None:
        ax.set_title(_title(fitted, fitted.certificate, width), fontsize=_TITLE_SIZE)
    return ax


def _title(fitted: FittedTree, certificate: Certificate, room: float) -> str:
    """Return the longest title that fits into a width in points; empty if none fits."""
    words, took = headline(fitted), seconds_text(certificate.seconds)
    short = short_verdict(certificate)
    titles = f"{words} ({took})".replace(", ", ",\n"), f"{short} ({took})", short
    wide = Lettering(_TITLE_SIZE).width
    return next((title for title in titles if max(map(wide, title.split("\n"))) <= room), "")
