"""A fitted tree as one HTML file that needs nothing else, and as a picture in a notebook.

``write`` puts the page together: the pieces in ``page/`` filled with the tree as SVG
(``tree_svg``), charts (``charts``), the certificate in words, scores (``held_out``) and what the
page's script needs to answer a case (``case_form``). Everything that comes from the user's table
passes ``markup.text`` or ``markup.data`` on its way into the page.
"""
