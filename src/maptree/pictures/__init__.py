"""Pictures of a fitted tree: plots by matplotlib, and the report as one HTML file.

``tree_view`` and ``search_view`` say what a picture shows, ``layout`` where a node stands,
``colours`` what its bar looks like, ``short_text`` cuts long names. ``tree_plot`` and
``search_plot`` draw with matplotlib, which is imported when something is drawn; ``report`` writes
the page. Trees grow from left to right: tests are wide and not high, so a tree of thirty leaves
fits a page, and one of two hundred can be scrolled.
"""
