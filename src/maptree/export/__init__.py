"""A fitted tree in other languages and tools: one file per target, over one neutral form.

``plain_tree`` is that form: columns, tests, leaves and classes as plain Python values, without the
encoder or numpy. ``decision_list`` flattens it, so that deep trees do not become deeply nested
text. Every ``write_`` function takes a ``FittedTree``.
"""
