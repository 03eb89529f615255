"""A fitted tree as one self-contained HTML file, and as a picture in a notebook.

``write`` assembles the page: it fills the templates in ``page/`` with the tree as SVG
(``tree_svg``), charts (``charts``), the certificate in words, scores (``held_out``) and the data
with which the page's script predicts a case (``case_form``). Everything from the user's table goes
through ``markup.text`` or ``markup.data`` on its way into the page.
"""
