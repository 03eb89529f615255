"""Trees and what is known about them.

``tree`` is one tree as arrays, ``forest`` many. ``fitted`` is the value that everything else takes:
a tree with its columns, classes, prior and certificate. ``log_posterior`` scores any tree
independently of the search, ``scores`` compares predictions with labels.
"""
