"""What a picture of a fitted tree shows."""

from __future__ import annotations

from maptree.pictures.class_view import ClassTree, view_classes
from maptree.pictures.measured_view import MeasuredTree, view_measured
from maptree.trees.fitted import FittedTree

AnyTree = ClassTree | MeasuredTree


def view_tree(fitted: FittedTree, isolated: bool = False) -> AnyTree:
    """Return the view of a fitted tree.

    ``isolated`` puts marks around right-to-left names, for renderers that understand them.
    """
    if fitted.measured is None:
        return view_classes(fitted, isolated)
    return view_measured(fitted, fitted.measured, isolated)
