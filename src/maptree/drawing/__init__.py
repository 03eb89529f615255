"""What all pictures of a tree share, whatever draws them: content, places, colours, short text.

``tree_view`` says what each node shows, ``layout`` where it stands, ``colours`` what its bar looks
like, ``short_text`` cuts long names. Trees grow from left to right: tests are wide and not high,
so a tree of thirty leaves fits a page, and one of two hundred can be scrolled.
"""
