"""From the columns of a table to binary tests, and from tests to words.

``encoder`` holds the transformer. Fitting it makes a pass over the table (``table_pass``) that
chooses the tests of each column (``choosing``: ``cut_points`` or ``categories``) and keeps them as
a ``schema``. ``asking`` answers them for other tables, ``wording`` says them, ``schema_json``
stores them.
"""
