"""The best trees of each size, drawn with matplotlib."""

from __future__ import annotations

from typing import Any

from maptree.pictures.colours import PALETTE
from maptree.pictures.lettering import import_pyplot
from maptree.words.size_path import SizePath


def plot_sizes(path: SizePath, ax: Any = None) -> Any:
    """Draw the log posterior and the held-out log loss of the best trees by their size.

    Filled points are proved to be the most probable of their size or smaller; above the others,
    a line goes up to what is proved that no tree as small exceeds, where that is in the picture.
    The dashed line is the elbow.

    Parameters
    ----------
    path : SizePath
        Of ``size_path``.
    ax : matplotlib Axes, optional
        Where to draw the log posterior; by default a new figure. The log loss has an axis on its
        right.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from maptree import plot_sizes, size_path
    >>> path = size_path([[0], [1], [2]] * 9, [0, 1, 0] * 9, cv=None)
    >>> plot_sizes(path).get_xlabel()
    'leaves'
    """
    plt = import_pyplot()
    if ax is None:
        _, ax = plt.subplots(figsize=(7.0, 4.0), layout="constrained")
    leaves = [entry.leaves for entry in path]
    values = [entry.certificate.log_posterior for entry in path]
    ax.plot(leaves, values, color=PALETTE[0], linewidth=1.2, zorder=2)
    low, high = min(values), max(values)
    pad = 0.08 * (high - low) or 1.0
    for entry in path:
        certificate = entry.certificate
        if not certificate.optimal:
            top = min(certificate.log_posterior_bound, high + 3 * pad)
            ax.vlines(entry.leaves, certificate.log_posterior, top, color=PALETTE[0], alpha=0.25)
        ax.plot(
            entry.leaves,
            certificate.log_posterior,
            "o",
            color=PALETTE[0],
            markerfacecolor=PALETTE[0] if certificate.optimal else "white",
            zorder=3,
        )
    ax.set(xlabel="leaves", ylim=(low - pad, high + 3 * pad))
    ax.set_ylabel("log posterior (nats)", color=PALETTE[0])
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.axvline(path.elbow, color="0.5", linestyle="--", linewidth=0.8, zorder=1)
    at_the_end = path.elbow == leaves[-1]  # there is no room to the right of it
    ax.annotate(
        path.mark,
        (path.elbow, 0.02),
        xycoords=("data", "axes fraction"),
        xytext=(-4 if at_the_end else 4, 0),
        ha="right" if at_the_end else "left",
        textcoords="offset points",
        color="0.35",
        fontsize="small",
    )
    ax.grid(alpha=0.25)
    ax.spines[["top"]].set_visible(False)
    scored = [(entry.leaves, entry.log_loss) for entry in path if entry.log_loss is not None]
    if scored:
        right = ax.twinx()
        right.errorbar(
            [size for size, _ in scored],
            [loss.mean for _, loss in scored],
            yerr=[loss.error for _, loss in scored],
            color=PALETTE[5],
            marker="s",
            markersize=4,
            linewidth=1.2,
            capsize=2,
        )
        right.set_ylabel("held-out log loss (nats)", color=PALETTE[5])
        right.spines[["top"]].set_visible(False)
    return ax
