"""From the columns of a table to binary tests.

- ``schema``: columns and their tests, as values; ``schema_json`` writes and reads them.
- ``choosing``: which tests a column gets; ``thresholds``: those of a column whose values have an
  order.
- ``answering``: the answers of a table's rows to the tests.
- ``encoder``: ``BinaryEncoder``, which puts these together.
- ``wording``, ``value_text``, ``report``: tests, values and columns in words.
"""
