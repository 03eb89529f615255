"""From the columns of a table to binary tests.

- ``choosing``: which tests a column gets; ``thresholds``: the tests of columns with ordered values.
- ``answering``: the answers of a table's rows to the tests, and the leaves they lead to.
- ``encoder``: ``BinaryEncoder``, which combines these.
"""
