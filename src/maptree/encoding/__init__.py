"""From the columns of a table to binary tests.

- ``choosing``: which tests a column gets; ``thresholds``: those of a column whose values have an
  order.
- ``answering``: the answers of a table's rows to the tests, and the leaves these lead to.
- ``encoder``: ``BinaryEncoder``, which puts these together.
"""
