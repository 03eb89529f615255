"""Pictures of a tree and of its search by matplotlib, which is imported when one is drawn."""

from maptree.plot.search_plot import plot_search
from maptree.plot.tree_plot import plot_tree

__all__ = ["plot_search", "plot_tree"]
