"""Pictures of a fitted tree: matplotlib plots, and the report as one HTML file.

``tree_view`` and ``search_view`` hold what a picture shows: ``class_view`` of classes,
``measured_view`` of numbers and counts, whose distributions are shapes of ``spread``, and ``boxes``
what both share. ``layout`` places the nodes, ``colours`` computes the bars, ``short_text`` cuts
long names. ``tree_plot`` and ``search_plot``
draw with matplotlib, which is imported on first use; ``report`` writes the page. Trees grow from
left to right: tests are wide and flat, so a tree of thirty leaves fits a page, and one of two
hundred can be scrolled.
"""
